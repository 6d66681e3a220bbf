//! `table NAME INPUT…`: runs a named query, or several with commas between their names.

use std::collections::BTreeMap;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use polars::prelude::{DataFrame, IntoColumn, IntoSeries, NewChunkedArray, StringChunked};

use super::tables;
use crate::cli::exit::{DONE, Failure, NO_DATA};
use crate::cli::options::alignment::AlignmentArguments;
use crate::cli::options::engine::EngineArguments;
use crate::cli::options::filters::{end, note_untouched};
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::handoff::{HandoffOption, with_handoff_option};
use crate::cli::options::input::{CacheArguments, InputArguments, Opening};
use crate::cli::options::output::OutputArguments;
use crate::cli::options::plot::{Pictures, with_plot_options};
use crate::cli::options::query::QueryArguments;
use crate::cli::options::source_text::{SourceArguments, with_source_option};
use crate::cli::output::answer::{check_output, in_texts};
use crate::cli::output::{answer, messages};
use crate::cli::reference::help::{flag, query_notes};
use wavesieve_engine::{
    Answer, ColumnUnit, OutputColumn, Parameter, ParameterType, Query, Registry, referenced_columns, render,
    run_query_in_codes, shown, why_empty,
};
use wavesieve_model::schema::{self, Table};
use wavesieve_tables::columns::requests::Request;
use wavesieve_tables::trace::Trace;

/// Adds the options of the verb itself; its queries are subcommands.
pub(crate) fn with_own_options(command: Command) -> Command {
    let list = Arg::new("list").long("list").help("List the queries").action(clap::ArgAction::SetTrue);
    let command = command
        .arg(list)
        .subcommand_value_name("NAME")
        .subcommand_help_heading("Queries")
        .args_conflicts_with_subcommands(true)
        .arg_required_else_help(true)
        .after_help(
            "Several names with commas between them are answered together, with the inputs read once: one after the other, or into a directory with -o.\n\nExamples:\n  wavesieve table kernel_summary traces/\n  wavesieve table time_breakdown traces/ --by rank -f csv\n  wavesieve table kernel_summary,gpu_timeline,api_summary traces/ -f csv -o tables/\n  wavesieve table --list",
        );
    // A derived group of arguments sets its own description; the description of the command is set after it.
    OutputArguments::augment_args(command).about("Run a named query")
}

pub(crate) fn query_command(query: &Query) -> Command {
    let declaration = &query.declaration;
    let mut command = Command::new(query.name.clone()).after_help(query_notes(query));
    for parameter in &declaration.parameters {
        command = command.arg(parameter_argument(parameter).default_value(parameter.default.clone()));
    }
    if declaration.plot.is_some() {
        command = with_plot_options(command);
    }
    let command = with_handoff_option(with_shared_options(command));
    let command = with_source_option(command, std::iter::once(query));
    command.about(declaration.title.clone()).long_about(declaration.about.clone())
}

/// The option for a parameter of a query, without a default.
pub(crate) fn parameter_argument(parameter: &Parameter) -> Arg {
    let value_name = match parameter.parameter_type {
        ParameterType::Int => "N",
        ParameterType::Float => "NUMBER",
        ParameterType::Str => "TEXT",
        ParameterType::Word => "WORD",
    };
    Arg::new(parameter.name.clone())
        .long(flag(parameter))
        .value_name(value_name)
        .value_parser(value_of(parameter))
        .allow_negative_numbers(true)
        .help_heading("Query")
        .help(parameter.explained())
}

/// The options that every query has besides its own.
#[derive(Args, Clone, Debug)]
pub(super) struct SharedArguments {
    #[command(flatten)]
    alignment: AlignmentArguments,
    #[command(flatten)]
    pub(super) engine: EngineArguments,
    #[command(flatten)]
    pub(super) input: InputArguments,
    #[command(flatten)]
    cache: CacheArguments,
    #[command(flatten)]
    pub(super) output: OutputArguments,
}

impl SharedArguments {
    /// Opens the inputs, with clocks aligned as requested.
    pub(super) fn open(
        &self,
        subject: Option<&'static Table>,
        request: &Request,
        global: &GlobalArguments,
    ) -> Result<Trace, Failure> {
        let (cache, engine) = (Some(&self.cache), Some(&self.engine));
        let opening = Opening { subject, request: Some(request), cache, engine, ..Opening::default() };
        let trace = self.input.open(global, &opening)?;
        messages::warn(&trace, global);
        self.alignment.apply(trace, request, global)
    }
}

/// The command with the options that every query has.
pub(crate) fn with_shared_options(command: Command) -> Command {
    SharedArguments::augment_args(QueryArguments::augment_args(command))
}

/// Rejects a value that the query cannot take while its origin is still known.
fn value_of(parameter: &Parameter) -> impl Fn(&str) -> Result<String, &'static str> + Clone + Send + Sync + 'static {
    let (parameter_type, counts) = (parameter.parameter_type, parameter.name == "top");
    move |text| match parameter_type {
        ParameterType::Int => match text.parse::<i64>() {
            Ok(number) if counts && number < 0 => Err("it cannot be negative; 0 stands for all"),
            Ok(_) => Ok(text.to_owned()),
            Err(_) => Err("give a whole number"),
        },
        ParameterType::Float if !text.parse::<f64>().is_ok_and(f64::is_finite) => Err("give a number"),
        _ => Ok(text.to_owned()),
    }
}

pub(crate) fn run(matches: &ArgMatches, registry: &Registry, global: &GlobalArguments) -> Result<u8, Failure> {
    let Some((name, matches)) = matches.subcommand() else {
        let mut output = OutputArguments::from_arg_matches(matches).map_err(Failure::usage)?;
        // A list is complete unless the user limits it.
        if matches.value_source("rows") == Some(ValueSource::DefaultValue) {
            output.rows = 0;
        }
        answer::write(list(registry)?, &output, global)?;
        return Ok(DONE);
    };
    if let Some(queries) = tables::named(registry, name)? {
        return tables::run(&queries, matches, global);
    }
    let query = registry.get(name)?;
    let arguments = QueryArguments::from_arg_matches(matches).map_err(Failure::usage)?;
    let parameters: BTreeMap<String, String> = query
        .declaration
        .parameters
        .iter()
        .filter_map(|parameter| Some((parameter.name.clone(), matches.get_one::<String>(&parameter.name)?.clone())))
        .collect();
    let options = arguments.options(parameters);
    if arguments.show_sql {
        messages::print(shown(&render(query, &options)?))?;
        return Ok(DONE);
    }
    // Options are checked before the inputs are read, which may take long.
    let statement = render(query, &options)?;
    let shared = SharedArguments::from_arg_matches(matches).map_err(Failure::usage)?;
    let SharedArguments { input, engine, output, .. } = &shared;
    check_output(input, output)?;
    let handoff = HandoffOption::from_matches(matches, query, &options)?;
    engine.refuse(handoff.is_given(), "--handoff")?;
    let pictures = Pictures::from_matches(query, matches, input)?;
    let source = SourceArguments::from_matches(matches).open(global)?;
    let subject = query.declaration.needs.first().and_then(|name| schema::table(name));
    let request = referenced_columns(&statement.as_str().into());
    let trace = shared.open(subject, &request, global)?;
    note_untouched(&trace, query.declaration.needs.iter().map(String::as_str), global);
    let result = run_query_in_codes(&trace, query, &options)?;
    let result = source.add_to(in_texts(result, output)?)?;
    let empty = result.frame.height() == 0;
    let picture = pictures.draw(query, &result, global)?;
    let (result, commands) = handoff.add_to(result, (&trace, query, &options), input, output, global)?;
    answer::write(result, output, global)?;
    messages::note_left_out(&trace, &request, global)?;
    let is_drawn = picture.is_some();
    if let Some(picture) = picture {
        messages::print(picture.trim_end())?;
    }
    if let Some(commands) = commands {
        messages::print(format!("{}{commands}", if is_drawn { "\n" } else { "" }))?;
    }
    let code = end(&trace, empty, global)?;
    let is_explained = code == DONE && empty && explain_emptiness(&trace, query, false, global)?;
    Ok(if is_explained { NO_DATA } else { code })
}

/// Reports why a result has no rows, if the trace has no data for the query. Names the query if there are several.
pub(crate) fn explain_emptiness(
    trace: &Trace,
    query: &Query,
    among_others: bool,
    global: &GlobalArguments,
) -> Result<bool, Failure> {
    let Some(reason) = why_empty(trace, query)? else { return Ok(false) };
    if !global.quiet {
        let of_query = if among_others { format!("{}: ", query.name) } else { String::new() };
        messages::print_note(format_args!("{of_query}no rows: {reason}"));
    }
    Ok(true)
}

fn list(registry: &Registry) -> Result<Answer, Failure> {
    let column = |name: &str, value: &dyn Fn(&Query) -> String| {
        StringChunked::from_iter_values(name.into(), registry.iter().map(value)).into_series().into_column()
    };
    let frame = DataFrame::new_infer_height(vec![
        column("name", &|query| query.name.clone()),
        column("family", &|query| query.family.clone()),
        column("kind", &|query| query.declaration.kind.clone()),
        column("title", &|query| query.declaration.title.clone()),
        column("by", &|query| query.declaration.by.join(", ")),
        column("dimensions", &|query| query.declaration.dimensions.join(", ")),
        column("needs", &|query| query.declaration.needs.join(", ")),
    ])
    .map_err(anyhow::Error::from)?;
    let columns = frame
        .get_column_names()
        .iter()
        .map(|name| OutputColumn { name: name.to_string(), unit: ColumnUnit::Text, doc: String::new() })
        .collect();
    Ok(Answer { frame, columns, is_readable: false })
}
