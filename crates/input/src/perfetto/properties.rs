//! Properties that the reader of Perfetto traces guarantees for any bytes.

use std::io::Read;

use super::document::Document;
use super::kinds::ROLES;
use super::packets::{FilePart, Packets};
use super::processes::assemble;
use super::recognition::{has_packets, is_perfetto};
use super::wire::Fields;

/// Reads a few bytes at a time.
struct Slow<'a> {
    rest: &'a [u8],
    step: usize,
}

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let step = self.step.min(buffer.len());
        (&mut self.rest).take(step as u64).read(buffer)
    }
}

/// Packets lie within the file and come in its order. The rows are the same for any size of the pieces that are read, and each row belongs
/// to a process. The first byte is the size of the pieces.
pub fn perfetto_document(bytes: &[u8]) {
    let Some((step, file)) = bytes.split_first() else { return };
    let mut packets = Packets::new(file);
    let (mut last, mut counted) = (None, 0);
    loop {
        match packets.next() {
            FilePart::Packet(place, packet) => {
                assert!(last < Some(place) && place + packet.len() as u64 <= file.len() as u64);
                assert!(Fields::new(packet).count() <= packet.len());
                (last, counted) = (Some(place), counted + 1);
            }
            FilePart::Gap(place, _) => assert!(place < file.len() as u64),
            FilePart::End(_) => break,
        }
    }
    let whole = Document::read(file);
    assert_eq!(whole.census.packets, counted);
    let slow = Document::read(Slow { rest: file, step: usize::from(*step) + 1 });
    for role in ROLES {
        let rows = |document: &Document| document.rows(role).map(|rows| format!("{rows:?}"));
        assert_eq!(rows(&whole), rows(&slow));
    }
    assert_eq!(whole.arguments, slow.arguments);
    let height = |role| whole.rows(role).map_or(0, |rows| rows.height());
    let (heights, arguments) = (ROLES.map(height), whole.arguments.len());
    assert!(whole.arguments.iter().all(|argument| argument.row < height(argument.role)));
    let assembled = assemble(whole);
    for (role, height) in ROLES.into_iter().zip(heights) {
        let of = |process: &super::processes::Process| process.rows(role).map_or(0, |rows| rows.height());
        assert_eq!(assembled.processes.iter().map(of).sum::<usize>(), height);
    }
    assert_eq!(assembled.processes.iter().map(|process| process.arguments.len()).sum::<usize>(), arguments);
    // Any bytes may follow the first packet, so recognition does not need a packet that can be read.
    let _ = is_perfetto(file) || has_packets(file);
}
