//! Why a try failed, and why a step is left out.

use model::say_seconds;
use run::{LeftNeed, LeftOut, TryFailure};

use super::obstacle::BEHIND;
use super::waiting::hindrance_parts;

/// Why a try failed, in one line.
pub fn failure(why: &TryFailure) -> String {
    failure_parts(why).join(BEHIND)
}

/// The same down to the fact, each by itself; at least one.
pub(crate) fn failure_parts(why: &TryFailure) -> Vec<String> {
    match why {
        TryFailure::Hindered { by } => hindrance_parts(by),
        TryFailure::GoneAgain => vec!["it disappeared again".to_owned()],
        TryFailure::TooLate { limit_seconds, last } => {
            let mut said = last.as_ref().map_or_else(|| vec![String::new()], hindrance_parts);
            said[0].insert_str(0, &format!("not completed within {}: ", say_seconds(*limit_seconds)));
            said
        }
    }
}

/// What follows a failure where a need was left out.
pub(crate) fn needed_and_left_out(need: &LeftNeed) -> String {
    let more = match need.more {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("; it needs steps that were left out: {} ({}){more}", need.step, left_out(&need.why))
}

/// Why a step is left out.
pub fn left_out(why: &LeftOut) -> String {
    match why {
        LeftOut::Skipped { name, reason } => format!("--skip {name}: {reason}"),
        LeftOut::After { name } => format!("after --until {name}"),
        LeftOut::Before { name } => format!("before --from {name}"),
        LeftOut::NotNamed => "not in --only".to_owned(),
        LeftOut::Said { text } => text.clone(),
    }
}
