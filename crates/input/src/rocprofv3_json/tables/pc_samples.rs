//! `pc_samples` from both kinds of PC sampling.

use std::borrow::Cow;

use anyhow::Result;
use polars::prelude::*;

use crate::common::{Words, or_else, zeros};
use crate::rocprofv3_json::capture::{Capture, SectionAnomalies};
use crate::rocprofv3_json::parsing::records::PcSample;
use crate::rocprofv3_json::parsing::values::Text;
use crate::rocprofv3_json::reading::Reading;
use crate::rocprofv3_json::structure::roles::PC_SAMPLES;
use wavesieve_tables::columns::frames::text_column_from_dictionary;

const NUMBERS: &[&str] =
    &["dispatch_id", "code_object_id", "code_object_offset", "xcc", "shader_engine", "cu", "simd", "wave", "time_ns"];

/// Samples of one part: numbers by column, words as codes into their own list.
struct Samples {
    numbers: Vec<Vec<Option<i64>>>,
    exec_mask: Vec<Option<i64>>,
    issued: Vec<Option<bool>>,
    instruction: Vec<Option<i64>>,
    types: Words,
    stalls: Words,
}

impl Samples {
    fn new() -> Self {
        Self {
            numbers: vec![Vec::new(); NUMBERS.len()],
            exec_mask: Vec::new(),
            issued: Vec::new(),
            instruction: Vec::new(),
            types: Words::default(),
            stalls: Words::default(),
        }
    }

    fn push(&mut self, sample: PcSample) {
        let record = sample.record;
        let numbers = [
            record.dispatch_id.nonzero(),
            record.pc.code_object_id.nonzero(),
            record.pc.code_object_offset.0,
            record.hw_id.chiplet.0,
            record.hw_id.shader_engine_id.0,
            record.hw_id.cu_or_wgp_id.0,
            record.hw_id.simd_id.0,
            record.hw_id.wave_id.0,
            record.timestamp.0,
        ];
        for (column, number) in self.numbers.iter_mut().zip(numbers) {
            column.push(number);
        }
        self.exec_mask.push(record.exec_mask.0);
        self.issued.push(record.wave_issued.0.map(|issued| issued != 0));
        self.instruction.push(sample.inst_index.0);
        self.types.push(record.inst_type.filled().map(Cow::from));
        self.stalls.push(record.snapshot.stall_reason.filled().map(Cow::from));
    }

    fn append(&mut self, other: Self) {
        for (column, added) in self.numbers.iter_mut().zip(other.numbers) {
            column.extend(added);
        }
        self.exec_mask.extend(other.exec_mask);
        self.issued.extend(other.issued);
        self.instruction.extend(other.instruction);
        self.types.append(other.types);
        self.stalls.append(other.stalls);
    }
}

/// Assembles the samples of both kinds, host-trap samples first.
pub fn read(reading: &mut Reading<'_>) -> Result<()> {
    let capture = reading.capture;
    let mut all = Samples::new();
    for section in PC_SAMPLES.iter().flat_map(|name| capture.process.named(name)) {
        for part in capture.records(section, &mut reading.findings, Samples::new, Samples::push)? {
            all.append(part);
        }
    }
    let height = all.issued.len();
    reading.builder.set_height(height);
    for (name, values) in NUMBERS.iter().zip(&all.numbers) {
        let values = Int64Chunked::from_iter_options("".into(), values.iter().copied());
        reading.put(name, if *name == "time_ns" { or_else(&values, &zeros(height)) } else { values });
    }
    let issued = BooleanChunked::from_iter_options("".into(), all.issued.into_iter());
    reading.builder.put("wave_issued", issued.into_series());
    reading.builder.put_with("exec_mask", || {
        let masks = all.exec_mask.iter().map(|mask| mask.map(|mask| format!("0x{mask:016x}")));
        Ok(StringChunked::from_iter_options("".into(), masks).into_series().into_column())
    })?;
    reading.builder.put_with("instruction_type", || all.types.categories("instruction_type"))?;
    reading.builder.put_with("stall_reason", || all.stalls.categories("stall_reason"))?;
    for (name, section) in
        [("instruction", "strings.pc_sample_instructions"), ("comment", "strings.pc_sample_comments")]
    {
        if reading.builder.wants(&[name]) {
            let lines = lines(capture, section, &mut reading.findings)?;
            // -1 means an unknown instruction.
            let codes = all.instruction.iter().map(|index| index.and_then(|index| usize::try_from(index).ok()));
            let column = text_column_from_dictionary(name, &lines, codes)?;
            reading.builder.put(name, column);
        }
    }
    Ok(())
}

fn lines(capture: &Capture, section: &str, findings: &mut SectionAnomalies) -> Result<Vec<Option<String>>> {
    capture.gather(section, findings, Text::into_filled)
}
