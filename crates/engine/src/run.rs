//! Runs statements on polars.

use std::convert::Infallible;

use anyhow::Context as _;
use polars::prelude::{
    AnyValue, ChunkApply, Column, DataFrame, DataType, Engine, IntoColumn, IntoLazy, IntoSeries, PlSmallStr,
    PolarsResult,
};
use rayon::prelude::*;
use sqlparser::ast::Expr as Literal;

use super::batch::{Statement, StatementBatch};
use super::declarations::Query;
use super::declarations::{ColumnUnit, OutputColumn};
use super::depth::with_stack_for;
use super::dialect::{WindowCall, expression, plain, translate};
use super::error::QueryError;
use super::execution::{AfterStep, ExecOptions, Frames, executed, nothing};
use super::groups::without_groupings;
use super::parsed::{ParsedStatement, PreparedStatement};
use super::referenced_columns::referenced_columns;
use super::render::{NameForm, QueryOptions, grouping, render};
use super::statement::hidden_table;
use crate::failures::reasons::reason_of;
use wavesieve_model::schema;
use wavesieve_model::schema::ColumnType;
use wavesieve_tables::ablation::{Optimization, is_on};
use wavesieve_tables::columns::frames::empty_frame;
use wavesieve_tables::trace::Trace;
use wavesieve_tables::trace::consumer::TableConsumer;
use wavesieve_tables::trace::runner::Asked;
use wavesieve_tables::trace::selection::{SharedMask, masked_table};
use wavesieve_tables::trace::views::View;

/// The rows and columns of an answer.
pub struct Answer {
    /// The rows; dictionary columns are plain text unless the caller keeps them.
    pub frame: DataFrame,
    /// Name, unit and documentation of every column in order.
    pub columns: Vec<OutputColumn>,
    /// Whether screens show the readable form of its kernel names, which are full.
    pub is_readable: bool,
}

impl Answer {
    /// The answer with texts in place of dictionaries.
    pub fn with_texts(mut self) -> Result<Self, QueryError> {
        let is_dictionary =
            |data_type: &DataType| matches!(data_type, DataType::Categorical(_, _) | DataType::Enum(_, _));
        let columns = self.frame.columns().iter().filter(|column| is_dictionary(column.dtype()));
        let texts: Vec<Column> = columns
            .map(|column| column.cast(&DataType::String))
            .collect::<PolarsResult<_>>()
            .context("cannot expand a dictionary column")?;
        for text in texts {
            self.frame.with_column(text).context("cannot replace a column")?;
        }
        Ok(self)
    }
}

/// Runs a named query.
///
/// # Errors
/// When the options do not fit the query, or the statement cannot be run.
pub fn run_query(trace: &Trace, query: &Query, options: &QueryOptions) -> Result<Answer, QueryError> {
    run_query_in_codes(trace, query, options)?.with_texts()
}

/// Like [`run_query`], but keeps dictionaries.
///
/// # Errors
/// As [`run_query`].
pub fn run_query_in_codes(trace: &Trace, query: &Query, options: &QueryOptions) -> Result<Answer, QueryError> {
    let exec = ExecOptions {
        engine: engine_for(query),
        columns: options.columns.as_deref(),
        with_sums: !query.declaration.sums.is_empty() && is_on(Optimization::Sums),
        in_steps: false,
        only_steps: false,
        is_stable: false,
        windows: &[],
        mask: None,
    };
    let statement = render(query, options)?;
    let answer = match trace.runner() {
        Some(_) => run_elsewhere(trace, Asked::Query(&statement), &query.name, exec.columns)?,
        None => run_statement(trace, &statement, &exec)?,
    };
    described(answer, query, options)
}

/// Runs a statement on the trace's external runner. `name` is the name of the query.
fn run_elsewhere(
    trace: &Trace,
    asked: Asked<'_>,
    name: &str,
    columns: Option<&[String]>,
) -> Result<Answer, QueryError> {
    let runner = trace.runner().context("internal: nobody runs statements of this trace")?;
    let frame = runner.run(trace, asked);
    let failed = |reason| QueryError::Runner { query: name.to_owned(), runner: runner.name(), reason };
    let frame = frame.map_err(failed)?;
    let frame = match columns {
        Some(columns) => frame.select(columns).context("cannot select the columns")?,
        None => frame,
    };
    answer_of(presentable(frame)?)
}

/// Runs named queries over a trace that is read once for all of them. `take` gets each answer as soon as it is ready, with its
/// dictionaries. The results are in the order of the queries; a result is an error if the statement cannot be run or if `take` fails.
///
/// # Errors
/// When the options do not fit a query, or the tables cannot be read.
pub fn run_queries<T: Send, E: From<QueryError> + Send>(
    trace: &Trace,
    queries: &[(&Query, QueryOptions)],
    take: impl Fn(&Query, Answer) -> Result<T, E> + Sync,
) -> Result<Vec<Result<T, E>>, QueryError> {
    if let [(query, options)] = queries {
        let answer = run_query(trace, query, options).map_err(E::from);
        return Ok(vec![answer.and_then(|answer| take(query, answer))]);
    }
    let asked: Vec<QueryRun<'_>> = queries
        .iter()
        .map(|(query, options)| QueryRun { query, options: options.clone(), view: View::WholeRun })
        .collect();
    run_queries_of_views(trace, &asked, &[], take)
}

/// A named query with its options, and the part of the run.
pub(crate) struct QueryRun<'a> {
    pub query: &'a Query,
    /// Its options.
    pub options: QueryOptions,
    /// The part of the run that it is about.
    pub view: View,
}

impl QueryRun<'_> {
    fn options_for(&self) -> ExecOptions<'_> {
        let columns = self.options.columns.as_deref();
        ExecOptions { columns, ..ExecOptions::IN_STEPS }
    }
}

/// Like [`run_queries`], each over the whole run or its steady part. `extra` may see the tables of processes while they are read; external
/// runners have none.
pub(crate) fn run_queries_of_views<T: Send, E: From<QueryError> + Send>(
    trace: &Trace,
    queries: &[QueryRun<'_>],
    extra: &[&TableConsumer<'_>],
    take: impl Fn(&Query, Answer) -> Result<T, E> + Sync,
) -> Result<Vec<Result<T, E>>, QueryError> {
    if is_on(Optimization::Batch) {
        return run_batch(trace, queries, extra, &take);
    }
    let alone = |one| run_batch(trace, std::slice::from_ref(one), &[], &take);
    Ok(queries.iter().map(alone).collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// Runs queries on the trace's external runner, which does not know parts of a run. If it fails for one query, no query gets a result: the
/// runner is probably gone.
fn run_all_elsewhere<T: Send, E: From<QueryError> + Send>(
    trace: &Trace,
    queries: &[QueryRun<'_>],
    take: &(impl Fn(&Query, Answer) -> Result<T, E> + Sync),
) -> Result<Vec<Result<T, E>>, QueryError> {
    let run = |asked: &QueryRun<'_>| match asked.view {
        View::Steady => Ok(Err(QueryError::NoSteadyPart.into())),
        View::WholeRun => {
            let answer = run_query_in_codes(trace, asked.query, &asked.options)?;
            Ok(take(asked.query, answer))
        }
    };
    trace.jobs().run(queries, |_| 0, run)
}

fn run_batch<T: Send, E: From<QueryError> + Send>(
    trace: &Trace,
    queries: &[QueryRun<'_>],
    extra: &[&TableConsumer<'_>],
    take: &(impl Fn(&Query, Answer) -> Result<T, E> + Sync),
) -> Result<Vec<Result<T, E>>, QueryError> {
    if trace.runner().is_some() {
        return run_all_elsewhere(trace, queries, take);
    }
    let statements: Vec<String> =
        queries.par_iter().map(|asked| render(asked.query, &asked.options)).collect::<Result<_, _>>()?;
    statements.par_iter().try_for_each(|sql| unambiguous(sql))?;
    let asked = statements.par_iter().zip(queries);
    let asked = asked.map(|(sql, asked)| Statement::new(sql, &asked.query.declaration, asked.view));
    let batch = StatementBatch::read(trace, asked.collect(), extra)?;
    let run = |((sql, statement), asked): ((&String, &Statement), &QueryRun<'_>)| -> Result<Option<T>, E> {
        let QueryRun { query, options, view } = asked;
        if *view == View::Steady && !batch.has_steady {
            return Err(QueryError::NoSteadyPart.into());
        }
        let exec = asked.options_for();
        let answered = statement.steps.is_some().then(|| {
            let after = |step: &str, rows: &DataFrame| batch.after_step(statement, step, rows);
            answer(
                batch.frames_of(statement).context("cannot read a table")?,
                &statement.rest,
                &ExecOptions { only_steps: statement.grid.is_some(), ..exec },
                &after,
            )
        });
        let answer = match answered {
            Some(Err(error))
                if may_be_damage(&error, sql) && trace.finds_damaged_content() && *view == View::WholeRun =>
            {
                return Ok(None);
            }
            // Run alone, it would cover the whole run.
            None if *view != View::WholeRun => {
                return Err(QueryError::Sql { reason: "a sum is out of range".to_owned() }.into());
            }
            Some(answered) => answered?,
            None => return Ok(None),
        };
        Ok(Some(take(query, described(answer, query, options)?)?))
    };
    let asked = || statements.iter().zip(queries);
    let all: Vec<_> = statements.iter().zip(&batch.statements).zip(queries).collect();
    // Not in the pool: a pool thread that waits for polars starts another statement on the same stack, and so on.
    let Ok(ran) = trace.jobs().run(&all, |_| 0, |one| Ok::<_, Infallible>(run(*one)));
    // One after the other: a parallel reader may start another statement while it waits, and wait for itself.
    let alone = |(ran, (sql, asked)): (Result<Option<T>, E>, (&String, &QueryRun<'_>))| match ran? {
        Some(taken) => Ok(taken),
        None => {
            let answer = run_statement(trace, sql, &asked.options_for())?;
            take(asked.query, described(answer, asked.query, &asked.options)?)
        }
    };
    Ok(ran.into_iter().zip(asked()).map(alone).collect())
}

/// A result with the declared descriptions of its columns.
fn described(mut answer: Answer, query: &Query, options: &QueryOptions) -> Result<Answer, QueryError> {
    answer.is_readable = options.name == NameForm::Readable;
    let by = grouping(query, options)?;
    for column in &mut answer.columns {
        if let Some(declared) = query.declaration.columns.iter().find(|declared| declared.name == column.name) {
            column.clone_from(declared);
        } else if by.contains(&column.name) {
            "the group".clone_into(&mut column.doc);
        }
    }
    Ok(answer)
}

/// Runs any statement over the canonical tables.
///
/// # Errors
/// When the statement cannot be run.
pub fn run_sql(trace: &Trace, sql: &str) -> Result<Answer, QueryError> {
    run_sql_in_codes(trace, sql)?.with_texts()
}

/// Like [`run_sql`], but keeps dictionaries.
///
/// # Errors
/// As [`run_sql`].
pub fn run_sql_in_codes(trace: &Trace, sql: &str) -> Result<Answer, QueryError> {
    with_stack_for(sql, || run_translated(trace, sql, None))
}

/// Runs any statement over the canonical tables with all their texts behind a mask.
///
/// # Errors
/// When the statement cannot be run.
pub fn run_sql_behind(trace: &Trace, sql: &str, mask: &SharedMask) -> Result<Answer, QueryError> {
    with_stack_for(sql, || run_translated(trace, sql, Some(mask)))?.with_texts()
}

fn run_translated(trace: &Trace, sql: &str, mask: Option<&SharedMask>) -> Result<Answer, QueryError> {
    unambiguous(sql)?;
    let mut scalar = |sql: &str, windows: &[WindowCall]| scalar(&run_windows(trace, sql, windows, mask)?);
    // External runners run subqueries as they are written.
    let mut unknown =
        |_: &str, _: &[WindowCall]| expression("NULL").context("internal: no NULL").map_err(QueryError::from);
    let is_elsewhere = trace.runner().is_some();
    if is_elsewhere && mask.is_some() {
        return Err(QueryError::Other(anyhow::anyhow!(
            "internal: a mask does not reach who runs statements elsewhere"
        )));
    }
    let translated = if is_elsewhere { translate(sql, &mut unknown)? } else { translate(sql, &mut scalar)? };
    let mut answer = if is_elsewhere {
        named(run_elsewhere(trace, Asked::Sql(sql), "the statement", None)?, translated.names.as_deref())?
    } else {
        run_windows(trace, &translated.sql, &translated.windows, mask)?
    };
    if let Some(units) = translated.units.filter(|units| units.len() == answer.columns.len()) {
        for (column, unit) in answer.columns.iter_mut().zip(units) {
            column.unit = unit;
        }
    }
    Ok(answer)
}

/// An answer with the column names of this program, because engines name expressions in different ways.
fn named(mut answer: Answer, names: Option<&[String]>) -> Result<Answer, QueryError> {
    let Some(names) = names.filter(|names| names.len() == answer.columns.len()) else { return Ok(answer) };
    answer.frame.set_column_names(names).context("cannot name the columns")?;
    for (column, name) in answer.columns.iter_mut().zip(names) {
        column.name.clone_from(name);
    }
    Ok(answer)
}

fn run_windows(
    trace: &Trace,
    sql: &str,
    windows: &[WindowCall],
    mask: Option<&SharedMask>,
) -> Result<Answer, QueryError> {
    let exec = ExecOptions { is_stable: true, windows, mask, ..ExecOptions::IN_STEPS };
    run_statement(trace, sql, &exec)
}

/// The single value of an answer as a literal.
fn scalar(answer: &Answer) -> Result<Literal, QueryError> {
    let refused = |reason: &str| QueryError::Dialect { reason: reason.to_owned() };
    let [column] = answer.frame.columns() else {
        return Err(refused("the scalar subquery has several columns; select one"));
    };
    if column.len() > 1 {
        return Err(refused("the scalar subquery has several rows; aggregate them or add LIMIT 1"));
    }
    let column = column.cast(&plain(column.dtype())).context("cannot expand a dictionary column")?;
    let text = match column.get(0) {
        Err(_) | Ok(AnyValue::Null) => missing(column.dtype()).to_owned(),
        Ok(AnyValue::Boolean(truth)) => truth.to_string().to_uppercase(),
        Ok(AnyValue::String(text)) => quoted(text),
        // A text that the answer owns.
        Ok(AnyValue::StringOwned(text)) => quoted(&text),
        // Writes all digits, because polars prints six; without an exponent, and with a decimal point that marks a float.
        Ok(AnyValue::Float64(value)) if !value.is_finite() => format!("CAST('{value}' AS DOUBLE)"),
        Ok(AnyValue::Float64(value)) if value.fract() == 0.0 => format!("({value}.0)"),
        Ok(AnyValue::Float64(value)) => format!("({value})"),
        Ok(value) if value.is_integer() => format!("({value})"),
        Ok(_) => return Err(refused("the scalar subquery has a value that cannot be written; cast it to VARCHAR")),
    };
    expression(&text).ok_or_else(|| refused("the scalar subquery has a value that cannot be written"))
}

/// A missing value of a type, as SQL.
fn missing(data_type: &DataType) -> &'static str {
    match data_type {
        DataType::String => "CAST(NULL AS VARCHAR)",
        DataType::Boolean => "CAST(NULL AS BOOLEAN)",
        data_type if data_type.is_float() => "CAST(NULL AS DOUBLE)",
        data_type if data_type.is_integer() => "CAST(NULL AS BIGINT)",
        _ => "NULL",
    }
}

/// A text as a literal.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Named queries order their rows totally, so the engine may process rows in any order. Sums of floats are the exception: their last digit
/// depends on the order.
fn engine_for(query: &Query) -> Engine {
    let has_floats = |table: &schema::Table| table.columns.iter().any(|column| column.column_type == ColumnType::F64);
    let mut tables = query.declaration.needs.iter().filter_map(|name| schema::table(name));
    if tables.any(has_floats) { Engine::InMemory } else { Engine::Streaming }
}

fn unambiguous(sql: &str) -> Result<(), QueryError> {
    hidden_table(sql).map_or(Ok(()), |name| Err(QueryError::HiddenTable { name }))
}

/// Runs a statement; if data that it reads turns out to be damaged, runs it again without that data.
fn run_statement(trace: &Trace, sql: &str, exec: &ExecOptions<'_>) -> Result<Answer, QueryError> {
    unambiguous(sql)?;
    match run_statement_once(trace, sql, exec) {
        Err(error) if may_be_damage(&error, sql) && trace.finds_damaged_content() => {
            run_statement_once(trace, sql, exec)
        }
        answered => answered,
    }
}

/// Whether a statement failed because of the data it read: it can be run over empty tables.
fn may_be_damage(error: &QueryError, sql: &str) -> bool {
    match error {
        QueryError::Other(_) => true,
        QueryError::Sql { .. } => {
            let statement = ParsedStatement::from(sql);
            let tables = schema::tables().iter().filter(|table| statement.mentions(table.name));
            let empty = |table: &&schema::Table| {
                (table.name.to_owned(), empty_frame(&table.columns.iter().collect::<Vec<_>>()).lazy())
            };
            let exec = ExecOptions { in_steps: false, ..ExecOptions::IN_STEPS };
            executed(tables.map(empty).collect(), &statement.prepare(&[]), &exec, &nothing).is_ok()
        }
        _ => false,
    }
}

fn run_statement_once(trace: &Trace, sql: &str, exec: &ExecOptions<'_>) -> Result<Answer, QueryError> {
    let statement = ParsedStatement::from(sql);
    // Groupings by names would use the texts behind the mask.
    let groupings = if exec.mask.is_some() { None } else { without_groupings(trace, &statement)? };
    let (rest, grouped) = groupings.unzip();
    let statement = rest.unwrap_or(statement);
    let request = referenced_columns(&statement);
    let frames = if exec.with_sums { trace.frames_with_sums(&request)? } else { trace.frames(&request)? };
    let mut frames: Frames = frames.into_iter().map(|(name, frame)| (name.to_owned(), frame)).collect();
    frames.extend(grouped.into_iter().flatten().map(|(name, frame)| (name, frame.lazy())));
    if let Some(mask) = exec.mask {
        let behind = |(name, frame)| Ok((name, masked_table(frame, mask)?));
        let masked = frames.into_iter().map(behind).collect::<PolarsResult<_>>();
        frames = masked.context("cannot put tokens in the place of texts")?;
    }
    answer(frames, &statement.prepare(&[]), exec, &nothing)
}

fn answer(
    frames: Frames,
    statement: &PreparedStatement,
    exec: &ExecOptions<'_>,
    after: &AfterStep<'_>,
) -> Result<Answer, QueryError> {
    let frame = executed(frames, statement, exec, after);
    let frame = frame.map_err(|error| QueryError::Sql { reason: reason_of(&error.to_string()) })?;
    answer_of(presentable(frame)?)
}

fn answer_of(frame: DataFrame) -> Result<Answer, QueryError> {
    let columns = frame
        .columns()
        .iter()
        .map(|column| {
            let name = column.name().to_string();
            let unit = ColumnUnit::of_name(&name).unwrap_or(ColumnUnit::Text);
            OutputColumn { name, unit, doc: String::new() }
        })
        .collect();
    Ok(Answer { frame, columns, is_readable: false })
}

/// Widens numbers and removes the sign of zeros, so that every output has the same values.
fn presentable(mut frame: DataFrame) -> Result<DataFrame, QueryError> {
    let names: Vec<PlSmallStr> = frame.get_column_names_owned();
    for name in names {
        let column = frame.column(&name).context("internal: a column vanished")?;
        let replaced = match column.dtype() {
            DataType::Float64 => {
                let values = column.f64().context("internal: a float column of another type")?;
                Some(values.apply_values(unsigned_zero).into_series())
            }
            DataType::Float32 => {
                let values = column.cast(&DataType::Float64).context("cannot widen a float column")?;
                let values = values.f64().context("internal: a float column of another type")?;
                Some(values.apply_values(unsigned_zero).into_series())
            }
            other if other.is_integer() && *other != DataType::Int64 => {
                let wide = column.cast(&DataType::Int64).context("cannot widen an integer column")?;
                Some(wide.take_materialized_series())
            }
            _ => None,
        };
        if let Some(series) = replaced {
            frame.with_column(series.with_name(name).into_column()).context("cannot replace a column")?;
        }
    }
    Ok(frame)
}

/// Negative zero prints as -0 although it equals zero.
fn unsigned_zero(value: f64) -> f64 {
    value + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declarations::Registry;

    /// Queries whose steps are computed for some processes at a time, or which read merged segments.
    #[test]
    fn what_a_query_says_of_how_it_may_be_run_changes_no_answer() {
        let registry = Registry::builtin().unwrap();
        let is_local = |query: &&Query| {
            let declared = &query.declaration;
            !declared.local.is_empty() || declared.grid.is_some() || declared.only_with.is_some()
        };
        let queries: Vec<&Query> = registry.iter().filter(is_local).collect();
        assert!(queries.len() >= 4);
        for fixture in ["two_nodes", "hostile", "merged"] {
            let trace = wavesieve_input::open([format!("../../fixtures/{fixture}")]).unwrap();
            for name in [NameForm::Short, NameForm::Full] {
                let options = QueryOptions { name, ..QueryOptions::default() };
                let statements: Vec<String> = queries.iter().map(|query| render(query, &options).unwrap()).collect();
                let asked = statements.iter().zip(&queries);
                let asked = asked.map(|(sql, query)| Statement::new(sql, &query.declaration, View::WholeRun));
                let batch = StatementBatch::read(&trace, asked.collect(), &[]).unwrap();
                for ((sql, rest), query) in statements.iter().zip(&batch.statements).zip(&queries) {
                    // Without steps, it would be run alone, and this would compare nothing.
                    let steps = rest.steps.as_ref().unwrap();
                    for step in &query.declaration.local {
                        assert!(steps.iter().any(|(name, _)| name == step), "{} has no {step}", query.name);
                    }
                    let after = |step: &str, rows: &DataFrame| batch.after_step(rest, step, rows);
                    let exec = ExecOptions::IN_STEPS;
                    let hints = answer(batch.frames_of(rest).unwrap(), &rest.rest, &exec, &after)
                        .unwrap()
                        .with_texts()
                        .unwrap();
                    let alone = run_statement(&trace, sql, &exec).unwrap().with_texts().unwrap();
                    assert!(hints.frame.equals_missing(&alone.frame), "{} of {fixture}", query.name);
                }
            }
        }
    }
}
