//! What a need is for, as the end of "needs X".

use std::borrow::Cow;

use model::Purpose;

/// A clause that continues "needs X": `to be applied`, `for its volumes`.
pub fn purpose(purpose: &Purpose) -> Cow<'static, str> {
    Cow::Borrowed(match purpose {
        Purpose::Make(capability) => return format!("to make {capability}").into(),
        Purpose::MayBring(capability) => return format!("if that is what brings {capability}").into(),
        Purpose::Catalogued(clause) => return format!("because {clause}").into(),
        Purpose::AnswersAt(host) => return format!("which answers at {host}").into(),
        Purpose::HiddenHost(key) => return format!("as the only one that {key} can mean").into(),
        Purpose::Apply => "to be applied",
        Purpose::ApplyInto => "to be applied into",
        Purpose::Admit => "to be admitted",
        Purpose::RenderedByChart => "which its chart renders",
        Purpose::AskedByTemplates => "when its templates are rendered",
        Purpose::AppliedFiles => "for what it applies",
        Purpose::Chart => "for its chart",
        Purpose::Values => "for its values",
        Purpose::Variables => "for its variables",
        Purpose::Decrypt => "to decrypt",
        Purpose::Kubeconfig => "for its kubeconfig",
        Purpose::StartPods => "for its pods to start",
        Purpose::SchedulePods => "for its pods to be scheduled",
        Purpose::LookUpNames => "for the names its pods look up",
        Purpose::Volumes => "for its volumes",
        Purpose::DefaultVolumes => "for its volumes, as the default class",
        Purpose::MakeVolumes => "to make volumes",
        Purpose::Snapshots => "for its snapshots",
        Purpose::Backups => "for its backups",
        Purpose::Reach => "to be reached",
        Purpose::Certificate => "for its certificate",
        Purpose::Issue => "to be issued",
        Purpose::Fill => "to get its data",
        Purpose::Program => "to be programmed",
        Purpose::Unseal => "to be unsealed",
        Purpose::TalkTo => "which it connects to",
        Purpose::PartOf => "which it is a part of",
        Purpose::Parameters => "for its parameters",
        Purpose::Address => "for the address of its Service",
        Purpose::ChartOfCrds => "which come with a chart of their own",
        Purpose::OwnKinds => "because it works on them",
    })
}
