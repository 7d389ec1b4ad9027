//! Durations as Kubernetes writes them (`1h30m`, `45s`) and as people say them.

/// The longest that Go can hold: 2^63 - 1 nanoseconds, 292 years.
pub const DURATION_SECONDS_MAX: u64 = 9_223_372_036;

/// Seconds of a Go duration, rounded down. `None` for what Go would not take.
pub fn parse_duration(text: &str) -> Option<u64> {
    parse_duration_millis(text).map(|milliseconds| milliseconds / 1_000)
}

/// Milliseconds of a Go duration, rounded down. `None` for what Go would not take.
pub fn parse_duration_millis(text: &str) -> Option<u64> {
    let mut rest = text.trim();
    if rest == "0" {
        return Some(0);
    }
    let mut milliseconds = 0.0_f64;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        let after = &rest[digits..];
        let unit_end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let factor = match &after[..unit_end] {
            "h" => 3_600_000.0,
            "m" => 60_000.0,
            "s" => 1_000.0,
            "ms" => 1.0,
            "us" | "µs" => 0.001,
            "ns" => 0.000_001,
            _ => return None,
        };
        milliseconds += number * factor;
        rest = &after[unit_end..];
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float cast saturates, and is never negative here"
    )]
    let milliseconds = milliseconds as u64;
    (milliseconds / 1_000 <= DURATION_SECONDS_MAX).then_some(milliseconds)
}

/// `5400` as `1 h 30 min`, the way findings say it.
pub fn say_seconds(seconds: u64) -> String {
    let (hours, minutes, rest) = (seconds / 3600, seconds % 3600 / 60, seconds % 60);
    let parts = [(hours, "h"), (minutes, "min"), (rest, "s")];
    let said: Vec<String> = parts
        .iter()
        .filter(|(amount, _)| *amount > 0)
        .take(2)
        .map(|(amount, unit)| format!("{amount} {unit}"))
        .collect();
    if said.is_empty() { "0 s".to_owned() } else { said.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::{parse_duration, parse_duration_millis, say_seconds};

    #[test]
    fn durations_are_read_as_go_reads_them() {
        for (text, seconds) in
            [("1h", 3600), ("1h30m", 5400), ("90s", 90), ("0", 0), ("1.5m", 90), ("500ms", 0), ("10m0s", 600)]
        {
            assert_eq!(parse_duration(text), Some(seconds), "{text}");
        }
        for text in ["", "1", "h", "1d", "-1h", "1h 30m", "${X}", "3000000h", "99999999999999999999h"] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
        assert_eq!(parse_duration("2562047h"), Some(2_562_047 * 3600), "the longest that Go takes, nearly");
        assert_eq!(parse_duration_millis("1m500ms"), Some(60_500));
    }

    #[test]
    fn seconds_are_said_in_two_units() {
        assert_eq!(say_seconds(5400), "1 h 30 min");
        assert_eq!(say_seconds(3661), "1 h 1 min");
        assert_eq!(say_seconds(45), "45 s");
        assert_eq!(say_seconds(0), "0 s");
    }
}
