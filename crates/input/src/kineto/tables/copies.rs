//! `memory_copies`.

use anyhow::Result;
use polars::prelude::*;

use super::{PLACES, gather, put_correlation, put_gpu_times, put_of_calls};
use crate::common::{TableBuilder, put_copy_gpus};
use crate::kineto::capture::Capture;
use crate::kineto::cursor::{members, text_of};
use crate::kineto::gathered::{Field, Gathered, Keep};
use crate::kineto::kinds::Role;

/// Directions, and their spellings by CUPTI, roctracer and rocprofiler-sdk, without blanks and in capitals. Arrays are in GPU memory.
const DIRECTIONS: [(&str, &[&str]); 6] = [
    ("P2P", &["PTOP", "PEER"]),
    ("H2D", &["HTOD", "HTOA", "HOSTTODEVICE", "HOST_TO_DEVICE", "HOST->DEVICE"]),
    ("D2H", &["DTOH", "ATOH", "DEVICETOHOST", "DEVICE_TO_HOST", "DEVICE->HOST"]),
    ("D2D", &["DTOD", "ATOA", "ATOD", "DTOA", "DEVICETODEVICE", "DEVICE_TO_DEVICE", "DEVICE->DEVICE"]),
    ("H2H", &["HTOH", "HOSTTOHOST", "HOST_TO_HOST", "HOST->HOST"]),
    (UNKNOWN, &[]),
];
const UNKNOWN: &str = "NONE";

pub(crate) fn read_copies(builder: &mut TableBuilder<'_>, capture: &Capture) -> Result<()> {
    let rows = gather(builder, capture, Role::Copy, Keep::All, false)?;
    builder.put("copy_id", rows.get(Field::Number).into_series());
    if builder.wants(PLACES) {
        put_places(builder, &rows, &directions(capture)?)?;
    }
    builder.put("stream_id", rows.get(Field::Stream).into_series());
    put_correlation(builder, capture, &rows, Role::Copy)?;
    // HIP records the size of some copies only with the call.
    put_of_calls(builder, capture, &rows, [("bytes", Field::Bytes), ("tid", Field::Tid)])?;
    put_gpu_times(builder, capture, &rows, Role::Copy)
}

fn directions(capture: &Capture) -> Result<Vec<&'static str>> {
    let mut directions = Vec::new();
    for (chunk, first) in capture.chunks().iter().zip(capture.numbers(Role::Copy)) {
        capture.visit(chunk, *first, Role::Copy, Keep::All, |_, _, event| {
            let kind = members(event.args).find(|(key, _)| key.raw == b"kind").and_then(|(_, value)| text_of(value));
            let stated = kind.map(|kind| direction(&kind.text())).filter(|stated| *stated != UNKNOWN);
            directions.push(stated.unwrap_or_else(|| direction(&event.name.text())));
        })?;
    }
    Ok(directions)
}

fn direction(text: &str) -> &'static str {
    let text: String = text.chars().filter(|letter| !letter.is_whitespace()).collect::<String>().to_ascii_uppercase();
    let text = text.replace("PAGEABLE", "HOST").replace("PINNED", "HOST");
    let known = DIRECTIONS.iter().find(|(_, spellings)| spellings.iter().any(|spelling| text.contains(spelling)));
    known.map_or(UNKNOWN, |(direction, _)| direction)
}

fn put_places(builder: &mut TableBuilder<'_>, rows: &Gathered, directions: &[&str]) -> Result<()> {
    let ends = |of_host: [&str; 2], stated: Field| -> Int64Chunked {
        let (devices, stated) = (rows.get(Field::Device), rows.get(stated));
        let both = devices.iter().zip(stated.iter()).zip(directions);
        both.map(|((device, stated), direction)| stated.or(device).filter(|_| !of_host.contains(direction)))
            .collect_ca("".into())
    };
    let source = ends(["H2D", "H2H"], Field::FromDevice);
    let destination = ends(["D2H", "H2H"], Field::ToDevice);
    let between = source.iter().zip(destination.iter()).map(|(from, to)| from.is_some() && to.is_some() && from != to);
    let shown = directions.iter().zip(between);
    let shown = shown.map(|(direction, between)| Some(if between && *direction == "D2D" { "P2P" } else { *direction }));
    builder.put_texts("direction", shown)?;
    put_copy_gpus(builder, &source, &destination);
    builder.put("src_agent_id", source.into_series());
    builder.put("dst_agent_id", destination.into_series());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_in_all_spellings() {
        for (text, expected) in [
            ("HtoD", "H2D"),
            ("Memcpy DtoH (Device -> Pageable)", "D2H"),
            ("Memcpy HtoD (Pinned -> Device)", "H2D"),
            ("CopyDeviceToDevice", "D2D"),
            ("MEMORY_COPY_HOST_TO_DEVICE", "H2D"),
            ("Memcpy PtoP (Device -> Device)", "P2P"),
            ("Memcpy (Host -> Host)", "H2H"),
            ("Memcpy", "NONE"),
        ] {
            assert_eq!(direction(text), expected, "{text}");
        }
    }
}
