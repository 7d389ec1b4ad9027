//! Whether the controller makes new keys by itself.
//!
//! It does, every thirty days, unless told not to: counted from the first day of the newest certificate. A key that
//! is brought back after more than thirty days is at once followed by a new one, which is in no backup, and with
//! which everything is sealed from then on.

mod edit;

pub use edit::{SwitchError, switch_off};
use source::Span;
use yaml::Node;

/// The chart's value that says so.
pub const VALUE: &str = "keyrenewperiod";
/// The controller's flag that says so.
pub const FLAG: &str = "--key-renew-period";

/// What a release or a Deployment says of renewal, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Renewal {
    /// Off, and said so in a way that reaches the controller.
    Off(Span),
    /// Nothing is said: every thirty days.
    Unsaid,
    /// Nothing is said in the values `args`, which are all that the controller is told.
    UnsaidInArguments(Span),
    /// Every so often.
    Every(Said),
    /// A number zero without quotes: the chart before 2.17.4 takes it for nothing said.
    Unquoted(Span),
}

/// A period, and how it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub every: String,
    pub span: Span,
    pub form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The chart's value.
    Value,
    /// The word behind the flag.
    NextWord,
    /// Flag and period in one word.
    OneWord,
}

impl Renewal {
    pub fn is_off(&self) -> bool {
        matches!(self, Self::Off(_))
    }

    /// From the values of the Helm chart. `args` replaces all that the chart would pass, its own value included.
    pub fn of_values(values: Option<&Node>) -> Self {
        let Some(values) = values else { return Self::Unsaid };
        if let Some(arguments) = values.get("args").filter(|node| !is_empty(node)) {
            return match Self::of_arguments(arguments.as_seq().unwrap_or_default()) {
                Self::Unsaid => Self::UnsaidInArguments(arguments.span),
                said => said,
            };
        }
        match values.get(VALUE) {
            None => Self::Unsaid,
            Some(node) => match node.as_str() {
                Some("") => Self::Unsaid,
                Some(text) => Self::of_text(text, node.span, Form::Value),
                None if node.as_int() == Some(0) => Self::Unquoted(node.span),
                None => node.text().map_or(Self::Unsaid, |text| Self::of_text(text, node.span, Form::Value)),
            },
        }
    }

    /// From the arguments of the controller's container: one word, or two. Of several the last one counts.
    pub fn of_arguments(arguments: &[Node]) -> Self {
        let mut said = Self::Unsaid;
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let text = argument.text().unwrap_or_default();
            if let Some(value) = text.strip_prefix(FLAG).and_then(|rest| rest.strip_prefix('=')) {
                said = Self::of_text(value, argument.span, Form::OneWord);
            } else if text == FLAG
                && let Some(value) = arguments.next()
            {
                said = Self::of_text(value.text().unwrap_or_default(), value.span, Form::NextWord);
            }
        }
        said
    }

    fn of_text(text: &str, span: Span, form: Form) -> Self {
        // A Go duration of no length: 0, 0s, 0h0m.
        let is_zero = !text.is_empty() && !text.contains(|c: char| c.is_ascii_digit() && c != '0');
        if is_zero { Self::Off(span) } else { Self::Every(Said { every: text.to_owned(), span, form }) }
    }

    /// What to write so that it is off.
    pub fn wanted(&self) -> String {
        match self {
            Self::UnsaidInArguments(_) | Self::Every(Said { form: Form::OneWord | Form::NextWord, .. }) => {
                format!("{FLAG}=0")
            }
            _ => format!("{VALUE}: \"0\""),
        }
    }
}

/// What Helm's templates take for nothing.
fn is_empty(node: &Node) -> bool {
    node.is_null() || node.as_seq().is_some_and(<[Node]>::is_empty) || node.text() == Some("")
}

#[cfg(test)]
mod tests {
    use source::FileId;
    use yaml::parse_value;

    use super::{Renewal, Said};

    fn of(values: &str) -> Renewal {
        Renewal::of_values(parse_value(FileId(0), values).as_ref())
    }

    #[test]
    fn only_a_quoted_zero_switches_it_off() {
        assert!(of("keyrenewperiod: \"0\"").is_off());
        assert!(of("keyrenewperiod: 0s").is_off());
        assert!(matches!(of("keyrenewperiod: 0"), Renewal::Unquoted(_)));
        assert_eq!(of("keyrenewperiod: \"\""), Renewal::Unsaid);
        assert_eq!(of("a: 1"), Renewal::Unsaid);
        assert!(matches!(of("keyrenewperiod: 8766h"), Renewal::Every(Said { every, .. }) if every == "8766h"));
    }

    #[test]
    fn arguments_replace_values() {
        assert!(of("keyrenewperiod: 1h\nargs: [--key-renew-period=0]").is_off());
        assert!(of("args: [--update-status, --key-renew-period, '0']").is_off());
        assert!(matches!(of("keyrenewperiod: '0'\nargs: [--update-status]"), Renewal::UnsaidInArguments(_)));
        assert!(of("keyrenewperiod: '0'\nargs: []").is_off());
    }

    #[test]
    fn the_last_argument_counts() {
        assert!(!of("args: [--key-renew-period=0, --key-renew-period, 1h]").is_off());
        assert!(of("args: [--key-renew-period=1h, --key-renew-period=0]").is_off());
    }
}
