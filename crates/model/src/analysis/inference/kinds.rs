//! The kind of a step, and the evidence for it.

use std::fmt::Write as _;

use serde::Deserialize;

use crate::analysis::inference::kernel_roles::Role;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// Only prompts.
    Prefill,
    /// Only one or a few tokens for each request.
    Decode,
    /// Both.
    Mixed,
}

/// Evidence for the kind of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownBy {
    Marker,
    Kernels,
    Sizes,
}

/// Kernels of a role, and the sum of their durations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoleWork {
    pub kernels: i64,
    pub kernel_ns: i64,
}

/// Kernels of a step that show its kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkOfStep {
    pub prefill: RoleWork,
    pub decode: RoleWork,
    pub shared: RoleWork,
    pub cache_writes: i64,
    /// Maximum number of workgroups of a kernel that starts one for each token.
    pub grid_tokens: Option<i64>,
}

impl WorkOfStep {
    /// Adds a kernel of a role.
    pub fn add(&mut self, role: Role, duration_ns: i64) {
        let work = match role {
            Role::PrefillAttention => &mut self.prefill,
            Role::DecodeAttention => &mut self.decode,
            Role::SharedAttention => &mut self.shared,
            Role::CacheWrite => {
                self.cache_writes = self.cache_writes.saturating_add(1);
                return;
            }
            Role::Training | Role::Image | Role::TokenChoice | Role::Embedding => return,
        };
        work.kernels = work.kernels.saturating_add(1);
        work.kernel_ns = work.kernel_ns.saturating_add(duration_ns);
    }

    fn is_shared_only(&self) -> bool {
        self.shared.kernels > 0 && self.prefill.kernels == 0 && self.decode.kernels == 0
    }

    /// The kind by the names of its attention kernels. Attention over whole sequences without a cache also occurs in
    /// encoders and diffusion models.
    fn kind_by_kernels(&self) -> Option<StepKind> {
        match (self.prefill.kernels > 0, self.decode.kernels > 0) {
            (true, true) => Some(StepKind::Mixed),
            (false, true) => Some(StepKind::Decode),
            (true, false) if self.cache_writes > 0 => Some(StepKind::Prefill),
            _ => None,
        }
    }
}

/// The kind of a step and the evidence for it, also in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    pub kind: Option<StepKind>,
    pub known_by: Option<KnownBy>,
    pub evidence: String,
}

/// Decides about the steps of a process; the given kinds are from markers that state one.
pub fn decide(steps: &[(Option<StepKind>, WorkOfStep)], least_prefill_ratio: i64) -> Vec<Decision> {
    let shared = || steps.iter().filter(|(_, work)| work.is_shared_only()).filter_map(|(_, work)| work.grid_tokens);
    let least = shared().min().unwrap_or_default().max(1);
    let bound = least.saturating_mul(least_prefill_ratio);
    let contrast = shared().any(|tokens| tokens >= bound).then_some((least, bound));
    steps.iter().map(|(marked, work)| decision(*marked, work, contrast)).collect()
}

fn decision(marked: Option<StepKind>, work: &WorkOfStep, contrast: Option<(i64, i64)>) -> Decision {
    let mut evidence = evidence_of(work);
    let mut decided = |kind, known_by, reason: &str| {
        // Writing to a string cannot fail.
        let _ = write!(evidence, "; {reason}");
        Decision { kind, known_by, evidence: std::mem::take(&mut evidence) }
    };
    if let Some(kind) = marked {
        return decided(Some(kind), Some(KnownBy::Marker), "the marker states the kind");
    }
    if let Some(kind) = work.kind_by_kernels() {
        return decided(Some(kind), Some(KnownBy::Kernels), "names of attention kernels show the kind");
    }
    if work.prefill.kernels > 0 {
        return decided(None, None, "no kernel writes a cache, so that it need not be a prefill");
    }
    if work.shared.kernels == 0 {
        return decided(None, None, "no kernel has a name of attention");
    }
    match (work.grid_tokens, contrast) {
        (Some(tokens), Some((least, bound))) if tokens >= bound => decided(
            Some(StepKind::Prefill),
            Some(KnownBy::Sizes),
            &format!("{tokens} tokens against {least} of the smallest step: it has prompts, decodes may be among them"),
        ),
        (Some(tokens), Some((_, bound))) => decided(
            Some(StepKind::Decode),
            Some(KnownBy::Sizes),
            &format!("{tokens} tokens, and other steps have {bound} or more"),
        ),
        _ => decided(None, None, "its attention kernels serve both kinds, and no sizes separate steps"),
    }
}

fn evidence_of(work: &WorkOfStep) -> String {
    let mut text = format!(
        "attention kernels: {} prefill, {} decode, {} of both; {} cache writes",
        work.prefill.kernels, work.decode.kernels, work.shared.kernels, work.cache_writes
    );
    if let Some(tokens) = work.grid_tokens {
        // Writing to a string cannot fail.
        let _ = write!(text, "; {tokens} tokens by grid");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(prefill: i64, decode: i64, shared: i64, cache_writes: i64, grid_tokens: Option<i64>) -> WorkOfStep {
        let role = |kernels| RoleWork { kernels, kernel_ns: 0 };
        WorkOfStep { prefill: role(prefill), decode: role(decode), shared: role(shared), cache_writes, grid_tokens }
    }

    fn kinds(steps: &[(Option<StepKind>, WorkOfStep)]) -> Vec<(Option<StepKind>, Option<KnownBy>)> {
        decide(steps, 8).into_iter().map(|decision| (decision.kind, decision.known_by)).collect()
    }

    #[test]
    fn names_of_attention_kernels_tell_the_kind() {
        let steps = [
            (None, work(2, 0, 0, 2, None)),
            (None, work(0, 2, 0, 2, None)),
            (None, work(2, 2, 0, 2, None)),
            (None, work(2, 0, 0, 0, None)),
            (None, work(0, 0, 0, 2, Some(512))),
            (Some(StepKind::Mixed), work(0, 2, 0, 2, None)),
        ];
        assert_eq!(
            kinds(&steps),
            [
                (Some(StepKind::Prefill), Some(KnownBy::Kernels)),
                (Some(StepKind::Decode), Some(KnownBy::Kernels)),
                (Some(StepKind::Mixed), Some(KnownBy::Kernels)),
                (None, None),
                (None, None),
                (Some(StepKind::Mixed), Some(KnownBy::Marker)),
            ]
        );
    }

    #[test]
    fn sizes_tell_only_where_they_contrast() {
        let of = |tokens: &[Option<i64>]| -> Vec<(Option<StepKind>, WorkOfStep)> {
            tokens.iter().map(|tokens| (None, work(0, 0, 2, 2, *tokens))).collect()
        };
        let (prefill, decode) =
            ((Some(StepKind::Prefill), Some(KnownBy::Sizes)), (Some(StepKind::Decode), Some(KnownBy::Sizes)));
        assert_eq!(kinds(&of(&[Some(32), Some(4), Some(31), None])), [prefill, decode, decode, (None, None)]);
        assert_eq!(kinds(&of(&[Some(31), Some(4), Some(4)])), [(None, None); 3]);
        assert_eq!(kinds(&of(&[None, None])), [(None, None); 2]);
    }
}
