//! `gramer plan TASK`: which methods answer a question, and which one runs.

use std::io::Write;

use serde::Serialize;

use super::{Common, Form, Options, Task};
use crate::report::symbols::new_table;
use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_engine::{Ask, Choices, Facts, Query, query};
use gramer_graph::image;
use gramer_pattern::task;

/// Output of `--json`.
#[derive(Serialize)]
struct Explanation<'a> {
    schema: u32,
    device: &'a str,
    query: &'a Query,
    /// The name of the method that runs.
    runs: Option<&'a str>,
    #[serde(flatten)]
    choices: &'a Choices,
}

impl Task {
    /// Prints what each method of the devices says to the question. No graph is read but the head of an image, and no
    /// device is opened.
    ///
    /// # Errors
    /// [`gramer_base::Error::Unsupported`] if no method answers it, once all are printed.
    pub fn explain(&self, context: &Context) -> Result<()> {
        let options = self.options();
        self.common().explain(&options.task(&context.cancel)?, options)
    }
}

impl Common {
    fn explain(&self, task: &task::Task, options: &dyn Options) -> Result<()> {
        let query = self.query(task, options)?;
        let memory = self.options.budget(&self.device)?.map(|budget| budget.bytes);
        // What a text holds is known once it is read.
        let facts = image::name(&self.graph.graph).ok().flatten();
        let facts = facts.and_then(|_| image::open(&self.graph.graph, false).ok());
        let facts = facts.as_ref().map(Facts::of);
        let ask = Ask::new(&query).facts(facts.as_ref()).memory(memory);
        ask.check()?;
        let engine = self.options.unopened(&self.device)?;
        let choices = engine.choose(&ask);
        let json = self.json.json || self.output == Some(Form::Json);
        crate::print(|out| match json {
            true => self.explain_json(&query, &choices, out),
            false => self.explain_table(&query, &choices, out),
        })?;
        choices.first(&self.device, &ask).map(|_| ())
    }

    fn explain_json(
        &self,
        query: &Query,
        choices: &Choices,
        out: &mut dyn Write,
    ) -> std::io::Result<()> {
        let runs = choices.fits.first().map(|plan| plan.method.as_str());
        let explained = Explanation { schema: 1, device: &self.device, query, runs, choices };
        serde_json::to_writer_pretty(&mut *out, &explained)?;
        writeln!(out)
    }

    fn explain_table(
        &self,
        query: &Query,
        choices: &Choices,
        out: &mut dyn Write,
    ) -> std::io::Result<()> {
        let form = match query.answer {
            query::Answer::PerVertex => ", per vertex",
            query::Answer::PerEdge => ", per edge",
            query::Answer::Estimate(_) => ", estimated",
            _ => "",
        };
        let listed = if query.list { ", listed" } else { "" };
        let filter =
            query.filter.as_ref().map_or(String::new(), |filter| format!(", with {filter}"));
        let support = query
            .support
            .map_or(String::new(), |n| format!(", grown with at least {n} embeddings"));
        let subject = query.task.info().subject;
        writeln!(out, "{subject}{form}{listed}{filter}{support}, on {}", self.device)?;
        let mut table = new_table();
        table.set_header(["method", "fit", "divides work by"]);
        for (at, plan) in choices.fits.iter().enumerate() {
            let fit = if at == 0 { "runs" } else { "fits, if those above it retreat" };
            table.add_row([plan.method.as_str(), fit, &plan.scheme.to_string()]);
        }
        for (method, reason) in &choices.not {
            table.add_row([method.as_str(), &reason.to_string(), ""]);
        }
        writeln!(out, "{table}")
    }
}
