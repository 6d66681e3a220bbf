//! `/api/picture`: the whole run.

use std::collections::{BTreeMap, BTreeSet};
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
use crate::groups::Group;
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
    /// The words that name the rows of this side in other commands.
    input: String,
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
    if let Some(reason) = session.failure(at) {
        picture.notes.push(format!("the causes of idle time cannot be computed: {reason}"));
    } else if !complete {
        picture.notes.push("causes of idle time are being computed".to_owned());
    }
    let damage = state.side.trace.damage();
    picture.notes.extend(damage.iter().map(Damage::line));
    let placed = at == 0 && place_findings(session, sums.origin_ns, &mut picture)?;
    let bytes: u64 = state.side.trace.members().iter().map(|member| member.memory_bytes).sum();
    let (small, command, input) = (bytes < SMALL_BYTES, session.command()?, state.input());
    let answer = PictureAnswer { picture, complete, placed, small, command, input };
    Ok(serde_json::to_vec(&answer).map_err(anyhow::Error::from)?)
}

/// Adds places of findings and marked parts, if the analysis is there. Its axis is that of each clock, so places on other
/// clocks than the first one are left out.
fn place_findings(session: &Arc<Session>, origin_ns: i64, picture: &mut Picture) -> anyhow::Result<bool> {
    let Known::Done(Ok(analyzed)) = session.findings.peek() else { return Ok(false) };
    let side = &session.side(0)?.side;
    let groups = session.groups(0)?;
    let clock = |group: &Group| side.trace.members().get(group.member).map(|member| member.process.clock);
    let numbers: BTreeSet<i64> = groups.iter().filter_map(clock).map(|clock| clock.number).collect();
    let first = numbers.first().copied();
    let from_origin_ns = analyzed.origin_ns.saturating_sub(origin_ns);
    let placed = |place: &FindingPlace| -> Option<FindingPlace> {
        let group = groups.iter().find(|group| group.shown.id == place.group)?;
        let own = clock(group).filter(|own| Some(own.number) == first)?;
        let shift_ns = side.offset_ns(group.member).saturating_sub(own.offset_ns).saturating_add(from_origin_ns);
        let (start_ns, end_ns) = (place.start_ns.saturating_add(shift_ns), place.end_ns.saturating_add(shift_ns));
        Some(FindingPlace { start_ns, end_ns, ..place.clone() })
    };
    picture.places = analyzed.places.iter().filter_map(placed).collect();
    if numbers.len() > 1 {
        // Marks do not say on which clock they are.
        if !analyzed.marks.is_empty() || picture.places.len() < analyzed.places.len() {
            let note = "places of findings on other clocks than the first one, and marked parts, are not shown; --align \
                        brings clocks together";
            picture.notes.push(note.to_owned());
        }
        return Ok(true);
    }
    let marks = analyzed.marks.iter().map(|mark| OverviewMark {
        start_ns: mark.start_ns.saturating_add(from_origin_ns),
        end_ns: mark.end_ns.saturating_add(from_origin_ns),
        ..mark.clone()
    });
    picture.overview.marks = marks.collect();
    Ok(true)
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
