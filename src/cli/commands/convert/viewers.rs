//! `convert --to pftrace|otf2|chrome-json`: timelines for viewers.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use flate2::write::GzEncoder;

use crate::cli::exit::{DONE, Failure, NO_DATA, PARTIAL, refuse};
use crate::cli::memory;
use crate::cli::options::filters::explain_all_unmatched;
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::input::{InputArguments, Opening};
use crate::cli::output::delivery::{check_file, deliver, print_written};
use crate::cli::output::messages::{self, note};
use wavesieve_engine::findings::{Judgement, RuleBook};
use wavesieve_engine::{NameForm, Registry};
use wavesieve_export::apart::make_apart;
use wavesieve_export::atomic::write_directory;
use wavesieve_export::timeline::{
    Arguments, By, FindingText, Findings, Options, Summary, Tracks, content_id, members, write, write_members,
};
use wavesieve_export::{chrome, otf2, perfetto};
use wavesieve_model::schema::process::Process;
use wavesieve_tables::trace::{Trace, TraceProcess};

/// Slices and bytes above which browsers run out of memory, and bytes above which viewers do.
const MANY_SLICES: u64 = 4_000_000;
const LARGE_BYTES: u64 = 300 << 20;
const TOO_LARGE_BYTES: u64 = 4 << 30;
/// Number of dispatches above which analysis tracks are left out by default.
const MANY_DISPATCHES: u64 = 1_000_000;
/// Name of the file that combines the parts of a trace in a viewer.
const MANIFEST: &str = "perfetto_manifest.json";
const ARCHIVE: &str = "traces";

/// A format of a viewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ViewerFormat {
    Pftrace,
    Otf2,
    ChromeJson,
}

/// How GPU work is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum GpuEvents {
    /// As slices of tracks, which every viewer shows
    #[default]
    Tracks,
    /// As events of GPUs, which Perfetto knows from v55 on
    Typed,
}

/// The form of kernel names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Names {
    /// The whole names
    #[default]
    Full,
    /// Template arguments folded
    Short,
}

/// How a trace is divided into files.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Split {
    Rank,
    /// This many parts of equal time.
    Parts(u32),
    /// As many parts as keep every file within this size.
    Bytes(u64),
}

impl FromStr for Split {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const MOST: u32 = 10_000;
        if text == "rank" {
            return Ok(Self::Rank);
        }
        if let Ok(parts) = text.parse::<u32>() {
            let is_sensible = (1..=MOST).contains(&parts);
            return if is_sensible { Ok(Self::Parts(parts)) } else { Err(format!("name 1 to {MOST} parts")) };
        }
        match memory::parse(text) {
            Ok(bytes) if bytes >= 1 << 16 && !text.ends_with('%') => Ok(Self::Bytes(bytes)),
            _ => Err("name rank, a number of parts, or a size of at least 64K such as 300M".to_owned()),
        }
    }
}

/// Options of time lines.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct TimelineArguments {
    /// Arguments of slices
    #[arg(long, value_enum, default_value_t, value_name = "LEVEL", help_heading = "Time lines")]
    args: Arguments,
    /// Meaning of a track of kernels [default: queue; of chrome-json stream]
    #[arg(long, value_enum, value_name = "WHAT", help_heading = "Time lines")]
    by: Option<By>,
    /// Which tracks there are [default: all; recorded above a million dispatches]
    #[arg(long, value_enum, value_name = "TRACKS", help_heading = "Time lines")]
    tracks: Option<Tracks>,
    /// Show kernels by this form of their names; with short ones the full ones are arguments
    #[arg(long, value_enum, default_value_t, value_name = "FORM", help_heading = "Time lines")]
    names: Names,
    /// How kernels are written into pftrace
    #[arg(long, value_enum, default_value_t, value_name = "HOW", help_heading = "Time lines")]
    gpu_events: GpuEvents,
    /// Write several pftrace files into a directory: a file for each rank, N parts of the time, or parts of a size such
    /// as 300M
    #[arg(long, value_name = "rank|N|SIZE", help_heading = "Time lines")]
    split: Option<Split>,
    /// Print the commands that open the pftrace file in a browser
    #[arg(long, help_heading = "Time lines")]
    open: bool,
    /// Write the queues of GPUs as threads of the process, for readers of OTF2 that know threads alone, such as Pipit
    #[arg(long, help_heading = "Time lines")]
    otf2_gpu_as_threads: bool,
}

impl TimelineArguments {
    /// Rejects these options if tables are written.
    pub(super) fn refuse(&self) -> Result<(), Failure> {
        let given = [
            ("--args", self.args != Arguments::default()),
            ("--by", self.by.is_some()),
            ("--tracks", self.tracks.is_some()),
            ("--names", self.names != Names::default()),
            ("--gpu-events", self.gpu_events != GpuEvents::default()),
            ("--split", self.split.is_some()),
            ("--open", self.open),
            ("--otf2-gpu-as-threads", self.otf2_gpu_as_threads),
        ];
        match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) => {
                refuse!("{name} is about time lines; choose --to pftrace, otf2 or chrome-json")
            }
            None => Ok(()),
        }
    }

    fn check(&self, format: ViewerFormat) -> Result<(), Failure> {
        let wrong = |text: &str| Err(Failure::Usage(text.to_owned()));
        if format != ViewerFormat::Otf2 && self.otf2_gpu_as_threads {
            return wrong("--otf2-gpu-as-threads is about archives; choose --to otf2");
        }
        let is_typed = self.gpu_events == GpuEvents::Typed;
        if format != ViewerFormat::Pftrace && (self.split.is_some() || self.open || is_typed) {
            return wrong("--split, --open and --gpu-events are about Perfetto; choose --to pftrace");
        }
        Ok(())
    }

    pub(super) fn write(
        &self,
        input: &InputArguments,
        output: &Path,
        format: ViewerFormat,
        registry: &Registry,
        global: &GlobalArguments,
    ) -> Result<u8, Failure> {
        self.check(format)?;
        if matches!(self.split, Some(Split::Parts(_) | Split::Bytes(_))) {
            input.with_window("0%:100%")?;
        }
        let is_file = format == ViewerFormat::Pftrace && self.split.is_none();
        let is_standard_output = output.as_os_str() == "-";
        if is_standard_output && !is_file {
            refuse!("standard output takes one file; name a directory with -o");
        }
        if !is_standard_output {
            check_place(input, output, is_file)?;
        }
        let trace = input.open(global, &Opening { exclude: (!is_file).then_some(output), ..Opening::default() })?;
        messages::warn(&trace, global);
        let tracks = self.tracks.unwrap_or_else(|| {
            let is_large = trace.recorded_dispatches() > MANY_DISPATCHES;
            if is_large { Tracks::Recorded } else { Tracks::All }
        });
        let findings = if tracks == Tracks::All { findings(&trace, registry)? } else { Findings::default() };
        let by = self.by.unwrap_or(if format == ViewerFormat::ChromeJson { By::Stream } else { By::Queue });
        let options = Options { arguments: self.args, by, tracks, are_names_short: self.names == Names::Short };
        let job = Job { trace: &trace, options, findings, is_typed: self.gpu_events == GpuEvents::Typed };
        // `None` until everything was written.
        let mut made: Option<Summary> = None;
        let written = if is_file {
            deliver((!is_standard_output).then_some(output), global, |_, out| {
                let summary = made.insert(job.pftrace(&trace, members(&trace), output, out)?);
                // Bytes on standard output cannot be removed.
                if is_standard_output { Ok(()) } else { something(summary) }
            })
        } else {
            let written = write_directory(output, |directory| {
                something(made.insert(match (format, &self.split) {
                    (ViewerFormat::Otf2, _) => job.otf2(directory, self.otf2_gpu_as_threads)?,
                    (ViewerFormat::ChromeJson, _) => job.chrome(directory)?,
                    (_, Some(Split::Rank) | None) => job.ranks(directory)?,
                    (_, Some(Split::Parts(parts))) => job.parts(input, global, directory, *parts)?,
                    (_, Some(Split::Bytes(bytes))) => {
                        let whole = job.pftrace(&trace, members(&trace), Path::new(""), &mut std::io::sink())?;
                        let parts = whole.counts.bytes.div_ceil(*bytes).clamp(1, 10_000);
                        job.parts(input, global, directory, u32::try_from(parts).unwrap_or(u32::MAX))?
                    }
                }))
            });
            written.map(|()| print_written(output, global)).map_err(Failure::from)
        };
        if made.as_ref().is_some_and(is_nothing) && !is_standard_output {
            // The earlier output stays.
            return nothing_written(&trace, output, global);
        }
        written?;
        let summary = made.unwrap_or_default();
        if !global.quiet {
            notes(&summary, &trace, format).into_iter().for_each(messages::print_note);
            if self.tracks.is_none() && tracks != Tracks::All {
                messages::print_note(
                    "note: tracks of analyses are left out of more than a million dispatches, because they take memory for every row; add them \
                     with --tracks analyzed or all",
                );
            }
            if self.open {
                open_commands(output, is_file).into_iter().for_each(messages::print_note);
            }
        }
        if messages::report_damage(&trace, global) {
            return Ok(PARTIAL);
        }
        let is_empty = is_nothing(&summary);
        Ok(if explain_all_unmatched(&trace, is_empty, global)? || is_empty { NO_DATA } else { DONE })
    }
}

fn is_nothing(summary: &Summary) -> bool {
    let counts = &summary.counts;
    counts.slices + counts.instants + counts.counter_values == 0
}

/// Fails if the output would show nothing.
fn something(summary: &Summary) -> Result<()> {
    anyhow::ensure!(!is_nothing(summary), "there is nothing to show");
    Ok(())
}

/// Reports why an output was not written.
pub(in crate::cli::commands) fn nothing_written(
    trace: &Trace,
    output: &Path,
    global: &GlobalArguments,
) -> Result<u8, Failure> {
    let is_damaged = messages::report_damage(trace, global);
    if !explain_all_unmatched(trace, true, global)? && !is_damaged {
        note!(global, "no rows: the trace has no events");
    }
    note!(global, "note: {} is not written", output.display());
    Ok(if is_damaged { PARTIAL } else { NO_DATA })
}

/// Rejects an output that cannot be written, or that is an input.
pub(super) fn check_place(input: &InputArguments, output: &Path, is_file: bool) -> Result<(), Failure> {
    let shown = output.display();
    if output.exists() && input.contain(output) {
        refuse!("{shown} is an input, which is never written; name another one");
    }
    if is_file {
        if output.is_dir() {
            refuse!("{shown} is a directory; name a file with -o");
        }
        return check_file(output).map(drop);
    }
    if output.exists() && !output.is_dir() {
        refuse!("{shown} is a file; name a directory with -o");
    }
    let is_occupied = output.read_dir().is_ok_and(|mut files| files.next().is_some());
    if is_occupied {
        refuse!("{shown} is not empty; name another directory");
    }
    Ok(())
}

/// Findings of the analysis as texts.
fn findings(trace: &Trace, registry: &Registry) -> Result<Findings, Failure> {
    let rules = RuleBook::builtin().map_err(anyhow::Error::from)?;
    let judgement = Judgement { registry, rules: &rules, name: NameForm::default(), whole_run: false };
    let judged = judgement.of(trace, [])?;
    let texts = judged.findings.into_iter().map(|finding| FindingText {
        rank: finding.subject.as_deref().and_then(|subject| subject.strip_prefix("rank ")?.parse().ok()),
        title: finding.title,
        priority: finding.priority.word().to_owned(),
        explanation: finding.explanation,
        advice: finding.advice.join(" "),
    });
    Ok(Findings { texts: texts.collect() })
}

/// The trace to write, and how.
struct Job<'a> {
    trace: &'a Trace,
    options: Options,
    findings: Findings,
    is_typed: bool,
}

impl Job<'_> {
    /// Writes a trace for Perfetto, compressed by its extension.
    fn pftrace<'t>(
        &self,
        trace: &'t Trace,
        members: impl Iterator<Item = &'t TraceProcess> + Send,
        name: &Path,
        out: &mut dyn Write,
    ) -> Result<Summary> {
        let members: Vec<&TraceProcess> = members.collect();
        let others: &[&str] = if self.is_typed { &["typed"] } else { &[] };
        let id = content_id(trace, members.iter().copied(), &self.options, others);
        let processes: Vec<&Process> = members.iter().map(|member| &member.process).collect();
        let attributes = [
            ("tool", "wavesieve".to_owned()),
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ("filters", trace.choice().command_line().join(" ")),
        ];
        let written = |out: &mut dyn Write| {
            make_apart(out, |out| {
                let mut stream = perfetto::Stream::new(out, id, &attributes, self.is_typed, &processes)?;
                let summary =
                    write_members(trace, members.iter().copied(), &self.options, &self.findings, &mut stream)?;
                stream.close()?;
                Ok(summary)
            })
        };
        match name.extension().and_then(|extension| extension.to_str()) {
            Some("gz") => {
                let mut encoder = GzEncoder::new(out, flate2::Compression::fast());
                let summary = written(&mut encoder)?;
                encoder.finish()?;
                Ok(summary)
            }
            Some("zst") => {
                let mut encoder = zstd::Encoder::new(out, 3)?;
                let summary = written(&mut encoder)?;
                encoder.finish()?;
                Ok(summary)
            }
            _ => written(out),
        }
    }

    /// Writes a file for each rank, and the manifest that combines them.
    fn ranks(&self, directory: &Path) -> Result<Summary> {
        let (mut summary, mut files) = (Summary::default(), Vec::new());
        for member in members(self.trace) {
            let name = unique_name(&files, &format!("rank{:05}", member.process.rank));
            let path = directory.join(&name);
            summary.add(&into_file(&path, |out| self.pftrace(self.trace, std::iter::once(member), &path, out))?);
            files.push((name, format!("rank {}", member.process.rank)));
        }
        write_manifest(directory, &files)?;
        Ok(summary)
    }

    /// Writes a file for each part of the time.
    fn parts(&self, input: &InputArguments, global: &GlobalArguments, directory: &Path, parts: u32) -> Result<Summary> {
        let mut summary = Summary::default();
        for part in 0..parts {
            // The parts divide the GPU work evenly. The first and the last also cover the time before and after it.
            let bound = |part: u32| match part {
                0 => String::new(),
                part if part == parts => String::new(),
                part => format!("{}%", f64::from(part) * 100.0 / f64::from(parts)),
            };
            let window = format!("{}:{}", bound(part), bound(part + 1));
            let opened = input.with_window(&window).and_then(|input| input.open(global, &Opening::default()));
            let trace = opened.map_err(|failure| anyhow::anyhow!("cannot cut at {window}: {failure}"))?;
            let path = directory.join(format!("part{part:05}.pftrace"));
            summary.add(&into_file(&path, |out| self.pftrace(&trace, members(&trace), &path, out))?);
        }
        Ok(summary)
    }

    /// Writes an archive for Vampir and similar viewers.
    fn otf2(&self, directory: &Path, gpu_as_threads: bool) -> Result<Summary> {
        let mut archive = otf2::Archive::create(directory, ARCHIVE, gpu_as_threads)?;
        let mut summary = write(self.trace, &self.options, &self.findings, &mut archive)?;
        summary.counts.bytes = archive.close(content_id(self.trace, members(self.trace), &self.options, &[]) as u64)?;
        Ok(summary)
    }

    /// Writes a file of trace events for each rank.
    fn chrome(&self, directory: &Path) -> Result<Summary> {
        let (mut summary, mut files) = (Summary::default(), Vec::new());
        let ranks = members(self.trace).count();
        for member in members(self.trace) {
            let name = unique_name(&files, &format!("rank{}", member.process.rank)).replace(".pftrace", ".json");
            let header = chrome::Header { rank: member.process.rank, ranks, base_ns: first_ns(member) };
            let path = directory.join(&name);
            summary.add(&into_file(&path, |out| {
                let mut stream = chrome::Stream::new(out, &header, &member.process)?;
                let one = std::iter::once(member);
                let mut summary = write_members(self.trace, one, &self.options, &self.findings, &mut stream)?;
                summary.counts.bytes = stream.close()?;
                Ok(summary)
            })?);
            files.push((name, String::new()));
        }
        Ok(summary)
    }
}

/// The time origin of a file of trace events: the start of the process.
fn first_ns(member: &TraceProcess) -> i64 {
    member.process.facts.start_ns.unwrap_or_default()
}

/// An unused file name: two processes may have the same rank.
fn unique_name(files: &[(String, String)], stem: &str) -> String {
    let name = |number: usize| match number {
        0 => format!("{stem}.pftrace"),
        number => format!("{stem}-{number}.pftrace"),
    };
    let is_free = |name: &String| files.iter().all(|(known, _)| known.split('.').next() != name.split('.').next());
    (0..=files.len()).map(name).find(is_free).unwrap_or_default()
}

fn into_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<Summary>) -> Result<Summary> {
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut out = BufWriter::new(file);
    let summary = write(&mut out)?;
    out.flush().with_context(|| format!("cannot write {}", path.display()))?;
    Ok(summary)
}

/// Each file belongs to a separate machine, so that equal pids do not clash.
fn write_manifest(directory: &Path, files: &[(String, String)]) -> Result<()> {
    let files: Vec<serde_json::Value> = files
        .iter()
        .map(|(path, machine)| serde_json::json!({ "path": path, "machine": { "name": machine } }))
        .collect();
    let manifest = serde_json::json!({ "perfetto_manifest": { "version": 1, "files": files } });
    let path: PathBuf = directory.join(MANIFEST);
    let text = format!("{}\n", serde_json::to_string_pretty(&manifest)?);
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// The commands that open the written files.
fn open_commands(output: &Path, is_file: bool) -> Vec<String> {
    let name = output.display().to_string();
    let is_plain = name.chars().all(|letter| letter.is_alphanumeric() || "/._-+:,=@%".contains(letter));
    let shown = if is_plain { name } else { format!("'{}'", name.replace('\'', "'\\''")) };
    let mut lines = Vec::new();
    if is_file {
        lines.push(format!("open: trace_processor server http {shown}, then https://ui.perfetto.dev in a browser"));
        lines.push("open: small files also by dropping them on https://ui.perfetto.dev".to_owned());
    } else {
        lines.push(format!("open: tar -C {shown} -cf {shown}.tar . && trace_processor server http {shown}.tar"));
        lines.push("open: then https://ui.perfetto.dev in a browser".to_owned());
    }
    lines
}

/// A summary of the written file, and its differences from the recorded data.
fn notes(summary: &Summary, trace: &Trace, format: ViewerFormat) -> Vec<String> {
    let (counts, omitted) = (&summary.counts, &summary.omitted);
    let has_arrows = format != ViewerFormat::Otf2;
    let mut lines = vec![format!(
        "{} slices, {} instants, {} counter values, {} flows on {} tracks, {:.1} MiB",
        counts.slices,
        counts.instants,
        counts.counter_values,
        counts.flows,
        counts.tracks,
        counts.bytes as f64 / 1_048_576.0
    )];
    let notes = [
        (omitted.without_start, "rows have no start and are left out"),
        (omitted.bad_ends, "rows end before they start and have no length in the output"),
        (omitted.unfinished, "rows have no end and go on to the last one in the output"),
        (omitted.overlaps, "slices overlap others of their thread and are on tracks beside it"),
        (
            if has_arrows { omitted.skewed_flows } else { 0 },
            "kernels and copies start before their calls and have no arrow",
        ),
        (
            if has_arrows { omitted.flows_beyond } else { 0 },
            "kernels and copies have no arrow because their call launched more than 64",
        ),
        (
            omitted.longer_states,
            if omitted.longer_states == 1 {
                "state of a thread is longer in the output, because nothing shows that it ends"
            } else {
                "states of threads are longer in the output, because nothing shows that they end"
            },
        ),
    ];
    lines
        .extend(notes.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("note: {count} {what}")));
    let passes = trace.members().len() - members(trace).count();
    if passes > 0 {
        lines.push(format!(
            "note: {passes} counter passes are left out, because they ran at other times; --to rocprofv3-csv has their counters"
        ));
    }
    let mut hosts: Vec<&str> = members(trace).filter_map(|member| member.process.facts.hostname.as_deref()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let is_file = format == ViewerFormat::Pftrace;
    if hosts.len() > 1 && format != ViewerFormat::ChromeJson {
        let apart = if is_file { "--split rank writes them apart" } else { "write each with --rank" };
        lines.push(format!(
            "note: the clocks of {} nodes are not aligned, so times of different nodes cannot be compared; {apart}",
            hosts.len()
        ));
    }
    if is_file && counts.bytes > TOO_LARGE_BYTES {
        lines.push("note: viewers fail on files beyond 4 GiB; use --split, --window, --rank or --args none".to_owned());
    } else if is_file && (counts.slices > MANY_SLICES || counts.bytes > LARGE_BYTES) {
        lines.push(
            "note: browsers hold few such files; serve it with `trace_processor server http FILE`, or cut it with --window, --rank, --split or --min-duration"
                .to_owned(),
        );
    }
    lines
}
