//! `/api/lanes`: events of groups in a range.

use std::sync::Arc;

use super::command::{MAX_NAMED, of_lanes};
use super::error::ApiError;
use super::parameters::{integer, only, side};
use crate::groups::Group;
use crate::http::{Head, Status};
use crate::lanes::{AskedGroup, LanesRequest, Source, lanes};
use crate::session::Session;

/// Maximum number of groups of a request.
const MAX_GROUPS: usize = 2048;
/// Maximum number of pixels: the component asks for more than a screen, so that it can pan.
const MAX_PIXELS: i64 = 65_536;
/// Bounds of times: a century.
const MAX_NS: i64 = 3_200_000_000_000_000_000;

/// Answers a request.
///
/// # Errors
/// When parameters are wrong, or events cannot be read.
pub fn answer(session: &Arc<Session>, head: &Head) -> Result<Vec<u8>, ApiError> {
    only(head, &["groups", "start_ns", "end_ns", "pixels", "of"])?;
    let at = side(head, session)?;
    let request = LanesRequest {
        start_ns: integer(head, "start_ns", None, (-MAX_NS, MAX_NS))?,
        end_ns: integer(head, "end_ns", None, (-MAX_NS, MAX_NS))?,
        pixels: integer(head, "pixels", None, (1, MAX_PIXELS))?,
    };
    if request.start_ns >= request.end_ns {
        return Err(ApiError::parameter("end_ns", "a time after start_ns"));
    }
    let ids: Vec<&str> = head.target.get("groups").unwrap_or_default().split(',').filter(|id| !id.is_empty()).collect();
    if ids.is_empty() || ids.len() > MAX_GROUPS {
        return Err(ApiError::parameter("groups", &format!("1 to {MAX_GROUPS} ids with commas between them")));
    }
    let known = session.groups(at)?;
    let mut groups: Vec<&Group> = Vec::new();
    for id in ids {
        let group = known.iter().find(|group| group.shown.id == id);
        let group = group.ok_or_else(|| ApiError(Status::NOT_FOUND, format!("no group has the id `{id}`")))?;
        if !groups.iter().any(|other| other.shown.id == group.shown.id) {
            groups.push(group);
        }
    }
    let state = session.side(at)?;
    let read = |group: &&Group| -> anyhow::Result<AskedGroup> {
        let source = if group.shown.gpu.is_some() { Source::Gpus } else { Source::Host };
        let part = session.part(at, group.member, source)?;
        Ok(AskedGroup { id: group.shown.id.clone(), gpu: group.shown.gpu, member: group.member, part })
    };
    let cost = |group: &&Group| state.side.trace.members().get(group.member).map_or(0, |member| member.memory_bytes);
    let asked = state.side.trace.jobs().run(&groups, cost, read)?;
    let mut answer = lanes(&asked, request);
    if groups.len() > MAX_NAMED {
        answer.notes.push(format!("the command names the first {MAX_NAMED} of {} groups", groups.len()));
    }
    answer.command = of_lanes(state, &groups, request, session.sums(at)?.origin_ns);
    Ok(serde_json::to_vec(&answer).map_err(anyhow::Error::from)?)
}
