//! `--handoff`: commands that profile the kernels of an answer's rows and show them in source code.

use clap::{Arg, ArgMatches, Command};

use super::global::GlobalArguments;
use super::input::InputArguments;
use super::output::{AnswerFormat, OutputArguments};
use crate::cli::exit::{Failure, refuse};
use crate::cli::output::messages::note;
use wavesieve_engine::findings::{
    Handoff, HandoffRequest, can_hand_over, handoffs, missing_commands, with_handoff_columns,
};
use wavesieve_engine::{Answer, Query, QueryOptions};
use wavesieve_model::text::hidden::escape_hidden;
use wavesieve_tables::trace::Trace;

const HANDOFF: &str = "handoff";
/// Default number of rows with commands.
const ROWS: &str = "3";

pub(crate) fn with_handoff_option(command: Command) -> Command {
    let option = Arg::new(HANDOFF)
        .long(HANDOFF)
        .value_name("N")
        .num_args(0..=1)
        .default_missing_value(ROWS)
        .value_parser(rows)
        .help_heading("Output")
        .help(
            "Commands to copy for the first N rows (3 if left out, 0 for all): rocprofv3 for counters, thread trace and PC samples of the kernel, and a pftrace of the time around it; printed below the table, in files as columns",
        );
    command.arg(option)
}

fn rows(text: &str) -> Result<usize, &'static str> {
    text.parse().map_err(|_| "give a whole number; inputs stand before the option")
}

/// The requested commands.
pub(crate) struct HandoffOption {
    rows: Option<usize>,
}

impl HandoffOption {
    /// The option of a query.
    ///
    /// # Errors
    /// [`Failure::Usage`] if no row of the query can have commands.
    pub(crate) fn from_matches(matches: &ArgMatches, query: &Query, options: &QueryOptions) -> Result<Self, Failure> {
        let rows = matches.get_one::<usize>(HANDOFF).copied();
        let declaration = &query.declaration;
        let declared = || declaration.columns.iter().map(|column| &column.name);
        let by = options.by.as_ref().unwrap_or(&declaration.by);
        let columns = options.columns.clone().unwrap_or_else(|| declared().chain(by).cloned().collect());
        if rows.is_some() && !can_hand_over(query, &columns) {
            refuse!(
                "no command can be made for {}: its rows name no kernel, interval, rank or iteration; leave out --handoff",
                query.name
            );
        }
        Ok(Self { rows })
    }

    pub(crate) fn is_given(&self) -> bool {
        self.rows.is_some()
    }

    /// The answer with columns of commands, or with a text to print below it.
    pub(crate) fn add_to(
        &self,
        answer: Answer,
        (trace, query, options): (&Trace, &Query, &QueryOptions),
        input: &InputArguments,
        output: &OutputArguments,
        global: &GlobalArguments,
    ) -> Result<(Answer, Option<String>), Failure> {
        let Some(rows) = self.rows else { return Ok((answer, None)) };
        let words = input.words()?;
        let made = handoffs(trace, query, &answer, &HandoffRequest { inputs: &words, name: options.name, rows })?;
        let format = output.format();
        if output.path().is_some() || !matches!(format, AnswerFormat::Table | AnswerFormat::Md) {
            for sentence in missing_commands(&made).iter() {
                note!(global, "note: {}", escape_hidden(sentence));
            }
            return Ok((with_handoff_columns(answer, &made)?, None));
        }
        let blocks: String = made.iter().zip(1..).map(|(handoff, row)| block(handoff, row)).collect();
        let fence = if format == AnswerFormat::Md { ("```sh\n", "```\n") } else { ("", "") };
        let text = (!made.is_empty()).then(|| format!("\n{}{}{}", fence.0, blocks.trim_start(), fence.1));
        Ok((answer, text))
    }
}

/// The commands of a row as shell lines, with their purpose as comments.
fn block(handoff: &Handoff, row: usize) -> String {
    let mut lines = format!("\n# row {row}: {}\n", handoff.about);
    let mut missing: Vec<(&str, Vec<&str>)> = Vec::new();
    for (kind, commands) in &handoff.kinds {
        match commands {
            Ok(commands) => {
                lines.push_str(&format!("# {}\n", kind.title()));
                commands.iter().for_each(|command| lines.push_str(&format!("{}\n", command.line())));
            }
            Err(reason) => match missing.last_mut().filter(|(known, _)| known == reason) {
                Some((_, kinds)) => kinds.push(kind.title()),
                None => missing.push((reason, vec![kind.title()])),
            },
        }
    }
    for (reason, kinds) in missing {
        lines.push_str(&format!("# no {}: {}\n", kinds.join(", no "), escape_hidden(reason)));
    }
    lines
}
