//! What is applied, made and installed before GitOps starts.

mod tree;

use coldstart_read::bootstrap::{Bootstrap, SeededPath, SeededPathKind};
use coldstart_read::scripts::CreatedKind;
use tree::{APPS, bootstrap, repository};

fn seeded(bootstrap: &Bootstrap, kind: SeededPathKind) -> Vec<&SeededPath> {
    bootstrap.paths().iter().filter(|path| path.kind == kind).collect()
}

const KUSTOMIZATION: &str = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n";

#[test]
fn bootstrap_directories_are_the_roots_and_what_scripts_build() {
    let component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n";
    let (_root, repository) = repository(&[
        (
            "bootstrap/kustomize/home/kustomization.yaml",
            &format!("{KUSTOMIZATION}resources: [./net]\ncomponents: [../common]\n"),
        ),
        ("bootstrap/kustomize/home/net/kustomization.yaml", KUSTOMIZATION),
        ("bootstrap/kustomize/common/kustomization.yaml", component),
        ("early/crds/kustomization.yaml", KUSTOMIZATION),
        ("early/pool/kustomization.yaml", KUSTOMIZATION),
        ("apps/shop/kustomization.yaml", KUSTOMIZATION),
        ("apps/toys/kustomization.yaml", KUSTOMIZATION),
        (
            "scripts/bootstrap-apps.sh",
            "kubectl apply -k \"$(git rev-parse --show-toplevel)/early/crds\"\nkustomize build $UNKNOWN/early/pool | kubectl apply --server-side -f -\n# kubectl apply -k apps/toys\n",
        ),
        ("scripts/debug.sh", "kubectl apply -k apps/shop\n"),
    ]);
    let bootstrap = bootstrap(&repository);
    let directories: Vec<&str> =
        seeded(&bootstrap, SeededPathKind::Directory).into_iter().map(|directory| directory.path.as_str()).collect();
    assert_eq!(directories, ["bootstrap/kustomize/home", "early/crds", "early/pool"]);
}

#[test]
fn files_come_from_the_directory_from_scripts_and_from_hooks() {
    let (_root, repository) = repository(&[
        ("bootstrap/namespace.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: early}\n"),
        ("bootstrap/values.yaml", "a: 1\n"),
        ("bootstrap/k/kustomization.yaml", KUSTOMIZATION),
        ("bootstrap/k/inside.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: built}\n"),
        ("bootstrap/helmfile.d/01-apps.yaml", APPS),
        ("apps/kube-system/net/pool.yaml", "apiVersion: net/v1\nkind: Pool\nmetadata: {name: p}\n"),
        ("extra/store.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"),
        (
            ".taskfiles/bootstrap/Taskfile.yaml",
            "tasks:\n  x:\n    cmds:\n      - kubectl --context {{.C}} apply -n early --filename {{.ROOT_DIR}}/extra/store.yaml\n",
        ),
    ]);
    let bootstrap = bootstrap(&repository);
    let files = seeded(&bootstrap, SeededPathKind::File);
    let found: Vec<(&str, Option<&str>)> =
        files.iter().map(|file| (file.path.as_str(), file.namespace.as_deref())).collect();
    assert_eq!(
        found,
        [
            ("apps/kube-system/net/pool.yaml", Some("kube-system")),
            ("bootstrap/namespace.yaml", None),
            ("extra/store.yaml", Some("early")),
        ]
    );
}

fn secrets(files: &[(&str, &str)]) -> Vec<String> {
    let (_root, repository) = repository(files);
    let bootstrap = bootstrap(&repository);
    let named = bootstrap.named();
    assert!(named.iter().all(|it| repository.locate(it.at).is_some()));
    let secrets = named.iter().filter(|it| it.kind == CreatedKind::Secret);
    secrets.map(|secret| format!("{}/{}", secret.namespace, secret.name)).collect()
}

#[test]
fn secrets_that_scripts_create_are_seeded() {
    let script = "kubectl -n flux-system create secret generic sops-age \\\n  --from-file=age.agekey=key.txt --dry-run=client -o yaml | kubectl apply -f -\nop read x | kubectl create secret -n stores generic token --from-file=t=/dev/stdin\nkubectl create secret generic plain\nkubectl create secret generic \"$NAME\" -n x\nkubectl create secret tls web --namespace=edge --cert=a --key=b\n";
    assert_eq!(
        secrets(&[("scripts/setup.sh", script)]),
        ["default/plain", "edge/web", "flux-system/sops-age", "stores/token"]
    );
}

#[test]
fn a_value_ends_where_the_shell_says() {
    let key = "apiVersion: v1\nkind: Secret\nmetadata: {name: key, namespace: flux-system}\n";
    for value in ["\"$1\" ;;", "\"$1\"; shift", "$1 # the first", "\"$(basename \"$1\" ' x')\" && go", "'lab'\tX=1 run"]
    {
        let script = format!(
            "case \"$1\" in\n  *)\n    cluster={value}\nesac\nkubectl apply -f \"early/${{cluster}}/key.yaml\"\n"
        );
        let short = script.replace("*)\n  ", "-c|--cluster)");
        for script in [script, short] {
            let files = [("early/lab/key.yaml", key), ("bootstrap.sh", script.as_str())];
            assert_eq!(secrets(&files), ["flux-system/key"], "{script}");
        }
    }
}

#[test]
fn a_line_that_ends_in_a_pipe_goes_on() {
    let key = "apiVersion: v1\nkind: Secret\nmetadata: {name: key, namespace: flux-system}\n";
    let piped = "sops -d early/key.sops.yaml |\n  kubectl apply -f -\n";
    assert_eq!(secrets(&[("early/key.sops.yaml", key), ("bootstrap.sh", piped)]), ["flux-system/key"]);
    let task =
        "tasks:\n  x:\n    cmds:\n      - |\n        cat early/key.yaml\n      - cmd: |\n        kubectl apply -f -\n";
    assert!(secrets(&[("early/key.yaml", key), (".taskfiles/bootstrap/Taskfile.yaml", task)]).is_empty());
}

#[test]
fn secrets_that_scripts_decrypt_are_seeded() {
    let encrypted = "apiVersion: v1\nkind: Secret\nmetadata: {name: NAME}\ndata: {x: ENC}\n";
    let script = "for secret in \"${secrets[@]}\"; do\n  sops exec-file \"${secret}\" \"kubectl --namespace flux-system apply --server-side --filename {}\"\ndone\nsops --decrypt ${ROOT_DIR}/more/c.sops.yaml | kubectl apply -n other -f -\n";
    let list = "secrets=(\n  \"${ROOT_DIR}/keys/a.sops.yaml\"\n  \"${ROOT_DIR}/keys/lost.sops.yaml\"\n)\n";
    assert_eq!(
        secrets(&[
            ("keys/a.sops.yaml", &encrypted.replace("NAME", "first")),
            ("more/c.sops.yaml", &encrypted.replace("NAME", "third")),
            ("scripts/bootstrap.sh", &format!("{list}{script}")),
        ]),
        // The list does not tell which loop it feeds, so all that is encrypted counts for it; `lost` is not in Git.
        ["flux-system/first", "flux-system/lost", "flux-system/third"]
    );
}

#[test]
fn secrets_of_injected_templates_are_seeded() {
    let template = "{% for x in y %}\n---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: connect\n  namespace: stores\nstringData:\n  token: op://vault/{{ cluster }}/token\n{% endfor %}\n---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: {{ name }}\n";
    let just = "dir := justfile_directory() + '/bootstrap'\nbase:\n    just template \"{{ dir }}/resources.yaml.j2\" | op inject | kubectl apply --server-side -f -\n";
    assert_eq!(secrets(&[("bootstrap/resources.yaml.j2", template), ("bootstrap/mod.just", just)]), ["stores/connect"]);
}

#[test]
fn what_a_variable_holds_of_a_rendered_file_is_applied() {
    let plain = "apiVersion: v1\nkind: Secret\nmetadata: {name: key, namespace: flux-system}\n";
    let script = "file=\"${ROOT_DIR}/early/resources.yaml.j2\"\nif ! output=$(render \"${file}\" | op inject) || [[ -z \"${output}\" ]]; then\n  exit 1\nfi\necho \"${output}\" | kubectl apply --server-side --filename -\n";
    assert_eq!(
        secrets(&[("early/resources.yaml.j2", plain), ("scripts/bootstrap-apps.sh", script)]),
        ["flux-system/key"]
    );
    let circle = format!("output=$(cat {})\necho \"$output\" | kubectl apply -f -\n", "$output ".repeat(1000));
    assert!(secrets(&[("scripts/bootstrap-apps.sh", &circle)]).is_empty());
    let other = script.replace("echo \"${output}\"", "echo \"${other}\"");
    assert!(secrets(&[("early/resources.yaml.j2", plain), ("scripts/bootstrap-apps.sh", &other)]).is_empty());
}

#[test]
fn templates_beside_the_bootstrap_seed_what_they_name() {
    let secret =
        "{% if x %}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: NAME, namespace: flux-system}\n{% endif %}\n";
    assert_eq!(
        secrets(&[
            ("bootstrap/resources.yaml.tpl", &secret.replace("NAME", "key")),
            ("bootstrap/more.yaml.j2", &secret.replace("NAME", "\"{{ name }}\"")),
            // The templates of the cluster itself.
            ("bootstrap/apps/kustomization.yaml.j2", KUSTOMIZATION),
            ("bootstrap/apps/shop/secret.yaml.j2", &secret.replace("NAME", "shop")),
            ("apps/late.yaml.j2", &secret.replace("NAME", "late")),
        ]),
        ["flux-system/key"]
    );
}

#[test]
fn all_of_it_can_be_read_in_one_go() {
    let (_root, repository) = repository(&[
        ("bootstrap/helmfile.d/01-apps.yaml", APPS),
        ("bootstrap/base/kustomization.yaml", KUSTOMIZATION),
        ("bootstrap/key.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: key, namespace: x}\n"),
    ]);
    let early = bootstrap(&repository);
    let [directories, files] = [SeededPathKind::Directory, SeededPathKind::File].map(|kind| seeded(&early, kind).len());
    assert_eq!((early.helmfiles().count(), directories, files, early.named().len()), (1, 1, 1, 1));
}

#[test]
fn broken_text_is_no_reason_to_stop() {
    let (_root, repository) = repository(&[
        ("helmfile.yaml", "releases:\n  - name: {{ if\n  ]]]\n"),
        (
            "bootstrap/x.just",
            "kubectl apply -f '\"${{{\nhelmfile -f\nsops exec-file\nsops exec-file a\nkubectl create secret\nkubectl apply -f",
        ),
        ("Taskfile.yaml", "A: '{{.B}}'\nB: '{{.A}}'\nx: kubectl apply -f {{.A}}/bootstrap/ä\n"),
    ]);
    let early = bootstrap(&repository);
    assert!(early.helmfiles().next().is_none() && early.named().is_empty());
    assert!(seeded(&early, SeededPathKind::File).is_empty());
}

#[test]
fn templates_of_many_actions_cost_what_they_are_long() {
    const ACTIONS: usize = 50_000;
    let object = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: seed\ndata:\n";
    let one_line = format!("{object}  k: \"{}\"\n", "{{ .x }}".repeat(ACTIONS));
    let many_lines = format!("{object}{}", "  {{ if .x }}\n".repeat(ACTIONS));
    let open = format!("{object}  k: \"{}\"\n", "{# ".repeat(ACTIONS));
    for text in [one_line, many_lines, open] {
        let (_root, repository) = repository(&[("bootstrap/seed.yaml", &text)]);
        assert!(seeded(&bootstrap(&repository), SeededPathKind::File).len() <= 1);
    }
}

#[test]
fn a_task_that_installs_a_release_of_a_helmfile_again_is_no_second_release() {
    let script = "helm upgrade --install net oci://registry.example.org/charts/net-plugin --namespace kube-system\n\
                  helm upgrade --install extra oci://registry.example.org/charts/extra --namespace extra\n";
    let (_root, repository) = repository(&[
        ("bootstrap/helmfile.d/01-apps.yaml", APPS),
        ("bootstrap/helmfile.d/values/net.yaml", "a: 1\n"),
        ("bootstrap/repair.sh", script),
    ]);
    let early = bootstrap(&repository);
    let names: Vec<&str> = early.releases().iter().map(|release| release.name.as_str()).collect();
    assert_eq!(names, ["net", "dns", "extra"]);
}

fn named(files: &[(&str, &str)]) -> Vec<String> {
    let (_root, repository) = repository(files);
    let of_kind = |kind: &str, namespace: &str, name: &str| format!("{kind} {namespace}/{name}");
    bootstrap(&repository).named().iter().map(|it| of_kind(it.kind.as_str(), &it.namespace, &it.name)).collect()
}

#[test]
fn what_tasks_create_by_name_is_seeded() {
    let task = "tasks:\n  setup:\n    vars: {SPACE: tools}\n    cmds:\n      - kubectl get namespace stores || kubectl --context main create namespace stores\n      - kubectl create ns {{.SPACE}} --dry-run=client -o yaml | kubectl apply -f -\n      - kubectl -n tools create configmap --from-file x.conf settings\n";
    assert_eq!(
        named(&[("Taskfile.yml", task)]),
        ["Namespace /stores", "ConfigMap tools/settings"],
        "a variable in braces is not read as one"
    );
    let task = task.replace("vars: {SPACE: tools}", "vars:\n      SPACE: tools");
    assert_eq!(
        named(&[("Taskfile.yml", &task)]),
        ["Namespace /stores", "Namespace /tools", "ConfigMap tools/settings"]
    );
}

#[test]
fn what_is_sealed_is_not_applied() {
    let make = "seal:\n\tkubectl create secret generic db -n shop --dry-run=client -o yaml | kubeseal > db.yaml\n";
    assert!(named(&[("Makefile", make)]).is_empty());
}

#[test]
fn a_loop_creates_a_namespace_for_every_word_or_directory() {
    let apps = [("apps/net/a.yaml", "a: 1\n"), ("apps/web/a.yaml", "a: 1\n"), ("apps/readme.md", "apps\n")];
    let words = "for space in edge \"data\"; do\n  kubectl create namespace \"$space\"\ndone\n";
    assert_eq!(named(&[("up.sh", words)]), ["Namespace /data", "Namespace /edge"]);
    let glob = "readonly apps=\"${ROOT_DIR}/apps\"\nfor app in \"${apps}\"/*/; do\n  space=$(basename \"${app}\")\n  kubectl create namespace \"${space}\" --dry-run=client -o yaml | kubectl apply -f -\ndone\n";
    let found = "find \"$ROOT_DIR/apps\" -mindepth 1 -maxdepth 1 -type d -printf '%f\\n' | while read -r ns; do\n  kubectl create namespace \"$ns\"\ndone\n";
    for script in [glob, found] {
        let files: Vec<(&str, &str)> = apps.into_iter().chain([("up.sh", script)]).collect();
        assert_eq!(named(&files), ["Namespace /net", "Namespace /web"], "{script}");
    }
}
