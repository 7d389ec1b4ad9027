//! What can be wrong with keys and with what is sealed, as data.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// What `coldstart seal verify` states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SealFault {
    /// A SealedSecret, or one of its items.
    Sealed(SealedFault),
    /// The keys of the store, their certificate and their backup.
    Keys(KeysFault),
    /// A controller that makes new keys by itself.
    Renewal(RenewalFault),
    /// A file of SOPS, or the rules for them.
    Sops(SopsFault),
    /// A private key in the clear, and Git has it.
    KeyInGit,
    /// A Secret that a secret store needs.
    Credential(Credential),
    /// What the cluster has.
    Cluster(ClusterFault),
}

/// An error of another room, which says itself what is wrong.
#[derive(Clone, Debug)]
pub struct Cause(Arc<dyn Error + Send + Sync>);

impl Cause {
    /// The error itself.
    pub fn new(error: impl Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(error))
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl PartialEq for Cause {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for Cause {}

/// A SealedSecret that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SealedFault {
    /// A file may hold one, and can't be read.
    Unreadable { why: Cause },
    /// A file was not looked at.
    NotLookedAt { why: Cause },
    /// Its shape is wrong.
    Malformed { object: String, why: Cause },
    /// No Secret may be so large.
    TooLarge { object: String, bytes: usize, bytes_max: usize },
    /// Its template names another scope than it has.
    TemplateScope { object: String, own: &'static str, template: &'static str },
    /// An item does not open where it lands.
    DoesNotOpen { landing: String, key: String, why: Unopened },
}

/// Why an item does not open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unopened {
    /// It is no sealed value.
    Broken(Cause),
    /// Neither the newest key nor those that open most open it, and others were not tried.
    NotTried { tried: usize },
    /// No key opens it.
    NoKey { bits: usize },
    /// It is sealed in another scope, and for another place where that is named.
    OtherScope { scope: &'static str, place: Option<String>, own: &'static str, annotation: Option<&'static str> },
    /// It is sealed for another place.
    Elsewhere { place: String, landing: String },
}

/// Keys that will not do, or not for long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeysFault {
    /// Nothing can be sealed with the newest.
    NewestUnusable { why: Cause },
    /// Nothing can be sealed with the newest in a while.
    ExpiresSoon { key: String, days: i64 },
    /// Items are sealed with older ones.
    OlderInUse { items: usize },
    /// The certificate of the settings can't be read.
    CertificateUnreadable { why: Cause },
    /// The certificate of the settings is none.
    CertificateBad { why: Cause },
    /// Nothing can be sealed with the certificate of the settings.
    CertificateUnusable { why: Cause },
    /// The store has no key for the certificate of the settings.
    CertificateOfOther { key: String },
    /// The certificate of the settings is an older one.
    CertificateOutdated { key: String },
    /// The second store has no key at all.
    BackupEmpty,
    /// The second store does not have these.
    BackupLacks { keys: Vec<String> },
    /// The settings name a recipient that the store is not encrypted to yet.
    NewRecipient { recipient: String },
    /// The store is encrypted to a recipient that the settings do not name.
    UnnamedRecipient { recipient: String },
}

/// What a controller does by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RenewalFault {
    /// It makes keys.
    MakesKeys(Renews),
    /// Values that were not read may say otherwise.
    SaidElsewhere(Renews),
    /// There is no release of it.
    NoRelease,
}

/// How a release or Deployment has new keys made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Renews {
    /// It is told to make none.
    Never,
    /// It is told nothing.
    Unsaid,
    /// It is told nothing, because `args` replace all that the chart would tell it.
    UnsaidInArguments,
    /// It is told so.
    Every { period: String },
    /// A number without quotes is nothing to older charts.
    Unquoted,
}

/// A file of SOPS that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SopsFault {
    /// It is named as one, and is too large or no text.
    NotText,
    /// It can't be read in its format.
    NotRead { format: &'static str, problem: String },
    /// It is named as one, and is not encrypted.
    NotEncrypted,
    /// A value of a Secret is in the clear, and a rule wants it encrypted.
    SecretInTheClear { field: String },
    /// A value is in the clear, and there is a rule for its file.
    ValueInTheClear { field: String },
    /// Values of an encrypted file are in the clear: the first, and how many more.
    PlainValues { field: String, more: usize },
    /// It is not encrypted to someone whom a rule names.
    LacksRecipient { recipient: String },
    /// It is encrypted to someone whom no rule names.
    ExtraRecipient { recipient: String },
    /// It is for no age identity.
    NoAgeRecipient,
    /// There is no age identity to open it with.
    NoIdentity,
    /// The age identity at hand does not open it.
    NotOpened,
    /// `sops` does not open it, and may be too old.
    NotOpenedBySops,
    /// It takes programs that are not there.
    NeedsPrograms,
    /// `age` opens what `sops` does not.
    OldSops,
    /// The rules can't be read.
    RulesUnreadable,
    /// A pattern of the rules is not understood.
    BadPattern,
}

/// A Secret that a secret store needs before it can fetch any other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// The secret store.
    pub store: String,
    /// `namespace/name` of the Secret.
    pub secret: String,
    /// What is wrong with it.
    pub fault: CredentialFault,
}

/// What is wrong with a credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CredentialFault {
    /// Nothing that is applied makes it.
    NotMade,
    /// It is fetched from the very store that needs it.
    Circular,
    /// It has no key of this name.
    LacksKey { key: String },
}

/// Keys and controller in a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClusterFault {
    /// A Secret is labelled as a key and is none.
    NotAKey { why: Cause },
    /// A key of the cluster is not in the store.
    KeyNotInStore { key: String },
    /// A key of the store is not in the cluster.
    KeyNotInCluster { key: String },
    /// There is no controller.
    NoController { namespace: String },
    /// There is no namespace for it.
    NoNamespace { namespace: String },
    /// The controller makes a key every so often.
    RenewsEvery { period: String },
    /// The controller makes a key by itself: on a day, or at its next start.
    RenewsByItself { on: Option<String> },
}
