//! `/api/lanes`: events of groups in a range.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Context as _;

use super::command::{MAX_NAMED, of_lanes};
use super::error::ApiError;
use super::parameters::{integer, only, side};
use crate::groups::Group;
use crate::http::{Head, Status};
use crate::lanes::{AskedGroup, LanesAnswer, LanesRequest, Part, Source, lanes, merged, path_line};
use crate::session::Session;

/// Maximum number of groups of a request.
const MAX_GROUPS: usize = 2048;
/// Maximum number of pixels: the component asks for more than a screen, so that it can pan.
const MAX_PIXELS: i64 = 65_536;
/// Maximum number of groups whose events are read at the same time.
const MAX_AHEAD: usize = 32;
/// Maximum number of slices of an answer, of all groups together; each takes about 30 bytes.
const MAX_SLICES: usize = 1_000_000;
/// Bounds of times: a century.
const MAX_NS: i64 = 3_200_000_000_000_000_000;

/// A request: the range, ids of groups, and whether the critical path is wanted.
pub struct Asked<'a> {
    /// The range.
    pub request: LanesRequest,
    /// Ids of groups, each once.
    pub ids: Vec<&'a str>,
    /// Whether the critical path is wanted.
    pub with_path: bool,
}

/// Reads the parameters of a request.
///
/// # Errors
/// When some are wrong.
pub fn asked(head: &Head) -> Result<Asked<'_>, ApiError> {
    only(head, &["groups", "start_ns", "end_ns", "pixels", "path", "of"])?;
    let start_ns = integer(head, "start_ns", None, (-MAX_NS, MAX_NS))?;
    let end_ns = integer(head, "end_ns", None, (-MAX_NS, MAX_NS))?;
    let pixels = integer(head, "pixels", None, (1, MAX_PIXELS))?;
    if start_ns >= end_ns {
        return Err(ApiError::parameter("end_ns", "a time after start_ns"));
    }
    let mut ids: Vec<&str> = Vec::new();
    for id in head.target.get("groups").unwrap_or_default().split(',').filter(|id| !id.is_empty()) {
        // Groups share the slices of an answer, each once.
        if ids.contains(&id) {
            continue;
        }
        if ids.len() >= MAX_GROUPS {
            return Err(ApiError::parameter("groups", &format!("1 to {MAX_GROUPS} ids with commas between them")));
        }
        ids.push(id);
    }
    if ids.is_empty() {
        return Err(ApiError::parameter("groups", &format!("1 to {MAX_GROUPS} ids with commas between them")));
    }
    let with_path = integer(head, "path", Some(0), (0, 1))? == 1;
    let request = LanesRequest { start_ns, end_ns, pixels, most: MAX_SLICES / ids.len() };
    Ok(Asked { request, ids, with_path })
}

/// Answers a request. If many groups are requested, events are read process by process, so that only the store bounds them.
///
/// # Errors
/// When parameters are wrong, or events cannot be read.
pub fn answer(session: &Arc<Session>, head: &Head) -> Result<Vec<u8>, ApiError> {
    let Asked { request, ids, with_path } = asked(head)?;
    let at = side(head, session)?;
    let known: BTreeMap<&str, &Group> =
        session.groups(at)?.iter().map(|group| (group.shown.id.as_str(), group)).collect();
    let mut groups: Vec<&Group> = Vec::new();
    for id in ids {
        let group = *known.get(id).ok_or_else(|| ApiError(Status::NOT_FOUND, format!("no group has the id `{id}`")))?;
        groups.push(group);
    }
    let state = session.side(at)?;
    // Work in the background waits meanwhile.
    let _requested = session.requested.begin();
    let source = |group: &Group| if group.shown.gpu.is_some() { Source::Gpus } else { Source::Host };
    let cost = |member: usize| state.side.trace.members().get(member).map_or(0, |one| one.memory_bytes);
    let mut ahead: BTreeMap<(usize, Source), Arc<Part>> = BTreeMap::new();
    if groups.len() <= MAX_AHEAD {
        let mut keys: Vec<(usize, Source)> = groups.iter().map(|group| (group.member, source(group))).collect();
        keys.sort_unstable();
        keys.dedup();
        let read = |(member, source): &(usize, Source)| session.part(at, *member, *source);
        let parts = state.side.trace.jobs().run(&keys, |(member, _)| cost(*member), read)?;
        ahead.extend(keys.into_iter().zip(parts));
    }
    let mut processes: Vec<(usize, Vec<&Group>)> = Vec::new();
    for group in &groups {
        match processes.iter_mut().find(|(member, _)| *member == group.member) {
            Some((_, own)) => own.push(group),
            None => processes.push((group.member, vec![group])),
        }
    }
    let first = groups.iter().find(|group| group.shown.gpu.is_some());
    let path_of = first.filter(|_| with_path).map(|group| group.member);
    let read = |(member, own): &(usize, Vec<&Group>)| -> anyhow::Result<LanesAnswer> {
        let one = |group: &&Group| -> anyhow::Result<AskedGroup> {
            let key = (*member, source(group));
            let part = ahead.get(&key).map_or_else(|| session.part(at, key.0, key.1), |part| Ok(Arc::clone(part)))?;
            Ok(AskedGroup { id: group.shown.id.clone(), gpu: group.shown.gpu, member: *member, part })
        };
        let asked = own.iter().map(one).collect::<anyhow::Result<Vec<AskedGroup>>>()?;
        let mut answer = lanes(&asked, request);
        if path_of == Some(*member)
            && let Some(group) = asked.first()
        {
            let part = session.part(at, *member, Source::Path)?;
            answer.path = path_line(&part, request, group.process(), &answer.lanes);
            answer.notes.extend(part.notes.iter().map(|note| format!("{}: {note}", group.process())));
        }
        Ok(answer)
    };
    let answers = state.side.trace.jobs().run(&processes, |(member, _)| cost(*member), read)?;
    let order: Vec<&str> = groups.iter().map(|group| group.shown.id.as_str()).collect();
    let mut answer = merged(answers, &order).context("internal: no process was requested")?;
    if groups.len() > MAX_NAMED {
        answer.notes.push(format!("the command names the first {MAX_NAMED} of {} groups", groups.len()));
    }
    answer.command = of_lanes(state, &groups, request, session.sums(at)?.origin_ns);
    Ok(serde_json::to_vec(&answer).map_err(anyhow::Error::from)?)
}
