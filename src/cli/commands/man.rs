//! `man [VERB…]`: manual pages.

use std::path::PathBuf;

use clap::builder::Resettable;
use clap::{Args, Command};
use clap_mangen::Man;

use crate::cli::exit::{DONE, Failure};
use crate::cli::output::messages::print;
use crate::cli::reference::help::{Part, notes};
use crate::cli::reference::pages;

/// Generate man pages
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  wavesieve man
  wavesieve man table kernel_summary
  wavesieve man --output man1")]
pub(crate) struct ManArguments {
    /// Command to describe [default: the whole program]
    #[arg(value_name = "VERB")]
    verbs: Vec<String>,
    /// Directory for wavesieve.1 and a page for every command and query
    #[arg(short, long, value_name = "DIR", conflicts_with = "verbs")]
    output: Option<PathBuf>,
}

pub(crate) fn run(arguments: &ManArguments, command: Command) -> Result<u8, Failure> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    if let Some(directory) = &arguments.output {
        let mut all = Vec::new();
        collect(&command, &mut all)?;
        pages::write(directory, &all)?;
    } else {
        print(&page(pages::find(&command, &arguments.verbs)?)?)?;
    }
    Ok(DONE)
}

/// File names and texts of the pages of a command and all below it.
fn collect(command: &Command, pages: &mut Vec<(String, Vec<u8>)>) -> Result<(), Failure> {
    pages.push((Man::new(command.clone()).get_filename(), page(command)?));
    command.get_subcommands().try_for_each(|verb| collect(verb, pages))
}

fn page(command: &Command) -> Result<Vec<u8>, Failure> {
    let version = format!("wavesieve {}", env!("CARGO_PKG_VERSION"));
    let bare = command.clone().after_help(Resettable::Reset).after_long_help(Resettable::Reset);
    let mut page = Vec::new();
    Man::new(bare).source(version).manual("wavesieve").render(&mut page)?;
    // The generator would join the lines of examples.
    let parts = notes(command);
    let is_heading = |part: &Part| matches!(part, Part::Text(text) if text == "Examples:");
    if parts.first().is_some_and(|part| !is_heading(part)) {
        page.extend_from_slice(b".SH NOTES\n");
    }
    for part in parts {
        match part {
            Part::Text(text) if text == "Examples:" => page.extend_from_slice(b".SH EXAMPLES\n"),
            Part::Text(text) => page.extend(format!(".PP\n{}\n", escaped(&text)).bytes()),
            Part::Lines(lines) => {
                let lines: Vec<String> = lines.iter().map(|line| escaped(line)).collect();
                page.extend(format!(".PP\n.RS 4\n.nf\n{}\n.fi\n.RE\n", lines.join("\n")).bytes());
            }
        }
    }
    let ascii = String::from_utf8_lossy(&page).chars().map(portable).collect::<String>();
    Ok(ascii.into_bytes())
}

/// A character in a form that every roff accepts.
fn portable(character: char) -> String {
    if character.is_ascii() { character.to_string() } else { format!(r"\[u{:04X}]", u32::from(character)) }
}

fn escaped(text: &str) -> String {
    let text = text.replace('\\', r"\e").replace('-', r"\-").replace('\'', r"\(aq").replace('`', r"\(ga");
    if text.starts_with('.') { format!(r"\&{text}") } else { text }
}
