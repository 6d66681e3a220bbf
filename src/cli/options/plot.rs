//! `--plot` and `--charts`: answers as pictures.

use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command, ValueEnum, value_parser};

use super::global::GlobalArguments;
use super::input::InputArguments;
use crate::cli::exit::{Failure, refuse};
use crate::invocation::{is_stdout_terminal, terminal_columns};
use wavesieve_engine::{Answer, Query};
use wavesieve_export::atomic::{make_directory, write_file};
use wavesieve_report::charts::{Chart, Layout, Terminal, characters, is_chart};

/// Width if the width of the terminal is unknown.
const WIDTH: usize = 100;
/// Default file formats of charts.
pub(crate) const CHART_FORMATS: &str = "svg,png";

/// A format of charts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum ChartFormat {
    /// Lines and texts, sharp at any size
    Svg,
    /// Pixels without loss
    Png,
    /// Pixels with a small loss, for programs that know nothing else
    #[value(alias = "jpg")]
    Jpeg,
}

impl ChartFormat {
    fn extension(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
            Self::Jpeg => "jpg",
        }
    }
}

/// Adds the options for queries whose answers can be drawn.
pub(crate) fn with_plot_options(command: Command) -> Command {
    let plot = Arg::new("plot")
        .long("plot")
        .help("Draw the answer under the table, with characters")
        .action(clap::ArgAction::SetTrue)
        .help_heading("Output");
    let charts = Arg::new("charts")
        .long("charts")
        .value_name("DIR")
        .help("Write the answer as a chart into a directory too, as NAME.svg and NAME.png unless --chart-format")
        .value_parser(value_parser!(PathBuf))
        .help_heading("Output");
    let formats = Arg::new("chart-format")
        .long("chart-format")
        .value_name("FORMAT,…")
        .help("Formats of the charts")
        .value_parser(value_parser!(ChartFormat))
        .value_delimiter(',')
        .default_value(CHART_FORMATS)
        .help_heading("Output");
    command.arg(plot).arg(charts).arg(formats)
}

/// The requested pictures.
pub(crate) struct Pictures {
    plot: bool,
    charts: Option<PathBuf>,
    formats: Vec<ChartFormat>,
}

impl Pictures {
    /// The picture options of a query; a query without a picture has none.
    pub(crate) fn from_matches(query: &Query, matches: &ArgMatches, input: &InputArguments) -> Result<Self, Failure> {
        if query.declaration.plot.is_none() {
            return Ok(Self { plot: false, charts: None, formats: Vec::new() });
        }
        let charts = matches.get_one::<PathBuf>("charts").cloned();
        let formats: Vec<ChartFormat> = matches.get_many("chart-format").into_iter().flatten().copied().collect();
        if let Some(directory) = &charts {
            check_directory(directory, input)?;
            check_names(directory, std::slice::from_ref(&query.name), &formats)?;
        }
        Ok(Self { plot: matches.get_flag("plot"), charts, formats })
    }

    /// Writes the files, and returns the text to print below the answer.
    pub(crate) fn draw(
        &self,
        query: &Query,
        answer: &Answer,
        global: &GlobalArguments,
    ) -> anyhow::Result<Option<String>> {
        // A result without rows has nothing to draw.
        if answer.frame.height() == 0 || !self.plot && self.charts.is_none() {
            return Ok(None);
        }
        let Some(chart) = Chart::of_answer(&query.declaration, &answer.shown_with(&answer.readable_names()))? else {
            return Ok(None);
        };
        if let Some(directory) = &self.charts {
            write_chart(&chart, directory, &query.name, &self.formats)?;
            global.outbox.add(directory);
        }
        if !self.plot {
            return Ok(None);
        }
        Ok(Some(characters(&chart, Terminal { width: width(), color: is_stdout_terminal() && global.color() })))
    }
}

/// Rejects a path for charts that is not a directory, or is an input.
pub(crate) fn check_directory(directory: &Path, input: &InputArguments) -> Result<(), Failure> {
    let shown = directory.display();
    if directory.exists() && !directory.is_dir() {
        refuse!("{shown} is a file; name a directory with --charts");
    }
    if directory.exists() && input.contain(directory) {
        refuse!("{shown} is an input, which is never written; name another directory with --charts");
    }
    Ok(())
}

/// Rejects a directory in which foreign files have the names of these charts.
pub(crate) fn check_names(directory: &Path, names: &[String], formats: &[ChartFormat]) -> Result<(), Failure> {
    let shown = directory.display();
    if directory.exists() && !directory.is_dir() {
        refuse!("{shown} is a file; name another directory with --charts");
    }
    let mut files = names
        .iter()
        .flat_map(|name| formats.iter().map(move |format| directory.join(format!("{name}.{}", format.extension()))));
    match files.find(|file| file.exists() && !is_chart(file)) {
        Some(file) => refuse!(
            "{} is there and no earlier chart; move it away, or name another directory with --charts",
            file.display()
        ),
        None => Ok(()),
    }
}

/// Writes a chart as `NAME.svg` and so on into a directory, which is created if missing.
pub(crate) fn write_chart(chart: &Chart, directory: &Path, name: &str, formats: &[ChartFormat]) -> anyhow::Result<()> {
    let _made = make_directory(directory)?;
    formats.iter().try_for_each(|format| {
        let drawn = match format {
            ChartFormat::Svg => chart.svg(Layout::WIDE)?.into_bytes(),
            ChartFormat::Png => chart.png(Layout::WIDE)?,
            ChartFormat::Jpeg => chart.jpeg(Layout::WIDE)?,
        };
        write_file(&directory.join(format!("{name}.{}", format.extension())), |out| Ok(out.write_all(&drawn)?))
    })
}

fn width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
    columns.or_else(terminal_columns).unwrap_or(WIDTH)
}
