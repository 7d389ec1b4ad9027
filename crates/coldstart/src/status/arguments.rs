//! The words of `coldstart status`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use health::status::LayerName;

use crate::arguments::Color;

const STATUS_HELP: &str = "\
Only reads: it changes nothing in the cluster. OBJECT is a name, Kind/name, namespace/name or Kind/namespace/name.

Exit codes:
  0  healthy: every layer that was seen is as it should be
  1  degraded: something fails; the report names its root
  2  the command line was not understood, or there is no way to the cluster: kubeconfig, context, credentials
  4  progressing: nothing fails, something is still coming up
  5  unknown: what would decide it could not be seen";

#[derive(Args, Clone, Debug)]
#[command(after_help = STATUS_HELP)]
pub(crate) struct Status {
    /// An object that is not as it should be: what it waits for, down to the root
    #[arg(value_name = "OBJECT", conflicts_with_all = ["watch", "wait_for", "layer"])]
    pub object: Option<String>,
    #[command(flatten)]
    pub target: Target,
    /// Read what was seen from a file that --record wrote, and ask no cluster
    #[arg(long, value_name = "FILE", conflicts_with_all = ["context", "kubeconfig", "namespace", "all_namespaces", "record", "watch", "wait_for"])]
    pub from: Option<PathBuf>,
    /// Also write what was seen to a file that only you can read; values of Secrets are never in it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["watch", "wait_for"])]
    pub record: Option<PathBuf>,
    /// How to print the status
    #[arg(long, short = 'o', value_enum, default_value_t = StatusFormat::Text)]
    pub format: StatusFormat,
    /// Only this layer
    #[arg(long, value_enum, value_name = "LAYER", hide_possible_values = true)]
    pub layer: Option<Layer>,
    /// Wait until this layer and all below it are healthy
    #[arg(long, value_enum, value_name = "LAYER", conflicts_with = "watch")]
    pub wait_for: Option<Layer>,
    /// With --wait-for: how long, such as 90s, 10m or 1h
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = duration, requires = "wait_for")]
    pub timeout: Duration,
    /// Show the status again whenever something changes, until Ctrl-C
    #[arg(long, short)]
    pub watch: bool,
    /// Show everything: every object that fails, and what could not be seen
    #[arg(long, short)]
    pub verbose: bool,
    /// Print the ClusterRole that this command needs, and ask no cluster
    #[arg(long, conflicts_with_all = ["object", "from", "record", "watch", "wait_for"])]
    pub rights: bool,
    /// When to use colours; auto means on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub color: Color,
}

/// Which cluster, and how much of it, in the words of kubectl.
#[derive(Args, Clone, Debug)]
pub(crate) struct Target {
    /// The context of the kubeconfig [default: its current one]
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,
    /// The kubeconfig [default: the files of KUBECONFIG, else ~/.kube/config, else the pod that this runs in]
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// Ask only for what is in this namespace, and for what is in none
    #[arg(long, short, value_name = "NAMESPACE", conflicts_with = "all_namespaces")]
    pub namespace: Option<String>,
    /// Ask for what is in all namespaces, as without --namespace
    #[arg(long, short = 'A')]
    pub all_namespaces: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatusFormat {
    Text,
    Json,
    Markdown,
}

/// The layers of a cluster, from the bottom up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Layer {
    Access,
    Machines,
    Etcd,
    Api,
    Nodes,
    Network,
    Dns,
    Secrets,
    Storage,
    Certificates,
    Gitops,
    Platform,
    Applications,
}

impl From<Layer> for LayerName {
    fn from(layer: Layer) -> Self {
        match layer {
            Layer::Access => Self::Access,
            Layer::Machines => Self::Machines,
            Layer::Etcd => Self::Etcd,
            Layer::Api => Self::Api,
            Layer::Nodes => Self::Nodes,
            Layer::Network => Self::Network,
            Layer::Dns => Self::Dns,
            Layer::Secrets => Self::Secrets,
            Layer::Storage => Self::Storage,
            Layer::Certificates => Self::Certificates,
            Layer::Gitops => Self::GitOps,
            Layer::Platform => Self::Platform,
            Layer::Applications => Self::Applications,
        }
    }
}

/// `90s`, `10m`, `1h`, `1h30m`.
fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || "a duration, such as 90s, 10m or 1h".to_owned();
    let (mut seconds, mut number) = (0_u64, String::new());
    for letter in text.chars() {
        let unit = match letter {
            '0'..='9' => {
                number.push(letter);
                continue;
            }
            's' => 1,
            'm' => 60,
            'h' => 3600,
            _ => return Err(wrong()),
        };
        let count: u64 = number.parse().map_err(|_| wrong())?;
        seconds = count.checked_mul(unit).and_then(|more| seconds.checked_add(more)).ok_or_else(wrong)?;
        number.clear();
    }
    if text.is_empty() || !number.is_empty() { Err(wrong()) } else { Ok(Duration::from_secs(seconds)) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::duration;

    #[test]
    fn durations_are_written_as_go_writes_them() {
        let seconds = |text| duration(text).map(|found| found.as_secs());
        assert_eq!(seconds("90s"), Ok(90));
        assert_eq!(seconds("1h30m"), Ok(5400));
        for wrong in ["", "90", "m", "1d", "-1s", "99999999999999999999h"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
        assert_eq!(duration("10m"), Ok(Duration::from_mins(10)));
    }
}
