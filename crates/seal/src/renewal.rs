//! Whether the controller makes new keys by itself.
//!
//! It does, every thirty days, unless told not to: counted from the first day of the newest certificate. A key that
//! is brought back after more than thirty days is at once followed by a new one, which is in no backup, and with
//! which everything is sealed from then on.

use yaml::{Node, Span};

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
    /// Every so often.
    Every(String, Span),
    /// A number zero without quotes: the chart takes it for nothing said.
    Unquoted(Span),
}

impl Renewal {
    pub fn is_off(&self) -> bool {
        matches!(self, Self::Off(_))
    }

    /// From the values of the Helm chart. `args` replaces all that the chart would pass.
    pub fn of_values(values: Option<&Node>) -> Self {
        let Some(values) = values else { return Self::Unsaid };
        if let Some(said) = values.get("args").and_then(Node::as_seq).filter(|items| !items.is_empty()) {
            return Self::of_arguments(said);
        }
        match values.get(VALUE) {
            None => Self::Unsaid,
            Some(node) => match node.as_str() {
                Some("") => Self::Unsaid,
                Some(text) => Self::of_text(text, node.span),
                None if node.as_int() == Some(0) => Self::Unquoted(node.span),
                None => node.text().map_or(Self::Unsaid, |text| Self::of_text(text, node.span)),
            },
        }
    }

    /// From the arguments of the controller's container: one word, or two.
    pub fn of_arguments(arguments: &[Node]) -> Self {
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let text = argument.text().unwrap_or_default();
            if let Some(value) = text.strip_prefix(FLAG).and_then(|rest| rest.strip_prefix('=')) {
                return Self::of_text(value, argument.span);
            }
            if text == FLAG
                && let Some(value) = arguments.next()
            {
                return Self::of_text(value.text().unwrap_or_default(), value.span);
            }
        }
        Self::Unsaid
    }

    fn of_text(text: &str, at: Span) -> Self {
        // A Go duration of no length: 0, 0s, 0h0m.
        let is_zero = !text.is_empty() && !text.contains(|c: char| c.is_ascii_digit() && c != '0');
        if is_zero { Self::Off(at) } else { Self::Every(text.to_owned(), at) }
    }
}

#[cfg(test)]
mod tests {
    use yaml::{FileId, parse_value};

    use super::Renewal;

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
        assert!(matches!(of("keyrenewperiod: 8766h"), Renewal::Every(every, _) if every == "8766h"));
    }

    #[test]
    fn arguments_replace_values() {
        assert!(of("keyrenewperiod: 1h\nargs: [--key-renew-period=0]").is_off());
        assert!(of("args: [--update-status, --key-renew-period, '0']").is_off());
        assert_eq!(of("keyrenewperiod: '0'\nargs: [--update-status]"), Renewal::Unsaid);
    }
}
