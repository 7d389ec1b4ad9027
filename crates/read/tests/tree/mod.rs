//! Repositories made of a few files.

use std::fs;

use catalogue::Catalogue;
use coldstart_read::Repository;
use coldstart_read::bootstrap::Bootstrap;
use tempfile::TempDir;

/// A repository of these files. The directory lives as long as the first of the pair.
pub(crate) fn repository(files: &[(&str, &str)]) -> (TempDir, Repository) {
    let root = tempfile::tempdir().expect("a directory");
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }
    let repository = Repository::open(root.path()).expect("a repository");
    (root, repository)
}

pub(crate) fn bootstrap(repository: &Repository) -> Bootstrap {
    Bootstrap::read(repository, Catalogue::embedded())
}

/// A helmfile with templates, needs and a hook.
pub(crate) const APPS: &str = r#"---
helmDefaults:
  wait: true
repositories:
  - {name: hub, url: "https://charts.example.org"}
releases:
  - name: net
    namespace: kube-system
    chart: oci://registry.example.org/charts/net-plugin
    version: 1.2.3
    values:
      - ./values/net.yaml
      - replicas: 2
    hooks:
      - events: [postsync]
        command: kubectl
        args: [apply, --server-side, "--filename=../../apps/{{ .Release.Namespace }}/{{ .Release.Name }}/pool.yaml"]
{{- if env "WITH_DNS" }}
  - name: dns
    namespace: kube-system
    chart: hub/dns
    version: {{ env "DNS_VERSION" }}
    wait: false
    installed: true
    needs:
      - kube-system/net
{{- end }}
"#;
