//! What the lab lacks, and the command that gets it.

use super::{Tier, Tool};

/// Programs that a test or a lab needs and that are not built yet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    #[error(
        "the lab has not built {}: run `{}` (it needs a Go toolchain)",
        names(.0),
        command(.0)
    )]
    Tools(Vec<Tool>),
    #[error("the lab has no place for its programs: set COLDSTART_LAB_CACHE or HOME")]
    Home,
}

fn names(tools: &[Tool]) -> String {
    tools.iter().map(Tool::to_string).collect::<Vec<_>>().join(", ")
}

/// The plain command gets all but the largest tier, and is the one to remember.
fn command(tools: &[Tool]) -> &'static str {
    let highest = tools.iter().map(|tool| tool.tier()).max().unwrap_or(Tier::Cli);
    highest.max(Tier::Cli).command()
}

#[cfg(test)]
mod tests {
    use super::Missing;
    use crate::build::Tool;

    #[test]
    fn the_message_names_the_tools_and_the_command() {
        let message = Missing::Tools(vec![Tool::Etcd, Tool::Kubectl]).to_string();
        assert_eq!(
            message,
            format!(
                "the lab has not built {}, {}: run `cargo xtask lab build` (it needs a Go toolchain)",
                Tool::Etcd,
                Tool::Kubectl
            )
        );
        assert!(message.contains("etcd v3."), "{message}");
    }

    #[test]
    fn tools_of_the_full_tier_need_the_full_build() {
        let message = Missing::Tools(vec![Tool::Etcd, Tool::Tofu]).to_string();
        assert!(message.contains("run `cargo xtask lab build full`"), "{message}");
    }
}
