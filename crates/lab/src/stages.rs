//! What kwok does with nodes, pods and volume claims: the stages in `stages/`, filled in.

/// What a pod is to do, from its annotations. Every pod stage asks this, so it is written once.
const WANTS: &str = r#"(.metadata.annotations // {}) as $a | if $a["lab.coldstart.dev/image-pull-backoff"] == "true" then "no-image" elif $a["lab.coldstart.dev/crash"] == "true" or ($a["lab.coldstart.dev/refuse-on-node"] // "" | split(",") | index([$node]) != null) then "crash" elif $a["lab.coldstart.dev/never-ready"] == "true" then "unready" else "ready" end"#;

const FILES: &[&str] = &[
    include_str!("../stages/node.yaml"),
    include_str!("../stages/pod-delete.yaml"),
    include_str!("../stages/pod-ready.yaml"),
    include_str!("../stages/pod-unready.yaml"),
    include_str!("../stages/pod-crash.yaml"),
    include_str!("../stages/pod-no-image.yaml"),
    include_str!("../stages/pod-complete.yaml"),
    include_str!("../stages/volume.yaml"),
];

/// The pod's state as far as stages know it: what the Ready condition says, or why it says no.
const IS: &str = r#"[.status.conditions // [] | .[] | select(.type == "Ready") | if .status == "True" then "ready" else (.reason // "none") end] | (.[0] // "none")"#;

pub(crate) fn all() -> String {
    let wants = format!(".spec.nodeName as $node | {WANTS}");
    FILES.join("\n---\n").replace("@WANTS@", &wants).replace("@IS@", IS)
}
