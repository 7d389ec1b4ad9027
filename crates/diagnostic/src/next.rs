//! What to type next, as data: which command, and what it names.
//!
//! A failure or a finding carries one of these; `draw` has the words, and the program prints them in one place. Nothing
//! here knows why something failed, nor how a command is written.

use std::path::PathBuf;

/// What to type or to do next, grouped by what it is done with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Next {
    /// The same command again, as it is or with other options.
    Again(Again),
    /// The same command again, with a value given in another way.
    Value(Value),
    /// A command of this program that is not about sealing.
    Run(Run),
    /// A command of `coldstart seal`.
    Seal(Seal),
    /// Something about where keys are kept.
    Store(Store),
    /// Something about a key or certificate that is to be adopted.
    Key(Key),
    /// Something to change in a file, by hand.
    Edit(Edit),
    /// A command of Git.
    Git(Git),
    /// A command of kubectl.
    Kubectl(Kubectl),
    /// A command of another program.
    Program(Program),
}

/// The same command again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Again {
    /// As it was.
    Same,
    /// Once the file can be read and written.
    OnceUsable,
    /// Once there is room on the disk.
    OnceRoom,
    /// As it was: it reads the file again.
    ReadsAgain,
    /// After the file was put right.
    OnceRepaired,
    /// With a yes on the command line.
    WithYes,
    /// With the identity of another recipient.
    WithOtherIdentity,
    /// With a question, or with the new recipients by name.
    WithNewRecipient { recipient: String },
    /// With a file that is there.
    WithFileThatExists,
    /// With a file, where a directory was named.
    WithFile,
    /// With a file of the repository.
    WithFileOfRepository,
    /// With a file in the repository, or printed.
    WithFileInRepositoryOrPrinted,
    /// With this file.
    With(PathBuf),
    /// With a place that can be written.
    WithWritablePlace,
    /// As a person who may.
    AsOwner,
    /// With the repository's directory.
    WithRepository,
    /// With `--name`.
    WithName,
    /// Without `--name`.
    WithoutName,
    /// With a different `--name`.
    WithOtherName,
    /// With `--namespace`.
    WithNamespace,
    /// With a different key of the Secret.
    WithOtherKey,
    /// With the scope that is there, or a different `--name`.
    WithScopeOrName,
    /// With a file to write, or without a commit.
    WithOutOrUncommitted,
    /// With a different `--out`, and without the Secret in the clear.
    WithOtherOut,
    /// With `--out` and a file of its own.
    WithOwnOut,
    /// With another certificate or a smaller value.
    WithOtherCertificate,
    /// With a key of a size that is known.
    WithUsualBits,
    /// With a lifetime that is possible.
    WithUsualDays,
    /// Without `--bits` and `--days`, which an unfinished rotation does not take.
    WithoutBitsAndDays,
    /// With `--pick` and one of those that were listed.
    WithPick,
    /// With `--pick`, of several pairs.
    WithPickPlace,
    /// With `--controller-namespace`.
    WithControllerNamespace,
}

/// How a value is given to `coldstart seal secret`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// One of the options for values.
    Options,
    /// With one of the options for values.
    WithOption,
    /// With exactly one of the options for values.
    WithOneOption,
    /// All options that there are, after a command line that was not understood.
    OptionsAndHelp,
    /// The help.
    Help,
    /// A manifest, or the help about values.
    ManifestOrHelp,
    /// A manifest of Secrets alone, or the help about values.
    SecretsAloneOrHelp,
    /// From standard input or a file.
    StdinOrFile { key: String },
    /// From a file that can be read, or standard input.
    FileOrStdin { key: String },
    /// An empty value on purpose.
    Empty { key: String },
    /// An empty value on purpose, where the key is not to be named.
    EmptyOfAnyKey,
    /// One of two values for a key.
    OneOfThem,
    /// From a command of its own.
    OwnCommand,
    /// A file for those that standard input can't serve.
    FileForOthers,
    /// A file, or standard input.
    FileOrDash,
    /// A text file, or bytes with `--from-file`.
    TextFile,
    /// A file as it is, with `--from-file`.
    FileAsItIs,
    /// A file with a structure in it.
    StructuredFile,
    /// A file of one document.
    SingleDocument,
    /// A line put right, or the file as it is.
    RepairLineOrFileAsItIs,
    /// The file put right, or as it is.
    RepairOrFileAsItIs,
    /// Exported to the environment.
    Export,
    /// In quotes.
    Quote,
    /// Line ends as Unix or Windows has them.
    LineEnds,
    /// One of two lines removed.
    RemoveOne,
}

/// A command of this program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Run {
    /// With the directory of a cluster repository.
    WithRepository { command: &'static str },
    /// With the directory that Flux starts from.
    WithEntry { command: &'static str, at: PathBuf, entry: Option<String> },
    /// After the settings were put right.
    OnceSettingsRepaired { command: &'static str },
    /// For one cluster; without a name, for one that you choose.
    ForCluster { command: &'static str, at: PathBuf, cluster: Option<String> },
    /// With or without Helm.
    WithHelm { command: &'static str },
    /// `coldstart check`.
    Check { at: PathBuf },
    /// `coldstart check` without `--since`.
    CheckWithoutSince,
    /// `coldstart check --explain`; without a name, for a rule that you choose.
    Explain { rule: Option<&'static str> },
    /// Write that baseline.
    WriteBaseline { path: PathBuf },
    /// Use another baseline, or delete that one.
    OtherBaseline,
    /// Say where the baseline is.
    NameBaseline,
    /// `coldstart impact` of something that is there.
    Impact { at: PathBuf, of: Option<String> },
    /// `coldstart impact --critical`.
    ImpactCritical { at: PathBuf },
    /// `coldstart report --out`, which writes the file that differs.
    WriteReport { at: PathBuf, out: PathBuf },
    /// `coldstart plan`, for the names of steps and layers.
    PlanForNames { at: PathBuf },
    /// `coldstart plan`, after the settings were written.
    Plan { at: PathBuf },
    /// `coldstart up --simulate`, or only the plan.
    Simulate { at: PathBuf },
    /// `coldstart up`, which continues.
    Up { at: PathBuf },
    /// `coldstart up` with a directory for journals.
    UpWithState,
    /// With another directory for journals.
    WithState { command: &'static str, at: PathBuf },
    /// `coldstart up --yes`, for steps that changed.
    UpWithYes { at: PathBuf },
    /// `coldstart up --fresh`, or the world that is there.
    UpFresh { at: PathBuf },
    /// `coldstart log`.
    Log { at: PathBuf },
    /// `coldstart init --print`.
    InitPrint { at: PathBuf },
}

/// A command of `coldstart seal`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Seal {
    /// `coldstart seal backup`, where there is no second store yet.
    BackupSomewhere,
    /// Make the first key.
    Init,
    /// Adopt what the cluster has.
    AdoptCluster,
    /// Write the certificate again.
    InitForCertificate,
    /// Write the certificate again, or seal with the one that is there.
    InitOrCertificate { certificate: PathBuf },
    /// A new key, or one that exists.
    RotateOrAdopt,
    /// A new key.
    Rotate,
    /// A new key with a certificate of its own.
    RotateForCertificate,
    /// Keys from the backup.
    Restore,
    /// Keys from the backup, or a first key.
    RestoreOrInit,
    /// Keys from a store that has some.
    RestoreFromFilled,
    /// Keys from a backup that is named.
    RestoreFromBackup,
    /// A damaged store restored from its backup, or backed up again if it is the backup.
    RestoreOrBackup,
    /// Keys from wherever they are: a backup, another store, a cluster.
    RestoreFromAnywhere,
    /// The same, or a new key in full knowledge.
    NewKeyAllTheSame { has_backup: bool },
    /// Copy the keys.
    Backup,
    /// Copy the keys to another place, and keep the first one.
    BackupElsewhere,
    /// Bring the second store back, or begin it again.
    BackupAgain,
    /// Seal everything with the newest key.
    Reseal,
    /// Give the cluster its keys.
    Deploy,
    /// Give the cluster its keys before the files reach it.
    DeployFirst,
    /// Once more when the controller runs.
    DeployAgainForProof,
    /// Look at everything.
    Verify,
    /// Look at everything: it says what is there.
    VerifyWhatIsThere,
    /// Look at everything: it says what to set by hand.
    VerifyWhatToSet,
    /// Look at everything, and set the renewal by hand.
    VerifyAndSet,
    /// Look at everything: it says why something does not open.
    VerifyWhy,
    /// Look at everything before this store is relied on.
    VerifyBeforeUse,
    /// Look at everything: it says what a value was sealed for.
    VerifySealedFor,
    /// Let `verify` write the newest certificate.
    VerifyWriteCertificate,
    /// Let `verify` set this in the file.
    VerifyWrite { wanted: String },
    /// Seal the credential of a secret store.
    Secret,
    /// Name another store, or restore this one.
    OtherStoreOrRestore,
    /// A new key that this recipient can't open.
    RemoveRecipient { recipient: String },
}

/// Where keys are kept.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Store {
    /// Make it readable, or name another.
    ReadableOrOther,
    /// Make it writable, or name another.
    WritableOrOther,
    /// Give what unlocks it.
    Unlock,
    /// Give a passphrase or identities.
    Passphrase,
    /// Give identities.
    Identity,
    /// Leave identities away.
    NoIdentity,
    /// Give identities that are post-quantum.
    PostQuantumIdentity,
    /// Give an identity for the recipients, or leave these away.
    IdentityOrNoRecipients,
    /// Make an identity.
    MakeIdentity,
    /// Unlock the keyring of the desktop.
    UnlockKeyring,
    /// A session with a keyring, or another store.
    SessionOrOther,
    /// Remove all items but one.
    RemoveOthers { service: &'static str, user: String },
    /// One of the forms of a store.
    Forms,
    /// The form of a Vault path.
    VaultForm,
    /// A file as store.
    AgeFile,
    /// Another store on another disk.
    OtherDisk,
    /// Name a second store.
    NameSecond,
    /// The version of this program that wrote it.
    LaterVersion,
}

/// Keys and certificates as they come from elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// The certificate's own file.
    CertificateFile,
    /// The certificate as well, or a new one.
    CertificateToo,
    /// The certificate of this key, or a new one.
    CertificateOfKey,
    /// The private key's file, or the cluster's keys.
    PrivateKeyFile,
    /// The pair of the controller.
    ControllersPair,
    /// The whole text again.
    WholeText,
    /// Each in its own file.
    OwnFiles,
    /// The keys of one cluster.
    OneClusters,
    /// Another file for the certificate.
    OtherCertificateFile,
    /// Items of secret-tool, or files.
    SecretToolOrFile,
}

/// A file to change by hand.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edit {
    /// That line, then the same again.
    Line,
    /// `coldstart.yaml`.
    Settings,
    /// `coldstart.yaml`, at the line that was named.
    SettingsThere,
    /// `seal.generate` in `coldstart.yaml`.
    Generate,
    /// Declare Secrets in `coldstart.yaml`.
    DeclareSecrets,
    /// Remove a recipient of `coldstart.yaml`, then the same again.
    Recipient,
    /// Remove a recipient of `coldstart.yaml`, unless it is known.
    RecipientUnlessKnown,
    /// Another `seal.certificate` in `coldstart.yaml`.
    CertificateSetting,
    /// Of two Secrets one, or another name.
    OneSecret,
    /// Of two SealedSecrets one, or their namespaces.
    OneSealedSecret,
    /// Values as text.
    ValuesAsText,
    /// Plain text where it belongs.
    MoveToStringData,
    /// Several Secrets of one.
    DivideSecret,
    /// `spec` without anchors, or another file.
    PlainSpec,
    /// That field, then the same again.
    SetThere,
    /// What the controller needs to hear.
    SetByHand { wanted: String },
    /// A flag of the controller.
    AddArgument { flag: &'static str },
    /// The key of a Secret, or the one that a secret store names.
    KeyOfSecret { key: String },
    /// A half of a pair brought back, or both made again.
    BringHalfBack { key: String, public: String },
    /// The value from Git, or sealed again.
    FromGitOrAgain,
    /// `.gitignore`, or another directory.
    IgnoreOrOtherDirectory,
}

/// A command of Git.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Git {
    /// `git status`.
    Status,
    /// `git init`, or no commit.
    InitOrUncommitted,
    /// A name and an address for commits.
    ConfigUser,
    /// Finish what is under way: `merge` or `cherry-pick`.
    FinishOperation { operation: &'static str },
    /// Wait for another git, or remove what one left that was killed.
    RemoveLock { lock: PathBuf },
    /// Everything that a partial clone left out.
    FetchEverything,
    /// A file inside of the work tree, or no commit.
    OutInside,
    /// Not ignored, or added by force.
    Unignore { file: String },
    /// A branch.
    Switch,
    /// An upstream for the branch; without a remote, that first. `again` where the command is to be repeated after it.
    SetUpstream { remote: Option<String>, branch: String, again: bool },
    /// Commit what is under way, or put it aside.
    CommitOrStash,
    /// Commit by hand.
    Commit { files: Vec<String>, force: bool },
    /// Push by hand.
    Push,
    /// Push after what others pushed was taken in.
    PullAndPush,
    /// Install Git, or leave `--since` away.
    Install,
    /// The revisions that there are.
    LogRevisions,
    /// All commits of a shallow clone.
    FetchUnshallow,
    /// Take a key out of Git, and make a new one.
    RemoveKey,
}

/// A command of kubectl.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kubectl {
    /// Whether the cluster answers, and what you may there.
    ClusterInfoAndRights,
    /// Whether the cluster answers, or another one.
    ClusterInfoOrContext,
    /// A kubeconfig, or one of its contexts.
    Kubeconfig,
    /// Remove a Secret that is no key.
    DeleteSecret { namespace: String, name: String },
    /// How far the controller is.
    RolloutStatus { namespace: String, name: String },
    /// What the controller says.
    ControllerLogs { namespace: String },
    /// What is sealed in the cluster.
    SealedSecrets,
}

/// A command of another program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Program {
    /// Take the passphrase from a private key.
    OpensslDecrypt,
    /// What is wrong with a key or certificate.
    OpensslCheck,
    /// PEM of other forms.
    OpensslPem,
    /// This machine's time.
    Date,
    /// Make it private.
    Chmod { path: PathBuf, is_directory: bool },
    /// Encrypt a file.
    SopsEncrypt { path: String },
    /// Move a value into the encrypted part.
    SopsEdit { path: String },
    /// Encrypt a file to other recipients.
    SopsUpdateKeys { path: String },
    /// The address of a Vault server.
    VaultAddress,
    /// A token for the Vault server.
    VaultLogin,
    /// Whether the Vault server runs.
    VaultStatus,
    /// Whether the Vault server runs, and is the one that is meant.
    VaultStatusOrAddress,
    /// The engines of the Vault server.
    VaultEngines,
    /// The engines of the Vault server, of version 2.
    VaultEnginesDetailed,
    /// What the token may.
    VaultToken,
    /// A path of its own in Vault.
    VaultOtherPath,
    /// Bring back a version that was deleted.
    VaultUndelete { mount: String, version: u64, path: String },
}
