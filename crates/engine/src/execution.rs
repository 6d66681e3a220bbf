//! Runs one statement over given tables, in steps or as a whole.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use polars::prelude::{DataFrame, DataType, Engine, Expr, LazyFrame, PolarsError, PolarsResult, col};
use polars::sql::SQLContext;

use super::dialect::{Functions, WindowCall};
use super::exact::{with_exact_sums, with_stable_rows};
use super::numbers::{NUMBERS, numbers};
use super::parsed::PreparedStatement;
use super::steps::Steps;
use crate::failures::panics;
use wavesieve_tables::trace::selection::SharedMask;

/// Options for running a statement.
#[derive(Clone, Copy)]
pub(super) struct ExecOptions<'a> {
    pub(super) engine: Engine,
    /// Columns of its answer to keep.
    pub(super) columns: Option<&'a [String]>,
    /// Whether sums of tables are enough.
    pub(super) with_sums: bool,
    /// Whether common table expressions are worked out one after the other.
    pub(super) in_steps: bool,
    /// Whether the tables are enough for the steps alone.
    pub(super) only_steps: bool,
    /// Whether rows keep an order that the statement leaves open.
    pub(super) is_stable: bool,
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
        in_steps: true,
        only_steps: false,
        is_stable: false,
        windows: &[],
        mask: None,
    };
}

/// Tables by name.
pub(super) type Frames = BTreeMap<String, LazyFrame>;

/// Returns a table that a statement reads in addition once one of its steps is computed, if any.
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
        Err(error) if wants_texts(&error) => run(&with_texts(frames)?),
        rows => rows,
    }
}

/// Runs a statement. If polars takes no dictionaries somewhere in it, it is run once more over the texts that these stand for; if its streaming
/// engine fails, in memory.
pub(super) fn executed(
    frames: Frames,
    statement: &PreparedStatement,
    exec: &ExecOptions<'_>,
    after: &AfterStep<'_>,
) -> PolarsResult<DataFrame> {
    let in_memory = ExecOptions { engine: Engine::InMemory, ..*exec };
    match execute(&frames, statement, exec, after) {
        Err(error) if wants_texts(&error) => execute(&with_texts(frames)?, statement, &in_memory, after),
        Err(_) if exec.engine == Engine::Streaming => execute(&frames, statement, &in_memory, after),
        executed => executed,
    }
}

/// Runs a statement, in steps if it has any and these are asked for. If a step fails, the statement runs as a whole: steps compute all of their
/// columns and rows, and some of these may not be read, such as a sum that is out of range.
fn execute(
    frames: &Frames,
    statement: &PreparedStatement,
    exec: &ExecOptions<'_>,
    after: &AfterStep<'_>,
) -> PolarsResult<DataFrame> {
    let steps = statement.steps.as_ref().filter(|_| exec.in_steps).map(|steps| (steps, after));
    match execute_in(frames, statement, exec, steps) {
        // polars knows our functions in steps alone: the error of the whole statement may be about these.
        Err(error) if steps.is_some() && !exec.only_steps => {
            execute_in(frames, statement, exec, None).map_err(|_| error)
        }
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

/// A place where polars takes no dictionaries, which SQL reads as texts.
struct NoDictionaries {
    /// Part of its message.
    message: &'static str,
    /// A statement over `kernels` that meets it; a test expects it to fail without texts, so that this list ends with the defects.
    #[cfg_attr(not(test), expect(dead_code, reason = "only a test runs it"))]
    example: &'static str,
}

/// The places in polars 0.55. Other failures are not run again: over texts the engine accepts statements whose types do not match, such as
/// a union of numbers and names.
const NO_DICTIONARIES: [NoDictionaries; 5] = [
    NoDictionaries { message: "got: cat", example: "SELECT category FROM kernels WHERE category LIKE 'ge%'" },
    NoDictionaries { message: "got `cat`", example: "SELECT upper(category) FROM kernels" },
    NoDictionaries {
        message: ": cat on left",
        example: "WITH w AS (SELECT upper('gemm') AS word) SELECT word FROM kernels JOIN w ON category = word",
    },
    NoDictionaries {
        message: ": cat on right",
        example: "WITH w AS (SELECT upper('gemm') AS word) SELECT word FROM w JOIN kernels ON word = category",
    },
    NoDictionaries {
        message: "cannot cast categorical types",
        example: "SELECT TRY_CAST(category AS DOUBLE) AS number FROM kernels",
    },
];

/// Whether a statement failed because polars takes no dictionaries somewhere in it.
fn wants_texts(error: &PolarsError) -> bool {
    let message = error.to_string();
    NO_DICTIONARIES.iter().any(|place| message.contains(place.message))
}

/// The tables with texts in place of their dictionaries.
fn with_texts(frames: Frames) -> PolarsResult<Frames> {
    let with_texts = |mut frame: LazyFrame| -> PolarsResult<LazyFrame> {
        let schema = frame.collect_schema()?;
        let dictionaries = schema.iter().filter(|(_, data_type)| matches!(data_type, DataType::Categorical(_, _)));
        let texts: Vec<Expr> = dictionaries.map(|(name, _)| col(name.clone()).cast(DataType::String)).collect();
        Ok(frame.with_columns(texts))
    };
    frames.into_iter().map(|(name, frame)| Ok((name, with_texts(frame)?))).collect()
}

#[cfg(test)]
mod tests {
    use polars::prelude::*;

    use super::*;
    use crate::parsed::ParsedStatement;
    use wavesieve_tables::columns::frames::categorical;

    #[test]
    fn polars_still_takes_no_dictionaries_in_these_places() {
        let category = Series::new("category".into(), ["gemm", "copy"]).cast(&categorical()).unwrap();
        let kernels = DataFrame::new_infer_height(vec![category.into()]).unwrap().lazy();
        let frames = || Frames::from([("kernels".to_owned(), kernels.clone())]);
        for NoDictionaries { message, example } in NO_DICTIONARIES {
            let statement = ParsedStatement::from(example).prepare(&[]);
            let alone = execute(&frames(), &statement, &ExecOptions::IN_STEPS, &nothing);
            let said = alone.expect_err(example).to_string();
            assert!(said.contains(message), "{example}: {said}");
            executed(frames(), &statement, &ExecOptions::IN_STEPS, &nothing).expect(example);
        }
    }
}
