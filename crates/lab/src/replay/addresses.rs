//! States of the recorded addresses.

use super::outcome::{AddressRow, AddressState, Status};
use super::runtime::Reserved;
use wavesieve_captures::captures::Span;

pub(super) fn rows(spans: &[Span], reserved: &[Reserved]) -> Vec<AddressRow> {
    let rows = spans.iter().zip(reserved).map(|(span, reserved)| {
        let (state, found, reason) = match reserved {
            Reserved::Exact => (AddressState::Exact, None, None),
            Reserved::Elsewhere(address) => (AddressState::Relocated, Some(*address), None),
            Reserved::Failed(reason) => (AddressState::Failed, None, Some(reason.clone())),
        };
        AddressRow { base: span.base, size: span.size, regions: span.regions.len(), state, found, reason }
    });
    rows.collect()
}

/// The resulting status and its reason: a failed address takes precedence over a taken one.
pub(super) fn verdict(rows: &[AddressRow]) -> (Status, Option<String>) {
    let of = |state: AddressState| rows.iter().filter(move |row| row.state == state);
    if let Some(row) = of(AddressState::Failed).next() {
        let reason = row.reason.as_deref().unwrap_or_default();
        let message = format!("{} bytes at {:#x} cannot be reserved: {reason}", row.size, row.base);
        return (Status::Failed, Some(message));
    }
    let taken = of(AddressState::Relocated).count();
    if let Some(row) = of(AddressState::Relocated).next() {
        let more = if taken > 1 { format!(", and {} more are", taken - 1) } else { String::new() };
        let message = format!(
            "the address {:#x} ({} bytes) is taken{more}: pointers in the memory would lead astray; try again, or capture again",
            row.base, row.size
        );
        return (Status::Taken, Some(message));
    }
    (Status::Ok, None)
}
