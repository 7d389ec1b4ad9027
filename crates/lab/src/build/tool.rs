//! The programs of the lab, as a table. Versions are not in it: each tool's `modules/NAME/go.mod` says its own.

use std::fmt;

use super::go_mod;

/// How much of the lab is wanted; each tier holds the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// The control plane, kwok, Flux and sealed-secrets: what CI always has.
    Small,
    /// The command lines that people look around with.
    Cli,
    /// Everything, for the tests that CI has no time for.
    Full,
}

impl Tier {
    /// Every tool of this tier and of the tiers it holds, in the order of the table.
    pub fn tools(self) -> impl Iterator<Item = Tool> {
        Tool::ALL.iter().copied().filter(move |tool| tool.tier() <= self)
    }

    /// The command that builds this tier.
    pub fn command(self) -> &'static str {
        match self {
            Self::Small => "cargo xtask lab build small",
            Self::Cli => "cargo xtask lab build",
            Self::Full => "cargo xtask lab build full",
        }
    }
}

/// A row of the table.
struct Row {
    name: &'static str,
    /// Tools of a family share most of what they compile, so they are built one after another.
    family: &'static str,
    module: &'static str,
    /// The package to build, below the module.
    package: &'static str,
    tier: Tier,
    /// Variables set by the linker, `{version}`, `{major}` and `{minor}` filled in.
    stamps: &'static [&'static str],
    /// Directories of the module whose YAML files the lab needs when it runs.
    files: &'static [&'static str],
    go_mod: &'static str,
    go_sum: &'static str,
}

macro_rules! tools {
    ($($variant:ident $name:literal $tier:ident, $family:literal, $module:literal $package:literal $(, stamps $stamps:expr)? $(, files $files:expr)?;)*) => {
        /// A program of the lab.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Tool {
            $(#[doc = $name] $variant,)*
        }

        impl Tool {
            /// All of them, the long builds first.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            fn row(self) -> &'static Row {
                match self {
                    $(Self::$variant => &Row {
                        name: $name,
                        family: $family,
                        module: $module,
                        package: $package,
                        tier: Tier::$tier,
                        stamps: [$($stamps as &[&str],)? &[]][0],
                        files: [$($files as &[&str],)? &[]][0],
                        go_mod: include_str!(concat!("../../modules/", $name, "/go.mod")),
                        go_sum: include_str!(concat!("../../modules/", $name, "/go.sum")),
                    },)*
                }
            }
        }
    };
}

/// Without these the API server calls itself v0.0.0, and charts that ask for a Kubernetes version refuse it.
const KUBERNETES: &[&str] = &[
    "k8s.io/component-base/version.gitVersion={version}",
    "k8s.io/component-base/version.gitMajor={major}",
    "k8s.io/component-base/version.gitMinor={minor}",
];

/// Without it helm leaves the patch level out of its version, which helmfile compares.
const HELM: &[&str] = &["helm.sh/helm/v3/internal/version.version={version}"];

const FLUX_CRDS: &[&str] = &["config/crd/bases"];

tools! {
    KubeApiserver "kube-apiserver" Small, "kubernetes", "k8s.io/kubernetes" "/cmd/kube-apiserver", stamps KUBERNETES;
    KubeControllerManager "kube-controller-manager" Small, "kubernetes", "k8s.io/kubernetes" "/cmd/kube-controller-manager", stamps KUBERNETES;
    KubeScheduler "kube-scheduler" Small, "kubernetes", "k8s.io/kubernetes" "/cmd/kube-scheduler", stamps KUBERNETES;
    Kubectl "kubectl" Cli, "kubernetes", "k8s.io/kubernetes" "/cmd/kubectl", stamps KUBERNETES;
    SourceController "source-controller" Small, "flux", "github.com/fluxcd/source-controller" "", files FLUX_CRDS;
    KustomizeController "kustomize-controller" Small, "flux", "github.com/fluxcd/kustomize-controller" "", files FLUX_CRDS;
    HelmController "helm-controller" Small, "flux", "github.com/fluxcd/helm-controller" "", files FLUX_CRDS;
    Kwok "kwok" Small, "kwok", "sigs.k8s.io/kwok" "/cmd/kwok", files &["kustomize/stage", "kustomize/crd/bases"];
    SealedSecretsController "sealed-secrets-controller" Small, "sealed-secrets", "github.com/bitnami-labs/sealed-secrets" "/cmd/controller", files &["helm/sealed-secrets/crds"];
    Kubeseal "kubeseal" Small, "sealed-secrets", "github.com/bitnami-labs/sealed-secrets" "/cmd/kubeseal";
    Etcd "etcd" Small, "etcd", "go.etcd.io/etcd/server/v3" "";
    Kustomize "kustomize" Small, "kustomize", "sigs.k8s.io/kustomize/kustomize/v5" "";
    Helm "helm" Cli, "helm", "helm.sh/helm/v3" "/cmd/helm", stamps HELM;
    Tofu "tofu" Full, "tofu", "github.com/opentofu/opentofu" "/cmd/tofu";
    Helmfile "helmfile" Full, "helmfile", "github.com/helmfile/helmfile" "";
    Flate "flate" Full, "flate", "github.com/home-operations/flate" "/cmd/flate";
    Talosctl "talosctl" Full, "talosctl", "github.com/siderolabs/talos" "/cmd/talosctl";
    Coredns "coredns" Full, "coredns", "github.com/coredns/coredns" "";
}

impl Tool {
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|tool| tool.name() == name)
    }

    pub fn name(self) -> &'static str {
        self.row().name
    }

    pub fn family(self) -> &'static str {
        self.row().family
    }

    pub fn module(self) -> &'static str {
        self.row().module
    }

    /// The import path of the package to build.
    pub fn package(self) -> String {
        format!("{}{}", self.row().module, self.row().package)
    }

    pub fn tier(self) -> Tier {
        self.row().tier
    }

    pub fn go_mod(self) -> &'static str {
        self.row().go_mod
    }

    pub fn go_sum(self) -> &'static str {
        self.row().go_sum
    }

    /// Directories of the module whose YAML files are kept beside the binary.
    pub fn files(self) -> &'static [&'static str] {
        self.row().files
    }

    /// The version that the tool's go.mod asks for, as `v1.2.3`.
    pub fn version(self) -> &'static str {
        let wanted = go_mod::requirements(self.go_mod()).into_iter().find(|(module, _)| *module == self.module());
        wanted.expect("a test holds every go.mod to its tool's module").1
    }

    /// What the linker writes into the program, as `variable=value`.
    pub fn stamps(self) -> impl Iterator<Item = String> {
        let version = self.version();
        let mut numbers = version.trim_start_matches('v').split('.');
        let (major, minor) = (numbers.next().unwrap_or("0"), numbers.next().unwrap_or("0"));
        let fill =
            move |stamp: &&str| stamp.replace("{version}", version).replace("{major}", major).replace("{minor}", minor);
        self.row().stamps.iter().map(fill)
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.name(), self.version())
    }
}
