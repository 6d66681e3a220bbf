//! Content of Markdown pages: commands, what these print, and files that they read.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::listing;

/// Programs that pages name besides this one, and why no test runs them.
const OTHER_PROGRAMS: &[(&str, &str)] =
    &[("cargo install ", "it builds the program that runs the tests"), ("bash tests/run.sh", "it runs the tests")];

/// How the README builds the program and runs it at once.
const BUILD_AND_RUN: &str = "cargo run --release --locked -- ";

/// Folders of traces that pages name.
const INPUTS: &[&str] = &["traces/", "fixtures/"];

/// A command with the lines that a page shows of its output.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ShownCommand {
    pub line: String,
    pub output: Vec<String>,
}

/// Content of a page.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Page {
    pub commands: Vec<ShownCommand>,
    /// Files that code blocks define by a name after their language, such as `toml wavesieve.toml`.
    pub files: Vec<(String, String)>,
    /// Lines of shell blocks that are not commands of this program.
    pub others: Vec<String>,
}

/// How the lines of a code block are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    /// Commands.
    Shell,
    /// Commands after a prompt, each with its output.
    Console,
    /// A file, or text that nothing runs.
    Text,
}

impl Page {
    /// Reads commands of a text that is not Markdown: lines that begin with `wavesieve `.
    pub fn of_text(text: &str) -> Self {
        let mut page = Self::default();
        for line in text.lines() {
            page.add(Block::Shell, line);
        }
        page
    }

    /// Reads the code blocks of Markdown: fenced, or indented by four.
    pub fn of_markdown(markdown: &str) -> Self {
        let mut page = Self::default();
        let mut fence: Option<Block> = None;
        let mut names_file = false;
        for line in markdown.lines() {
            if let Some(info) = line.strip_prefix("```") {
                (fence, names_file) = match fence {
                    Some(_) => (None, false),
                    None => (Some(block(info)), page.begin_file(info)),
                };
            } else if names_file && let Some((_, content)) = page.files.last_mut() {
                content.push_str(line);
                content.push('\n');
            } else if let Some(block) = fence {
                page.add(block, line);
            } else if line.starts_with("    ") {
                page.add(Block::Shell, line);
            } else {
                page.add_inline(line);
            }
        }
        page
    }

    /// Commands within a line of text are examples if they name an input.
    fn add_inline(&mut self, line: &str) {
        let names_input = |code: &str| INPUTS.iter().any(|input| code.contains(input));
        for code in line.split('`').skip(1).step_by(2).filter(|code| is_command(code) && names_input(code)) {
            self.commands.push(ShownCommand { line: code.to_owned(), output: Vec::new() });
        }
    }

    fn begin_file(&mut self, info: &str) -> bool {
        let name = info.split_once(' ').map(|(_, name)| name.trim().to_owned());
        let is_file = name.is_some();
        self.files.extend(name.map(|name| (name, String::new())));
        is_file
    }

    fn add(&mut self, block: Block, line: &str) {
        let command = line.trim();
        let command = command.strip_prefix("$ ").unwrap_or(command);
        let built = command.strip_prefix(BUILD_AND_RUN).map(|arguments| format!("wavesieve {arguments}"));
        let command = built.as_deref().unwrap_or(command);
        let is_output = block == Block::Console && !line.starts_with("$ ");
        let is_open = self.commands.last().is_some_and(|last| last.output.is_empty() && is_open(&last.line));
        match self.commands.last_mut() {
            Some(last) if is_open => {
                last.line.push('\n');
                last.line.push_str(line);
            }
            Some(last) if is_output => last.output.push(line.trim_end().to_owned()),
            _ if block == Block::Text => {}
            _ if is_command(command) => {
                self.commands.push(ShownCommand { line: command.to_owned(), output: Vec::new() });
            }
            _ => self.others.push(command.to_owned()),
        }
    }

    /// Lines of shell blocks that no test runs though nothing excuses them.
    pub fn untested(&self) -> Vec<&str> {
        let is_excused = |line: &str| {
            line.is_empty() || line.starts_with('#') || OTHER_PROGRAMS.iter().any(|(start, _)| line.starts_with(start))
        };
        self.others.iter().map(String::as_str).filter(|line| !is_excused(line)).collect()
    }
}

fn block(info: &str) -> Block {
    match info {
        "sh" | "" => Block::Shell,
        "console" => Block::Console,
        _ => Block::Text,
    }
}

/// Whether a line calls this program, with settings in its environment or without.
fn is_command(line: &str) -> bool {
    line.contains(' ') && line.split(' ').find(|word| !word.starts_with("WAVESIEVE_")) == Some("wavesieve")
}

/// Whether a quote of a command goes on in the next line.
fn is_open(command: &str) -> bool {
    let mut quote = None;
    for character in command.chars().filter(|character| matches!(character, '"' | '\'')) {
        match quote {
            None => quote = Some(character),
            Some(open) if open == character => quote = None,
            Some(_) => {}
        }
    }
    quote.is_some()
}

/// The README and the guide, whose every command is run.
pub fn guide() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = listing(&root.join("docs/guide")).into_iter().map(|(path, _)| path);
    pages.chain([root.join("README.md")]).map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn commands_files_and_output_are_found() {
    let page = Page::of_markdown(
        "Text `wavesieve info` and `wavesieve info traces/`\n```console\n$ wavesieve sql \"SELECT\n    1\" x\none\ntwo\n\n$ wavesieve info x\n```\n    wavesieve man\n\
         ```toml wavesieve.toml\nrows = 1\n```\n```toml\nrows = 2\n```\n```sh\n# why\nWAVESIEVE_ROWS=1 wavesieve info y\nls\n\
         cargo run --release --locked -- info z\n```\n",
    );
    let lines: Vec<&str> = page.commands.iter().map(|command| command.line.as_str()).collect();
    let expected = [
        "wavesieve info traces/",
        "wavesieve sql \"SELECT\n    1\" x",
        "wavesieve info x",
        "wavesieve man",
        "WAVESIEVE_ROWS=1 wavesieve info y",
        "wavesieve info z",
    ];
    assert_eq!(lines, expected);
    assert_eq!(page.commands[1].output, ["one", "two", ""]);
    assert!(page.commands[2].output.is_empty());
    assert_eq!(page.files, [("wavesieve.toml".to_owned(), "rows = 1\n".to_owned())]);
    assert_eq!(page.untested(), ["ls"]);
}

#[test]
fn no_command_of_the_guide_escapes_the_tests() {
    for (path, text) in guide() {
        assert_eq!(Page::of_markdown(&text).untested(), Vec::<&str>::new(), "{}", path.display());
    }
}

#[test]
fn links_of_the_guide_lead_somewhere() {
    let link = regex::Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    let anchor = |heading: &str| {
        let kept = heading.to_lowercase().replace(|c: char| !c.is_alphanumeric() && !matches!(c, ' ' | '-' | '_'), "");
        kept.replace(' ', "-")
    };
    let mut wrong = Vec::new();
    for (path, text) in guide() {
        for target in link.captures_iter(&text).map(|captures| captures[1].to_owned()) {
            let (file, heading) = target.split_once('#').unwrap_or((&target, ""));
            let place = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            let has_heading = || {
                let page = fs::read_to_string(&place).unwrap_or_default();
                page.lines().any(|line| line.starts_with('#') && anchor(line.trim_start_matches('#').trim()) == heading)
            };
            if !place.exists() || !(heading.is_empty() || has_heading()) {
                wrong.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_index_lists_every_page_and_the_readme_is_short() {
    let pages = guide();
    let text_of = |name: &str| &pages.iter().find(|(path, _)| path.ends_with(name)).unwrap().1;
    let index = text_of("docs/guide/README.md");
    for name in pages.iter().map(|(path, _)| path.file_name().unwrap().to_string_lossy()) {
        assert!(name == "README.md" || index.contains(&format!("]({name})")), "docs/guide/README.md leaves out {name}");
    }
    let lines = pages.last().unwrap().1.lines().count();
    assert!(lines <= 150, "README.md has {lines} lines");
}
