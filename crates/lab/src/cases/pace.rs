//! Flux durations, and how much faster they run in the lab.

use std::fmt::Write as _;

/// Seconds of a Go duration (`1h30m`, `90s`, `500ms`); nothing if it is none.
pub(super) fn seconds(text: &str) -> Option<f64> {
    let mut rest = text;
    let mut total = 0.0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let unit = match &rest[..letters] {
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 0.001,
            _ => return None,
        };
        total += number * unit;
        rest = &rest[letters..];
    }
    Some(total)
}

/// As a Go duration in milliseconds, which every Flux field takes.
pub(super) fn duration(seconds: f64) -> String {
    let mut text = String::new();
    let _ = write!(text, "{:.0}ms", (seconds * 1000.0).max(1.0));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_and_a_half_at_sixty_is_ninety_seconds() {
        assert_eq!(seconds("1h30m").map(|all| duration(all / 60.0)).as_deref(), Some("90000ms"));
        assert_eq!(seconds("500ms"), Some(0.5));
        assert_eq!(seconds("soon"), None);
        assert_eq!(seconds(""), None);
    }
}
