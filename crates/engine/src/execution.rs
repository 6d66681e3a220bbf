//! Runs one statement over tables that are there: in steps or as a whole, and once more with care if it fails.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use polars::prelude::{DataFrame, DataType, Engine, Expr, LazyFrame, OptFlags, PolarsError, PolarsResult, col};
use polars::sql::SQLContext;

use super::dialect::{Functions, WindowCall};
use super::exact::{with_exact_sums, with_stable_rows};
use super::numbers::{NUMBERS, numbers};
use super::parsed::PreparedStatement;
use super::steps::Steps;
use crate::failures::panics;
use wavesieve_tables::trace::selection::SharedMask;

/// Whether common table expressions are worked out one after the other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stepping {
    Never,
    /// The statement is run as a whole if a step fails.
    Preferred,
    /// The tables are enough for the steps alone.
    Required,
}

/// How a statement is run.
#[derive(Clone, Copy)]
pub(super) struct ExecOptions<'a> {
    pub(super) engine: Engine,
    /// Columns of its answer to keep.
    pub(super) columns: Option<&'a [String]>,
    /// Whether sums of tables are enough.
    pub(super) with_sums: bool,
    /// Whether common table expressions are worked out one after the other.
    pub(super) stepping: Stepping,
    /// Whether rows keep an order that the statement leaves open.
    pub(super) is_stable: bool,
    /// Whether optimizations that polars gets wrong are off.
    pub(super) is_careful: bool,
    /// Calls that the functions of ordered windows compute.
    pub(super) windows: &'a [WindowCall],
    /// Replaces texts that the statement must not see.
    pub(super) mask: Option<&'a SharedMask>,
}

impl ExecOptions<'_> {
    /// In memory, step by step.
    pub(super) const IN_STEPS: Self = Self {
        engine: Engine::InMemory,
        columns: None,
        with_sums: false,
        stepping: Stepping::Preferred,
        is_stable: false,
        is_careful: false,
        windows: &[],
        mask: None,
    };
}

/// Tables by name.
pub(super) type Frames = BTreeMap<String, LazyFrame>;

/// A table that a statement reads in addition after one of its steps is there, if any.
pub(super) type AfterStep<'a> = dyn Fn(&str, &DataFrame) -> anyhow::Result<Option<(String, LazyFrame)>> + 'a;

pub(super) fn nothing(_: &str, _: &DataFrame) -> anyhow::Result<Option<(String, LazyFrame)>> {
    Ok(None)
}

/// The rows of some steps of a statement, as they come.
///
/// # Errors
/// When the engine cannot run it.
pub(crate) fn rows_of_steps(
    frames: Frames,
    statement: &PreparedStatement,
    names: &[String],
) -> PolarsResult<BTreeMap<String, DataFrame>> {
    let wrong = || PolarsError::ComputeError("internal: a statement without steps".into());
    let steps = statement.steps.as_ref().ok_or_else(wrong)?;
    let run = |frames: &Frames| {
        catch_panic(|| {
            let mut context = context(frames, statement, &[])?;
            let taken = RefCell::new(BTreeMap::new());
            let take = |step: &str, rows: &DataFrame| {
                if names.iter().any(|name| name == step) {
                    taken.borrow_mut().insert(step.to_owned(), rows.clone());
                }
                Ok(None)
            };
            steps.plan(&mut context, |plan| collected(plan, &ExecOptions::IN_STEPS), take).map(drop)?;
            Ok(taken.into_inner())
        })
    };
    match run(&frames) {
        Err(error) if wants_text(&error) => run(&with_texts(frames)?),
        rows => rows,
    }
}

/// Runs a statement. If it fails, it is run again, more slowly: with the texts that dictionaries stand for, if the engine takes no
/// dictionaries there, otherwise without the optimizations that polars gets wrong.
pub(super) fn executed(
    frames: Frames,
    statement: &PreparedStatement,
    exec: &ExecOptions<'_>,
    after: &AfterStep<'_>,
) -> PolarsResult<DataFrame> {
    let careful = ExecOptions { engine: Engine::InMemory, is_careful: true, ..*exec };
    match execute(&frames, statement, exec, after) {
        Err(error) if wants_text(&error) => execute(&with_texts(frames)?, statement, &careful, after),
        Err(_) => execute(&frames, statement, &careful, after),
        executed => executed,
    }
}

/// Runs a statement in steps if it has any; otherwise, or if a step fails, as a whole.
fn execute(
    frames: &Frames,
    statement: &PreparedStatement,
    exec: &ExecOptions<'_>,
    after: &AfterStep<'_>,
) -> PolarsResult<DataFrame> {
    let whole = || execute_in(frames, statement, exec, None);
    if exec.stepping == Stepping::Never {
        return whole();
    }
    let Some(steps) = &statement.steps else { return whole() };
    match execute_in(frames, statement, exec, Some((steps, after))) {
        // polars knows our functions in steps alone: the error of the whole statement may be about these.
        Err(error) if exec.stepping == Stepping::Preferred => whole().map_err(|_| error),
        executed => executed,
    }
}

/// Runs a statement, in steps if these are given.
fn execute_in(
    frames: &Frames,
    statement: &PreparedStatement,
    exec: &ExecOptions<'_>,
    steps: Option<(&Steps, &AfterStep<'_>)>,
) -> PolarsResult<DataFrame> {
    catch_panic(|| {
        let mut context = context(frames, statement, exec.windows)?;
        let mut plan = match steps {
            Some((steps, after)) => {
                let after = |step: &str, rows: &DataFrame| {
                    after(step, rows).map_err(|error| PolarsError::ComputeError(error.to_string().into()))
                };
                steps.plan(&mut context, |plan| collected(plan, exec), after)?
            }
            None => context.execute(&statement.sql)?,
        };
        if let Some(columns) = exec.columns {
            plan = plan.select(columns.iter().map(col).collect::<Vec<_>>());
        }
        collected(plan, exec)
    })
}

/// A context with the tables that a statement reads.
fn context(frames: &Frames, statement: &PreparedStatement, windows: &[WindowCall]) -> PolarsResult<SQLContext> {
    let context = SQLContext::new().with_function_registry(Arc::new(Functions::new(windows)));
    for (name, frame) in frames {
        context.register(name, frame.clone());
    }
    if statement.needs_numbers {
        context.register(NUMBERS, numbers()?);
    }
    Ok(context)
}

fn collected(plan: LazyFrame, exec: &ExecOptions<'_>) -> PolarsResult<DataFrame> {
    catch_panic(|| {
        let mut plan = plan;
        if exec.is_careful {
            // polars counts the rows of a union in a type that only a wider build has, and what it computes once for several
            // columns may come out as one row of many.
            let others = plan.get_current_optimizations().difference(OptFlags::COMM_SUBEXPR_ELIM);
            plan = plan.with_optimizations(others).with_projection_pushdown(false);
        }
        if exec.engine != Engine::Streaming {
            return plan._collect_post_opt(|root, plans, expressions, _| {
                if exec.is_stable {
                    with_stable_rows(root, plans, expressions);
                }
                with_exact_sums(root, plans, expressions)
            });
        }
        let mut plan = plan.with_streaming(true).to_alp_optimized()?;
        with_exact_sums(plan.lp_top, &mut plan.lp_arena, &mut plan.expr_arena)?;
        plan.ensure_root_node_is_sink();
        Ok(polars_stream::run_query(plan.lp_top, &mut plan.lp_arena, &mut plan.expr_arena)?.unwrap_single())
    })
}

/// Turns a panic of the engine, as over functions called without arguments, into an error.
fn catch_panic<T>(run: impl FnOnce() -> PolarsResult<T>) -> PolarsResult<T> {
    panics::with_silent_panics(run)
        .unwrap_or_else(|cause| Err(PolarsError::ComputeError(format!("the engine gave up on it: {cause}").into())))
}

/// Whether a function or operator takes no dictionaries. Not every failure may be tried again with texts: of texts the engine accepts
/// statements whose types do not match, such as a union of numbers and names.
fn wants_text(error: &PolarsError) -> bool {
    let message = error.to_string();
    ["got `cat`", "got: cat", "categorical", ": cat on left", ": cat on right", ": cat on the"]
        .iter()
        .any(|words| message.contains(words))
}

/// The tables with the texts that their dictionaries stand for.
fn with_texts(frames: Frames) -> PolarsResult<Frames> {
    let with_texts = |mut frame: LazyFrame| -> PolarsResult<LazyFrame> {
        let schema = frame.collect_schema()?;
        let dictionaries = schema.iter().filter(|(_, data_type)| matches!(data_type, DataType::Categorical(_, _)));
        let texts: Vec<Expr> = dictionaries.map(|(name, _)| col(name.clone()).cast(DataType::String)).collect();
        Ok(frame.with_columns(texts))
    };
    frames.into_iter().map(|(name, frame)| Ok((name, with_texts(frame)?))).collect()
}
