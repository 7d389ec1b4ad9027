//! Flux's `postBuild` substitution: `${var}` and its functions, in text and in whole objects.
//!
//! The rules are those of `fluxcd/pkg/envsubst`, odd corners included: `${v-d}` is an error, `${v:?d}` and `${v:+d}` are
//! defaults, lengths and offsets count bytes. Knows nothing of where variables come from, and does not decide whether an
//! undefined one fails the build.

mod expand;
mod functions;
mod glob;
mod object;

pub use expand::{COMPARISONS_MAX, NESTING_MAX, OUTPUT_BYTES_MAX, SubstituteError, Substituted, substitute};
pub use object::{ObjectError, Undefined, is_disabled, mentioned, substitute_node};
pub(crate) use object::{is_written_plain, place, reread};

use memchr::memchr_iter;
use yaml::EcoString;

/// Whether Flux takes `name` for a variable. One name that is none fails the whole build.
pub fn is_variable_name(name: &str) -> bool {
    !name.starts_with(|first: char| first.is_ascii_digit())
        && !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A variable's value as Flux takes it from `substitute` and `substituteFrom`: without its line breaks.
pub fn variable_value(value: &str) -> EcoString {
    value.chars().filter(|character| *character != '\n').collect()
}

/// Whether substitution can change this text at all.
fn is_touched(text: &str) -> bool {
    let text = text.as_bytes();
    memchr_iter(b'$', text).any(|at| matches!(text.get(at + 1), Some(b'{' | b'$')))
}
