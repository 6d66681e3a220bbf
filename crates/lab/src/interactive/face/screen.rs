//! The destination of texts: a terminal, or plain lines.

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};

use super::diff;
use super::plain::plain;
use super::question::Level;
use super::spinner::Spinner;
use super::table;
use super::wrap::wrapped;

/// Prefix of lines of a child process.
const OF_CHILD: &str = "  | ";

pub(super) struct Screen {
    out: Box<dyn Write>,
    width: Option<usize>,
    has_color: bool,
    has_spinner: bool,
    /// Whether only errors are printed.
    is_quiet: bool,
    spinner: Option<Spinner>,
    /// The reason why nothing can be written any more.
    error: Option<io::Error>,
}

impl Screen {
    /// Standard output, or standard error if the other one is for programs.
    pub(super) fn new(is_error: bool, has_color: bool, is_quiet: bool) -> Self {
        let size = |(width, _): (terminal_size::Width, _)| usize::from(width.0);
        let (out, is_terminal, width): (Box<dyn Write>, _, _) = if is_error {
            let width = terminal_size::terminal_size_of(io::stderr()).map(size);
            (Box::new(io::stderr()), io::stderr().is_terminal(), width)
        } else {
            let width = terminal_size::terminal_size_of(io::stdout()).map(size);
            (Box::new(io::stdout()), io::stdout().is_terminal(), width)
        };
        let is_dumb = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
        let has_spinner = is_terminal && io::stderr().is_terminal() && !is_dumb && !is_quiet;
        let width = width.filter(|width| is_terminal && *width > 0);
        Self { has_spinner, ..Self::to(out, width, has_color, is_quiet) }
    }

    pub(super) fn to(out: Box<dyn Write>, width: Option<usize>, has_color: bool, is_quiet: bool) -> Self {
        Self { out, width, has_color, has_spinner: false, is_quiet, spinner: None, error: None }
    }

    pub(super) fn width(&self) -> Option<usize> {
        self.width
    }

    pub(super) fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    pub(super) fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
    }

    pub(super) fn write(&mut self, text: &str) {
        if self.error.is_some() {
            return;
        }
        let out = &mut self.out;
        let mut write = || out.write_all(text.as_bytes()).and_then(|()| out.flush());
        let written = match &self.spinner {
            Some(spinner) => spinner.suspend(write),
            None => write(),
        };
        self.error = written.err();
    }

    fn styled(&self, style: Style, text: &str) -> String {
        let is_plain = !self.has_color || style == Style::new() || text.is_empty();
        if is_plain { text.to_owned() } else { format!("{style}{text}{style:#}") }
    }

    pub(super) fn say(&mut self, level: Level, text: &str) {
        if self.is_quiet && level != Level::Error {
            return;
        }
        let color = |color: AnsiColor| color.on_default();
        let (style, before) = match level {
            Level::Heading => (Style::new().bold(), ""),
            Level::Text => (Style::new(), ""),
            Level::Note => (Style::new().dimmed(), "note: "),
            Level::Warning => (color(AnsiColor::Yellow), "warning: "),
            Level::Error => (color(AnsiColor::Red), "error: "),
            Level::Good => (color(AnsiColor::Green), ""),
        };
        let mut shown = String::new();
        if level == Level::Heading {
            shown.push('\n');
        }
        let text = format!("{before}{text}");
        for line in text.split('\n').map(plain) {
            let indent = line.chars().take_while(|one| *one == ' ').count() + 2;
            for part in wrapped(&line, self.width, indent) {
                shown.push_str(&self.styled(style, &part));
                shown.push('\n');
            }
        }
        self.write(&shown);
    }

    pub(super) fn table(&mut self, head: &[&str], rows: &[Vec<String>]) {
        let mut shown = String::new();
        for (place, line) in table::lines(head, rows, self.width).iter().enumerate() {
            let style = if place == 0 { Style::new().bold() } else { Style::new() };
            shown.push_str(&self.styled(style, line));
            shown.push('\n');
        }
        self.write_unless_quiet(&shown);
    }

    pub(super) fn diff(&mut self, text: &str) {
        let lines = diff::shown(text).into_iter().map(|(style, line)| self.styled(style, &line) + "\n");
        let shown: String = lines.collect();
        self.write_unless_quiet(&shown);
    }

    pub(super) fn output(&mut self, line: &str) {
        let shown = self.styled(Style::new().dimmed(), OF_CHILD);
        self.write_unless_quiet(&format!("{shown}{}\n", plain(line)));
    }

    pub(super) fn begin(&mut self, text: &str) {
        self.end();
        let text = plain(text);
        if self.has_spinner {
            let text = self.width.map_or_else(|| text.clone(), |width| table::cut(&text, width.saturating_sub(14)));
            self.spinner = Some(Spinner::start(&text));
        } else {
            self.write_unless_quiet(&format!("{text} …\n"));
        }
    }

    pub(super) fn end(&mut self) {
        self.spinner = None;
    }

    fn write_unless_quiet(&mut self, text: &str) {
        if !self.is_quiet {
            self.write(text);
        }
    }
}
