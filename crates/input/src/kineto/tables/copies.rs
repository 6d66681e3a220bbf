//! `memory_copies`.

use anyhow::Result;
use polars::prelude::*;

use super::{TIMES, fields, put_correlation, put_gpu_times};
use crate::common::{TableBuilder, put_copy_gpus};
use crate::kineto::capture::Capture;
use crate::kineto::cursor::{members, text_of};
use crate::kineto::gathered::{Field, Gathered, Keep, Wanted};
use crate::kineto::kinds::Role;
use wavesieve_tables::columns::frames::dictionary_column;

/// Places that memory is at, from the name of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    HostToDevice,
    DeviceToHost,
    DeviceToDevice,
    PeerToPeer,
    HostToHost,
    Unknown,
}

/// Directions as texts, in the order of the variants.
const DIRECTIONS: [&str; 6] = ["H2D", "D2H", "D2D", "P2P", "H2H", "NONE"];

/// Spellings of directions, without blanks and in capitals: CUPTI's, those of roctracer, and of rocprofiler-sdk. Arrays are in the
/// memory of the GPU.
const SPELLINGS: &[(Direction, &[&str])] = &[
    (Direction::PeerToPeer, &["PTOP", "PEER"]),
    (Direction::HostToDevice, &["HTOD", "HTOA", "HOSTTODEVICE", "HOST_TO_DEVICE", "HOST->DEVICE"]),
    (Direction::DeviceToHost, &["DTOH", "ATOH", "DEVICETOHOST", "DEVICE_TO_HOST", "DEVICE->HOST"]),
    (
        Direction::DeviceToDevice,
        &["DTOD", "ATOA", "ATOD", "DTOA", "DEVICETODEVICE", "DEVICE_TO_DEVICE", "DEVICE->DEVICE"],
    ),
    (Direction::HostToHost, &["HTOH", "HOSTTOHOST", "HOST_TO_HOST", "HOST->HOST"]),
];

const PLACES: &[Field] = &[Field::Device, Field::FromDevice, Field::ToDevice];
const COLUMNS: &[(&[&str], &[Field])] = &[
    (&["copy_id"], &[Field::Number]),
    (&["direction", "src_agent_id", "dst_agent_id", "gpu", "peer_gpu", "device"], PLACES),
    (&["bytes"], &[Field::Bytes, Field::Correlation]),
    (&["stream_id"], &[Field::Stream]),
    (&["tid"], &[Field::Correlation]),
    (&["correlation_id"], &[Field::Number, Field::Correlation, Field::External]),
    (TIMES.0, &[Field::Number, Field::Start, Field::End]),
];

/// Assembles the copies.
pub(crate) fn read_copies(builder: &mut TableBuilder<'_>, capture: &Capture) -> Result<()> {
    let fields = fields(builder, COLUMNS);
    let rows = capture.gather(&Wanted { role: Role::Copy, keep: Keep::All, fields: &fields, names: false })?;
    builder.set_height(rows.height);
    builder.put("copy_id", rows.get(Field::Number).into_series());
    if builder.wants(&["direction", "src_agent_id", "dst_agent_id", "gpu", "peer_gpu", "device"]) {
        put_places(builder, &rows, &directions(capture)?)?;
    }
    builder.put("stream_id", rows.get(Field::Stream).into_series());
    put_correlation(builder, capture, &rows, Role::Copy)?;
    let ids = rows.get(Field::Correlation);
    if builder.wants(&["bytes"]) {
        // HIP has the size of some copies only for the call.
        let own = rows.get(Field::Bytes);
        let of_calls = capture.launches()?.of(Field::Bytes, ids.iter());
        let bytes: Int64Chunked = own.iter().zip(of_calls).map(|(own, of_call)| own.or(of_call)).collect_ca("".into());
        builder.put("bytes", bytes.into_series());
    }
    if builder.wants(&["tid"]) {
        let threads: Int64Chunked = capture.launches()?.of(Field::Tid, ids.iter()).collect_ca("".into());
        builder.put("tid", threads.into_series());
    }
    put_gpu_times(builder, capture, &rows, Role::Copy)
}

/// The directions of all copies.
fn directions(capture: &Capture) -> Result<Vec<Direction>> {
    let mut directions = Vec::new();
    for (chunk, first) in capture.chunks().iter().zip(capture.numbers(Role::Copy)) {
        capture.visit(chunk, *first, Role::Copy, Keep::All, |_, _, event| {
            let kind = members(event.args).find(|(key, _)| key.raw == b"kind").and_then(|(_, value)| text_of(value));
            let stated = kind.map_or(Direction::Unknown, |kind| direction(&kind.text()));
            directions.push(if stated == Direction::Unknown { direction(&event.name.text()) } else { stated });
        })?;
    }
    Ok(directions)
}

/// The direction that a text names.
fn direction(text: &str) -> Direction {
    let text: String = text.chars().filter(|letter| !letter.is_whitespace()).collect::<String>().to_ascii_uppercase();
    let text = text.replace("PAGEABLE", "HOST").replace("PINNED", "HOST");
    let known = SPELLINGS.iter().find(|(_, spellings)| spellings.iter().any(|spelling| text.contains(spelling)));
    known.map_or(Direction::Unknown, |(direction, _)| *direction)
}

fn put_places(builder: &mut TableBuilder<'_>, rows: &Gathered, directions: &[Direction]) -> Result<()> {
    let ends = |from_host: &[Direction], stated: Field| -> Int64Chunked {
        let (devices, stated) = (rows.get(Field::Device), rows.get(stated));
        let both = devices.iter().zip(stated.iter()).zip(directions);
        both.map(|((device, stated), direction)| stated.or(device).filter(|_| !from_host.contains(direction)))
            .collect_ca("".into())
    };
    let source = ends(&[Direction::HostToDevice, Direction::HostToHost], Field::FromDevice);
    let destination = ends(&[Direction::DeviceToHost, Direction::HostToHost], Field::ToDevice);
    let between = source.iter().zip(destination.iter()).map(|(from, to)| from.is_some() && to.is_some() && from != to);
    let codes = directions.iter().zip(between).map(|(direction, between)| match direction {
        Direction::DeviceToDevice if between => Some(Direction::PeerToPeer as usize),
        direction => Some(*direction as usize),
    });
    let dictionary = DIRECTIONS.map(|direction| Some(direction.to_owned()));
    builder.put_with("direction", || Ok(dictionary_column("direction", &dictionary, codes)?))?;
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
            assert_eq!(DIRECTIONS[direction(text) as usize], expected, "{text}");
        }
    }
}
