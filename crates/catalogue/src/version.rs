//! Versions of providers and constraints on them, as Terraform writes them.

/// `major.minor.patch`; what follows it is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version([u64; 3]);

/// Versions from one to below another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    low: Version,
    high: Option<Version>,
}

impl Version {
    const ZERO: Self = Self([0; 3]);

    /// The version, and how many parts of it are written.
    fn parse(text: &str) -> Option<(Self, usize)> {
        let text = text.trim().trim_start_matches('v');
        let text = text.split(['-', '+']).next().unwrap_or(text);
        let mut parts = [0; 3];
        let mut count = 0;
        for part in text.split('.') {
            *parts.get_mut(count)? = part.parse().ok()?;
            count += 1;
        }
        Some((Self(parts), count))
    }

    /// The next one, counted at a part.
    fn above(self, part: usize) -> Self {
        let mut parts = [0; 3];
        parts[..=part].copy_from_slice(&self.0[..=part]);
        parts[part] += 1;
        Self(parts)
    }
}

impl Range {
    pub(crate) const ALL: Self = Self { low: Version::ZERO, high: None };

    /// All constraints of a text, separated by commas. What is not understood does not constrain.
    pub(crate) fn parse(text: &str) -> Self {
        text.split(',').filter_map(Self::one).fold(Self::ALL, Self::and)
    }

    fn one(text: &str) -> Option<Self> {
        let text = text.trim();
        let end = text.find(|c: char| c.is_ascii_digit() || c == 'v')?;
        let (operator, version) = (text[..end].trim(), Version::parse(&text[end..])?);
        let (version, parts) = version;
        let from = |low| Self { low, high: None };
        let below = |high| Self { low: Version::ZERO, high: Some(high) };
        Some(match operator {
            "" | "=" => Self { low: version, high: Some(version.above(2)) },
            ">=" => from(version),
            ">" => from(version.above(2)),
            "<" => below(version),
            "<=" => below(version.above(2)),
            "~>" if parts == 1 => from(version),
            "~>" => Self { low: version, high: Some(version.above(parts.saturating_sub(2))) },
            _ => return None,
        })
    }

    pub(crate) fn and(self, other: Self) -> Self {
        let high = match (self.high, other.high) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
        Self { low: self.low.max(other.low), high }
    }

    /// Whether any version is in both.
    pub(crate) fn meets(self, other: Self) -> bool {
        let both = self.and(other);
        both.high.is_none_or(|high| both.low < high)
    }

    pub(crate) fn low(self) -> Version {
        self.low
    }
}

#[cfg(test)]
mod tests {
    use super::Range;

    #[test]
    fn constraints_meet_where_terraform_could_choose_one_of_both() {
        for (one, other, wanted) in [
            ("~> 0.9.0", ">= 0.11.0", false),
            ("~> 0.9", ">= 0.11.0", true),
            ("~> 2", ">= 3.0", true),
            ("~> 2.12", ">= 3.0", false),
            ("3.1.0", ">= 3.0.0, < 4.0.0", true),
            (">= 2.0.0, < 3.0.0", ">= 3.0.0", false),
            ("v1.2.3-rc1", "= 1.2.3", true),
            ("!= 1.0.0", "<= 1.0.0", true),
            ("> 1.0.0", "<= 1.0.0", false),
            ("whatever", "1.0.0", true),
        ] {
            assert_eq!(Range::parse(one).meets(Range::parse(other)), wanted, "{one} and {other}");
        }
    }
}
