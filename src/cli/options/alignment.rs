//! `--align`: which times of different processes may be compared, and the notes about it.

use std::collections::BTreeSet;

use clap::Args;

use super::global::GlobalArguments;
use crate::cli::exit::Failure;
use crate::cli::output::messages::note;
use wavesieve_tables::columns::requests::Request;
use wavesieve_tables::trace::Trace;
use wavesieve_tables::trace::alignment::{Aligned, Alignment, OffsetsError, align};

/// How clocks are aligned.
#[derive(Args, Clone, Debug)]
pub(crate) struct AlignmentArguments {
    /// Bring clocks of different machines onto one axis: none (their times are not compared), process-start (every
    /// process begins at 0), collectives (ranks leave a collective together), or a FILE with lines `rank,offset_ns` or
    /// `hostname,offset_ns` below such a header
    #[arg(long, value_name = "none|process-start|collectives|FILE", default_value = "none", hide_default_value = true,
          value_parser = alignment, help_heading = "Query")]
    align: Alignment,
}

fn alignment(text: &str) -> Result<Alignment, std::convert::Infallible> {
    text.parse()
}

impl AlignmentArguments {
    /// The trace with its clocks aligned as requested, if the result depends on clocks. Reports how well that works.
    pub(crate) fn apply(&self, trace: Trace, request: &Request, global: &GlobalArguments) -> Result<Trace, Failure> {
        if !request.contains_key("clocks") {
            if self.align != Alignment::None {
                note!(global, "note: --align changes nothing, the answer compares no times of different processes");
            }
            return Ok(trace);
        }
        let nodes: BTreeSet<i64> = trace.members().iter().map(|member| member.process.node).collect();
        if self.align == Alignment::None && nodes.len() < 2 {
            return Ok(trace);
        }
        let (trace, aligned) = align(trace, &self.align).map_err(failure_of)?;
        for sentence in self.sentences(&aligned) {
            note!(global, "note: {sentence}");
        }
        Ok(trace)
    }

    /// The words of a command line that align clocks in the same way.
    pub(crate) fn words(&self) -> Vec<String> {
        let value = match &self.align {
            Alignment::None => return Vec::new(),
            Alignment::ProcessStart => "process-start".to_owned(),
            Alignment::Collectives => "collectives".to_owned(),
            Alignment::File(path) => path.display().to_string(),
        };
        vec!["--align".to_owned(), value]
    }

    /// The trace with its clocks as requested, and what pictures add to the times of each process to bring all of them
    /// onto one axis: as requested, or from the start of each process if machines have clocks of their own. Also
    /// returns sentences about it.
    pub(crate) fn for_one_axis(&self, trace: Trace) -> Result<(Trace, Vec<i64>, Vec<String>), Failure> {
        let offsets_ns = |trace: &Trace| -> Vec<i64> {
            trace.members().iter().map(|member| member.process.clock.offset_ns).collect()
        };
        let nodes: BTreeSet<i64> = trace.members().iter().map(|member| member.process.node).collect();
        let is_chosen = self.align != Alignment::None;
        if !is_chosen && nodes.len() < 2 {
            let offsets_ns = offsets_ns(&trace);
            return Ok((trace, offsets_ns, Vec::new()));
        }
        let alignment = if is_chosen { self.align.clone() } else { Alignment::ProcessStart };
        let (trace, aligned) = align(trace, &alignment).map_err(failure_of)?;
        let mut sentences = Vec::new();
        if !is_chosen {
            sentences.push("machines have clocks of their own; each process starts at 0".to_owned());
        }
        if aligned.clocks.len() > 1 {
            let groups: Vec<String> = aligned.clocks.iter().map(listed).collect();
            sentences.push(format!("clocks of these ranks differ: {}", groups.join(" | ")));
        }
        let offsets_ns = offsets_ns(&trace);
        // Only pictures need one axis: everything else must not compare times of machines unless that was requested.
        let trace = if is_chosen { trace } else { align(trace, &Alignment::None).map_err(failure_of)?.0 };
        Ok((trace, offsets_ns, sentences))
    }

    fn sentences(&self, aligned: &Aligned) -> Vec<String> {
        let mut sentences = Vec::new();
        if aligned.clocks.len() > 1 {
            let groups: Vec<String> = aligned.clocks.iter().map(listed).collect();
            let advice = if self.align == Alignment::None { "; --align brings clocks together" } else { "" };
            let groups = groups.join(" | ");
            sentences.push(format!("times are compared only among ranks of one clock: {groups}{advice}"));
        }
        sentences.push(match (aligned.residual, &self.align) {
            (Some(residual), _) => format!(
                "ends of {} collectives on one clock lie {} ns apart in the median, {} ns at most: no time of two machines is surer than that",
                residual.collectives, residual.median_ns, residual.max_ns
            ),
            (None, Alignment::None) => return sentences,
            (None, _) => "no ranks on one clock have a collective in common, so nobody can tell how far their clocks are apart".to_owned(),
        });
        sentences
    }
}

fn failure_of(error: anyhow::Error) -> Failure {
    match error.downcast::<OffsetsError>() {
        Ok(wrong) => Failure::Usage(wrong.to_string()),
        Err(error) => Failure::from(error),
    }
}

/// Ranks as `0-3,7`.
fn listed(ranks: &BTreeSet<i64>) -> String {
    let mut runs: Vec<(i64, i64)> = Vec::new();
    for rank in ranks {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(*rank) => *last = *rank,
            _ => runs.push((*rank, *rank)),
        }
    }
    let run = |(first, last): &(i64, i64)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    runs.iter().map(run).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_listed_in_runs() {
        assert_eq!(listed(&[0, 1, 2, 5, 7, 8].into()), "0-2,5,7-8");
        assert_eq!(listed(&[].into()), "");
    }
}
