//! `compare`: the changes between two runs or sets of runs.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Toolbox, begin, command_line};
use crate::mcp::answer::ToolAnswer;
use crate::mcp::arguments::{FilterTexts, Texts, parsed};
use crate::mcp::conclusion::add_damage;
use crate::mcp::failure::{Exit, ToolFailure};
use wavesieve_report::compare::{
    BasisChoice, CompareOptions, Digest, Side, TakeOptions, compare_by_steps, is_digest, read_digest, take_digest,
    write_text,
};

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Arguments {
    base: Texts,
    new: Texts,
    basis: Option<String>,
    effect_pct: Option<f64>,
    /// Whether the answer has all figures instead of the text.
    figures: bool,
    rows: Option<usize>,
}

pub(super) fn call(tools: &mut Toolbox<'_>, arguments: Map<String, Value>) -> Result<ToolAnswer, ToolFailure> {
    let arguments: Arguments = parsed(arguments)?;
    let rows = tools.rows(arguments.rows);
    let mut options = CompareOptions::default();
    let mut words = Vec::new();
    if let Some(basis) = &arguments.basis {
        options.basis = basis
            .parse::<BasisChoice>()
            .map_err(|error| ToolFailure::usage(format!("invalid basis `{basis}`: {error}")))?;
        words.extend(["--basis".to_owned(), basis.clone()]);
    }
    if let Some(pct) = arguments.effect_pct {
        if !(0.0..1e6).contains(&pct) {
            return Err(ToolFailure::usage(format!("invalid effect_pct `{pct}`: give a percentage from 0")));
        }
        options.effect = pct / 100.0;
        words.extend(["--effect".to_owned(), pct.to_string()]);
    }
    let mut answer = ToolAnswer::default();
    let (base, base_inputs) = side(tools, "base", &arguments.base, &options, &mut answer)?;
    let (new, new_inputs) = side(tools, "new", &arguments.new, &options, &mut answer)?;
    let named: Vec<String> = ["--base".to_owned()]
        .into_iter()
        .chain(base_inputs.iter().cloned())
        .chain(["--new".to_owned()])
        .chain(new_inputs.iter().cloned())
        .collect();
    let command = begin(command_line(&["compare"], &named, &words, None));
    answer.absorb(command);
    if base_inputs == new_inputs {
        answer.note("note: both sides are the same input");
    }
    for (name, side) in [("base", &base), ("new", &new)] {
        if side.gpus().next().is_none() {
            answer.abstain(format!("the {name} side has no GPU work"));
            return Ok(answer);
        }
    }
    let comparison = compare_by_steps(&base, &new, &options, |step| {
        if base_inputs.iter().chain(&new_inputs).any(|input| is_digest(Path::new(input))) {
            return Ok(None);
        }
        let options = CompareOptions { basis: BasisChoice::Range(step.to_owned()), ..options.clone() };
        // The answer already has notes about the inputs.
        let mut read = |name, named| side(tools, name, named, &options, &mut ToolAnswer::default());
        let (base, _) = read("base", &arguments.base)?;
        let (new, _) = read("new", &arguments.new)?;
        Ok::<_, ToolFailure>(Some((base, new)))
    })?;
    answer.set("verdict", comparison.verdict);
    answer.set("verdict_reason", comparison.reason.clone());
    if arguments.figures {
        let value = serde_json::to_value(&comparison).map_err(anyhow::Error::from)?;
        answer.set_document("comparison", value, rows);
    } else {
        let mut text = Vec::new();
        write_text(&comparison, &mut text)?;
        answer.set("text", String::from_utf8_lossy(&text).into_owned());
        let totals = comparison.totals.iter().map(|total| {
            json!({
                "metric": total.metric, "base_ns": total.base_ns, "new_ns": total.new_ns, "pct": total.pct,
                "verdict": total.verdict,
            })
        });
        answer.set_document("totals", totals.collect(), rows);
    }
    Ok(answer)
}

/// The runs of a side; each input is a run.
fn side(
    tools: &mut Toolbox<'_>,
    name: &str,
    named: &Texts,
    options: &CompareOptions,
    answer: &mut ToolAnswer,
) -> Result<(Side, Vec<String>), ToolFailure> {
    let of_side =
        |failure: ToolFailure| ToolFailure { message: format!("{name} side: {}", failure.message), ..failure };
    let inputs = tools.inputs(named).map_err(of_side)?;
    let mut runs: Vec<Digest> = Vec::new();
    for input in &inputs {
        let path = Path::new(input);
        if is_digest(path) {
            let digest = read_digest(path).map_err(|error| of_side(error.into()))?;
            if let Some(warning) = digest.warning() {
                answer.note(warning);
                answer.exit = Exit::Partial;
            }
            runs.push(digest);
            continue;
        }
        let one = Texts::One(input.clone());
        let (trace, _) = tools.open(&one, &FilterTexts::default(), None).map_err(of_side)?;
        let take = TakeOptions { range: options.basis.range(), ..TakeOptions::default() };
        let taken = take_digest(&trace, std::slice::from_ref(input), &take);
        runs.push(taken.map_err(|error| of_side(error.into()))?);
        add_damage(answer, &trace);
    }
    let (side, repeated) = Side::of_distinct(runs);
    for sentence in repeated {
        answer.note(format!("warning: {name} side: {sentence}"));
    }
    Ok((side, inputs))
}
