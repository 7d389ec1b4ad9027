//! Which fields are wording, and which make two entries of a list the same entry.
//!
//! A field is written as `command.path`, with `[]` for any entry of a list.

/// Texts for people. Whether there is one, and how many, is compared all the same.
pub(super) const WORDING: &[&str] = &[
    "check.blind_spots[].why",
    "check.findings[].cost",
    "check.findings[].fix",
    "check.findings[].locations[].label",
    "check.findings[].message",
    "check.findings[].notes",
    "check.stderr",
    "graph.stderr",
    "plan.notes",
    "plan.stderr",
    "plan.steps[].danger",
    "plan.steps[].needs[].why",
    "simulate.stderr",
];

/// Lists whose entries have an identity, as JSON pointers. Strict ones first: what they leave over is tried with the next, so
/// that a finding that moved by a line is one that moved, and not one less and one more.
const IDENTITIES: &[(&str, &[&[&str]])] = &[
    (
        "check.findings",
        &[
            &["/rule", "/cluster", "/component", "/provider", "/capability", "/locations/0/path", "/locations/0/line"],
            &["/rule", "/cluster", "/component", "/provider", "/locations/0/path", "/locations/0/line"],
            &["/rule", "/cluster", "/component", "/provider", "/capability"],
            &["/rule", "/cluster", "/component", "/provider"],
            &["/rule", "/cluster", "/component"],
        ],
    ),
    ("check.findings[].locations", &[&["/role", "/path", "/line", "/column"], &["/role", "/path"], &["/role"]]),
    ("check.findings[].also", &[&["/component", "/provider", "/path", "/line"], &["/component"]]),
    ("check.blind_spots", &[&["/what", "/path", "/line", "/component"], &["/what", "/path"], &["/what"]]),
    ("check.summary.clusters", &[&["/name"]]),
    ("graph.clusters", &[&["/name"]]),
    ("graph.clusters[].components", &[&["/kind", "/namespace", "/name"]]),
    ("graph.clusters[].offers", &[&["/by", "/capability", "/object", "/at"], &["/by", "/capability", "/object"]]),
    (
        "graph.clusters[].needs",
        &[
            &["/of", "/capability", "/object", "/phase", "/at"],
            &["/of", "/capability", "/object", "/phase"],
            &["/of", "/capability", "/object"],
        ],
    ),
    ("graph.clusters[].ties", &[&["/from", "/to", "/unknown", "/at"], &["/from", "/to", "/unknown"]]),
    ("graph.clusters[].deadlocks", &[&["/components"]]),
    ("plan.steps", &[&["/key"]]),
    ("plan.steps[].needs", &[&["/step", "/why"], &["/step"]]),
    ("simulate.clusters", &[&["/cluster"]]),
    ("simulate.clusters[].causes", &[&["/component", "/says", "/fact"], &["/component", "/says"], &["/component"]]),
    ("simulate.clusters[].lost", &[&["/component", "/says", "/fact"], &["/component", "/says"], &["/component"]]),
    ("simulate.clusters[].retried", &[&["/component", "/says", "/fact"], &["/component", "/says"], &["/component"]]),
];

pub(super) fn is_wording(field: &str) -> bool {
    WORDING.contains(&field)
}

/// The identities of the entries of a list, strict ones first; none where only their place counts.
pub(super) fn identities(field: &str) -> &'static [&'static [&'static str]] {
    IDENTITIES.iter().find(|(list, _)| *list == field).map_or(&[], |(_, identities)| identities)
}
