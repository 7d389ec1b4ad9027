//! The rights that looking takes: a ClusterRole that may read and nothing else.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::resource::Wanted;

/// The name of the ClusterRole.
pub const ROLE: &str = "coldstart-status";
/// Paths that are no resources.
const PATHS: [&str; 3] = ["/livez", "/readyz", "/version"];

/// The ClusterRole as YAML: a rule for every group of the API, in the order of their names.
pub fn cluster_role(wanted: &[Wanted]) -> String {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for one in wanted {
        groups.entry(one.group).or_default().push(one.plural);
    }
    let mut text =
        format!("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: {ROLE}\nrules:\n");
    for (group, mut plurals) in groups {
        plurals.sort_unstable();
        let _ = writeln!(text, "  - apiGroups: [\"{group}\"]\n    resources:");
        for plural in plurals {
            let _ = writeln!(text, "      - {plural}");
        }
        text.push_str("    verbs: [get, list, watch]\n");
    }
    let _ = writeln!(text, "  - nonResourceURLs: [{}]\n    verbs: [get]", PATHS.join(", "));
    text
}
