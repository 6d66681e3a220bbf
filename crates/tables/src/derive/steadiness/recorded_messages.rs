//! Messages of collectives as inputs of their kernels, from the arguments of the RCCL calls that launched them.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;

use super::launch_shapes::INPUTS;
use crate::columns::frames::{dictionary_column, rows_named};
use crate::columns::values::BoolValues;
use crate::derive::ranks::collective_messages::{Messages, REGIONS, of_calls};
use crate::derive::{Frames, Needs, OnDemandTables, needed};
use wavesieve_model::analysis::categories::COMMUNICATION;
use wavesieve_model::analysis::collectives::messages::{Message, element_types, operations};
use wavesieve_model::schema::process::Process;

/// Tables that have calls and their arguments.
pub(super) fn optional_needs() -> Needs {
    vec![("regions", REGIONS.to_vec())]
}

/// The kernels of a process, with the messages of their calls as inputs. Other inputs that are recorded stay: they are more exact.
pub fn kernels_with_messages(process: &Process, tables: &Frames, more: &dyn OnDemandTables) -> Result<DataFrame> {
    let kernels = needed(tables, "kernels")?.clone();
    let communicates = rows_named(kernels.column("category")?, |category| category == COMMUNICATION)?;
    if !communicates.any() || kernels.column(INPUTS)?.null_count() < kernels.height() {
        return Ok(kernels);
    }
    let own = kernels.filter(&communicates)?;
    // Tables may have been read with fewer columns.
    let has_all = |regions: &&DataFrame| REGIONS.iter().all(|name| regions.column(name).is_ok());
    let regions = tables.get("regions").filter(has_all);
    let Some(messages) = of_calls(process.rank, &own, regions, more)? else { return Ok(kernels) };
    let (texts, codes) = texts_of(&messages);
    let mut codes = codes.into_iter();
    let communicates = BoolValues::new(&communicates);
    let next = |communicates| if communicates == Some(true) { codes.next().flatten() } else { None };
    let of_rows = communicates.iter().map(next);
    let inputs = dictionary_column(INPUTS, &texts, of_rows)?;
    Ok(kernels.clone().with_column(inputs)?.clone())
}

/// Different texts of messages, and the place of the text of each kernel; `None` if its message is unknown.
fn texts_of(messages: &Messages) -> (Vec<Option<String>>, Vec<Option<usize>>) {
    let communicators = messages.of_kernels.iter().filter_map(|message| message.ok()?.communicator);
    let mut communicators: Vec<u32> = communicators.collect();
    communicators.sort_unstable();
    communicators.dedup();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut place_of = |text: String| {
        let next = known.len();
        *known.entry(text).or_insert(next)
    };
    let place = |message: &Message| {
        let number = message.communicator?;
        let ranks = messages.communicators.get(number as usize)?.ranks;
        let ordinal = communicators.binary_search(&number).ok().filter(|_| communicators.len() > 1);
        Some((ranks, ordinal))
    };
    let codes: Vec<Option<usize>> = messages
        .of_kernels
        .iter()
        .map(|message| {
            let message = message.as_ref().ok()?;
            let (ranks, ordinal) = place(message).unwrap_or_default();
            text(message, ranks, ordinal).map(&mut place_of)
        })
        .collect();
    let mut texts = vec![None; known.len()];
    for (text, place) in known {
        if let Some(slot) = texts.get_mut(place) {
            *slot = Some(text);
        }
    }
    (texts, codes)
}

/// A message in words: `all_reduce 4194304 bytes float32 of 8 ranks`. `None` if its size is unknown.
fn text(message: &Message, ranks: Option<i64>, communicator: Option<usize>) -> Option<String> {
    let bytes = message.rank_bytes.ok()?;
    let operation = &operations().get(message.operation)?.name;
    let element_type =
        message.element_type.and_then(|place| element_types().get(place)).map(|known| known.name.clone());
    let peer = message.peer.map(|peer| match (message.goes_both_ways, message.receives) {
        (true, _) => format!("with rank {peer}"),
        (false, true) => format!("from rank {peer}"),
        (false, false) => format!("to rank {peer}"),
    });
    let words = [
        Some(format!("{operation} {bytes} bytes")),
        element_type,
        ranks.map(|ranks| format!("of {ranks} ranks")),
        peer,
        communicator.map(|number| format!("on communicator {number}")),
    ];
    Some(words.into_iter().flatten().collect::<Vec<String>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derive::ranks::collective_messages::RecordedCommunicator;
    use wavesieve_model::analysis::collectives::messages::Sizes;

    fn message(call: &str, communicator: u32, count: &str, peer: &str) -> Message {
        let arguments = [("count", count), ("datatype", "ncclFloat32"), ("peer", peer)];
        let argument = |name: &str| arguments.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        Message::from_call(call, Some(communicator), argument).unwrap()
    }

    #[test]
    fn messages_differ_in_size_peer_and_communicator() {
        let unknown = Message { rank_bytes: Err(Sizes::Mixed), ..message("ncclAllReduce", 0, "1", "") };
        let of_kernels = vec![
            Ok(message("ncclAllReduce", 0, "1024", "")),
            Ok(message("ncclAllReduce", 0, "2048", "")),
            Err(Sizes::NoCall),
            Ok(unknown),
            Ok(message("ncclSend", 1, "1024", "3")),
            Ok(message("ncclRecv", 1, "1024", "3")),
            Ok(message("ncclAllReduce", 0, "1024", "")),
        ];
        let ranks = |ranks| RecordedCommunicator { ranks, ..RecordedCommunicator::default() };
        let (texts, codes) = texts_of(&Messages { of_kernels, communicators: vec![ranks(Some(8)), ranks(None)] });
        assert_eq!(codes, [Some(0), Some(1), None, None, Some(2), Some(3), Some(0)]);
        let texts: Vec<&str> = texts.iter().flatten().map(String::as_str).collect();
        assert_eq!(
            texts,
            [
                "all_reduce 4096 bytes float32 of 8 ranks on communicator 0",
                "all_reduce 8192 bytes float32 of 8 ranks on communicator 0",
                "send_receive 4096 bytes float32 to rank 3 on communicator 1",
                "send_receive 4096 bytes float32 from rank 3 on communicator 1",
            ]
        );
    }
}
