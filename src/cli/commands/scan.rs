//! `scan DIR`: reports the GPU work of a program from its source code, before there is a trace.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum};

use crate::cli::command_line::CommandLine;
use crate::cli::exit::{DONE, Failure, NO_DATA, PARTIAL, refuse};
use crate::cli::memory;
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::llm::{Asked, LlmArguments, narrate};
use crate::cli::output::delivery::{check_file, deliver, format_of, write_json};
use crate::cli::output::messages;
use crate::cli::output::progress::Progress;
use crate::invocation::{is_stdout_terminal, stdout_columns};
use wavesieve_engine::Registry;
use wavesieve_export::unit::TimeUnit;
use wavesieve_model::analysis::counter_plan::{CounterBlocks, RocmVersion};
use wavesieve_report::analysis::Analysis;
use wavesieve_report::{json, markdown, text};
use wavesieve_source::scan::{DEFAULT_ARCHITECTURE, Limits, Target, TreeScan, is_source, refusal, scan};

/// Text width if the terminal does not report its width.
const WIDTH: usize = 80;

/// Form of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ScanFormat {
    /// For the terminal
    Text,
    /// For scripts, in the document schema
    Json,
    /// For wikis, issues and merge requests
    #[value(alias = "md")]
    Markdown,
    /// JSON of the scan alone, with the tier0 fields of rocpd analyze documents
    Tier0,
}

/// Scan source code; suggest what to profile
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Reads HIP, CUDA, C, C++, OpenCL C and Python. Ignores comments, literals and #if 0 blocks; matches kernel definitions and launches by name. Skips build, vendored and hidden directories, and links. Exits with 3 if there is no source file.

Examples:
  wavesieve scan fixtures/source
  wavesieve scan fixtures/source --arch gfx90a -- ./simulate --steps 10
  wavesieve scan fixtures/source --max-files 0 --max-file-size 4M -f json -o source.json
  wavesieve scan fixtures/source -f markdown --rows 5")]
pub(crate) struct ScanArguments {
    /// Directory with source code, or a source file
    #[arg(value_name = "PATH")]
    directory: PathBuf,
    /// Source files to read, in path order; 0 for all
    #[arg(long, value_name = "N", default_value_t = 500, help_heading = "Input")]
    max_files: usize,
    /// Largest file to read, such as 512K or 4M
    #[arg(long, value_name = "SIZE", default_value = "512K", value_parser = memory::parse, help_heading = "Input")]
    max_file_size: u64,
    /// GPU architecture for counter passes, by LLVM name; gfx908 to gfx950 give the same passes
    #[arg(long, value_name = "GFX", default_value = DEFAULT_ARCHITECTURE, help_heading = "Output")]
    arch: String,
    /// ROCm release that the commands are for, such as 7.2 [default: what 7.0 and later take]
    #[arg(long, value_name = "VERSION", help_heading = "Output")]
    rocm_version: Option<RocmVersion>,
    /// Output format; by default the output's extension selects it
    #[arg(short, long, value_enum, help_heading = "Output")]
    format: Option<ScanFormat>,
    /// Output file, - for standard output
    #[arg(short, long, value_name = "PATH", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Rows of each table, 0 for all
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = "Output")]
    rows: usize,
    /// Your question in words, for the model of --llm
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    prompt: Option<String>,
    #[command(flatten)]
    llm: LlmArguments,
    /// Program to profile and its arguments, for the commands
    #[arg(last = true, value_name = "COMMAND")]
    program: Vec<String>,
}

impl ScanArguments {
    fn format(&self, path: Option<&Path>) -> Result<ScanFormat, Failure> {
        let formats = [
            ("txt", ScanFormat::Text),
            ("json", ScanFormat::Json),
            ("md", ScanFormat::Markdown),
            ("markdown", ScanFormat::Markdown),
        ];
        format_of(self.format, path, ScanFormat::Text, "scans", &formats)
    }

    fn target(&self) -> Result<Target, Failure> {
        let architecture = self.arch.trim().split(':').next().unwrap_or_default().to_lowercase();
        let blocks = CounterBlocks::builtin().for_architecture(&architecture, &Default::default());
        blocks.map_err(|error| Failure::Usage(error.to_string().replace("; pass --block-limit", "")))?;
        Ok(Target { architecture, program: self.program.clone(), rocm: self.rocm_version })
    }
}

pub(crate) fn run(
    arguments: &ScanArguments,
    registry: &Registry,
    command: &CommandLine<'_>,
    global: &GlobalArguments,
) -> Result<u8, Failure> {
    let shown = arguments.directory.display();
    if !arguments.directory.exists() {
        refuse!("{shown} does not exist; name a directory with source code, or a source file");
    }
    if let Some(problem) = refusal(&arguments.directory) {
        refuse!("{shown} {problem}");
    }
    let target = arguments.target()?;
    let path = arguments.output.as_deref().filter(|path| path.as_os_str() != "-");
    if let Some(path) = path {
        check_output(path)?;
    }
    let format = arguments.format(path)?;
    let mut narrator = arguments.llm.narrator(global)?;
    if format == ScanFormat::Tier0 && narrator.take().is_some() {
        messages::print_note("warning: no model is asked, because -f tier0 has no place for an answer; choose json");
    }
    let files = if arguments.max_files == 0 { usize::MAX } else { arguments.max_files };
    let limits = Limits { files, file_bytes: arguments.max_file_size };
    let progress = Progress::of_files(global);
    let tree = scan(&arguments.directory, limits, &target, &progress);
    progress.finish();
    let tree = tree.with_context(|| format!("cannot read {shown}"))?;
    let rows = if format == ScanFormat::Json { 0 } else { arguments.rows };
    let mut analysis = Analysis::of_source(tree, rows, arguments.prompt.clone())?;
    let asked = narrate(narrator.as_ref(), &mut analysis, registry, command, global)?;
    if matches!(asked, Asked::Shown) {
        return Ok(DONE);
    }
    deliver(path, global, |terminal, out| write(&analysis, format, terminal, out))?;
    let Some(tree) = &analysis.source else { return Ok(DONE) };
    warn_of_limits(tree, "", global);
    Ok(asked.exit_code(conclude(tree)))
}

/// Reports files that could not be read, and files that limits excluded, with the options of `verb` for these limits.
pub(crate) fn warn_of_limits(tree: &TreeScan, verb: &str, global: &GlobalArguments) {
    for (path, cause) in &tree.unreadable {
        messages::print_note(format_args!("damaged: {}: {cause}", wavesieve_source::scan::shown(path)));
    }
    if !global.quiet && tree.beyond > 0 {
        let (read, beyond) = (tree.scan.files_scanned, tree.beyond);
        messages::print_note(format_args!(
            "warning: read {read} source files and left out {beyond}; {verb}--max-files reads more"
        ));
    }
    if !global.quiet && !tree.large.is_empty() {
        let count = tree.large.len();
        messages::print_note(format_args!(
            "warning: left out {count} larger source files; {verb}--max-file-size reads them"
        ));
    }
}

/// The exit code of a scan; also prints the reason.
pub(crate) fn conclude(tree: &TreeScan) -> u8 {
    if !tree.unreadable.is_empty() {
        messages::print_note("the result is partial");
        return PARTIAL;
    }
    if tree.scan.files_scanned == 0 {
        messages::print_note(
            "there is no source file in the directory; name one with C, C++, HIP, CUDA, OpenCL or Python",
        );
        return NO_DATA;
    }
    DONE
}

fn check_output(path: &Path) -> Result<(), Failure> {
    // No scanned file is overwritten, and no later scan reads the output as source code.
    if is_source(path) {
        let shown = path.display();
        refuse!("{shown} is a name of source code; name a .txt, .md or .json file with -o");
    }
    check_file(path).map(drop)
}

/// Writes the scan; a terminal gets its width and colors.
fn write(
    analysis: &Analysis,
    format: ScanFormat,
    terminal: Option<&GlobalArguments>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let document = &analysis.document;
    match format {
        ScanFormat::Tier0 => write_json(&analysis.source.as_ref().map(|tree| &tree.scan), out),
        ScanFormat::Json => json::write(document, out),
        ScanFormat::Markdown => markdown::write(document, TimeUnit::default(), out),
        ScanFormat::Text => {
            let terminal_width = terminal.filter(|_| is_stdout_terminal()).and_then(|_| stdout_columns());
            let width = terminal_width.unwrap_or(WIDTH);
            let color = terminal.is_some_and(GlobalArguments::color);
            text::write(document, text::TextStyle { width, color, unit: TimeUnit::default() }, out)
        }
    }
}
