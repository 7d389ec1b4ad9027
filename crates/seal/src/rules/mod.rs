//! The rules of `coldstart seal verify`: a file for each, whose opening comment is its manual. What is found is decided by the
//! crates that look; here is what it is called.

mod closed_item;
mod cluster_keys;
mod key_backup;
mod key_in_git;
mod key_renewal;
mod malformed_sealed_secret;
mod sealing_certificate;
mod sealing_key;
mod sops_closed;
mod sops_plain;
mod sops_recipients;
mod sops_unreadable;
mod store_credential;
mod store_recipients;
mod template_scope;
mod unreadable_sealed_secret;

use diagnostic::Rule;
use diagnostic::seal::{KeysFault, SealFault, SealedFault, SopsFault};

/// Every rule, by name.
pub static ALL: [&Rule; 16] = [
    &cluster_keys::RULE,
    &key_renewal::RULE,
    &key_backup::RULE,
    &malformed_sealed_secret::RULE,
    &key_in_git::RULE,
    &closed_item::RULE,
    &template_scope::RULE,
    &sealing_certificate::RULE,
    &sealing_key::RULE,
    &store_credential::RULE,
    &sops_closed::RULE,
    &sops_plain::RULE,
    &sops_recipients::RULE,
    &sops_unreadable::RULE,
    &store_recipients::RULE,
    &unreadable_sealed_secret::RULE,
];

/// The rule that a fault is found by.
pub fn of(fault: &SealFault) -> &'static Rule {
    match fault {
        SealFault::Sealed(fault) => of_sealed(fault),
        SealFault::Keys(fault) => of_keys(fault),
        SealFault::Renewal(_) => &key_renewal::RULE,
        SealFault::Sops(fault) => of_sops(fault),
        SealFault::KeyInGit => &key_in_git::RULE,
        SealFault::Credential(_) => &store_credential::RULE,
        SealFault::Cluster(_) => &cluster_keys::RULE,
    }
}

fn of_sealed(fault: &SealedFault) -> &'static Rule {
    match fault {
        SealedFault::Unreadable { .. } | SealedFault::NotLookedAt { .. } => &unreadable_sealed_secret::RULE,
        SealedFault::Malformed { .. } | SealedFault::TooLarge { .. } => &malformed_sealed_secret::RULE,
        SealedFault::TemplateScope { .. } => &template_scope::RULE,
        SealedFault::DoesNotOpen { .. } => &closed_item::RULE,
    }
}

fn of_keys(fault: &KeysFault) -> &'static Rule {
    match fault {
        KeysFault::NewestUnusable { .. } | KeysFault::ExpiresSoon { .. } | KeysFault::OlderInUse { .. } => {
            &sealing_key::RULE
        }
        KeysFault::CertificateUnreadable { .. }
        | KeysFault::CertificateBad { .. }
        | KeysFault::CertificateUnusable { .. }
        | KeysFault::CertificateOfOther { .. }
        | KeysFault::CertificateOutdated { .. } => &sealing_certificate::RULE,
        KeysFault::NewRecipient { .. } | KeysFault::UnnamedRecipient { .. } => &store_recipients::RULE,
        KeysFault::BackupEmpty | KeysFault::BackupLacks { .. } => &key_backup::RULE,
    }
}

fn of_sops(fault: &SopsFault) -> &'static Rule {
    match fault {
        SopsFault::NotText | SopsFault::NotRead { .. } | SopsFault::RulesUnreadable | SopsFault::BadPattern => {
            &sops_unreadable::RULE
        }
        SopsFault::NotEncrypted
        | SopsFault::SecretInTheClear { .. }
        | SopsFault::ValueInTheClear { .. }
        | SopsFault::PlainValues { .. } => &sops_plain::RULE,
        SopsFault::LacksRecipient { .. } | SopsFault::ExtraRecipient { .. } => &sops_recipients::RULE,
        SopsFault::NoAgeRecipient
        | SopsFault::NoIdentity
        | SopsFault::NotOpened
        | SopsFault::NotOpenedBySops
        | SopsFault::NeedsPrograms
        | SopsFault::OldSops => &sops_closed::RULE,
    }
}

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn rules_have_names_of_their_own_and_manuals() {
        assert!(ALL.windows(2).all(|two| two[0].id < two[1].id));
        for rule in ALL {
            let manual = rule.manual();
            for part in ["## What it finds", "## Why it matters at a cold start", "## Fix"] {
                assert!(manual.contains(part), "{}: {part}", rule.id);
            }
        }
    }
}
