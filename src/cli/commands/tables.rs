//! `table NAME,NAME,… INPUT…`: runs several named queries, and reads the inputs once.

use std::collections::BTreeMap;
use std::path::Path;

use clap::{ArgMatches, Command, FromArgMatches};

use super::table::{SharedArguments, explain_emptiness, parameter_argument, with_shared_options};
use crate::cli::exit::{DONE, Failure, NO_DATA, PARTIAL, refuse};
use crate::cli::options::filters::{explain_unmatched, note_untouched};
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::output::{AnswerFormat, OutputArguments};
use crate::cli::options::plot::{Pictures, with_plot_options};
use crate::cli::options::query::QueryArguments;
use crate::cli::options::source_text::{SourceArguments, SourceLines, with_source_option};
use crate::cli::output::answer;
use crate::cli::output::answer::{extension, in_texts};
use crate::cli::output::messages;
use crate::cli::output::several::{Titled, check_output, delivered, failure, print};
use wavesieve_engine::{Answer, Query, QueryOptions, Registry, referenced_columns, render, run_queries, shown};
use wavesieve_export::atomic::{replace_directory, write_directory, write_file};
use wavesieve_model::schema;
use wavesieve_tables::columns::requests::united;
use wavesieve_tables::trace::Trace;

/// The queries of a comma-separated list; `None` for a single name.
pub(crate) fn named<'a>(registry: &'a Registry, list: &str) -> Result<Option<Vec<&'a Query>>, Failure> {
    if !list.contains(',') {
        return Ok(None);
    }
    let mut queries: Vec<&Query> = Vec::new();
    for name in list.split(',').filter(|name| !name.is_empty()) {
        let query = registry.get(name)?;
        if queries.iter().any(|known| known.name == query.name) {
            refuse!("{name} is named twice; name every query once");
        }
        queries.push(query);
    }
    Ok(Some(queries))
}

/// The command for the first list of queries among the words of a command line.
pub(crate) fn command(registry: &Registry, words: impl Iterator<Item = String>) -> Option<Command> {
    let is_list = |word: &String| word.contains(',') && word.split(',').any(|name| registry.contains(name));
    let list = words.skip_while(|word| word != "table").skip(1).find(is_list)?;
    let queries: Vec<&Query> = list.split(',').filter_map(|name| registry.get(name).ok()).collect();
    let mut command = Command::new(list).hide(true);
    for parameter in queries.iter().flat_map(|query| &query.declaration.parameters) {
        if command.get_arguments().all(|known| known.get_id() != parameter.name.as_str()) {
            command = command.arg(parameter_argument(parameter));
        }
    }
    if queries.iter().any(|query| query.declaration.plot.is_some()) {
        command = with_plot_options(command);
    }
    let command = with_source_option(with_shared_options(command), queries.into_iter());
    Some(command.about("Answer several named queries"))
}

pub(crate) fn run(queries: &[&Query], matches: &ArgMatches, global: &GlobalArguments) -> Result<u8, Failure> {
    let arguments = QueryArguments::from_arg_matches(matches).map_err(Failure::usage)?;
    let asked: Vec<(&Query, QueryOptions)> =
        queries.iter().map(|query| (*query, arguments.options(parameters(query, matches)))).collect();
    // Options are checked before the inputs are read, which may take long.
    let statements = asked.iter().map(|(query, options)| render(query, options)).collect::<Result<Vec<String>, _>>()?;
    if arguments.show_sql {
        let shown =
            asked.iter().zip(&statements).map(|((query, _), sql)| format!("-- {}\n{}\n", query.name, shown(sql)));
        messages::print(shown.collect::<Vec<String>>().join("\n"))?;
        return Ok(DONE);
    }
    let shared = SharedArguments::from_arg_matches(matches).map_err(Failure::usage)?;
    let SharedArguments { input, output, .. } = &shared;
    let files: Vec<String> = queries.iter().map(|query| file_name(query, output.format())).collect();
    let replaced = check_output(&files, input, output)?;
    let names: Vec<&str> = queries.iter().map(|query| query.name.as_str()).collect();
    let pictures: BTreeMap<&str, Pictures> = queries
        .iter()
        .map(|query| Ok((query.name.as_str(), Pictures::from_matches(query, matches, input)?)))
        .collect::<Result<_, Failure>>()?;
    let draw = |query: &Query, answer: &Answer| match pictures.get(query.name.as_str()) {
        Some(pictures) => pictures.draw(query, answer, global),
        None => Ok(None),
    };
    let source = SourceArguments::from_matches(matches).open(global)?;
    let needs = || queries.iter().map(|query| query.declaration.needs.first());
    let subject = needs().next().flatten().filter(|first| needs().all(|other| other == Some(first)));
    let requests: Vec<_> = statements.iter().map(|sql| referenced_columns(&sql.as_str().into())).collect();
    let (subject, request) = (subject.and_then(|name| schema::table(name)), united(&requests));
    let trace = shared.open(subject, &request, global)?;
    let mut tables: Vec<&str> = queries.iter().flat_map(|query| &query.declaration.needs).map(String::as_str).collect();
    tables.sort_unstable();
    tables.dedup();
    note_untouched(&trace, tables.into_iter(), global);
    let empty = if let Some(directory) = output.path() {
        let empty = write_files(&trace, &asked, directory, (output, &source, &draw), replaced)?;
        global.outbox.add(directory);
        empty
    } else {
        let titled = |query: &Query, answer: Answer| {
            let answer = source.add_to(answer.with_texts()?)?;
            let picture = draw(query, &answer)?;
            anyhow::Ok(Titled { title: query.declaration.title.clone(), answer, picture })
        };
        let answers = delivered(&names, run_queries(&trace, &asked, titled)?).map_err(failure)?;
        print(answers.iter().flatten(), output, global)?;
        answers.iter().map(|titled| titled.as_ref().map(|titled| titled.answer.frame.height() == 0)).collect()
    };
    let all_empty = empty.iter().flatten().all(|empty| *empty);
    let failed = empty.contains(&None);
    messages::note_left_out(&trace, &request, global)?;
    if messages::report_damage(&trace, global) || failed {
        return Ok(PARTIAL);
    }
    if explain_unmatched(&trace, all_empty, global)? {
        return Ok(NO_DATA);
    }
    let mut unexplained = false;
    for (query, empty) in queries.iter().zip(empty) {
        unexplained |= empty != Some(true) || !explain_emptiness(&trace, query, true, global)?;
    }
    Ok(if unexplained { DONE } else { NO_DATA })
}

/// Draws an answer if requested.
type Draw<'a> = dyn Fn(&Query, &Answer) -> anyhow::Result<Option<String>> + Sync + 'a;

/// The values of a query's parameters: given values, and otherwise its defaults.
fn parameters(query: &Query, matches: &ArgMatches) -> BTreeMap<String, String> {
    let value = |name: &str| matches.get_one::<String>(name).cloned();
    let declared = query.declaration.parameters.iter();
    declared.map(|known| (known.name.clone(), value(&known.name).unwrap_or_else(|| known.default.clone()))).collect()
}

fn file_name(query: &Query, format: AnswerFormat) -> String {
    format!("{}.{}", query.name, extension(format))
}

/// Writes a file for each result as soon as it is complete. Reports empty results, but not those of failed queries.
fn write_files(
    trace: &Trace,
    asked: &[(&Query, QueryOptions)],
    directory: &Path,
    (output, source, draw): (&OutputArguments, &SourceLines, &Draw<'_>),
    replaced: bool,
) -> Result<Vec<Option<bool>>, Failure> {
    let fill = |directory: &Path| {
        let written = run_queries(trace, asked, |query, answer| {
            let is_empty = answer.frame.height() == 0;
            let is_of_lines = matches!(output.format(), AnswerFormat::Csv | AnswerFormat::Tsv);
            let answer = if is_of_lines { answer } else { in_texts(answer, output)? };
            let answer = source.add_to(answer)?;
            let picture = draw(query, &answer)?;
            let path = directory.join(file_name(query, output.format()));
            write_file(&path, |out| answer::write_to_file(answer, output, out))?;
            anyhow::Ok((is_empty, picture.map(|picture| (query.declaration.title.clone(), picture))))
        })?;
        let names: Vec<&str> = asked.iter().map(|(query, _)| query.name.as_str()).collect();
        delivered(&names, written)
    };
    let write = if replaced { replace_directory } else { write_directory };
    let written = write(directory, fill).map_err(failure)?;
    for (title, picture) in written.iter().flatten().filter_map(|(_, picture)| picture.as_ref()) {
        messages::print(format!("{title}\n\n{}\n", picture.trim_end()))?;
    }
    Ok(written.into_iter().map(|answer| answer.map(|(is_empty, _)| is_empty)).collect())
}
