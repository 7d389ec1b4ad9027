//! `coldstart graph`.

use ::graph::Analysis;
use draw::graph_text;
use model::Cluster;

use crate::arguments::{Graph, GraphFormat};
use crate::exit::{self, Code};
use crate::failure::Failure;
use crate::open::{find_helm, open_some};
use crate::progress::Progress;
use crate::{change, cluster, output, picture};

const COMMAND: &str = "graph";

pub(crate) fn run(options: &Graph) -> Result<Code, Failure> {
    if matches!(options.format, GraphFormat::Text | GraphFormat::Json) && !picture::is_untouched(&options.picture) {
        return Err(Failure::OnlyInPictures);
    }
    if let Some((base, head)) = &options.diff {
        return change::run(options, base, head);
    }
    if options.format == GraphFormat::Markdown {
        return Err(Failure::OnlyOfChanges);
    }
    let progress = Progress::start("reading");
    let helm = find_helm(COMMAND, &options.charts)?;
    let reading = open_some(COMMAND, &options.path, options.start.entry.as_deref(), helm.as_ref())?;
    let wanted: Vec<&Cluster> = match &options.cluster {
        Some(name) => vec![cluster::find(&reading.clusters, name, COMMAND, &options.path)?],
        None => reading.clusters.iter().collect(),
    };
    let analyses: Vec<Analysis> = wanted.iter().map(|cluster| ::graph::analyse(cluster)).collect();
    drop(progress);
    let pairs: Vec<(&Cluster, &Analysis)> = wanted.into_iter().zip(&analyses).collect();
    let text = match options.format {
        GraphFormat::Text => {
            let color = output::wants_color(options.color);
            let between = if options.quiet { "" } else { "\n\n" };
            let one = |(cluster, analysis): &(&Cluster, &Analysis)| {
                let draw = if options.quiet { graph_text::headline } else { graph_text::tiers };
                draw(cluster, analysis, color)
            };
            let drawn: Vec<String> = pairs.iter().map(one).collect();
            drawn.join(between)
        }
        GraphFormat::Json => {
            draw::graph_json::clusters(&pairs, &reading.repository).map_err(|error| Failure::Json(error.to_string()))?
        }
        GraphFormat::Svg | GraphFormat::Html | GraphFormat::Mermaid | GraphFormat::Dot | GraphFormat::Markdown => {
            picture::drawn(options, &reading, &pairs)?
        }
    };
    output::print(&text)?;
    Ok(exit::CLEAN)
}
