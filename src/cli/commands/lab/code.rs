//! `lab code`.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum};

use super::protected::refuse_input;
use crate::cli::exit::{DONE, EXCEEDED, Failure, NO_DATA, PARTIAL, refuse};
use crate::cli::memory;
use crate::cli::options::global::GlobalArguments;
use crate::cli::output::delivery::{check_file, deliver, format_of};
use crate::cli::output::messages;
use wavesieve_lab::code::{Listing, Sources, Wanted, compared, listed, text};
use wavesieve_source::objects::{CodeObject, ObjectError, read_file};

/// Form of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CodeFormat {
    /// A table of kernels, and their arguments
    Text,
    /// For scripts, by the schema `lab-code`
    Json,
}

#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Reads code objects (.hsaco), clang offload bundles, also compressed, and programs, libraries and object files of the host that contain them. Occupancy follows from the compiler's metadata, for the largest workgroup that a kernel may be launched with unless --work-items names another.

With --against, exits with 4 if a kernel is missing or a program that was built for the other file cannot launch it: symbol, offsets, sizes and kinds of arguments, and the size of wavefronts must be the same, and workgroups as large allowed. Hidden arguments may differ, as the runtime fills them.

Examples:
  wavesieve lab code fixtures/code_object/kernels.hsaco
  wavesieve lab code fixtures/code_object/kernels.hsaco --source fixtures/code_object/kernels.hip --kernel scale
  wavesieve lab code fixtures/code_object/kernels.hsaco --work-items 256 --dynamic-lds 16K -f json
  wavesieve lab code fixtures/code_object/kernels.hsaco --against fixtures/code_object/kernels.hsaco --kernel heavy")]
pub(super) struct CodeArguments {
    /// Files with device code
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// List kernels whose name, mangled or not, contains this text
    #[arg(long, value_name = "TEXT", help_heading = "What")]
    kernel: Vec<String>,
    /// Source files in which the kernels are looked for, and headers with macros that they use
    #[arg(long, value_name = "FILE", help_heading = "What")]
    source: Vec<PathBuf>,
    /// An older file to compare kernels with
    #[arg(long, value_name = "FILE", help_heading = "What")]
    against: Option<PathBuf>,
    /// Work-items of a workgroup, for occupancy [default: the most that a kernel may have]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Occupancy")]
    work_items: Option<u32>,
    /// LDS that a launch adds, such as 16K
    #[arg(long, value_name = "SIZE", default_value = "0", value_parser = dynamic_lds, help_heading = "Occupancy")]
    dynamic_lds: u64,
    /// Output format; by default the output's extension selects it
    #[arg(short, long, value_enum, help_heading = "Output")]
    format: Option<CodeFormat>,
    /// Output file, - for standard output
    #[arg(short, long, value_name = "PATH", help_heading = "Output")]
    output: Option<PathBuf>,
}

fn dynamic_lds(text: &str) -> Result<u64, String> {
    let bytes = if text == "0" { 0 } else { memory::parse(text)? };
    // A dispatch packet has 32 bits for it.
    if bytes > u64::from(u32::MAX) { Err("a launch adds less than 4G".to_owned()) } else { Ok(bytes) }
}

pub(super) fn run(arguments: &CodeArguments, global: &GlobalArguments) -> Result<u8, Failure> {
    let path = arguments.output.as_deref().filter(|path| path.as_os_str() != "-");
    let format = format(arguments, path)?;
    if let Some(path) = path {
        let inputs = arguments.files.iter().chain(&arguments.source).chain(&arguments.against);
        refuse_input(path, inputs.map(PathBuf::as_path))?;
        check_file(path)?;
    }
    let wanted = Wanted {
        kernels: arguments.kernel.clone(),
        work_items: arguments.work_items,
        dynamic_lds_bytes: arguments.dynamic_lds,
    };
    let sources = Sources::read(&arguments.source).map_err(|error| Failure::Usage(format!("{error:#}")))?;
    if !global.quiet {
        for path in sources.without_kernels() {
            messages::print_note(format_args!("note: there is no kernel in {}", path.display()));
        }
    }
    let mut code = DONE;
    let mut objects: Vec<(String, Vec<CodeObject>)> = Vec::new();
    for file in &arguments.files {
        match read(file)? {
            Ok(found) => objects.push((file.display().to_string(), found)),
            Err(failed) => code = code.max(failed),
        }
    }
    if objects.is_empty() {
        return Ok(code);
    }
    // Some files had results.
    let mut code = if code == DONE { DONE } else { PARTIAL };
    let comparison = match &arguments.against {
        Some(against) => {
            let old = match read(against)? {
                Ok(old) => old,
                Err(failed) => return Ok(failed),
            };
            let new: Vec<CodeObject> = objects.iter().flat_map(|(_, found)| found.clone()).collect();
            Some(compared(against.display().to_string(), &old, &new, &wanted))
        }
        None => None,
    };
    if comparison.as_ref().is_some_and(|comparison| !comparison.has_same_interfaces()) {
        code = EXCEEDED;
    }
    let files: Vec<_> = objects.into_iter().map(|(file, found)| listed(file, found, &wanted, &sources)).collect();
    let kernels = files.iter().flat_map(|file| &file.code_objects).flat_map(|object| &object.kernels);
    if kernels.count() == 0 && code == DONE {
        messages::print_note(if arguments.kernel.is_empty() {
            "there are no kernels in the device code; name files with some"
        } else {
            "no kernel has such a name; list all without --kernel"
        });
        code = NO_DATA;
    }
    let listing = Listing { schema_version: "1.0", files, comparison };
    deliver(path, global, |_, out| {
        match format {
            CodeFormat::Text => out.write_all(text(&listing).as_bytes())?,
            CodeFormat::Json => {
                serde_json::to_writer_pretty(&mut *out, &listing).context("cannot write the listing as JSON")?;
                out.write_all(b"\n")?;
            }
        }
        Ok(())
    })?;
    Ok(code)
}

/// The code objects of a file, or the exit code after a message about the failure.
fn read(path: &Path) -> Result<Result<Vec<CodeObject>, u8>, Failure> {
    let error = match read_file(path) {
        Ok(found) => return Ok(Ok(found)),
        Err(error) => error,
    };
    let shown = path.display();
    let code = match &error {
        ObjectError::Io(cause) if cause.kind() == io::ErrorKind::NotFound => {
            refuse!("{shown} does not exist; name a file with device code");
        }
        ObjectError::Io(_) | ObjectError::NotAFile => refuse!("{shown}: {error}"),
        ObjectError::Unrecognized | ObjectError::NoDeviceCode | ObjectError::OtherElf(_) => NO_DATA,
        _ => PARTIAL,
    };
    messages::print_note(format_args!("error: {shown}: {error}"));
    Ok(Err(code))
}

fn format(arguments: &CodeArguments, path: Option<&Path>) -> Result<CodeFormat, Failure> {
    let formats = [("txt", CodeFormat::Text), ("json", CodeFormat::Json)];
    format_of(arguments.format, path, CodeFormat::Text, "listings", &formats)
}
