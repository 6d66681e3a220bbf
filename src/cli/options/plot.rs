//! `--plot` and `--charts`: answers as pictures.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command, value_parser};

use super::global::GlobalArguments;
use super::input::InputArguments;
use crate::cli::exit::Failure;
use crate::engine::{Answer, Query};
use crate::export::atomic::{make_directory, write_file};
use crate::report::charts::{Chart, Layout, Terminal, characters, is_chart};

/// Width where that of the terminal is not known.
const WIDTH: usize = 100;
/// Those of the files of a chart.
const EXTENSIONS: [&str; 2] = ["svg", "png"];

/// The options, for queries whose answers can be drawn.
pub(crate) fn with_plot_options(command: Command) -> Command {
    let plot = Arg::new("plot")
        .long("plot")
        .help("Draw the answer under the table, with characters")
        .action(clap::ArgAction::SetTrue)
        .help_heading("Output");
    let charts = Arg::new("charts")
        .long("charts")
        .value_name("DIR")
        .help("Write the answer as NAME.svg and NAME.png into a directory too")
        .value_parser(value_parser!(PathBuf))
        .help_heading("Output");
    command.arg(plot).arg(charts)
}

/// What was asked for.
pub(crate) struct Pictures {
    plot: bool,
    charts: Option<PathBuf>,
}

impl Pictures {
    /// The options of a query, of which those that are no picture have none.
    ///
    /// # Errors
    /// When the directory cannot be used.
    pub(crate) fn from_matches(query: &Query, matches: &ArgMatches, input: &InputArguments) -> Result<Self, Failure> {
        if query.declaration.plot.is_none() {
            return Ok(Self { plot: false, charts: None });
        }
        let charts = matches.get_one::<PathBuf>("charts").cloned();
        if let Some(directory) = &charts {
            check_directory(directory, input)?;
            check_names(directory, std::slice::from_ref(&query.name))?;
        }
        Ok(Self { plot: matches.get_flag("plot"), charts })
    }

    /// Writes the files and gives what is to be printed under the answer.
    ///
    /// # Errors
    /// When a file cannot be written, or the answer lacks what is drawn.
    pub(crate) fn draw(
        &self,
        query: &Query,
        answer: &Answer,
        global: &GlobalArguments,
    ) -> anyhow::Result<Option<String>> {
        // Of an answer without rows there is nothing to draw.
        if answer.frame.height() == 0 || !self.plot && self.charts.is_none() {
            return Ok(None);
        }
        let Some(chart) = Chart::of_answer(&query.declaration, answer)? else { return Ok(None) };
        if let Some(directory) = &self.charts {
            write_chart(&chart, directory, &query.name)?;
        }
        if !self.plot {
            return Ok(None);
        }
        Ok(Some(characters(
            &chart,
            Terminal { width: width(), color: std::io::stdout().is_terminal() && global.color() },
        )))
    }
}

/// Refuses a directory for charts that is none, or an input.
///
/// # Errors
/// [`Failure::Usage`] when charts cannot be written there.
pub(crate) fn check_directory(directory: &Path, input: &InputArguments) -> Result<(), Failure> {
    let shown = directory.display();
    if directory.exists() && !directory.is_dir() {
        return Err(Failure::Usage(format!("{shown} is a file; name a directory with --charts")));
    }
    if directory.exists() && input.contain(directory) {
        return Err(Failure::Usage(format!(
            "{shown} is an input, which is never written; name another directory with --charts"
        )));
    }
    Ok(())
}

/// Refuses a directory for charts of these names in which other files have them.
///
/// # Errors
/// [`Failure::Usage`] when there is such a file, or the directory is one.
pub(crate) fn check_names(directory: &Path, names: &[String]) -> Result<(), Failure> {
    let shown = directory.display();
    if directory.exists() && !directory.is_dir() {
        return Err(Failure::Usage(format!("{shown} is a file; name another directory with --charts")));
    }
    let mut files =
        names.iter().flat_map(|name| EXTENSIONS.map(|extension| directory.join(format!("{name}.{extension}"))));
    match files.find(|file| file.exists() && !is_chart(file)) {
        Some(file) => Err(Failure::Usage(format!(
            "{} is there and no earlier chart; move it away, or name another directory with --charts",
            file.display()
        ))),
        None => Ok(()),
    }
}

/// Writes a chart as `NAME.svg` and `NAME.png` into a directory, which is made where there is none.
///
/// # Errors
/// When it cannot be drawn or written.
pub(crate) fn write_chart(chart: &Chart, directory: &Path, name: &str) -> anyhow::Result<()> {
    let _made = make_directory(directory)?;
    let drawn = chart.svg(Layout::WIDE)?;
    write_file(&directory.join(format!("{name}.svg")), |out| Ok(out.write_all(drawn.as_bytes())?))?;
    let drawn = chart.png(Layout::WIDE)?;
    write_file(&directory.join(format!("{name}.png")), |out| Ok(out.write_all(&drawn)?))
}

fn width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
    let terminal = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    columns.or_else(terminal).unwrap_or(WIDTH)
}
