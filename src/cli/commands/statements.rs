//! `sql 'SELECT …; SELECT …' INPUT…`: runs several statements, and opens the inputs once.

use std::path::Path;

use super::sql::{SqlArguments, derived};
use crate::cli::exit::{DONE, Failure, NO_DATA, PARTIAL, refuse};
use crate::cli::options::filters::{explain_unmatched, note_untouched};
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::input::{InputArguments, Opening};
use crate::cli::options::output::OutputArguments;
use crate::cli::output::answer::{extension, in_texts};
use crate::cli::output::several::{Titled, check_output, delivered, failure, print};
use crate::cli::output::{answer, messages};
use crate::cli::suggest::explain;
use wavesieve_engine::{Answer, is_query, referenced_columns, run_sql_in_codes, with_rocpd_names};
use wavesieve_export::atomic::{replace_directory, write_directory, write_file};
use wavesieve_tables::columns::requests::united;

pub(crate) fn run(
    statements: &[String],
    input: &InputArguments,
    arguments: &SqlArguments,
    global: &GlobalArguments,
) -> Result<u8, Failure> {
    let output = &arguments.output;
    let names: Vec<String> = (1..=statements.len()).map(|number| format!("statement-{number}")).collect();
    let files: Vec<String> = names.iter().map(|name| format!("{name}.{}", extension(output.format()))).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let replaced = check_output(&files, input, output)?;
    if let Some(number) = statements.iter().position(|statement| !is_query(statement)) {
        let reason = "is not a SELECT statement; begin each with SELECT or WITH, and run SHOW and DESCRIBE alone";
        refuse!("statement {} {reason}", number + 1);
    }
    let queries: Vec<String> = statements.iter().map(|sql| with_rocpd_names(sql, arguments.dialect)).collect();
    let source = arguments.source.open(global)?;
    let requests: Vec<_> = queries.iter().map(|query| referenced_columns(&query.as_str().into())).collect();
    let request = united(&requests);
    let (cache, engine) = (Some(&arguments.cache), Some(&arguments.engine));
    let trace = input.open(global, &Opening { request: Some(&request), cache, engine, ..Opening::default() })?;
    messages::warn(&trace, global);
    let trace = arguments.alignment.apply(trace, &request, global)?;
    note_untouched(&trace, request.keys().copied(), global);
    let answered = |query: &String| -> anyhow::Result<Answer> {
        let answer = run_sql_in_codes(&trace, query).map_err(|error| explain(error, query))?;
        source.add_to(in_texts(answer, output)?)
    };
    let empty: Vec<Option<bool>> = if let Some(directory) = output.path() {
        let write = |directory: &Path| {
            let written = queries.iter().zip(&files).map(|(query, file)| {
                let answer = answered(query)?;
                let is_empty = answer.frame.height() == 0;
                write_answer(answer, output, &directory.join(file))?;
                anyhow::Ok(is_empty)
            });
            delivered(&names, written.collect())
        };
        let put = if replaced { replace_directory } else { write_directory };
        let written = put(directory, write).map_err(failure)?;
        global.outbox.add(directory);
        written
    } else {
        let titled = queries.iter().zip(statements).map(|(query, statement)| {
            let title = statement.split_whitespace().collect::<Vec<&str>>().join(" ");
            anyhow::Ok(Titled { title, answer: answered(query)?, picture: None })
        });
        let answers = delivered(&names, titled.collect()).map_err(failure)?;
        print(answers.iter().flatten(), output, global)?;
        answers.iter().map(|titled| titled.as_ref().map(|titled| titled.answer.frame.height() == 0)).collect()
    };
    messages::note_left_out(&trace, &derived(request), global)?;
    if messages::report_damage(&trace, global) || empty.contains(&None) {
        return Ok(PARTIAL);
    }
    let all_empty = empty.iter().flatten().all(|empty| *empty);
    Ok(if explain_unmatched(&trace, all_empty, global)? { NO_DATA } else { DONE })
}

fn write_answer(answer: Answer, output: &OutputArguments, path: &Path) -> anyhow::Result<()> {
    write_file(path, |out| answer::write_to_file(answer, output, out))
}
