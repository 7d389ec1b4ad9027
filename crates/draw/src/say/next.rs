//! The words for what to type next. Knows no failure: only the command, and what it names.

use std::path::Path;

use diagnostic::Next;
use diagnostic::next::{Again, Edit, Git, Key, Kubectl, Program, Run, Seal, Store, Value};

use crate::shell;

/// The options by which a value is given.
const VALUE_OPTIONS: &str = "--from-stdin KEY, --prompt KEY or --from-file KEY=FILE";
const AS_IT_IS: &str = "to seal a file as it is: --from-file KEY=FILE";
const FROM_ANYWHERE: &str = "coldstart seal restore STORE from a backup, the same with the --store that has them, or coldstart seal init --adopt-cluster from a cluster that does";
const INIT_FOR_CERTIFICATE: &str = "coldstart seal init, which writes it from the store, without a new key";
const UNLOCK_KEYRING: &str = "unlock it, then the same command again: at its desktop (`Passwords and Keys`), or without one by \
     gnome-keyring-daemon --replace --unlock, which reads the password; or another store: --store age:FILE";

/// What to type next, as one line.
pub fn next(next: &Next) -> String {
    match next {
        Next::Again(again) => again_words(again),
        Next::Value(value) => value_words(value),
        Next::Run(run) => run_words(run),
        Next::Seal(seal) => seal_words(seal),
        Next::Store(store) => store_words(store),
        Next::Key(key) => key_words(key).to_owned(),
        Next::Edit(edit) => edit_words(edit),
        Next::Git(git) => git_words(git),
        Next::Kubectl(kubectl) => kubectl_words(kubectl),
        Next::Program(program) => program_words(program),
    }
}

fn again_words(again: &Again) -> String {
    let words = match again {
        Again::With(path) => return format!("the same with {}", path.display()),
        Again::Same => "the same command again",
        Again::OnceUsable => "the same command again once it can be read and written",
        Again::OnceRoom => "df, then the same command again once there is free space",
        Again::ReadsAgain => "the same command again, which reads the file again",
        Again::OnceRepaired => "fix it, then the same command again",
        Again::WithYes => "the same with --yes",
        Again::WithOtherIdentity => "the same with --identity FILE of another recipient",
        Again::WithNewRecipient { recipient } => {
            return format!(
                "remove it from `seal.recipients`; or, if you know it, the same without --yes, or with --new-recipient {recipient}"
            );
        }
        Again::WithFileThatExists => "the same with the path of an existing file",
        Again::WithFile => "the same with the path of a file",
        Again::WithFileOfRepository => "the same with a file of the repository",
        Again::WithFileInRepositoryOrPrinted => "a file in it, or the same without --out, which prints",
        Again::WithWritablePlace => "the same with a place that can be written",
        Again::AsOwner => "ls -l, which shows who owns it; then the same as a user with permission",
        Again::WithRepository => "the same with --path <directory of a cluster repository>",
        Again::WithName => "the same with --name NAME",
        Again::WithoutName => "the same without --name",
        Again::WithOtherName => "the same with another --name",
        Again::WithNamespace => "the same with --namespace NAME",
        Again::WithOtherKey => "the same with another key",
        Again::WithScopeOrName => "the same with the scope it has, or another --name",
        Again::WithOutOrUncommitted => "the same with --out FILE, or without --commit and --push",
        Again::WithOtherOut => {
            "the same with another --out, then remove it from this file; if Git already has it, generate new values"
        }
        Again::WithOwnOut => "--out with a file of its own",
        Again::WithOtherCertificate => "the same with another --certificate, or a smaller value",
        Again::WithUsualBits => "the same with --bits 4096",
        Again::WithUsualDays => "the same with --days 3650",
        Again::WithoutBitsAndDays => "the same without --bits and --days, which continues with it; then rotate again",
        Again::WithPick => "the same with --pick and one of these",
        Again::WithPickPlace => "--pick PLACE",
        Again::WithControllerNamespace => "--controller-namespace NAME, where the controller is",
    };
    words.to_owned()
}

fn value_words(value: &Value) -> String {
    let words = match value {
        Value::Options => VALUE_OPTIONS,
        Value::WithOption => return format!("the same with a value: {VALUE_OPTIONS}"),
        Value::WithOneOption => "the same with one of --from-stdin KEY, --prompt KEY, --from-file KEY=FILE",
        Value::OptionsAndHelp => return format!("{VALUE_OPTIONS}; all options: coldstart seal secret --help"),
        Value::Help => "coldstart seal secret --help",
        Value::ManifestOrHelp => "a manifest of kind Secret, or values: coldstart seal secret --help",
        Value::SecretsAloneOrHelp => "a manifest of Secrets alone, or values: coldstart seal secret --help",
        Value::StdinOrFile { key } => return format!("--from-stdin {key}, or --from-file {key}=FILE"),
        Value::FileOrStdin { key } => return format!("the same with --from-file {key}=FILE, or --from-stdin {key}"),
        Value::Empty { key } => return empty_value(key),
        Value::EmptyOfAnyKey => return empty_value("KEY"),
        Value::OneOfThem => "the same with one of them",
        Value::OwnCommand => "the values by a command of their own, with --name",
        Value::FileForOthers => "the same with a file for the others",
        Value::FileOrDash => "the same with a file, or - for standard input",
        Value::TextFile => "the same with a text file; for a binary value: --from-file KEY=FILE",
        Value::FileAsItIs => AS_IT_IS,
        Value::StructuredFile => "the same with a file that has a structure",
        Value::SingleDocument => "the same with a file of one; all as they are: --from-file KEY=FILE",
        Value::RepairLineOrFileAsItIs => return format!("fix that line; {AS_IT_IS}"),
        Value::RepairOrFileAsItIs => return format!("fix it; {AS_IT_IS}"),
        Value::Export => "export it, then the same command again",
        Value::Quote => "quote it to keep it as written",
        Value::LineEnds => "end its lines as Unix or Windows does: tr '\\r' '\\n' <FILE",
        Value::RemoveOne => "remove one of the two",
    };
    words.to_owned()
}

fn empty_value(key: &str) -> String {
    format!("for an empty value on purpose: --from-file {key}=/dev/null")
}

fn run_words(run: &Run) -> String {
    match run {
        Run::WithRepository { command } => format!("coldstart {command} <directory of a cluster repository>"),
        Run::WithEntry { command, at, entry } => {
            let entry = entry.as_deref().unwrap_or("<directory that Flux applies first>");
            format!("coldstart {command}{} --entry {entry}", here(at))
        }
        Run::OnceSettingsRepaired { command } => format!("fix that file, then coldstart {command}"),
        Run::ForCluster { command, at, cluster } => {
            let cluster = cluster.as_deref().unwrap_or("NAME");
            format!("coldstart {command}{} --cluster {cluster}", here(at))
        }
        Run::WithHelm { command } => {
            format!("coldstart {command} --render-charts --helm <path of helm>, or without --render-charts")
        }
        Run::Check { at } => format!("coldstart check{}", here(at)),
        Run::CheckWithoutSince => "coldstart check without --since".to_owned(),
        Run::Explain { rule } => format!("coldstart check --explain {}", rule.unwrap_or("RULE")),
        Run::WriteBaseline { path } => {
            format!("coldstart check --baseline {} --write-baseline", path.display())
        }
        Run::OtherBaseline => {
            "coldstart check --baseline <another file>, with --write-baseline to write it; or delete this one first"
                .to_owned()
        }
        Run::NameBaseline => {
            "coldstart check --baseline FILE --write-baseline, or set `check.baseline` in coldstart.yaml".to_owned()
        }
        Run::Impact { at, of: Some(of) } => format!("coldstart impact {}{}", shell::word(of), here(at)),
        Run::Impact { at, of: None } => format!("coldstart graph{}, which lists what there is", here(at)),
        Run::ImpactCritical { at } => format!("coldstart impact --critical{}", here(at)),
        Run::WriteReport { at, out } => format!("coldstart report{} --out {}", here(at), out.display()),
        Run::PlanForNames { at } => format!("coldstart plan{}, which lists the steps and layers", here(at)),
        Run::Plan { at } => format!("coldstart plan{}", here(at)),
        Run::Simulate { at } => {
            format!("coldstart up{0} --simulate, which touches nothing, or coldstart plan{0}", here(at))
        }
        Run::Up { at } => format!("coldstart up{}, which checks everything and continues", here(at)),
        Run::UpWithState => "coldstart up --state DIRECTORY".to_owned(),
        Run::WithState { command, at } => {
            format!("coldstart {command}{} --state <directory that can be written>", here(at))
        }
        Run::UpWithYes { at } => format!("coldstart up{} --yes, which does them again", here(at)),
        Run::UpFresh { at } => {
            format!("coldstart up{} --fresh for a new one, or omit --seed and --fault", here(at))
        }
        Run::Log { at } => format!("coldstart log{}", here(at)),
        Run::InitPrint { at } => format!("coldstart init{} --print, to compare", here(at)),
    }
}

/// The directory as it was given, for a command that is to be typed in the same place; nothing for the current one.
fn here(path: &Path) -> String {
    if path == Path::new(".") { String::new() } else { format!(" {}", shell::word(&path.to_string_lossy())) }
}

fn seal_words(seal: &Seal) -> String {
    let words = match seal {
        Seal::Init => "coldstart seal init",
        Seal::AdoptCluster => "coldstart seal init --adopt-cluster",
        Seal::InitForCertificate => INIT_FOR_CERTIFICATE,
        Seal::InitOrCertificate { certificate } => {
            return format!(
                "{INIT_FOR_CERTIFICATE}; or --certificate {} to seal with it anyway",
                certificate.display()
            );
        }
        Seal::RotateOrAdopt => "coldstart seal rotate for a new one, or --adopt to add one that exists",
        Seal::Rotate => "coldstart seal rotate",
        Seal::RemoveRecipient { recipient } => {
            return format!("coldstart seal rotate --remove-recipient {recipient}, unless you know it");
        }
        Seal::RotateForCertificate => "coldstart seal rotate, which makes a key with a certificate of its own",
        Seal::Restore => "coldstart seal restore",
        Seal::RestoreOrInit => "coldstart seal restore, or coldstart seal init if there never was one",
        Seal::RestoreFromFilled => "coldstart seal restore STORE with a store that has keys; nothing was done",
        Seal::RestoreFromBackup => "coldstart seal restore STORE from a backup",
        Seal::RestoreOrBackup => {
            "move it away, then coldstart seal restore STORE; or coldstart seal backup, if it is the backup"
        }
        Seal::RestoreFromAnywhere => FROM_ANYWHERE,
        Seal::NewKeyAllTheSame { has_backup } => {
            let from = if *has_backup { "coldstart seal restore" } else { FROM_ANYWHERE };
            return format!("{from}; if you want a new key anyway, coldstart seal init --new-key");
        }
        Seal::Backup => "coldstart seal backup",
        Seal::BackupSomewhere => {
            "coldstart seal backup age:<file on another disk>, because a store that is lost is lost for good"
        }
        Seal::BackupElsewhere => "keep the other store, and coldstart seal backup to another place",
        Seal::BackupAgain => "bring it back, then the same command again; or coldstart seal backup to start over",
        Seal::Reseal => "coldstart seal reseal",
        Seal::Deploy => "coldstart seal deploy",
        Seal::DeployFirst => "coldstart seal deploy, before the files reach a cluster",
        Seal::DeployAgainForProof => "coldstart seal deploy again once it runs, for the proof",
        Seal::Verify => "coldstart seal verify",
        Seal::VerifyWhatIsThere => "coldstart seal verify, which says what is there",
        Seal::VerifyWhatToSet => "coldstart seal verify, which says what to set by hand",
        Seal::VerifyAndSet => "coldstart seal verify, and set `keyrenewperiod` by hand",
        Seal::VerifyWhy => "coldstart seal verify, which says why; is this the right --store?",
        Seal::VerifyBeforeUse => {
            "coldstart seal verify; do not rely on it before that reports no problem, and keep every other store"
        }
        Seal::VerifySealedFor => {
            "coldstart seal verify, which says what it was sealed for; to get the keys of a cluster: coldstart seal init --adopt-cluster"
        }
        Seal::VerifyWriteCertificate => "coldstart seal verify --write, which writes the newest certificate there",
        Seal::VerifyWrite { wanted } => return format!("coldstart seal verify --write sets `{wanted}` there"),
        Seal::Secret => "seal it, with coldstart seal secret",
        Seal::OtherStoreOrRestore => "the same with --store STORE, or coldstart seal restore",
    };
    words.to_owned()
}

fn store_words(store: &Store) -> String {
    let words = match store {
        Store::ReadableOrOther => "make sure that it exists and is readable, or name another store",
        Store::WritableOrOther => "make sure that it can be written, or name another store",
        Store::Unlock => {
            "the same command again with what opens it: --identity FILE, --passphrase-file FILE or COLDSTART_PASSPHRASE"
        }
        Store::Passphrase => "COLDSTART_PASSPHRASE, --passphrase-file FILE, or --identity FILE",
        Store::Identity => "the same with --identity FILE",
        Store::NoIdentity => "the same without --identity",
        Store::PostQuantumIdentity => "the same with an --identity FILE that is post-quantum, too",
        Store::IdentityOrNoRecipients => {
            "the same with --identity FILE for the recipients, or remove `seal.recipients` for the passphrase"
        }
        Store::MakeIdentity => "age-keygen -o FILE makes one; the same with --identity and that",
        Store::UnlockKeyring => UNLOCK_KEYRING,
        Store::SessionOrOther => {
            "a session with a keyring (dbus-run-session starts one), or another store: --store age:FILE"
        }
        Store::RemoveOthers { service, user } => {
            return format!("secret-tool search --all service {service} username {user}, and remove the others");
        }
        Store::Forms => "--store with one of age:FILE, dir:DIRECTORY, keyring:NAME, vault:MOUNT/PATH",
        Store::VaultForm => {
            "vault:MOUNT/PATH as in vault kv get -mount=MOUNT PATH; vault secrets list shows the mounts"
        }
        Store::AgeFile => "--store age:FILE",
        Store::OtherDisk => "the same with another place, on another disk",
        Store::NameSecond => "name one, or set `seal.backup` in coldstart.yaml",
        Store::LaterVersion => "the same with a coldstart of the version that wrote it, or a later one",
    };
    words.to_owned()
}

fn key_words(key: &Key) -> &'static str {
    match key {
        Key::CertificateFile => {
            "the same with the certificate's own file; coldstart seal init --certificate FILE writes it from the store"
        }
        Key::CertificateToo => "give the certificate's file as well, or --new-certificate to make one",
        Key::CertificateOfKey => "give the certificate of this key, or --new-certificate to make one",
        Key::PrivateKeyFile => "give the file of the private key; from a cluster: coldstart seal init --adopt-cluster",
        Key::ControllersPair => "the pair that the controller has: coldstart seal init --adopt-cluster",
        Key::WholeText => "get the whole text again: the program that printed it may have failed",
        Key::OwnFiles => "put each into a file of its own: --adopt ONE --adopt OTHER",
        Key::OneClusters => "give the file of one cluster's keys",
        Key::OtherCertificateFile => {
            "another file for the certificate, with --certificate or `seal.certificate` in coldstart.yaml, or move that one away"
        }
        Key::SecretToolOrFile => {
            "secret-tool search --all service sealed-secrets shows what there is; other keys: --adopt FILE"
        }
    }
}

fn edit_words(edit: &Edit) -> String {
    let words = match edit {
        Edit::Line => "fix that line, then the same command again",
        Edit::Settings => "fix coldstart.yaml",
        Edit::SettingsThere => "fix it there, then the same command again",
        Edit::Generate => "fix `seal.generate` in coldstart.yaml, then the same command again",
        Edit::DeclareSecrets => "declare some under `seal.generate` in coldstart.yaml",
        Edit::Recipient => "remove its line from `seal.recipients` in coldstart.yaml, then the same command again",
        Edit::RecipientUnlessKnown => "remove its line from `seal.recipients` in coldstart.yaml, unless you know it",
        Edit::CertificateSetting => "name another file as `seal.certificate` in coldstart.yaml",
        Edit::OneSecret => "make one Secret of them, or give one another name",
        Edit::OneSealedSecret => "remove one of them, or give --namespace if these differ",
        Edit::ValuesAsText => "write each value as text, numbers in quotes, then the same command again",
        Edit::MoveToStringData => "move it to `stringData`, then the same command again",
        Edit::DivideSecret => "divide it into several Secrets",
        Edit::PlainSpec => "write its `spec` out without them, or seal into another file: --out FILE",
        Edit::SetThere => "set it there by hand, then the same again",
        Edit::SetByHand { wanted } => return format!("set `{wanted}` there by hand"),
        Edit::AddArgument { flag } => return format!("add `{flag}=0` to its arguments"),
        Edit::KeyOfSecret { key } => return format!("add `{key}` to it, or correct the key that the store names"),
        Edit::BringHalfBack { key, public } => {
            return format!("bring `{key}` back, or remove `{public}` to generate both again");
        }
        Edit::FromGitOrAgain => "bring it back from Git, or seal the value again: coldstart seal secret",
        Edit::IgnoreOrOtherDirectory => "add it to .gitignore, or use another directory",
    };
    words.to_owned()
}

fn git_words(git: &Git) -> String {
    let words = match git {
        Git::Status => "git status, then the same command again",
        Git::InitOrUncommitted => "git init, or the same without --commit and --push",
        Git::ConfigUser => "git config user.name and user.email",
        Git::FinishOperation { operation } => {
            return format!("git {operation} --continue or --abort, then the same again");
        }
        Git::RemoveLock { lock } => {
            return format!(
                "the same again when the other git is done; if there is none: rm {}",
                shell::word(&lock.to_string_lossy())
            );
        }
        Git::FetchEverything => {
            "git fetch --refetch --no-filter (in GitHub Actions: actions/checkout with `fetch-depth: 0` and without `filter`)"
        }
        Git::OutInside => "the same without --commit and --push, or --out with a file in it",
        Git::Unignore { file } => {
            return format!(
                "fix .gitignore; or the same without --commit and --push, and then git add --force -- {file}"
            );
        }
        Git::Switch => "git switch BRANCH, then the same again",
        Git::SetUpstream { remote, branch, again } => {
            let again = if *again { ", then the same again" } else { "" };
            return match remote {
                Some(remote) => format!("git push --set-upstream {remote} {branch}{again}"),
                None => format!("git remote add origin URL && git push --set-upstream origin {branch}{again}"),
            };
        }
        Git::Commit { files, force } => {
            let (names, force) = (files.join(" "), if *force { " --force" } else { "" });
            return format!("git add{force} -- {names} && git commit --only -- {names}");
        }
        Git::Push => "git push",
        Git::PullAndPush => "git pull --rebase && git push",
        Git::Install => "install git, or leave out --since",
        Git::LogRevisions => "git log --oneline",
        Git::CommitOrStash => "commit them, or put them aside with git stash",
        Git::FetchUnshallow => "git fetch --unshallow (in GitHub Actions: actions/checkout with `fetch-depth: 0`)",
        Git::RemoveKey => {
            "git rm --cached that file and ignore it, then coldstart seal rotate: anyone with the history has the key"
        }
    };
    words.to_owned()
}

fn kubectl_words(kubectl: &Kubectl) -> String {
    match kubectl {
        Kubectl::ClusterInfoAndRights => {
            "kubectl cluster-info, and kubectl auth whoami, which shows who this context is".to_owned()
        }
        Kubectl::ClusterInfoOrContext => "kubectl cluster-info, or --context NAME for another cluster".to_owned(),
        Kubectl::Kubeconfig => {
            "export KUBECONFIG=FILE, or --context NAME of those that kubectl config get-contexts lists".to_owned()
        }
        Kubectl::DeleteSecret { namespace, name } => format!("kubectl --namespace {namespace} delete secret {name}"),
        Kubectl::RolloutStatus { namespace, name } => {
            format!("kubectl --namespace {namespace} rollout status deployment {name}")
        }
        Kubectl::ControllerLogs { namespace } => {
            format!("kubectl --namespace {namespace} logs deployment/sealed-secrets-controller")
        }
        Kubectl::SealedSecrets => {
            "kubectl get sealedsecrets --all-namespaces, and coldstart seal verify --cluster".to_owned()
        }
    }
}

fn program_words(program: &Program) -> String {
    let words = match program {
        Program::OpensslDecrypt => "openssl pkey -in KEY -out PLAIN, adopt that, and remove it",
        Program::OpensslCheck => {
            "openssl pkey -in KEY -check -noout, or openssl x509 -in CERTIFICATE -noout, which say what is wrong; then get it again from its origin"
        }
        Program::OpensslPem => {
            "openssl x509 -inform der -in FILE makes PEM of a certificate, openssl pkey -inform der -in FILE of a key"
        }
        Program::Date => "date, which shows this machine's time; or --certificate FILE with another one",
        Program::Chmod { path, is_directory } => {
            return format!("chmod {} {}", if *is_directory { "700" } else { "600" }, path.display());
        }
        Program::SopsEncrypt { path } => return format!("sops encrypt --in-place {path}"),
        Program::SopsEdit { path } => return format!("remove it, then add it with sops edit {path}"),
        Program::SopsUpdateKeys { path } => return format!("sops updatekeys {path}"),
        Program::VaultAddress => "export VAULT_ADDR=https://…",
        Program::VaultLogin => "vault login, or export VAULT_TOKEN",
        Program::VaultStatus => "vault status",
        Program::VaultStatusOrAddress => "vault status, and whether VAULT_ADDR is the server's",
        Program::VaultEngines => "vault secrets list",
        Program::VaultEnginesDetailed => "vault secrets list -detailed, and one with version:2",
        Program::VaultToken => "vault token lookup, and a policy for this path",
        Program::VaultOtherPath => "the same with a path of its own, --store vault:MOUNT/OTHER",
        Program::VaultUndelete { mount, version, path } => {
            return format!("vault kv undelete -mount={mount} -versions={version} {path}");
        }
    };
    words.to_owned()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use diagnostic::Next;
    use diagnostic::next::{Program, Run, Store};

    use super::next;

    #[test]
    fn commands_can_be_typed_as_they_stand() {
        let (mount, path) = ("secret".to_owned(), "clusters/home".to_owned());
        let undelete = Next::Program(Program::VaultUndelete { mount, version: 1, path });
        assert_eq!(next(&undelete), "vault kv undelete -mount=secret -versions=1 clusters/home");
        let chmod = |is_directory| Next::Program(Program::Chmod { path: PathBuf::from("keys"), is_directory });
        assert_eq!(next(&chmod(true)), "chmod 700 keys");
        assert_eq!(next(&chmod(false)), "chmod 600 keys");
        let check = |at: &str| Next::Run(Run::Check { at: PathBuf::from(at) });
        assert_eq!(next(&check(".")), "coldstart check");
        assert_eq!(next(&check("my lab")), "coldstart check 'my lab'");
        let unlock = next(&Next::Store(Store::UnlockKeyring));
        assert!(unlock.starts_with("unlock it, then") && unlock.contains("gnome-keyring-daemon --replace --unlock"));
    }
}
