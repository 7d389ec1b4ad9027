//! What is said of a command line of `coldstart seal secret` that is not understood. clap repeats the word that it
//! stumbles over, and here that word may be a value.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use diagnostic::Next;
use diagnostic::next::Value;

use crate::failure::next_line;

const NOT_REPEATED: &str = "\
it is not repeated here: values never come from the command line, where every process of the machine could read them";

/// Our own words, where clap's could repeat a value. `words` are those of the command line, from the first on.
pub(crate) fn refused(error: &clap::Error, words: impl Iterator<Item = OsString>) -> Option<String> {
    let mut commands = words.filter(|word| !word.as_encoded_bytes().starts_with(b"-"));
    if commands.next()? != "seal" || commands.next()? != "secret" {
        return None;
    }
    let said = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.as_str(),
        _ => "",
    };
    // Only where clap found an option of ours is its name known to be no value.
    let option = said(ContextKind::InvalidArg);
    let what = match error.kind() {
        ErrorKind::UnknownArgument if option.starts_with("--from-literal") => "there is no --from-literal".to_owned(),
        ErrorKind::UnknownArgument => {
            let meant = said(ContextKind::SuggestedArg);
            let meant = if meant.is_empty() { String::new() } else { format!(": did you mean `{meant}`?") };
            format!("a word of the command line is not understood{meant}")
        }
        ErrorKind::TooManyValues => format!("`{option}` takes no value, and is given one"),
        ErrorKind::InvalidValue => format!("the value of `{option}` is not valid"),
        ErrorKind::ValueValidation | ErrorKind::WrongNumberOfValues | ErrorKind::InvalidUtf8 => {
            "a word of the command line is not understood".to_owned()
        }
        _ => return None,
    };
    Some(format!("{what}\n  {NOT_REPEATED}{}", next_line(&Next::Value(Value::OptionsAndHelp))))
}
