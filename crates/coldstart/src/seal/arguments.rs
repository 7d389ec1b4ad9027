//! The words of `coldstart seal`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::arguments::TextOrJson;

#[derive(Args, Debug)]
pub(crate) struct Seal {
    #[command(subcommand)]
    pub what: SealCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SealCommand {
    /// Make a sealing key, or adopt one that exists, and keep it in a store
    Init(Init),
    /// Seal values into a SealedSecret
    Secret(Box<Secret>),
    /// Make the values that coldstart.yaml declares, and seal them
    Generate(Generate),
    /// Say whether every SealedSecret of the repository will open at the next cold start
    Verify(Verify),
    /// Seal everything anew with the newest key, offline
    Reseal(Reseal),
    /// A new key: kept, deployed, and everything sealed anew with it
    Rotate(Rotate),
    /// Give a cluster its keys, and prove that they open
    Deploy(Deploy),
    /// Copy all keys to another store, and prove that they are there
    Backup(Copy),
    /// Bring keys back from another store
    Restore(Copy),
}

/// The repository, and the store of its keys.
#[derive(Args, Debug)]
pub(crate) struct Place {
    /// The directory of a cluster repository
    #[arg(long, value_name = "DIRECTORY", default_value = ".")]
    pub path: PathBuf,
    /// Where keys are kept: age:FILE, dir:DIRECTORY, keyring:NAME or vault:MOUNT/PATH [default: what coldstart.yaml says, or age:~/.local/share/coldstart/sealing-keys.age]
    #[arg(long, value_name = "STORE")]
    pub store: Option<String>,
    /// A file of age identities that opens an age store; without one, a passphrase does
    #[arg(long, value_name = "FILE")]
    pub identity: Option<PathBuf>,
    /// Read the passphrase of an age store from this file, instead of COLDSTART_PASSPHRASE or asking for it
    #[arg(long, value_name = "FILE", conflicts_with = "identity")]
    pub passphrase_file: Option<PathBuf>,
}

/// What to do with what is written.
#[derive(Args, Debug)]
pub(crate) struct Delivery {
    /// Make a Git commit of just the files that were written
    #[arg(long)]
    pub commit: bool,
    /// Commit and push: Flux reads the remote
    #[arg(long)]
    pub push: bool,
}

/// The cluster and its controller.
#[derive(Args, Debug)]
pub(crate) struct Target {
    /// The context of the kubeconfig
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,
    /// The namespace of the sealed-secrets controller [default: what coldstart.yaml or the release says, or kube-system]
    #[arg(long, value_name = "NAME")]
    pub controller_namespace: Option<String>,
}

#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own on the command line")]
pub(crate) struct Init {
    #[command(flatten)]
    pub place: Place,
    /// Bits of a new key
    #[arg(long, default_value_t = 4096)]
    pub bits: u32,
    /// Days that a new certificate can be sealed with; opening never ends
    #[arg(long, default_value_t = 3650)]
    pub days: u32,
    /// Adopt keys from files instead: PEM, `kubectl get secret -o yaml`, Terraform output or state; - is standard input
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub adopt: Vec<PathBuf>,
    /// Of several pairs in a Terraform file, the one at this place or with this id
    #[arg(long, value_name = "PLACE", requires = "adopt")]
    pub pick: Option<String>,
    /// A private key comes without a certificate: make one
    #[arg(long, requires = "adopt")]
    pub new_certificate: bool,
    /// Adopt the keys of a running cluster instead
    #[arg(long, conflicts_with = "adopt")]
    pub adopt_cluster: bool,
    /// Adopt the items of secret-tool instead: service sealed-secrets, keys private_key and public_key
    #[arg(long, conflicts_with_all = ["adopt", "adopt_cluster"])]
    pub adopt_secret_tool: bool,
    /// Make a new key although there was one before, which then opens nothing of what was sealed
    #[arg(long, conflicts_with_all = ["adopt", "adopt_cluster", "adopt_secret_tool"])]
    pub new_key: bool,
    /// Write the newest certificate here, for people who seal without the store
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// Keep the keys in this second store, too
    #[arg(long, value_name = "STORE")]
    pub backup: Option<String>,
    /// A file of age identities that opens the second store
    #[arg(long, value_name = "FILE")]
    pub backup_identity: Option<PathBuf>,
    #[command(flatten)]
    pub target: Target,
    /// Do it without asking
    #[arg(long)]
    pub yes: bool,
}

const SECRET_HELP: &str = "\
Values never come from the command line itself, where every process of the machine could read them.

With --out FILE a SealedSecret of that name in the file gets the values; its other items stay as they are.
Without, the SealedSecret is printed.";

#[derive(Args, Debug)]
#[command(after_help = SECRET_HELP)]
pub(crate) struct Secret {
    #[command(flatten)]
    pub place: Place,
    /// Secrets to seal, as manifests; - is standard input
    #[arg(long, value_name = "FILE")]
    pub manifest: Option<PathBuf>,
    /// The name of the Secret
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Its namespace
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// Its type, as kubernetes.io/basic-auth
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: Option<String>,
    /// What the values are bound to [default: strict, or what the manifest or the file says]
    #[arg(long, value_enum)]
    pub scope: Option<ScopeWord>,
    /// A value from a file: KEY=FILE, or FILE for a key of the file's name
    #[arg(long, value_name = "KEY=FILE")]
    pub from_file: Vec<String>,
    /// Values from a file of KEY=VALUE lines
    #[arg(long, value_name = "FILE")]
    pub from_env_file: Vec<PathBuf>,
    /// A value from an environment variable
    #[arg(long, value_name = "KEY=VARIABLE")]
    pub from_env: Vec<String>,
    /// A value from standard input, without the line end
    #[arg(long, value_name = "KEY")]
    pub from_stdin: Option<String>,
    /// A value that is asked for, unseen
    #[arg(long, value_name = "KEY")]
    pub prompt: Vec<String>,
    /// A YAML or JSON structure from a file, encoded as exact JSON
    #[arg(long, value_name = "KEY=FILE")]
    pub structure: Vec<String>,
    /// Print the one sealed value, and no SealedSecret
    #[arg(long, conflicts_with_all = ["out", "manifest"])]
    pub raw: bool,
    /// The file to write, from the root of the repository
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Seal with this certificate instead of the store's newest
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    #[command(flatten)]
    pub delivery: Delivery,
}

#[derive(Args, Debug)]
pub(crate) struct Generate {
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub delivery: Delivery,
    /// Do it without asking
    #[arg(long)]
    pub yes: bool,
}

const VERIFY_HELP: &str = "\
Offline, unless --cluster is given.

Exit codes:
  0  everything opens
  1  something will not open, or is not as it should be
  2  the command line was not understood, or something could not be read";

#[derive(Args, Debug)]
#[command(after_help = VERIFY_HELP)]
pub(crate) struct Verify {
    #[command(flatten)]
    pub place: Place,
    /// Ask the cluster as well: every key that it has must be in the store
    #[arg(long)]
    pub cluster: bool,
    /// Switch the controller's renewal off in the file that says otherwise
    #[arg(long)]
    pub write: bool,
    /// Write without asking
    #[arg(long)]
    pub yes: bool,
    /// How to print the report
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub format: TextOrJson,
    #[command(flatten)]
    pub target: Target,
}

#[derive(Args, Debug)]
pub(crate) struct Reseal {
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub delivery: Delivery,
    /// Do it without asking
    #[arg(long)]
    pub yes: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Rotate {
    #[command(flatten)]
    pub place: Place,
    /// Bits of the new key [default: 4096]
    #[arg(long)]
    pub bits: Option<u32>,
    /// Days that the new certificate can be sealed with [default: 3650]
    #[arg(long)]
    pub days: Option<u32>,
    /// Deploy nothing: there is no cluster now
    #[arg(long)]
    pub offline: bool,
    /// A file of age identities that opens the second store
    #[arg(long, value_name = "FILE")]
    pub backup_identity: Option<PathBuf>,
    #[command(flatten)]
    pub target: Target,
    #[command(flatten)]
    pub delivery: Delivery,
    /// Prove with a canary also where no Deployment of the controller is found
    #[arg(long)]
    pub prove: bool,
    /// Do it without asking
    #[arg(long)]
    pub yes: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Deploy {
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub target: Target,
    /// Only print the Secrets that would be applied: they hold the private keys
    #[arg(long)]
    pub print: bool,
    /// Prove with a canary also where no Deployment of the controller is found
    #[arg(long)]
    pub prove: bool,
    /// Do it without asking
    #[arg(long)]
    pub yes: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Copy {
    #[command(flatten)]
    pub place: Place,
    /// The other store [default: what coldstart.yaml says]
    #[arg(value_name = "STORE")]
    pub other: Option<String>,
    /// A file of age identities that opens the other store
    #[arg(long, value_name = "FILE")]
    pub backup_identity: Option<PathBuf>,
    /// Do it without asking
    #[arg(long)]
    pub yes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeWord {
    Strict,
    NamespaceWide,
    ClusterWide,
}

impl From<ScopeWord> for ::seal::Scope {
    fn from(word: ScopeWord) -> Self {
        match word {
            ScopeWord::Strict => Self::Strict,
            ScopeWord::NamespaceWide => Self::NamespaceWide,
            ScopeWord::ClusterWide => Self::ClusterWide,
        }
    }
}
