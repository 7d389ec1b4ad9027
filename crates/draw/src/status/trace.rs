//! From one object to its root: every link with the facts that show it.

use std::fmt::Write as _;

use health::facts::ObjectKey;
use health::status::{Evidence, Status};
use health::trace as way;

use super::shown;
use crate::clean;
use crate::paint::Paint;
use crate::say::health as words;

/// None where the object does not fail, as far as was seen.
pub fn trace(status: &Status, object: &ObjectKey, color: bool) -> Option<String> {
    let hops = way(status, object);
    if hops.is_empty() {
        return None;
    }
    let paint = Paint { color };
    let mut out = String::new();
    for (index, hop) in hops.iter().enumerate() {
        let (name, problem) = (words::object(&hop.link.object), words::problem(&hop.link.problem));
        let is_root = hop.link.by.is_empty();
        let mark = if is_root { paint.bad("root ") } else { String::new() };
        let _ = writeln!(out, "{}{mark}{} {}", "  ".repeat(index), paint.bold(&clean(&name)), clean(&problem));
        for it in &hop.link.evidence {
            let _ =
                writeln!(out, "{}{} {}", "  ".repeat(index + 1), paint.dim("shown by"), shown(status, it as &Evidence));
        }
        if let Some(because) = hop.because {
            let _ = writeln!(out, "{}{}", "  ".repeat(index + 1), words::because(because));
        }
    }
    Some(out)
}
