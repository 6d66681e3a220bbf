//! Instruction statistics as `rocprofv3 --att` writes them, in both layouts, and program counter samples as CSV next to the
//! dispatches that they are of.

use std::fmt::Write as _;
use std::fs;

use anyhow::{Context, Result};

use crate::arguments::Arguments;
use crate::random::Random;

const LISTING: &str = include_str!("instructions.txt");
const HEADER: &str = "\"CodeObj\",\"Vaddr\",\"Instruction\",\"Hitcount\",\"Latency\",\"Stall\",\"Idle\",\"Source\"\n";
const OLD_HEADER: &str = "CodeObj, Vaddr, Instruction, Hitcount, Latency, Source\n";
const DISPATCHES_HEADER: &str = "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n";
const STOCHASTIC_HEADER: &str = "\"Sample_Timestamp\",\"Exec_Mask\",\"Dispatch_Id\",\"Instruction\",\"Instruction_Comment\",\"Correlation_Id\",\"Wave_Issued_Instruction\",\"Instruction_Type\",\"Stall_Reason\",\"Wave_Count\"\n";
const HOST_TRAP_HEADER: &str =
    "\"Sample_Timestamp\",\"Exec_Mask\",\"Dispatch_Id\",\"Instruction\",\"Instruction_Comment\",\"Correlation_Id\"\n";

/// Process of the dispatches and samples.
const PID: u64 = 4100;
const START_NS: u64 = 1_000_000_000;
/// Wavefronts of a traced dispatch, and how often each runs a loop.
const WAVES: u64 = 16;
const LOOPS: u64 = 12;

/// Writes `stats_*.csv` of three dispatches, one of which ran elsewhere, and samples of both kinds; returns the number of rows.
pub fn write(arguments: &Arguments) -> Result<u64> {
    let mut random = Random::new(arguments.seed, 77);
    let files = [
        ("stats_ui_output_agent_4_dispatch_3.csv".to_owned(), statistics(&mut random, WAVES, true)),
        ("stats_ui_output_agent_4_dispatch_5.csv".to_owned(), statistics(&mut random, WAVES / 2, false)),
        ("stats_ui_output_agent_4_dispatch_7.csv".to_owned(), statistics(&mut random, 0, true)),
        (format!("{PID}_kernel_trace.csv"), dispatches()),
        (format!("{PID}_pc_sampling_stochastic.csv"), samples(&mut random, true)),
        (format!("{PID}_pc_sampling_host_trap.csv"), samples(&mut random, false)),
    ];
    fs::create_dir_all(&arguments.output)?;
    let mut rows = 0;
    for (name, text) in files {
        rows += text.lines().count() as u64 - 1;
        let path = arguments.output.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(rows)
}

/// A line of the listing: bytes, how often, instruction, source lines.
fn parts(line: &str) -> Option<(u64, &str, &str, &str)> {
    let (front, source) = line.split_once('|')?;
    let (bytes, front) = front.split_once(' ')?;
    let (often, instruction) = front.split_once(' ')?;
    Some((bytes.parse().ok()?, often, instruction.trim(), source.trim()))
}

fn statistics(random: &mut Random, waves: u64, with_stall: bool) -> String {
    let mut text = if with_stall { HEADER } else { OLD_HEADER }.to_owned();
    let mut address: u64 = 4096;
    for line in LISTING.lines() {
        if let Some(names) = line.strip_prefix("kernel ") {
            let (mangled, name) = names.split_once(' ').unwrap_or((names, ""));
            address = address.div_ceil(256) * 256;
            let (costs, name) = if with_stall { ("0,0,0,0", name) } else { ("0,0", "") };
            let _ = writeln!(text, "2,{address},\"; {mangled}\",{costs},\"{name}\"");
            continue;
        }
        let Some((bytes, often, instruction, source)) = parts(line) else { continue };
        let hits = match often {
            "once" => waves,
            "loop" => waves * LOOPS,
            _ => 0,
        };
        let stall = hits * stall_per_hit(random, instruction);
        let latency = hits * 4 + stall;
        let costs = match with_stall {
            true => format!("{latency},{stall},{}", if random.chance(8) { hits * 3 } else { 0 }),
            false => latency.to_string(),
        };
        let _ = writeln!(text, "2,{address},\"{instruction}\",{hits},{costs},\"{source}\"");
        address += bytes;
    }
    text
}

/// Cycles that an instruction waits each time.
fn stall_per_hit(random: &mut Random, instruction: &str) -> u64 {
    let begins = |prefix: &str| instruction.starts_with(prefix);
    match instruction {
        _ if begins("s_waitcnt vmcnt") => random.between(300, 900),
        _ if begins("s_waitcnt") => random.between(40, 160),
        _ if begins("s_barrier") => random.between(80, 240),
        _ if begins("global_") || begins("flat_") => random.between(4, 40),
        _ if begins("v_mfma") => random.between(8, 48),
        _ if begins("ds_") => random.between(0, 16),
        _ => random.between(0, 3),
    }
}

/// Two dispatches of the kernels of the listing.
fn dispatches() -> String {
    let mut text = DISPATCHES_HEADER.to_owned();
    let kernels = LISTING.lines().filter_map(|line| line.strip_prefix("kernel ")?.split_once(' '));
    for (at, (_, name)) in (0..).zip(kernels) {
        let (id, start) = (2 * at + 3, START_NS + at * 50_000);
        let end = start + 40_000;
        let _ = writeln!(text, "\"KERNEL_DISPATCH\",\"Agent 4\",1,1,{PID},{id},{id},\"{name}\",{id},{start},{end}");
    }
    text
}

/// Samples of the dispatches, and one of a dispatch that is not recorded.
fn samples(random: &mut Random, is_stochastic: bool) -> String {
    let mut text = if is_stochastic { STOCHASTIC_HEADER } else { HOST_TRAP_HEADER }.to_owned();
    let mut dispatch = 1;
    let mut time = START_NS;
    for line in LISTING.lines() {
        if line.starts_with("kernel ") {
            dispatch += 2;
        }
        let Some((_, often, instruction, source)) = parts(line).filter(|(_, often, _, _)| *often != "never") else {
            continue;
        };
        for _ in 0..random.between(0, if often == "loop" { 6 } else { 2 }) {
            time += random.between(500, 1500);
            let dispatch = if time.is_multiple_of(29) { 9 } else { dispatch };
            let _ = write!(text, "{time},18446744073709551615,{dispatch},\"{instruction}\",\"{source}\",{dispatch}");
            if is_stochastic {
                let waits = instruction.starts_with("s_waitcnt");
                let (issued, kind, reason) = match random.chance(3) && !waits {
                    true => (1, "VALU", "OTHER_WAIT"),
                    false if waits => (0, "NO_INST", "WAITCNT"),
                    false => (0, "NO_INST", "ALU_DEPENDENCY"),
                };
                let prefix = "ROCPROFILER_PC_SAMPLING_INSTRUCTION";
                let _ = write!(text, ",{issued},\"{prefix}_TYPE_{kind}\",\"{prefix}_NOT_ISSUED_REASON_{reason}\",4");
            }
            text.push('\n');
        }
    }
    text
}
