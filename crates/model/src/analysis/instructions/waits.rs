//! Operations that wait instructions wait for, inferred from the order of the code.
//!
//! A wait for a counter with a number `n` lets the wavefront continue once at most `n` of the counted operations are
//! under way. If these finish in issue order, it waits for all but the last `n`. Otherwise only a wait for 0 reveals
//! its operations.
//!
//! The order is known along straight code: through untaken branches, up to the next branch target, and after
//! instructions that do not let execution pass.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::instructions::mnemonic;
use crate::analysis::instructions::rules::{Generation, InstructionRules};

/// Maximum size of an instruction in bytes; a listing with larger steps lacks some instructions.
const LONGEST_BYTES: i64 = 20;

/// An instruction of a listing, in the order of addresses.
#[derive(Clone, Copy, Debug)]
pub struct Instruction<'a> {
    /// With its operands.
    pub text: &'a str,
    /// Code object, and address there.
    pub place: Option<(i64, i64)>,
    /// Kernel of the listing.
    pub kernel: Option<i64>,
    /// Number of executions by wavefronts.
    pub hits: i64,
}

spelled! {
    /// Why a part of a wait is not attributed to an operation.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Unattributed by name {
        /// The operation was issued before a place to which other code branches, or after which execution does not
        /// continue.
        OtherPath = "other_path",
        /// Operations that finish in any order are under way, and the wait is not for all of them.
        AnyOrder = "any_order",
        /// No operation that the counter counts was under way.
        NothingInFlight = "nothing_under_way",
        /// It waits for something other than known operations.
        OtherReason = "other_reason",
        /// The target of a branch of the kernel is not known.
        UnknownBranch = "unknown_branch",
    }
}

/// An equal part of a wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitPart {
    /// Position of the wait in the listing.
    pub wait: usize,
    pub counter: Option<String>,
    /// Position of the operation that it waits for, or why there is none.
    pub operation: Result<usize, Unattributed>,
}

/// Cycles of `total` that belong to part `at` of `parts`: as equal as whole numbers allow, with the exact sum.
pub fn part_of(total: i64, parts: usize, at: usize) -> i64 {
    let (parts, at) = (i64::try_from(parts).unwrap_or(i64::MAX).max(1), i64::try_from(at).unwrap_or(i64::MAX));
    total.div_euclid(parts) + i64::from(at < total.rem_euclid(parts))
}

/// The parts of all waits that ran, in the order of the listing: one for every operation that is waited for, and one
/// for every counter whose operations are not known.
pub fn attribute(listing: &[Instruction<'_>], rules: &InstructionRules) -> Vec<WaitPart> {
    let texts: Vec<String> = listing.iter().map(|row| row.text.trim().to_ascii_lowercase()).collect();
    let Some(generation) = rules.generation(texts.iter().map(|text| mnemonic(text))) else { return Vec::new() };
    let branches = Branches::new(listing, &texts, rules);
    let mut state = InFlight::new(generation);
    let mut parts = Vec::new();
    let mut last: Option<(usize, &Instruction<'_>)> = None;
    for (at, (row, text)) in listing.iter().zip(&texts).enumerate() {
        match last {
            Some((before, previous)) if previous.kernel == row.kernel => {
                let passed = texts.get(before).is_some_and(|text| !rules.is_final(mnemonic(text)));
                let is_target = row.place.is_some_and(|place| branches.targets.contains(&place));
                // A row that runs more often than the row before it is also reached from elsewhere.
                if !passed || !follows(previous, row) || is_target || row.hits > previous.hits {
                    state.forget(true);
                }
            }
            // Nothing comes before the first instruction of a kernel.
            _ => state.forget(row.kernel.is_none()),
        }
        last = Some((at, row));
        if rules.class(text) == "wait" {
            if row.hits > 0 {
                let blind = branches.blind.contains(&row.kernel);
                parts.extend(state.wait(at, text, blind));
            }
        } else if let Some(kind) = rules.operation(text).filter(|_| row.hits != 0) {
            state.begin(at, kind);
        }
    }
    parts
}

/// Whether an instruction lies directly after another.
fn follows(previous: &Instruction<'_>, row: &Instruction<'_>) -> bool {
    match (previous.place, row.place) {
        (Some((object, before)), Some((same, after))) => {
            object == same && (1..=LONGEST_BYTES).contains(&after.saturating_sub(before))
        }
        _ => true,
    }
}

/// Targets of branches.
struct Branches {
    targets: BTreeSet<(i64, i64)>,
    /// Kernels with a branch whose target is not known.
    blind: BTreeSet<Option<i64>>,
}

impl Branches {
    fn new(listing: &[Instruction<'_>], texts: &[String], rules: &InstructionRules) -> Self {
        let (mut branches, mut blind) = (Vec::new(), BTreeSet::new());
        let rows = listing.iter().zip(texts).enumerate();
        for (at, (row, text)) in rows.filter(|(_, (row, text))| row.hits != 0 && rules.is_direct(mnemonic(text))) {
            // Operands are printed without sign.
            let distance = text.rsplit([' ', ',']).next().and_then(|operand| operand.parse::<u16>().ok());
            match (row.place, distance) {
                (Some((object, address)), Some(words)) => {
                    let bytes = i64::from(words.cast_signed()) * 4;
                    let target = (object, address.saturating_add(4).saturating_add(bytes));
                    branches.push((at, target, !rules.is_final(mnemonic(text))));
                }
                _ => {
                    blind.insert(row.kernel);
                }
            }
        }
        let all: BTreeSet<(i64, i64)> = branches.iter().map(|(_, target, _)| *target).collect();
        // If a branch was passed as often as it ran, it was never taken, unless other code leads to the row after it.
        let was_taken = |(at, _, is_conditional): &(usize, (i64, i64), bool)| {
            let Some((row, next)) = listing.get(*at).zip(listing.get(at + 1)) else { return true };
            let only_passed = follows(row, next) && next.place.is_some_and(|place| !all.contains(&place));
            !(*is_conditional && only_passed && next.hits == row.hits)
        };
        let targets = branches.iter().filter(|branch| was_taken(branch)).map(|(_, target, _)| *target).collect();
        Self { targets, blind }
    }
}

/// Operations that a counter counts, in the order in which they were issued.
#[derive(Default)]
struct Queue<'k> {
    operations: Vec<(usize, &'k str)>,
    /// Whether other operations, issued before, may also be under way.
    open: bool,
}

/// Operations under way at a place of the code.
struct InFlight<'k> {
    generation: &'k Generation,
    queues: BTreeMap<&'k str, Queue<'k>>,
}

impl<'k> InFlight<'k> {
    fn new(generation: &'k Generation) -> Self {
        Self { generation, queues: generation.counters().map(|counter| (counter, Queue::default())).collect() }
    }

    fn forget(&mut self, open: bool) {
        for queue in self.queues.values_mut() {
            *queue = Queue { operations: Vec::new(), open };
        }
    }

    fn begin(&mut self, at: usize, kind: &'k str) {
        for (counter, queue) in &mut self.queues {
            if self.generation.counts(counter, kind) {
                queue.operations.push((at, kind));
            }
        }
    }

    fn wait(&mut self, at: usize, text: &str, blind: bool) -> Vec<WaitPart> {
        let part =
            |counter: Option<&str>, operation| WaitPart { wait: at, counter: counter.map(str::to_owned), operation };
        let counters: Vec<&str> = self.queues.keys().copied().collect();
        let Some(limits) = limits(text, &counters) else { return vec![part(None, Err(Unattributed::OtherReason))] };
        let mut parts = Vec::new();
        for (counter, limit) in limits {
            let Some(queue) = self.queues.get_mut(counter.as_str()) else {
                parts.push(part(Some(&counter), Err(Unattributed::OtherReason)));
                continue;
            };
            let found = queue.until(limit, self.generation);
            let found = if blind { Err(Unattributed::UnknownBranch) } else { found };
            match found {
                Ok(operations) => {
                    parts.extend(operations.into_iter().map(|operation| part(Some(&counter), Ok(operation))))
                }
                Err(reason) => parts.push(part(Some(&counter), Err(reason))),
            }
        }
        // An operation that two counters count is waited for once.
        let mut known = BTreeSet::new();
        parts.retain(|part| part.operation.map_or(true, |operation| known.insert(operation)));
        // A wait for several counters waits for nothing only if this holds for each of them.
        if parts.iter().any(|part| part.operation != Err(Unattributed::NothingInFlight)) {
            parts.retain(|part| part.operation != Err(Unattributed::NothingInFlight));
        } else {
            parts.truncate(1);
        }
        parts
    }
}

impl Queue<'_> {
    /// Waits until at most `limit` operations are under way. Returns the operations that are waited for.
    fn until(&mut self, limit: usize, generation: &Generation) -> Result<Vec<usize>, Unattributed> {
        let count = self.operations.len();
        if limit > 0 && limit >= count {
            return Err(if self.open { Unattributed::OtherPath } else { Unattributed::NothingInFlight });
        }
        if limit > 0 && !generation.finish_in_order(self.operations.iter().map(|(_, kind)| *kind)) {
            return Err(Unattributed::AnyOrder);
        }
        let was_open = std::mem::take(&mut self.open);
        let done: Vec<usize> = self.operations.drain(..count - limit).map(|(at, _)| at).collect();
        match (done.is_empty(), was_open) {
            (false, _) => Ok(done),
            (true, true) => Err(Unattributed::OtherPath),
            (true, false) => Err(Unattributed::NothingInFlight),
        }
    }
}

/// The counters of a wait, and how many operations of each may stay under way; `None` if it is for something else.
fn limits(text: &str, counters: &[&str]) -> Option<Vec<(String, usize)>> {
    let name = mnemonic(text);
    let operands = text.get(name.len()..)?.trim();
    let all = |limit: usize| counters.iter().map(|counter| ((*counter).to_owned(), limit)).collect();
    if name == "s_wait_idle" {
        return Some(all(0));
    }
    if name == "s_waitcnt" {
        if number(operands) == Some(0) {
            return Some(all(0));
        }
        let named = operands.split([' ', '&', ',']).filter(|operand| !operand.is_empty()).map(|operand| {
            let (counter, limit) = operand.strip_suffix(')')?.split_once('(')?;
            Some((counter.trim_end_matches("_sat").to_owned(), number(limit)?))
        });
        return named.collect::<Option<Vec<_>>>().filter(|named| !named.is_empty());
    }
    let of = name.strip_prefix("s_waitcnt_").or_else(|| name.strip_prefix("s_wait_"))?;
    let limit = number(operands.rsplit([' ', ',']).next()?)?;
    let known = |counter: &str| counters.contains(&counter);
    match of.split_once('_') {
        // The second of two is in the low bits.
        Some((first, second)) if known(first) && known(second) => {
            Some(vec![(first.to_owned(), limit >> 8), (second.to_owned(), limit & 0x3f)])
        }
        _ => known(of).then(|| vec![(of.to_owned(), limit)]),
    }
}

fn number(text: &str) -> Option<usize> {
    match text.strip_prefix("0x") {
        Some(digits) => usize::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Parts of a listing of instructions that are 8 bytes long, branches 4, of one kernel; as `wait counter operation`.
    fn waits(texts: &[&str]) -> Vec<String> {
        listing_waits(&texts.iter().map(|text| (*text, 1)).collect::<Vec<_>>())
    }

    fn listing_waits(rows: &[(&str, i64)]) -> Vec<String> {
        let mut address = 0;
        let listing: Vec<Instruction<'_>> = rows
            .iter()
            .map(|(text, hits)| {
                let place = Some((1, address));
                address += if text.contains("branch") { 4 } else { 8 };
                Instruction { text, place, kernel: Some(1), hits: *hits }
            })
            .collect();
        shown(attribute(&listing, InstructionRules::builtin()))
    }

    fn shown(parts: Vec<WaitPart>) -> Vec<String> {
        let shown = |part: WaitPart| {
            let operation = part.operation.map_or_else(|reason| reason.name().to_owned(), |at| at.to_string());
            format!("{} {} {operation}", part.wait, part.counter.unwrap_or_default())
        };
        parts.into_iter().map(shown).collect()
    }

    const LOAD: &str = "global_load_dword v0, v1, s[0:1]";

    #[test]
    fn waits_for_copies_that_pass_no_registers() {
        let copy = "global_load_async_to_lds_b128 v0, v[2:3], off";
        let tile = "tensor_load_to_lds s[0:3], s[4:11]";
        let load = "global_load_b128 v[0:3], v[4:5], off";
        let found = waits(&[copy, load, tile, "s_wait_asynccnt 0x0", "s_wait_tensorcnt 0x0", "s_wait_loadcnt 0x0"]);
        assert_eq!(found, ["3 asynccnt 0", "4 tensorcnt 2", "5 loadcnt 1"]);
        assert_eq!(waits(&[copy, copy, "s_wait_asynccnt 0x1"]), ["2 asynccnt any_order"]);
    }
    const STORE: &str = "global_store_dword v0, v1, s[0:1]";
    const DS: &str = "ds_read_b32 v0, v1";
    const SCALAR: &str = "s_load_dword s0, s[0:1], 0x0";

    #[test]
    fn all_but_the_last_of_those_that_finish_in_order() {
        let found = waits(&[LOAD, STORE, LOAD, "s_waitcnt vmcnt(1)", DS, "s_waitcnt vmcnt(0) lgkmcnt(0)"]);
        assert_eq!(found, ["3 vmcnt 0", "3 vmcnt 1", "5 vmcnt 2", "5 lgkmcnt 4"]);
        assert_eq!(
            waits(&[DS, DS, DS, "s_waitcnt lgkmcnt(2)", "s_waitcnt lgkmcnt(1)"]),
            ["3 lgkmcnt 0", "4 lgkmcnt 1"]
        );
        assert_eq!(
            waits(&[LOAD, "s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(0)"]),
            ["1 vmcnt nothing_under_way", "2 vmcnt 0"]
        );
        assert_eq!(waits(&["s_waitcnt vmcnt(0) lgkmcnt(0)"]).len(), 1);
    }

    #[test]
    fn scalar_loads_finish_in_any_order() {
        let found = waits(&[SCALAR, DS, "s_waitcnt lgkmcnt(1)", "s_waitcnt lgkmcnt(0)"]);
        assert_eq!(found, ["2 lgkmcnt any_order", "3 lgkmcnt 0", "3 lgkmcnt 1"]);
        // A flat load may be one of the LDS, and counts twice.
        let found = waits(&["flat_load_dword v0, v[0:1]", LOAD, "s_waitcnt vmcnt(0) lgkmcnt(0)"]);
        assert_eq!(found, ["2 vmcnt 0", "2 vmcnt 1"]);
        let found = waits(&["flat_load_dword v0, v[0:1]", LOAD, "s_waitcnt vmcnt(1)", "s_waitcnt lgkmcnt(0)"]);
        assert_eq!(found, ["2 vmcnt any_order", "3 lgkmcnt 0"]);
    }

    #[test]
    fn code_that_is_branched_to_begins_anew() {
        // The branch at 5 goes back to 2, so it is not known what is under way at 2.
        let wait = "s_waitcnt vmcnt(0)";
        let back = |last: i64| {
            listing_waits(&[
                (LOAD, 9),
                (LOAD, 9),
                (wait, 9),
                (LOAD, 9),
                (wait, 9),
                ("s_cbranch_scc1 65529", 9),
                (wait, last),
            ])
        };
        assert_eq!(back(1), ["2 vmcnt other_path", "4 vmcnt 3", "6 vmcnt nothing_under_way"]);
        // The branch was passed as often as it ran.
        let passed = [(LOAD, 9), (LOAD, 9), (wait, 9), (LOAD, 9), (wait, 9), ("s_cbranch_scc1 65529", 9), (wait, 9)];
        let expected = ["2 vmcnt 0", "2 vmcnt 1", "4 vmcnt 3", "6 vmcnt nothing_under_way"];
        assert_eq!(listing_waits(&passed), expected);
        // A row that runs more often than the row before it is reached from elsewhere, even if no branch to it is seen.
        assert_eq!(listing_waits(&[(LOAD, 1), (LOAD, 2), (wait, 2), (wait, 2)])[..1], ["2 vmcnt 1"]);
        assert_eq!(listing_waits(&[(LOAD, 1), (wait, 2)]), ["1 vmcnt other_path"]);
        // Code that never ran does not branch.
        let skipped = [(LOAD, 1), ("s_nop 0", 1), (wait, 1), ("s_endpgm", 1), ("s_branch 65530", 0)];
        assert_eq!(listing_waits(&skipped), ["2 vmcnt 0"]);
        // An untaken branch changes nothing; after a branch that is always taken, the code is reached from elsewhere.
        assert_eq!(waits(&[LOAD, "s_cbranch_scc1 40", "s_waitcnt vmcnt(0)"]), ["2 vmcnt 0"]);
        assert_eq!(waits(&[LOAD, "s_branch 40", "s_waitcnt vmcnt(0)"]), ["2 vmcnt other_path"]);
        assert_eq!(waits(&[LOAD, "s_swappc_b64 s[0:1], s[2:3]", LOAD, "s_waitcnt vmcnt(1)"]), ["3 vmcnt other_path"]);
        assert_eq!(waits(&[LOAD, "s_cbranch_scc1 label", "s_waitcnt vmcnt(0)"]), ["2 vmcnt unknown_branch"]);
    }

    #[test]
    fn what_never_ran_waits_for_nothing_and_is_not_waited_for() {
        assert_eq!(listing_waits(&[(LOAD, 0), (LOAD, 4), ("s_waitcnt vmcnt(0)", 4)]), ["2 vmcnt 1"]);
        assert!(listing_waits(&[(LOAD, 0), ("s_waitcnt vmcnt(0)", 0)]).is_empty());
    }

    #[test]
    fn generations_count_differently() {
        let found = waits(&[LOAD, STORE, "s_waitcnt vmcnt(0)", "s_waitcnt_vscnt null, 0x0"]);
        assert_eq!(found, ["2 vmcnt 0", "3 vscnt 1"]);
        let found = waits(&[
            LOAD,
            LOAD,
            "ds_load_b32 v0, v1",
            STORE,
            SCALAR,
            "s_wait_loadcnt_dscnt 0x100",
            "s_wait_storecnt 0x0",
            "s_wait_kmcnt 0x0",
            "s_wait_alu 0xfffe",
            "s_wait_idle",
        ]);
        let expected = ["5 loadcnt 0", "5 dscnt 2", "6 storecnt 3", "7 kmcnt 4", "8  other_reason", "9 loadcnt 1"];
        assert_eq!(found, expected);
    }

    #[test]
    fn listings_without_places_kernels_or_sense() {
        let row = |text, place, kernel| Instruction { text, place, kernel, hits: 1 };
        let wait = "s_waitcnt vmcnt(0)";
        let of = |listing: &[Instruction<'_>]| shown(attribute(listing, InstructionRules::builtin()));
        assert!(of(&[]).is_empty());
        assert_eq!(of(&[row(LOAD, None, None), row(wait, None, None)]), ["1 vmcnt 0"]);
        assert_eq!(of(&[row(wait, None, None)]), ["0 vmcnt other_path"]);
        // The listing lacks code between these; another kernel starts with nothing under way.
        assert_eq!(of(&[row(LOAD, Some((1, 0)), Some(1)), row(wait, Some((1, 100)), Some(1))]), ["1 vmcnt other_path"]);
        let found = of(&[row(LOAD, Some((1, 0)), Some(1)), row(wait, Some((1, 8)), Some(2))]);
        assert_eq!(found, ["1 vmcnt nothing_under_way"]);
        assert_eq!(
            waits(&[LOAD, "s_waitcnt vmcnt", "s_waitcnt", "s_waitcnt 0"]),
            ["1  other_reason", "2  other_reason", "3 vmcnt 0"]
        );
    }

    proptest! {
        /// The operations waited for in an ordered queue are those that a simulation sees finish.
        #[test]
        fn a_queue_in_order(steps in proptest::collection::vec(0_usize..8, 0..60)) {
            let texts: Vec<String> = steps
                .iter()
                .map(|step| if *step < 4 { LOAD.to_owned() } else { format!("s_waitcnt vmcnt({})", step - 4) })
                .collect();
            let found = waits(&texts.iter().map(String::as_str).collect::<Vec<_>>());
            let (mut under_way, mut expected) = (Vec::new(), Vec::new());
            for (at, step) in steps.iter().enumerate() {
                if *step < 4 {
                    under_way.push(at);
                    continue;
                }
                let before = expected.len();
                while under_way.len() > step - 4 {
                    expected.push(format!("{at} vmcnt {}", under_way.remove(0)));
                }
                if expected.len() == before {
                    expected.push(format!("{at} vmcnt nothing_under_way"));
                }
            }
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn parts_add_up(total in -1_000_000_i64..1_000_000, parts in 1_usize..40) {
            let all: Vec<i64> = (0..parts).map(|at| part_of(total, parts, at)).collect();
            prop_assert_eq!(all.iter().sum::<i64>(), total);
            prop_assert!(all.iter().max().unwrap() - all.iter().min().unwrap() <= 1);
        }
    }
}
