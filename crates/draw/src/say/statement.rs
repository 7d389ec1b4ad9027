//! What a finding states.

use diagnostic::{Absence, CommentFault, GateFault, InstallFault, Lack, OrderFault, Statement, Vital};
use ecow::EcoString;
use model::{BuildFault, Capability, ObjectRef, Role, say_seconds};

use super::purpose::purpose;
use super::{capabilities, capabilities_are, paths, quoted};
use crate::words::{agree, and_more, first_few};

/// Variables that a sentence names.
const VARIABLES_NAMED_MAX: usize = 4;

/// One line, names in backticks.
pub(super) fn statement(statement: &Statement) -> String {
    match statement {
        Statement::Boot(fault) => super::boot::fault(fault),
        Statement::Order(fault) => order(fault),
        Statement::Gate(fault) => gate(fault),
        Statement::Absence(absence) => self::absence(absence),
        Statement::Install(fault) => install(fault),
        Statement::Comment(fault) => comment(fault),
        Statement::Seal(fault) => super::seal(fault),
        Statement::Step { step, defect } => super::step::defect(step, defect),
    }
}

/// What is added where one speaks for others.
pub(super) fn alike(count: usize) -> String {
    if count > 0 { format!(" ({count} more like it)") } else { String::new() }
}

/// Orders that are missing, wrong or too many.
fn order(fault: &OrderFault) -> String {
    match fault {
        OrderFault::NotOrdered { component, provider, needed } => {
            let (component, provider) = (quoted(component), quoted(provider));
            format!("{component} needs {}, but nothing makes it wait for {provider}", capabilities(needed))
        }
        OrderFault::NeedsBootstrap { component, provider, needed } => format!(
            "{} needs {}, which only the bootstrap provides in time: nothing makes it wait for {}",
            quoted(component),
            capabilities(needed),
            quoted(provider)
        ),
        OrderFault::StoreNotAwaited { component, count, store, provider } => format!(
            "{}{} {} {store}, but nothing makes {} wait for {}",
            quoted(component),
            and_more(1, *count),
            agree(*count, "needs", "need"),
            agree(*count, "it", "them"),
            quoted(provider)
        ),
        OrderFault::InstallMayFail { role, release, provider, needed } => format!(
            "{} {} needs {}, and its install fails permanently if {} is not ready in time",
            role.noun(),
            quoted(release),
            capabilities(needed),
            quoted(provider)
        ),
        OrderFault::WebhookMayRefuse { component, count, provider, is_of_everything } => {
            let asked = if *is_of_everything { ", which intercepts every object," } else { "" };
            format!(
                "{}{} may be rejected while the webhook of {}{asked} does not answer",
                quoted(component),
                and_more(1, *count),
                quoted(provider)
            )
        }
        OrderFault::AsksTooEarly { release, provider, needed } => format!(
            "the chart of {} checks for {} when it is rendered, but nothing makes it wait for {}",
            quoted(release),
            capabilities(needed),
            quoted(provider)
        ),
        OrderFault::Circle { members } => circle(members),
        OrderFault::WaitsForItself { component, needed } => {
            format!("dependency cycle: {} needs {needed}, which is created only after it", quoted(component))
        }
        OrderFault::WaitsForParent { component, count, parent, parent_waits } => format!(
            "{}{} {} for {}, which applies it{}",
            quoted(component),
            and_more(1, *count),
            agree(*count, "waits", "wait"),
            quoted(parent),
            if *parent_waits { " and waits for it" } else { "" }
        ),
        OrderFault::WaitsForSuspended { component, target } => {
            format!("{} waits for {}, which is suspended", quoted(component), quoted(target))
        }
        OrderFault::NeedsOfSuspended { component, needed, target } => {
            format!("{} needs {needed}, which only {} brings, and that is suspended", quoted(component), quoted(target))
        }
        OrderFault::WaitsForUnknown { component, missing } => {
            format!("{} waits for {missing}, which does not exist", quoted(component))
        }
        OrderFault::ChecksUnknown { component, missing } => {
            format!(
                "{} never becomes ready: its `healthChecks` name {missing}, which does not exist",
                quoted(component)
            )
        }
        OrderFault::NeedsUnknownRelease { component, missing } => {
            format!("{} needs {}, which its helmfile does not have", quoted(component), quoted(missing))
        }
        OrderFault::WaitsForOtherKind { component, missing, found } => {
            let (kind, component, target) = (&component.kind, quoted(component), quoted(found));
            format!("{kind} {component} waits for {missing}, but {target} is a {}", found.kind)
        }
        OrderFault::WaitsTwice { component, target, through } => {
            let through = quoted(through);
            format!("{} waits for {}, which {through} already waits for", quoted(component), quoted(target))
        }
    }
}

fn circle(members: &[(Role, ObjectRef)]) -> String {
    // Releases are named as such: they often share their Kustomization's name.
    let named = |(role, object): &(Role, ObjectRef)| match role {
        Role::HelmRelease => format!("HelmRelease {}", quoted(object)),
        _ => quoted(object),
    };
    let around: Vec<String> = members.iter().chain(members.first()).map(named).collect();
    format!("dependency cycle: {}", around.join(" → "))
}

/// Gates that prove less than they seem to.
fn gate(fault: &GateFault) -> String {
    match fault {
        GateFault::DependsOnWeakGate { component, count, gate, needed } => format!(
            "{}{} {} on {}, which is ready before {} available",
            quoted(component),
            and_more(1, *count),
            agree(*count, "depends", "depend"),
            quoted(gate),
            capabilities_are(needed)
        ),
        GateFault::DependsOnNoGate { component, count, gate } => format!(
            "{}{} {} on {}, which does not wait for its own objects",
            quoted(component),
            and_more(1, *count),
            agree(*count, "depends", "depend"),
            quoted(gate)
        ),
        GateFault::AfterByChance { component, needed, gate } => format!(
            "{} starts after {} of {} only by chance: nothing that it depends on waits for that",
            quoted(component),
            capabilities(needed),
            quoted(gate)
        ),
        GateFault::ReliesOnHealth { component, count, gate, is_early, needed } => format!(
            "{}{} {} on the health of {}, which {} {}",
            quoted(component),
            and_more(1, *count),
            agree(*count, "relies", "rely"),
            quoted(gate),
            if *is_early { "may pass before there is" } else { "proves nothing about" },
            capabilities(needed)
        ),
        GateFault::GatesNothing { component } => {
            format!("{} has `healthCheckExprs` without effect", quoted(component))
        }
        GateFault::IgnoresCheck { component, object } => {
            format!(
                "{} does not wait for {object}: Flux ignores `healthChecks` where `wait: true` is set",
                quoted(component)
            )
        }
        GateFault::RetriesLate { component, seconds, count: 1 } => {
            format!("{} is retried only after {}", quoted(component), say_seconds(*seconds))
        }
        GateFault::RetriesLate { component, seconds, count } => format!(
            "{count} Kustomizations are retried only after their interval, {} after {}",
            quoted(component),
            say_seconds(*seconds)
        ),
    }
}

/// What is not there.
fn absence(absence: &Absence) -> String {
    match absence {
        Absence::NotMade { component, needed, purpose } => {
            format!("{} needs {needed} {}, but nothing here creates it", quoted(component), self::purpose(purpose))
        }
        Absence::NoSealingKey { component, count } => format!(
            "{}{} {} SealedSecrets, but nothing here restores the sealing key",
            quoted(component),
            and_more(1, *count),
            agree(*count, "has", "have")
        ),
        Absence::NotDefined { component, source } => {
            let source = format!("{} {}", source.kind, spelt_out(source));
            format!("{} uses {source}, which is not defined", quoted(component))
        }
        Absence::VariablesLack { component, from, lack } => variables_lack(component, from, *lack),
        Absence::NoVariables { component, variables } => format!(
            "{} has no variables at all, so {} {} as written",
            quoted(component),
            self::variables(variables),
            agree(variables.len(), "stays", "stay")
        ),
        Absence::UnsetVariables { component, variables } => format!(
            "{} uses {}, which {} not set anywhere",
            quoted(component),
            self::variables(variables),
            agree(variables.len(), "is", "are")
        ),
        Absence::ChartKeepsCrd { component, count, crd, chart } => format!(
            "{}{} {} {crd}, and the chart of {} does not install it",
            quoted(component),
            and_more(1, *count),
            agree(*count, "needs", "need"),
            quoted(chart)
        ),
        Absence::NotApplied { object } => format!("{object} is in a file that nothing applies"),
    }
}

/// What can't be installed, or not stay, or not as it is.
fn install(fault: &InstallFault) -> String {
    match fault {
        InstallFault::NeverApplied { component, kind, installer } => never_applied(component, kind, installer.as_ref()),
        InstallFault::CantBeBuilt { component, fault, count } => {
            let done = if matches!(fault, BuildFault::Encrypted { .. }) { "applied" } else { "built" };
            format!("{} can't be {done}: {fault}{}", quoted(component), and_more(1, *count))
        }
        InstallFault::BootstrapStops { release, fault, count } => {
            let what = release.as_ref().map_or_else(|| "a command".to_owned(), quoted);
            format!("the bootstrap fails at {what}: {fault}{}", and_more(1, *count))
        }
        InstallFault::OtherVersion { release, bootstrap, flux } => {
            format!("the bootstrap installs {} in version {bootstrap}, but Flux installs {flux}", quoted(release))
        }
        InstallFault::OtherValues { release, paths } => {
            format!("the bootstrap installs {} with other values than Flux: {}", quoted(release), self::paths(paths))
        }
        InstallFault::Unprotected { component, vital, others } => unprotected(component, *vital, others),
    }
}

/// Comments that allow what they should not.
fn comment(fault: &CommentFault) -> String {
    match fault {
        CommentFault::NamesNoRule => "an allow comment names no rule".to_owned(),
        CommentFault::SilencesNothing { rule } => format!("`{rule}` is allowed here, but there is no such finding"),
        CommentFault::UnknownRule { name, meant } => unknown_rule(name, *meant),
        CommentFault::GivesNoReason => "an allow comment does not say why".to_owned(),
    }
}

/// The custom resource and what installs its CRD, where that is known.
fn never_applied(component: &ObjectRef, kind: &str, installer: Option<&ObjectRef>) -> String {
    let component = quoted(component);
    match installer {
        Some(installer) => {
            let (role, name) = (&installer.kind, quoted(installer));
            format!(
                "{component} can never be applied: it applies {kind} objects and also {role} {name}, which installs their CRD"
            )
        }
        None => format!("{component} can never be applied: it applies {kind} objects and also what installs their CRD"),
    }
}

/// `namespace/name` whether or not there is a namespace.
fn spelt_out(object: &ObjectRef) -> String {
    format!("`{}/{}`", object.namespace, object.name)
}

fn variables_lack(component: &ObjectRef, from: &Capability, lack: Lack) -> String {
    let component = quoted(component);
    match lack {
        Lack::NotMade => format!("{component} reads variables from {from}, which nothing here creates"),
        Lack::MadeByItself => format!("{component} reads variables from {from}, which it creates itself"),
        Lack::NotOrdered => {
            format!("{component} reads optional variables from {from}, but nothing makes it wait for what creates it")
        }
    }
}

/// The first of them, as they are written.
fn variables(names: &[EcoString]) -> String {
    let written: Vec<String> = names.iter().map(|name| format!("`${{{name}}}`")).collect();
    first_few(&written, VARIABLES_NAMED_MAX)
}

fn unprotected(component: &ObjectRef, vital: Vital, others: &[(ObjectRef, Vital)]) -> String {
    let others: Vec<String> =
        others.iter().map(|(other, vital)| format!("{} ({})", quoted(other), self::vital(*vital))).collect();
    let more = if others.is_empty() { String::new() } else { format!(", and so would {}", others.join(", ")) };
    format!("a commit that removes {} would delete {}{more}", quoted(component), self::vital(vital))
}

/// What a cluster can't live without.
pub(super) fn vital(vital: Vital) -> &'static str {
    match vital {
        Vital::PodNetwork => "the pod network",
        Vital::ClusterDns => "cluster DNS",
        Vital::Storage => "storage",
        Vital::SealingController => "the sealing controller",
    }
}

/// `no rule is called …`, with the one that may have been meant.
fn unknown_rule(name: &str, meant: Option<&str>) -> String {
    let meant = meant.map(|meant| format!(": did you mean `{meant}`?")).unwrap_or_default();
    format!("no rule is called `{name}`{meant}")
}
