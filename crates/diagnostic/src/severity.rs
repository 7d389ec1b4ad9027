use std::fmt;

/// How much a finding matters: what losing the race costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Said only when asked for.
    Pedantic,
    Info,
    Warning,
    Error,
}

impl Severity {
    /// All of them, the least first.
    pub const ALL: [Self; 4] = [Self::Pedantic, Self::Info, Self::Warning, Self::Error];

    /// The word that people write and programs read.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pedantic => "pedantic",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    /// One step lower, for needs that most people hold to be soft.
    pub fn lowered(self) -> Self {
        match self {
            Self::Error => Self::Warning,
            Self::Warning => Self::Info,
            Self::Info | Self::Pedantic => Self::Pedantic,
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
