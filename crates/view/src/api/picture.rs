//! `/api/picture`: the whole run.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use wavesieve_model::schema::anomaly::Damage;
use wavesieve_report::timeline::model::{
    FindingPlace, Overview, OverviewLane, OverviewMark, Picture, SliceKind, VERSION,
};
use wavesieve_report::timeline::{kind_label, kind_place};

use super::error::ApiError;
use super::parameters::{only, side};
use crate::background::Known;
use crate::http::Head;
use crate::overview::{Stage, Sums};
use crate::session::Session;

/// Estimated memory of a trace up to which it is small.
const SMALL_BYTES: u64 = 1 << 30;

#[derive(Serialize)]
struct PictureAnswer {
    #[serde(flatten)]
    picture: Picture,
    /// Whether causes of idle time and units of work are known.
    complete: bool,
    /// Whether places of findings are known.
    placed: bool,
    /// Whether the trace is so small that its analysis may start without being asked for.
    small: bool,
    /// The command that opens this page.
    command: String,
}

/// Answers a request.
///
/// # Errors
/// When the trace cannot be summed up.
pub fn answer(session: &Arc<Session>, head: &Head) -> Result<Vec<u8>, ApiError> {
    only(head, &["of"])?;
    let at = side(head, session)?;
    let sums = session.sums(at)?;
    let state = session.side(at)?;
    let mut picture = picture(session, at, &sums)?;
    picture.notes.extend(state.side.notes.iter().cloned());
    let complete = session.is_complete(at) || sums.stage == Stage::Causes;
    session.start_causes(at);
    session.start_reading();
    if !complete {
        picture.notes.push("causes of idle time are being computed".to_owned());
    }
    let damage = state.side.trace.damage();
    picture.notes.extend(damage.iter().map(Damage::line));
    let placed = at == 0 && place_findings(session, sums.origin_ns, &mut picture);
    let bytes: u64 = state.side.trace.members().iter().map(|member| member.memory_bytes).sum();
    let (small, command) = (bytes < SMALL_BYTES, state.command(&["view"], &[]));
    let answer = PictureAnswer { picture, complete, placed, small, command };
    Ok(serde_json::to_vec(&answer).map_err(anyhow::Error::from)?)
}

/// Adds places of findings and marked parts, if the analysis is there.
fn place_findings(session: &Session, origin_ns: i64, picture: &mut Picture) -> bool {
    let Known::Done(Ok(analyzed)) = session.findings.peek() else { return false };
    let shift_ns = analyzed.origin_ns.saturating_sub(origin_ns);
    let moved = |time_ns: i64| time_ns.saturating_add(shift_ns);
    let places = analyzed.places.iter().filter(|place| picture.groups.iter().any(|group| group.id == place.group));
    let places = places.map(|place| FindingPlace {
        start_ns: moved(place.start_ns),
        end_ns: moved(place.end_ns),
        ..place.clone()
    });
    picture.places = places.collect();
    let marks = analyzed.marks.iter();
    let marks =
        marks.map(|mark| OverviewMark { start_ns: moved(mark.start_ns), end_ns: moved(mark.end_ns), ..mark.clone() });
    picture.overview.marks = marks.collect();
    true
}

fn picture(session: &Arc<Session>, at: usize, sums: &Sums) -> anyhow::Result<Picture> {
    let groups = session.groups(at)?;
    let mut ids: Vec<&String> = sums.gpus.iter().flat_map(|gpu| gpu.shares.keys()).collect();
    ids.sort_by_key(|id| (kind_place(id), *id));
    ids.dedup();
    let index: BTreeMap<&str, usize> = ids.iter().enumerate().map(|(index, id)| (id.as_str(), index)).collect();
    let lane = |gpu: &crate::overview::GpuSums| {
        let group = groups.iter().find(|group| group.member == gpu.member && group.shown.gpu == Some(gpu.gpu))?;
        let shares = gpu.shares.iter().filter_map(|(id, bytes)| Some((*index.get(id.as_str())?, bytes.clone())));
        let (id, label) = (group.shown.id.clone(), group.shown.label.clone());
        Some(OverviewLane { group: id, label, count: 1, shares: shares.collect() })
    };
    let lanes: Vec<OverviewLane> = sums.gpus.iter().filter_map(lane).collect();
    let mut notes = Vec::new();
    if lanes.is_empty() {
        notes.push("no GPU work with valid timestamps was recorded".to_owned());
    }
    Ok(Picture {
        version: VERSION,
        origin_ns: sums.origin_ns.to_string(),
        span_ns: sums.span_ns,
        names: Vec::new(),
        kinds: ids.iter().map(|id| SliceKind { id: (*id).clone(), label: kind_label(id) }).collect(),
        groups: groups.iter().map(|group| group.shown.clone()).collect(),
        overview: Overview {
            bins: sums.bins,
            lanes,
            ticks: sums.ticks.clone(),
            unit: sums.unit.clone(),
            marks: Vec::new(),
        },
        windows: Vec::new(),
        places: Vec::new(),
        notes,
    })
}
