//! What is wrong with keys and with what is sealed.

use diagnostic::seal::{
    ClusterFault, Credential, CredentialFault, KeysFault, RenewalFault, Renews, SealFault, SealedFault, SopsFault,
    Unopened,
};

/// The chart's value for renewal.
const RENEWAL_VALUE: &str = "keyrenewperiod";
const SOPS_RULES: &str = ".sops.yaml";
const SOPS_NEEDED: &str = "sops 3.12 or age 1.3";
const LOST: &str = "a key that is in no store, so the next rebuild loses what is sealed with it";

/// One line that follows the name of the place.
pub fn seal(fault: &SealFault) -> String {
    match fault {
        SealFault::Sealed(fault) => sealed(fault),
        SealFault::Keys(fault) => keys(fault),
        SealFault::Renewal(fault) => renewal(fault),
        SealFault::Sops(fault) => sops(fault),
        SealFault::KeyInGit => "a private key in the clear, and Git has it".to_owned(),
        SealFault::Credential(credential) => needed(credential),
        SealFault::Cluster(fault) => cluster(fault),
    }
}

fn sealed(fault: &SealedFault) -> String {
    match fault {
        SealedFault::Unreadable { why } => format!("may hold a SealedSecret and {why}"),
        SealedFault::NotLookedAt { why } => format!("was not read: it {why}"),
        SealedFault::Malformed { object, why } => format!("{object}: {why}"),
        SealedFault::TooLarge { object, bytes, bytes_max } => format!(
            "{object}: its values have {bytes} bytes together, and the API server accepts no Secret larger than {bytes_max}"
        ),
        SealedFault::TemplateScope { object, own, template } => format!(
            "{object}: its template says {template} and its own metadata {own}: it opens as {own}, and `kubeseal --re-encrypt` would make it {template}"
        ),
        SealedFault::DoesNotOpen { landing, key, why } => format!("{landing}: `{key}`: {}", unopened(why)),
    }
}

fn unopened(why: &Unopened) -> String {
    match why {
        Unopened::Broken(why) => why.to_string(),
        // Which of these can't be told: neither is anywhere in what is sealed.
        Unopened::NotTried { tried: 0 } => {
            "it was not tried, because too many items before it open with no key".to_owned()
        }
        Unopened::NotTried { tried } => format!(
            "neither the newest key nor those that open most do ({tried} tried); the others were not tried, because too many items before it \
             open with none"
        ),
        Unopened::NoKey { bits } => format!(
            "no key in the store opens it: it was sealed for another key of {bits} bits, or for another name or namespace"
        ),
        Unopened::OtherScope { scope, place, own, annotation } => {
            let place = place.as_ref().map(|place| format!(" for {place}")).unwrap_or_default();
            let annotation = annotation.unwrap_or("no scope annotation");
            format!("it is sealed {scope}{place}, but its own metadata says {own} (wanted: {annotation})")
        }
        Unopened::Elsewhere { place, landing } => format!("it is sealed for {place}, but is applied as {landing}"),
    }
}

fn keys(fault: &KeysFault) -> String {
    match fault {
        KeysFault::NewestUnusable { why } => format!("the newest key: {why}"),
        KeysFault::ExpiresSoon { key, days } => {
            format!("the certificate of the newest key {key} expires in {days} days")
        }
        KeysFault::OlderInUse { items } => format!("{items} items are sealed with older keys"),
        KeysFault::CertificateUnreadable { why } => {
            format!("is the certificate of coldstart.yaml and can't be read: {why}")
        }
        KeysFault::CertificateBad { why } => format!("is the certificate of coldstart.yaml, and {why}"),
        KeysFault::CertificateUnusable { why } => format!("can't be sealed with: {why}"),
        KeysFault::CertificateOfOther { key } => format!(
            "is the certificate of key {key}, which is not in the store: no key in the store opens what is sealed with it"
        ),
        KeysFault::CertificateOutdated { key } => {
            format!("is the certificate of key {key}, which is not the newest of the store")
        }
        KeysFault::BackupEmpty => "holds no key, or can't be reached: it is not a backup of the store now".to_owned(),
        KeysFault::NewRecipient { recipient } => format!(
            "coldstart.yaml names the recipient {recipient}, which can't open the store yet: the next command that writes the store gives it every private key"
        ),
        KeysFault::UnnamedRecipient { recipient } => {
            format!("{recipient} can open it and has every private key, though coldstart.yaml does not name it")
        }
        KeysFault::BackupLacks { keys } => format!("lacks key {} of the store", keys.join(", ")),
    }
}

fn renewal(fault: &RenewalFault) -> String {
    match fault {
        RenewalFault::MakesKeys(how) => format!("{}: {LOST}", renews(how)),
        RenewalFault::SaidElsewhere(how) => {
            format!("whether {} depends on values from elsewhere, which were not read", renews(how))
        }
        RenewalFault::NoRelease => {
            "no release of the controller was found, so whether it makes new keys by itself is not known".to_owned()
        }
    }
}

fn renews(how: &Renews) -> String {
    match how {
        Renews::Never => "the controller makes no new keys".to_owned(),
        Renews::Unsaid => "the controller makes a new key every 30 days, and at once when a key is older".to_owned(),
        Renews::UnsaidInArguments => format!(
            "`args` replaces all arguments that the chart passes to the controller, `{RENEWAL_VALUE}` included: the controller makes a new key every 30 days"
        ),
        Renews::Every { period } => format!("the controller makes a new key every {period}"),
        Renews::Unquoted => format!(
            "`{RENEWAL_VALUE}: 0` without quotes is ignored by the chart before 2.17.4: the controller makes new keys"
        ),
    }
}

fn sops(fault: &SopsFault) -> String {
    match fault {
        SopsFault::NotText => {
            "is named as a SOPS file and can't be read: it is too large, or not UTF-8 text".to_owned()
        }
        SopsFault::NotRead { format, problem } => format!("is a SOPS file and can't be read as {format}: {problem}"),
        SopsFault::NotEncrypted => "is named as a SOPS file and is not encrypted".to_owned(),
        SopsFault::SecretInTheClear { field } => {
            format!("`{field}` of a Secret is in the clear, but {SOPS_RULES} requires encryption")
        }
        SopsFault::ValueInTheClear { field } => {
            format!("`{field}` is in the clear, but {SOPS_RULES} has a rule for this file")
        }
        SopsFault::PlainValues { field, more } => {
            let more = if *more == 0 { String::new() } else { format!(", and {more} more") };
            format!("`{field}` is in the clear in a SOPS file{more}")
        }
        SopsFault::LacksRecipient { recipient } => {
            format!("is not encrypted to {}, as {SOPS_RULES} requires", short(recipient))
        }
        SopsFault::ExtraRecipient { recipient } => {
            format!("is encrypted to {}, which {SOPS_RULES} does not name", short(recipient))
        }
        SopsFault::NoAgeRecipient => "has no age recipient".to_owned(),
        SopsFault::NoIdentity => "was not opened: there is no age identity (SOPS_AGE_KEY_FILE)".to_owned(),
        SopsFault::NotOpened => "is not opened by the available age identity".to_owned(),
        SopsFault::NotOpenedBySops => {
            format!("is not opened by `sops` with the available age identity ({SOPS_NEEDED} or later?)")
        }
        SopsFault::NeedsPrograms => {
            format!("was not opened: this needs {SOPS_NEEDED} or later on PATH (post-quantum recipients or plugins)")
        }
        SopsFault::OldSops => "`age` opens its key, but `sops` does not open it: is that 3.12 or later?".to_owned(),
        SopsFault::RulesUnreadable => {
            "can't be read as YAML, so coldstart can't tell which files must be encrypted".to_owned()
        }
        SopsFault::BadPattern => "has a path_regex that was not understood".to_owned(),
    }
}

/// Post-quantum recipients have two thousand characters.
fn short(recipient: &str) -> String {
    const SHOWN: usize = 20;
    let shown: String = recipient.chars().take(SHOWN).collect();
    if recipient.chars().count() > SHOWN { format!("{shown}…") } else { shown }
}

fn needed(Credential { store, secret, fault }: &Credential) -> String {
    let what = match fault {
        CredentialFault::NotMade => ", which nothing that Flux applies creates: the bootstrap must".to_owned(),
        CredentialFault::Circular => ", which is fetched from that same store: neither can come first".to_owned(),
        CredentialFault::LacksKey { key } => format!(" with the key `{key}`, and it has none of that name"),
    };
    format!("secret store {store} needs Secret {secret}{what}")
}

fn cluster(fault: &ClusterFault) -> String {
    match fault {
        ClusterFault::NotAKey { why } => {
            format!(
                "is labelled as a sealing key, but is not one: {why}; a controller that starts with it exits at once"
            )
        }
        ClusterFault::KeyNotInStore { key } => {
            format!("key {key} is active in the cluster and not in the store: a rebuild loses what is sealed with it")
        }
        ClusterFault::KeyNotInCluster { key } => format!("key {key} of the store is not in the cluster"),
        ClusterFault::NoController { namespace } => {
            format!("there is no Deployment of the controller in {namespace}")
        }
        ClusterFault::NoNamespace { namespace } => format!("there is no namespace {namespace}"),
        ClusterFault::RenewsEvery { period } => format!("makes a new key every {period}"),
        ClusterFault::RenewsByItself { on } => {
            let when = on.as_ref().map_or_else(|| "at its next start".to_owned(), |on| format!("on {on}"));
            format!(
                "makes a new key by itself {when}, which no store has; disable it in the release's values: Flux reverts a change to the Deployment"
            )
        }
    }
}
