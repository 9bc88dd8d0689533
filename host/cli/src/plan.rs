//! `gramer plan`: how a pattern is searched, and which methods answer a task.

use std::fmt::Write as _;
use std::path::PathBuf;

use gramer_base::context::Context;
use gramer_base::counted::counted;
use gramer_base::error::{Error, Result};
use gramer_graph::NO_LABEL;
use gramer_pattern::plan::homomorphism::{HomomorphismPlan, Shape, quotients};
use gramer_pattern::plan::search::{
    CandidateSet, Formula, NextStep, SearchPlan, Source, Step, bits,
};
use gramer_pattern::plan::symmetry::ambiguous;
use gramer_pattern::task::{Induced, Mappings, Task};
use gramer_pattern::{
    FAMILIES, PatternInput, VertexSet, label_text, labelled_name_as, named, read_pattern,
};

use crate::choice::choice;
use crate::mine::matching::{MappingsArgs, ambiguity};
use crate::output::JsonArgs;
use crate::program::print_note;
use crate::report::{SCHEMA, pretty};
use crate::{device, methods, mine, print};

/// Format of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Output {
    /// Sentences, one per step
    Text,
    /// The plan as engines execute it
    Json,
    /// A picture of the steps
    Svg,
}

/// Options of `gramer plan`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  gramer plan house\n  \
    gramer plan query.graph --induced vertex --output json\n  \
    gramer plan 'a-b, b-c, c-d, a!-c'\n  \
    gramer plan 5-cycle --output svg > plan.svg\n  gramer plan --list\n  \
    gramer plan motif -k 5 graph.txt --device gpu")]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(subcommand_value_name = "TASK", subcommand_help_heading = "Tasks")]
pub struct Args {
    /// A task with the options of `gramer mine`: its methods, and the one that runs
    #[command(subcommand)]
    task: Option<Box<mine::Task>>,

    /// The pattern: a name such as `triangle` or `K3,3`, edges such as 'a-b, b-c', or a file
    #[arg(value_name = "PATTERN", required_unless_present_any = ["names", "list", "methods", "settings", "schema"])]
    pattern: Option<PathBuf>,

    /// List the names of patterns instead (also --list without a pattern)
    #[arg(long, exclusive = true)]
    names: bool,

    /// Print the JSON Schema of answers (`gramer mine --json`), docs/reference/answer.schema.json
    #[arg(long, exclusive = true)]
    schema: bool,

    /// Print the page of all methods, docs/reference/methods.md
    #[arg(long, exclusive = true)]
    methods: bool,

    /// List the settings of devices for experiments (`--set` of a task)
    #[arg(long, exclusive = true)]
    settings: bool,

    /// What an occurrence is
    #[arg(long, value_parser = choice::<Induced>(), default_value = "edge")]
    induced: Induced,

    #[command(flatten)]
    mappings: MappingsArgs,

    /// The plan that meets every embedding, not the one that counts; without a pattern, the names of patterns
    #[arg(long)]
    list: bool,

    /// How the plan is shown
    #[arg(long, short, value_enum, default_value = "text")]
    output: Output,

    #[command(flatten)]
    json: JsonArgs,
}

impl Args {
    /// Runs the command.
    ///
    /// # Errors
    /// Those of reading the pattern and of writing.
    pub fn run(&self, context: &Context) -> Result<()> {
        if let Some(task) = &self.task {
            return task.explain(context);
        }
        let Some(pattern) = &self.pattern else {
            let page = match self {
                Args { methods: true, .. } => methods::page(),
                Args { settings: true, .. } => device::listed(),
                Args { schema: true, .. } => SCHEMA.into(),
                _ => list_of_names(),
            };
            return print(|out| out.write_all(page.as_bytes()));
        };
        let input = read_pattern(pattern, &context.cancel)?;
        if let Some(other) = input.other {
            print_note(&ambiguity(pattern, other));
        }
        let pattern = &input.pattern;
        let (induced, mappings) = (self.induced, self.mappings.mappings);
        Task::Match { pattern: pattern.clone(), induced, mappings }.check()?;
        if !pattern.is_connected() {
            return Err(Error::usage(
                "search plans exist for connected patterns; for several components the CPU engine \
                 multiplies the counts and subtracts the cases in which they meet",
            ));
        }
        let plan = match mappings {
            Some(kind) if kind.repeats() => SearchPlan::of_mappings(pattern, kind, self.list),
            _ => SearchPlan::of(pattern, induced, mappings.is_some(), self.list),
        };
        let own = Described { plan: &plan, input: &input };
        let output = if self.json.json { Output::Json } else { self.output };
        print(|out| match output {
            Output::Text => {
                out.write_all(own.text().as_bytes())?;
                let other = if self.list { String::new() } else { other_ways(&plan) };
                out.write_all(other.as_bytes())
            }
            Output::Json => pretty(&plan, out),
            Output::Svg => out.write_all(own.svg().as_bytes()),
        })
    }
}

/// A line for each name of a pattern.
fn list_of_names() -> String {
    let mut text = String::new();
    for name in gramer_pattern::names() {
        let family = FAMILIES.iter().find(|(family, _)| *family == name);
        let what = match (named(&name), family) {
            (_, Some((_, what))) => what.to_string(),
            (Some(pattern), None) => {
                let edges = pattern.edges().into_iter().map(|(i, j)| format!(" {i}-{j}"));
                let size = counted(pattern.vertices(), "vertex", "vertices");
                format!("{size}{}", edges.collect::<String>())
            }
            (None, None) => String::new(),
        };
        let also = match gramer_pattern::other_names(&name) {
            also if also.is_empty() => String::new(),
            also => format!("; also {}", also.join(", ")),
        };
        let _ = writeln!(text, "{name:<18}{what}{also}");
    }
    let _ = writeln!(text, "{:<18}several components: triangle+edge", "A+B");
    let _ = writeln!(text, "{:<18}the patterns of results without another name: 6v8e.3", "VvEe.N");
    text
}

/// `v0`, `v0 and v2`, `v0, v1 and v2`.
fn names(vertices: impl IntoIterator<Item = usize>) -> String {
    let all: Vec<String> = vertices.into_iter().map(|v| format!("v{v}")).collect();
    match all.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

fn conditions(bounds: VertexSet, conflicts: &[usize]) -> String {
    let mut text = String::new();
    if bounds != 0 {
        let _ = write!(text, ", below {}", names(bits(bounds)));
    }
    if !conflicts.is_empty() {
        let _ = write!(text, ", not {}", names(conflicts.iter().copied()));
    }
    text
}

fn source_text(source: &Source) -> String {
    let mut text = format!("S{}{}", source.set, conditions(source.bounds, &source.conflicts));
    for e in &source.edges {
        let _ = write!(text, ", not v{}", e.second);
        if e.near != e.first {
            let _ = write!(text, " if v{} = v{}", e.near, e.first);
        }
    }
    text
}

fn formula_text(formula: &Formula) -> String {
    match formula {
        Formula::One(source) => format!("count {}", source_text(source)),
        Formula::Intersection(source) => format!("measure {}", source_text(source)),
        Formula::Same { source, vertices, ordered } => {
            let ways = if *ordered { "choose" } else { "arrange" };
            format!("{ways} {vertices} of {}", source_text(source))
        }
        Formula::Partitions(p) => {
            let sets: Vec<String> = p.sources.iter().map(source_text).collect();
            format!(
                "count different members of {}, by inclusion and exclusion over {} terms",
                sets.join("; "),
                p.terms.len()
            )
        }
    }
}

fn tail(plan: &SearchPlan) -> String {
    if plan.mappings.repeats() {
        return format!("Each mapping found is one of the {}.", plan.mappings.plural());
    }
    let occurrence = match ambiguous(&plan.pattern) {
        true => "mappings with the same image are one occurrence".to_string(),
        false => format!("an occurrence is {} mappings", plan.automorphisms),
    };
    format!("Each mapping found stands for {}; {occurrence}.", plan.factor)
}

/// Describes other methods for counting an unlabelled pattern; the graph decides between them.
fn other_ways(plan: &SearchPlan) -> String {
    let pattern = &plan.pattern;
    let (k, edges) = (pattern.vertices(), pattern.edge_count());
    if k < 3 || pattern.has_vertex_labels() || pattern.has_edge_labels() {
        return String::new();
    }
    match plan.mappings {
        Mappings::Isomorphism => {}
        Mappings::Homomorphism if k <= 8 => {
            let core = HomomorphismPlan::of(pattern, &Shape::TYPICAL).core.vertices();
            return match core {
                1 => "The CPU engine counts it by tables alone instead.\n".into(),
                _ => format!(
                    "Where the graph makes that cheaper, the CPU engine counts it by tables, with a core of {core} \
                     vertices.\n"
                ),
            };
        }
        Mappings::Homomorphism | Mappings::EdgeIsomorphism => return String::new(),
    }
    if edges == k * (k - 1) / 2 {
        return "The CPU engine counts it as a clique instead.\n".into();
    }
    let ring = edges == k && (0..k).all(|v| pattern.degree(v) == 2);
    if ring && !plan.induced && (k == 4 || k == 5) {
        return "The CPU engine counts it by paths of two edges that meet instead.\n".into();
    }
    let mut ways = vec![];
    if k <= 6 {
        ways.push(format!("from the equations or closed forms of all motifs of {k} vertices"));
    }
    if k <= 8 && !plan.induced {
        let plans: Vec<HomomorphismPlan> = quotients(pattern)
            .iter()
            .map(|(quotient, _)| HomomorphismPlan::of(quotient, &Shape::TYPICAL))
            .collect();
        let tables = plans.iter().filter(|plan| plan.core.vertices() == 1).count();
        let largest = plans.iter().map(|plan| plan.core.vertices()).max().unwrap_or(0);
        ways.push(match largest {
            1 => format!("from the homomorphisms of {} quotients, all by tables alone", plans.len()),
            _ => format!(
                "from the homomorphisms of {} quotients, {tables} of them by tables alone, the others \
                 with a core of up to {largest} vertices",
                plans.len()
            ),
        });
    }
    match ways.is_empty() {
        true => String::new(),
        false => format!(
            "Where the graph makes that cheaper, the CPU engine counts it {}.\n",
            ways.join(", or ")
        ),
    }
}

/// A plan in the words of the pattern as it was given.
struct Described<'a> {
    plan: &'a SearchPlan,
    input: &'a PatternInput,
}

impl Described<'_> {
    fn label(&self, label: u32, what: &str) -> String {
        match label {
            NO_LABEL => String::new(),
            label => format!(" with {what} {}", label_text(&self.input.label_name(label))),
        }
    }

    /// Describes the content of a set.
    fn set_text(&self, number: usize) -> String {
        let CandidateSet { class, parent, list, subtract, bounds, .. } = &self.plan.sets[number];
        let mut text = match (parent, list) {
            (Some(parent), Some(list)) => {
                format!("S{parent} ∩ N(v{}){}", list.of, self.label(list.edge_label, "edge label"))
            }
            (Some(parent), None) => format!("S{parent}"),
            (None, Some(list)) => {
                format!("N(v{}){}", list.of, self.label(list.edge_label, "edge label"))
            }
            (None, None) => "all vertices".into(),
        };
        for u in subtract {
            let _ = write!(text, " − N(v{u})");
        }
        text + &self.label(self.plan.classes[usize::from(*class)], "label")
            + &conditions(*bounds, &[])
    }

    /// The lines of one step and of all below it: how deep, and the text.
    fn lines(&self, step: &Step, depth: usize, out: &mut Vec<(usize, String)>) {
        let from = match &step.source {
            None => format!(
                "every vertex{} of the graph",
                self.label(self.plan.classes[usize::from(step.class)], "label")
            ),
            Some(source) => format!("each of {}", source_text(source)),
        };
        out.push((depth, format!("v{}: {from}", step.vertex)));
        for &set in &step.sets {
            out.push((depth + 1, format!("S{set} = {}", self.set_text(set))));
        }
        for then in &step.then {
            match then {
                NextStep::Step(next) => self.lines(&self.plan.steps[*next], depth + 1, out),
                NextStep::Formula(formula) => {
                    if let Formula::Intersection(source) = formula {
                        let what = self.set_text(source.set);
                        out.push((depth + 1, format!("S{} = {what}", source.set)));
                    }
                    out.push((depth + 1, formula_text(formula)));
                }
                NextStep::Emit => out.push((depth + 1, "an embedding".into())),
            }
        }
    }

    fn all_lines(&self) -> Vec<(usize, String)> {
        let mut out = vec![];
        if let Some(root) = self.plan.steps.first() {
            self.lines(root, 0, &mut out);
        }
        out
    }

    fn head(&self) -> String {
        let question = if self.plan.induced { "vertex-induced" } else { "edge-induced" };
        let of = match self.plan.mappings {
            Mappings::Isomorphism => String::new(),
            kind => format!("{} of ", kind.plural()),
        };
        format!("{of}{}, {question}", labelled_name_as(&self.plan.pattern, self.input))
    }

    fn text(&self) -> String {
        let mut text = self.head() + "\n";
        for (depth, line) in self.all_lines() {
            let _ = writeln!(text, "{}{line}", "  ".repeat(depth + 1));
        }
        text + &tail(self.plan) + "\nN(v) are the neighbours of the image of v; ids are compared.\n"
    }

    /// A picture: a box per line, indented by depth, joined to the one that it belongs to.
    fn svg(&self) -> String {
        const ROW: usize = 34;
        const INDENT: usize = 36;
        const CHARACTER: usize = 8;
        let escape =
            |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let lines = self.all_lines();
        let right =
            |(depth, line): &(usize, String)| depth * INDENT + line.chars().count() * CHARACTER;
        let foot = tail(self.plan);
        let width = lines.iter().map(right).max().unwrap_or(0).max(foot.len() * CHARACTER) + 40;
        let height = (lines.len() + 2) * ROW + 20;
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"monospace\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" \
             fill=\"white\"/>\n<text x=\"12\" y=\"24\" font-weight=\"bold\">{}</text>\n",
            escape(&self.head())
        );
        let mut above: Vec<usize> = vec![]; // the last row of each depth
        for (row, (depth, line)) in lines.iter().enumerate() {
            let (x, y) = (12 + depth * INDENT, (row + 1) * ROW + 6);
            above.truncate(*depth);
            if let Some(parent) = above.last() {
                let (from_x, from_y) = (x - INDENT + 12, (parent + 1) * ROW + 30);
                let middle = y + 12;
                let _ = writeln!(
                    text,
                    "<path d=\"M{from_x} {from_y} V{middle} H{x}\" fill=\"none\" stroke=\"#777\"/>"
                );
            }
            above.push(row);
            let step = line.starts_with('v');
            let (fill, stroke) = if step { ("#dbe9f6", "#2166ac") } else { ("#f7f7f7", "#999") };
            let wide = line.chars().count() * CHARACTER + 16;
            let _ = writeln!(
                text,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"24\" rx=\"4\" fill=\"{fill}\" \
                 stroke=\"{stroke}\"/><text x=\"{}\" y=\"{}\">{}</text>",
                x + 8,
                y + 17,
                escape(line)
            );
        }
        let _ = writeln!(
            text,
            "<text x=\"12\" y=\"{}\">{}</text>\n</svg>",
            (lines.len() + 1) * ROW + 24,
            escape(&foot)
        );
        text
    }
}
