//! Conditions on the vertices of embeddings: `--filter`.

use gramer_base::error::{Error, Result};
use gramer_graph::Graph;
use gramer_pattern::Filter;
use gramer_pattern::filter::{Attribute, Comparison, Operand};

use super::per::HEADING;

/// Option of tasks that algorithm 1 extends vertex by vertex.
#[derive(Debug, Clone, clap::Args)]
pub struct FilterArgs {
    /// Count only embeddings whose vertices meet CONDITIONS
    ///
    /// All conditions must hold; commas separate them: 'label(u) != label(v), degree(u) >= 3'. A condition is one
    /// comparison, or several joined by `or`: 'not adjacent(u, v) or degree(u) != degree(v)'. With one of the names
    /// u and v it must hold for every vertex, with both for every pair, in both orders. `size` and, for motifs, `pattern`
    /// are tested when a vertex joins: 'size < 4 or degree(u) > 9', 'pattern != triangle'. Devices: reference,
    /// emulator:small, and machines with applications.filter_words above 0; for patterns alone any paper's core.
    #[arg(long, value_name = "CONDITIONS", value_parser = read, help_heading = HEADING, hide_short_help = true)]
    #[arg(conflicts_with_all = ["per", "estimate", "checkpoint", "distribute"])]
    pub filter: Option<Filter>,
}

fn read(text: &str) -> Result<Filter, String> {
    text.parse().map_err(|error: Error| error.to_string())
}

/// Refuses numbers of labels that are text, whose numbers users don't know.
///
/// # Errors
/// [`Error::Usage`] that names the comparison.
pub fn check_labels(filter: &Filter, graph: &Graph) -> Result<()> {
    let numbered = |comparison: &&Comparison| {
        let Comparison::Numbers(left, _, right) = comparison else { return false };
        let label = |side: &Operand| matches!(side, Operand::Of(Attribute::Label, _));
        let number = |side: &Operand| matches!(side, Operand::Number(_));
        label(left) && number(right) || number(left) && label(right)
    };
    let mut comparisons = filter.conditions().iter().flat_map(|condition| condition.comparisons());
    match comparisons.find(numbered) {
        Some(comparison) if graph.names().vertex_labels.is_some() => Err(Error::usage(format!(
            "the setting `filter` has `{comparison}`, and the labels of the graph are text: compare labels with \
             labels, or give numbers by the setting `labels`"
        ))),
        _ => Ok(()),
    }
}
