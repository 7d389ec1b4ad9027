//! The words of `coldstart seal`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Args, Debug)]
pub(crate) struct Seal {
    #[command(subcommand)]
    pub what: SealCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SealCommand {
    /// Generate a sealing key, or adopt an existing one, and keep it in a store
    Init(Init),
    /// Seal values into a SealedSecret
    Secret(Box<Secret>),
    /// Generate the values that coldstart.yaml declares, and seal them
    Generate(Generate),
    /// Check that every SealedSecret in the repository will open at the next cold start
    Verify(Verify),
    /// Seal everything again with the newest key, offline
    Reseal(Reseal),
    /// Generate a new key, deploy it, and seal everything again with it
    Rotate(Rotate),
    /// Copy the keys to a cluster, and verify that they open
    Deploy(Deploy),
    /// Copy all keys to another store, and verify the copy
    Backup(Copy),
    /// Copy keys back from another store
    Restore(Copy),
}

/// The repository, and the store of its keys.
#[derive(Args, Debug)]
pub(crate) struct KeyPlace {
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

/// The repository once more, as other commands take it. Not where a value may be typed by mistake: a word that is a path would be
/// repeated in a message.
#[derive(Args, Debug)]
pub(crate) struct Directory {
    /// The directory of a cluster repository, as --path
    #[arg(value_name = "PATH", conflicts_with = "path")]
    directory: Option<PathBuf>,
}

impl Seal {
    /// The same with the directory where all look for it, however it was given.
    pub(crate) fn settled(mut self) -> Self {
        let (place, directory) = match &mut self.what {
            SealCommand::Init(it) => (&mut it.place, &mut it.directory),
            SealCommand::Secret(_) => return self,
            SealCommand::Generate(it) => (&mut it.place, &mut it.directory),
            SealCommand::Verify(it) => (&mut it.place, &mut it.directory),
            SealCommand::Reseal(it) => (&mut it.place, &mut it.directory),
            SealCommand::Rotate(it) => (&mut it.place, &mut it.directory),
            SealCommand::Deploy(it) => (&mut it.place, &mut it.directory),
            SealCommand::Backup(it) | SealCommand::Restore(it) => (&mut it.place, &mut it.directory),
        };
        if let Some(path) = directory.directory.take() {
            place.path = path;
        }
        self
    }
}

/// What to do with what is written.
#[derive(Args, Debug)]
pub(crate) struct Delivery {
    /// Commit only the files that were written
    #[arg(long)]
    pub commit: bool,
    /// Commit and push, because Flux reads the remote
    #[arg(long)]
    pub push: bool,
}

/// Who is given the keys.
#[derive(Args, Debug, Default)]
pub(crate) struct NewRecipients {
    /// A recipient of coldstart.yaml that can't open the store yet and is to: --yes alone does not accept it
    #[arg(long = "new-recipient", value_name = "RECIPIENT")]
    pub accepted: Vec<String>,
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
    pub directory: Directory,
    #[command(flatten)]
    pub place: KeyPlace,
    /// Bits of a new key
    #[arg(long, default_value_t = 4096)]
    pub bits: u32,
    /// Days for which a new certificate can be used to seal; the key opens without limit
    #[arg(long, default_value_t = 3650)]
    pub days: u32,
    /// Adopt keys from files instead: PEM, `kubectl get secret -o yaml`, Terraform output or state; - is standard input
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub adopt: Vec<PathBuf>,
    /// Of several pairs in a Terraform file, the one at this place or with this id
    #[arg(long, value_name = "PLACE", requires = "adopt")]
    pub pick: Option<String>,
    /// Generate a certificate for a private key that comes without one
    #[arg(long, requires = "adopt")]
    pub new_certificate: bool,
    /// Adopt the keys of a running cluster instead
    #[arg(long, conflicts_with = "adopt")]
    pub adopt_cluster: bool,
    /// Adopt the items of secret-tool instead: service sealed-secrets, keys private_key and public_key
    #[arg(long, conflicts_with_all = ["adopt", "adopt_cluster"])]
    pub adopt_secret_tool: bool,
    /// Generate a new key although there was one before; it opens nothing that was sealed before
    #[arg(long, conflicts_with_all = ["adopt", "adopt_cluster", "adopt_secret_tool"])]
    pub new_key: bool,
    /// Write the newest certificate to this file, for sealing without the store
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// Also keep the keys in this second store
    #[arg(long, value_name = "STORE")]
    pub backup: Option<String>,
    /// A file of age identities that opens the second store
    #[arg(long, value_name = "FILE")]
    pub backup_identity: Option<PathBuf>,
    #[command(flatten)]
    pub target: Target,
    #[command(flatten)]
    pub recipients: NewRecipients,
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
    pub place: KeyPlace,
    /// Secrets to seal, as manifests; - is standard input
    #[arg(long, value_name = "FILE")]
    pub manifest: Option<PathBuf>,
    /// The name of the Secret
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Its namespace
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// Its type, such as kubernetes.io/basic-auth
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
    /// Ask for a value, without showing it
    #[arg(long, value_name = "KEY")]
    pub prompt: Vec<String>,
    /// A YAML or JSON structure from a file, encoded as exact JSON
    #[arg(long, value_name = "KEY=FILE")]
    pub structure: Vec<String>,
    /// Print only the sealed value, without a SealedSecret
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
    pub directory: Directory,
    #[command(flatten)]
    pub place: KeyPlace,
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
    pub directory: Directory,
    #[command(flatten)]
    pub place: KeyPlace,
    /// Also check the cluster: each of its keys must be in the store
    #[arg(long)]
    pub cluster: bool,
    /// Disable the controller's key renewal in the file that enables it
    #[arg(long)]
    pub write: bool,
    /// Write without asking
    #[arg(long)]
    pub yes: bool,
    /// How to print the report
    #[arg(long, short = 'o', value_enum, default_value_t = VerifyFormat::Text)]
    pub format: VerifyFormat,
    #[command(flatten)]
    pub target: Target,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum VerifyFormat {
    Text,
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of GitHub Actions
    Github,
    /// A comment for a pull request
    Markdown,
}

#[derive(Args, Debug)]
pub(crate) struct Reseal {
    #[command(flatten)]
    pub directory: Directory,
    #[command(flatten)]
    pub place: KeyPlace,
    #[command(flatten)]
    pub delivery: Delivery,
    /// Do it without asking
    #[arg(long)]
    pub yes: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Rotate {
    #[command(flatten)]
    pub directory: Directory,
    #[command(flatten)]
    pub place: KeyPlace,
    /// Bits of the new key [default: 4096]
    #[arg(long)]
    pub bits: Option<u32>,
    /// Days for which the new certificate can be used to seal [default: 3650]
    #[arg(long)]
    pub days: Option<u32>,
    /// Do not deploy: there is no cluster now
    #[arg(long)]
    pub offline: bool,
    /// A file of age identities that opens the second store
    #[arg(long, value_name = "FILE")]
    pub backup_identity: Option<PathBuf>,
    #[command(flatten)]
    pub target: Target,
    #[command(flatten)]
    pub delivery: Delivery,
    /// Verify with a canary even if no Deployment of the controller is found
    #[arg(long)]
    pub prove: bool,
    #[command(flatten)]
    pub recipients: NewRecipients,
    /// A recipient that can open the store and is not to: the new key is not encrypted to it
    #[arg(long, value_name = "RECIPIENT")]
    pub remove_recipient: Vec<String>,
    /// Do it without asking
    #[arg(long)]
    pub yes: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Deploy {
    #[command(flatten)]
    pub directory: Directory,
    #[command(flatten)]
    pub place: KeyPlace,
    #[command(flatten)]
    pub target: Target,
    /// Only print the Secrets that would be applied; they contain the private keys
    #[arg(long)]
    pub print: bool,
    /// Verify with a canary even if no Deployment of the controller is found
    #[arg(long)]
    pub prove: bool,
    /// Do it without asking
    #[arg(long)]
    pub yes: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Copy {
    /// The other store [default: what coldstart.yaml says]
    #[arg(value_name = "STORE")]
    pub other: Option<String>,
    #[command(flatten)]
    pub directory: Directory,
    #[command(flatten)]
    pub place: KeyPlace,
    /// A file of age identities that opens the other store
    #[arg(long, value_name = "FILE")]
    pub backup_identity: Option<PathBuf>,
    #[command(flatten)]
    pub recipients: NewRecipients,
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
