//! Thread traces: the folder of a viewer and the statistics of instructions for each kernel.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::kernels::Kernel;

const LISTING: &str = include_str!("../generate_trace/instructions.txt");
const HEADER: &str = "\"CodeObj\",\"Vaddr\",\"Instruction\",\"Hitcount\",\"Latency\",\"Stall\",\"Idle\",\"Source\"\n";
const AGENT: u64 = 1;
const WAVES: u64 = 16;
const LOOPS: u64 = 12;
/// Cycles that an instruction which waits for memory stalls.
const WAIT: u64 = 600;

/// Writes them; the instructions are always the same, if any was executed.
pub fn write(directory: &Path, kernels: &[Kernel], is_executed: bool) -> Result<()> {
    for (dispatch, kernel) in (1..).zip(kernels) {
        let name = format!("ui_output_agent_{AGENT}_dispatch_{dispatch}");
        let folder = directory.join(&name);
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        fs::write(folder.join("code.json"), "{\"code\": [], \"version\": \"3.0\"}\n")?;
        fs::write(directory.join(format!("stats_{name}.csv")), statistics(kernel, is_executed))?;
    }
    Ok(())
}

fn statistics(kernel: &Kernel, is_executed: bool) -> String {
    let mut text = HEADER.to_owned();
    let quoted = kernel.name.replace('"', "\"\"");
    let mut address = 4096_u64;
    let _ = writeln!(text, "2,{address},\"; {quoted}\",0,0,0,0,\"{quoted}\"");
    if !is_executed {
        return text;
    }
    let lines = LISTING.lines().skip(1).take_while(|line| !line.starts_with("kernel "));
    for (line, at) in lines.zip(0..) {
        let Some((front, place)) = line.split_once('|') else { continue };
        let mut parts = front.trim().splitn(3, ' ');
        let bytes = parts.next().and_then(|bytes| bytes.parse().ok()).unwrap_or(8_u64);
        let hits = match parts.next() {
            Some("once") => WAVES,
            Some("loop") => WAVES * LOOPS,
            _ => 0,
        };
        let instruction = parts.next().unwrap_or_default();
        let stall = if instruction.starts_with("s_waitcnt vmcnt") { hits * WAIT } else { 0 };
        let place = kernel
            .source
            .as_ref()
            .map_or_else(|| place.trim().to_owned(), |(file, first)| format!("{file}:{}", first + at / 4));
        let latency = hits * 4 + stall;
        let _ = writeln!(text, "2,{address},\"{instruction}\",{hits},{latency},{stall},0,\"{place}\"");
        address += bytes;
    }
    text
}
