//! Whether shards are parts of one conversion, and of the one that is to be finished.

use std::collections::BTreeSet;

use anyhow::Result;

use super::finish::FinishPlan;
use super::found::{Shard, Shards};
use super::record::ShardProcess;
use super::share::Share;
use crate::conversion::Refused;
use crate::conversion::record::Key;
use wavesieve_input::{Candidate, is_capture};

/// Refuses shards that do not belong together, or to this command.
///
/// # Errors
/// [`Refused`], with the first difference.
pub(super) fn check(shards: &Shards, plan: &FinishPlan<'_>) -> Result<()> {
    for shard in &shards.found {
        let theirs = (&shard.record.key, shard.record.rank_from.as_deref());
        if let Some((theirs, ours)) = difference(theirs, (&plan.key, plan.rank_from)) {
            return Err(Refused::OtherShard(shard.share.to_string(), theirs, ours).into());
        }
    }
    let known = check_files(shards, plan.candidates)?;
    check_together(shards)?;
    check_new(shards, known, plan.candidates)
}

/// The difference between the conversion of a shard and the present one, as a text for each.
fn difference(
    (shard, shard_ranks): (&Key, Option<&str>),
    (now, now_ranks): (&Key, Option<&str>),
) -> Option<(String, String)> {
    let list = |options: &[String], word: &str| match options {
        [] => format!("without {word}"),
        options => format!("with {word} {}", options.join(" ")),
    };
    let (program, program_now) = ((&shard.tool_version, &shard.build), (&now.tool_version, &now.build));
    if program != program_now {
        let version = |(version, build): (&String, &String)| format!("version {version} (build {build})");
        return Some((format!("by {}", version(program)), version(program_now)));
    }
    if shard.categories_hash != now.categories_hash {
        return Some(("with other category rules".to_owned(), "of those that --categories names now".to_owned()));
    }
    if shard.selection != now.selection {
        return Some((list(&shard.selection, "filters"), list(&now.selection, "filters")));
    }
    if shard.with != now.with {
        return Some((list(&shard.with, "--with"), list(&now.with, "--with")));
    }
    if shard_ranks != now_ranks {
        let ranks = |pattern: Option<&str>| list(pattern.map(str::to_owned).as_slice(), "--rank-from");
        return Some((ranks(shard_ranks), ranks(now_ranks)));
    }
    (shard != now).then(|| ("to another format".to_owned(), "for Parquet".to_owned()))
}

/// Refuses shards that were converted from different inputs.
fn check_together(shards: &Shards) -> Result<()> {
    let mut kinds: Vec<(&Shard, Vec<Share>)> = Vec::new();
    for shard in &shards.found {
        match kinds.iter_mut().find(|(first, _)| first.record.whole == shard.record.whole) {
            Some((_, shares)) => shares.push(shard.share),
            None => kinds.push((shard, vec![shard.share])),
        }
    }
    if kinds.len() < 2 {
        return Ok(());
    }
    let kind = |(first, shares): &(&Shard, Vec<Share>)| {
        let whole = &first.record.whole;
        format!("{}: {} processes, {} bytes, hash {:.8}", named(shares), whole.processes, whole.bytes, whole.hash)
    };
    Err(Refused::DifferentShards(kinds.iter().map(kind).collect::<Vec<_>>().join("; ")).into())
}

/// Refuses inputs that changed or are missing. Returns all inputs of the shards.
fn check_files<'a>(shards: &'a Shards, candidates: &[Candidate]) -> Result<BTreeSet<&'a str>> {
    let there: BTreeSet<String> = candidates.iter().map(Candidate::shown).collect();
    let mut known: BTreeSet<&str> = BTreeSet::new();
    for shard in &shards.found {
        for file in shard.record.processes.iter().flat_map(|process| &process.inputs) {
            if !known.insert(&file.path) {
                continue;
            }
            if !file.is_unchanged() {
                return Err(Refused::ChangedInput(file.path.clone(), shard.share.to_string()).into());
            }
        }
        let first = |process: &ShardProcess| process.inputs.first().map(|file| file.path.clone());
        let other = shard.record.processes.iter().filter_map(first).find(|path| !there.contains(path));
        if let Some(path) = other {
            return Err(Refused::OtherShardInput(path, shard.share.to_string()).into());
        }
    }
    Ok(known)
}

/// Refuses new inputs.
fn check_new<'a>(shards: &'a Shards, mut known: BTreeSet<&'a str>, candidates: &[Candidate]) -> Result<()> {
    // If a shard is missing, its inputs are unknown.
    if shards.missing.is_empty() {
        known.extend(shards.found.iter().flat_map(|shard| &shard.record.unread).map(String::as_str));
        let is_new = |candidate: &&Candidate| !known.contains(candidate.shown().as_str()) && is_capture(candidate);
        if let Some(new) = candidates.iter().find(is_new) {
            return Err(Refused::NewInput(new.shown()).into());
        }
    }
    Ok(())
}

/// Shards in words: `shards 1, 3-5 of 8`.
pub(super) fn named(shares: &[Share]) -> String {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for number in shares.iter().map(|share| share.number()) {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let run = |(first, last): &(u64, u64)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    let noun = if shares.len() == 1 { "shard" } else { "shards" };
    let of = shares.first().map_or(0, |share| share.of());
    format!("{noun} {} of {of}", runs.iter().map(run).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_named_in_runs() {
        let shares = |numbers: &[u64]| numbers.iter().filter_map(|number| Share::new(*number, 8)).collect::<Vec<_>>();
        assert_eq!(named(&shares(&[3])), "shard 3 of 8");
        assert_eq!(named(&shares(&[1, 3, 4, 5, 8])), "shards 1, 3-5, 8 of 8");
    }
}
