//! Which processes are ranks of one program. Other programs next to them, such as benchmarks that are reported together, are no ranks
//! of a run, and nothing can be concluded from a difference between them.

use std::collections::BTreeMap;

use crate::analysis::thresholds::Thresholds;

/// A process as programs are told by it.
#[derive(Clone, Debug, Default)]
pub struct Traced {
    /// Command line with its arguments, where they were recorded.
    pub command: Option<String>,
    /// Number of the clock of its times.
    pub clock: i64,
    /// First start and last end of its kernels.
    pub span: Option<(i64, i64)>,
    /// Time in its kernels, by the number of their name.
    pub kernels: BTreeMap<u32, i64>,
    /// Whether some of them communicate.
    pub communicates: bool,
}

impl Traced {
    /// Whether anything shows that two processes are of one program: they communicate, have the same command line or kernels, or ran at
    /// the same time.
    fn is_linked(&self, other: &Self) -> bool {
        self.communicates && other.communicates
            || self.has_command_of(other)
            || self.overlaps(other)
            || self.has_kernels_of(other)
    }

    /// Whether both have the same command line. A name without arguments, such as `python`, starts many programs.
    fn has_command_of(&self, other: &Self) -> bool {
        let is_whole = |command: &String| command.trim().contains(char::is_whitespace);
        self.command.as_ref().is_some_and(|command| is_whole(command) && other.command.as_ref() == Some(command))
    }

    fn overlaps(&self, other: &Self) -> bool {
        let (Some(own), Some(others)) = (self.span, other.span) else { return false };
        self.clock == other.clock && own.0 < others.1 && others.0 < own.1
    }

    /// Whether kernels that both have take much of the time of both.
    fn has_kernels_of(&self, other: &Self) -> bool {
        let common = |one: &Self, next: &Self| {
            let all = one.kernels.values().fold(0_i64, |sum, ns| sum.saturating_add(*ns));
            let shared = one.kernels.iter().filter(|(name, _)| next.kernels.contains_key(name));
            let shared = shared.fold(0_i64, |sum, (_, ns)| sum.saturating_add(*ns));
            all > 0
                && i128::from(shared) * 100 >= i128::from(all) * i128::from(Thresholds::builtin().programs.common_pct)
        };
        common(self, other) && common(other, self)
    }
}

/// The program of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program {
    /// Dense number in the order of processes; `None` of a process without kernels that nothing links to a program.
    pub number: Option<i64>,
    /// Processes of the program.
    pub processes: i64,
    /// Whether its processes are compared with each other: it has most of several.
    pub is_compared: bool,
}

/// The program of every process, in their order. A process without kernels is of the program whose command line it has, and otherwise of
/// none, unless no process has kernels.
pub fn programs(processes: &[Traced]) -> Vec<Program> {
    // Places of the processes of each program.
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let (silent, working): (Vec<usize>, Vec<usize>) =
        (0..processes.len()).partition(|place| processes.get(*place).is_some_and(|process| process.kernels.is_empty()));
    for place in working {
        let Some(process) = processes.get(place) else { continue };
        let is_of = |group: &Vec<usize>| {
            group.iter().filter_map(|other| processes.get(*other)).any(|other| process.is_linked(other))
        };
        // A process may join programs that nothing linked before.
        let (mut own, others): (Vec<Vec<usize>>, Vec<Vec<usize>>) = groups.into_iter().partition(is_of);
        own.push(vec![place]);
        groups = others;
        groups.push(own.concat());
    }
    for group in &mut groups {
        group.sort_unstable();
    }
    groups.sort_unstable();
    let most = groups.iter().map(Vec::len).max().unwrap_or_default();
    let largest = groups.iter().position(|group| group.len() == most);
    let mut alone = Vec::new();
    for place in silent {
        let has_command = |other: &usize| {
            processes.get(place).zip(processes.get(*other)).is_some_and(|(one, other)| one.has_command_of(other))
        };
        match groups.iter_mut().find(|group| group.iter().any(has_command)) {
            Some(group) => group.push(place),
            None => alone.push(place),
        }
    }
    if groups.is_empty() && !alone.is_empty() {
        groups.push(std::mem::take(&mut alone));
    }
    let is_compared = |number: usize| groups.len() == 1 || most > 1 && Some(number) == largest;
    let of_group = |(number, group): (usize, &Vec<usize>)| {
        let program =
            Program { number: Some(number as i64), processes: group.len() as i64, is_compared: is_compared(number) };
        group.iter().map(move |place| (*place, program)).collect::<Vec<(usize, Program)>>()
    };
    let without = alone.iter().map(|place| (*place, Program { number: None, processes: 1, is_compared: false }));
    let of_place: BTreeMap<usize, Program> = groups.iter().enumerate().flat_map(of_group).chain(without).collect();
    of_place.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(command: &str, span: (i64, i64), kernels: &[(u32, i64)]) -> Traced {
        Traced {
            command: Some(command.to_owned()).filter(|command| !command.is_empty()),
            clock: 0,
            span: Some(span),
            kernels: kernels.iter().copied().collect(),
            communicates: false,
        }
    }

    /// Numbers of the programs, -1 without.
    fn numbers(processes: &[Traced]) -> Vec<(i64, bool)> {
        programs(processes).iter().map(|program| (program.number.unwrap_or(-1), program.is_compared)).collect()
    }

    #[test]
    fn programs_that_share_nothing_are_not_compared() {
        let four = [0, 1, 2, 3].map(|number| {
            let start = i64::from(number) * 1_000;
            process(&format!("./bench{number}"), (start, start + 10), &[(number, 10)])
        });
        assert_eq!(numbers(&four), [(0, false), (1, false), (2, false), (3, false)]);
        // One of them alone is a run.
        assert_eq!(numbers(&four[..1]), [(0, true)]);
    }

    #[test]
    fn anything_in_common_makes_ranks() {
        let one = process("./a", (0, 10), &[(1, 10)]);
        let other = |change: &dyn Fn(&mut Traced)| {
            let mut other = process("./b", (1_000, 1_010), &[(2, 10)]);
            change(&mut other);
            other
        };
        let of = |one: &Traced, other: Traced| numbers(&[one.clone(), other])[1].0;
        assert_eq!(of(&one, other(&|_| {})), 1);
        assert_eq!(of(&one, other(&|other| other.span = Some((9, 20)))), 0);
        assert_eq!(of(&one, other(&|other| (other.span, other.clock) = (Some((9, 20)), 1))), 1, "another clock");
        assert_eq!(of(&one, other(&|other| other.kernels = BTreeMap::from([(1, 5), (2, 5)]))), 0);
        assert_eq!(of(&one, other(&|other| other.kernels = BTreeMap::from([(1, 4), (2, 6)]))), 1, "few in common");
        assert_eq!(of(&one, other(&|other| other.command = Some("./a".to_owned()))), 1, "a name alone");
        let train = process("python3 train.py", (0, 10), &[(1, 10)]);
        assert_eq!(of(&train, other(&|other| other.command.clone_from(&train.command))), 0);
        let talks = Traced { communicates: true, ..one.clone() };
        assert_eq!(of(&talks, other(&|other| other.communicates = true)), 0);
        assert_eq!(of(&one, other(&|other| other.communicates = true)), 1);
    }

    #[test]
    fn the_largest_program_is_the_run() {
        let rank = |number: i64| process("", (number * 1_000, number * 1_000 + 10), &[(7, 10)]);
        let alone = process("./check", (90_000, 90_010), &[(8, 10)]);
        let silent = Traced::default();
        assert_eq!(
            numbers(&[alone, rank(1), rank(2), silent.clone()]),
            [(0, false), (1, true), (1, true), (-1, false)]
        );
        // Without kernels, the command line decides; if no process has any, there is one program.
        let train = process("python3 train.py", (0, 10), &[(1, 10)]);
        let loader = Traced { command: train.command.clone(), ..Traced::default() };
        assert_eq!(numbers(&[rank(1), rank(2), train, loader]), [(0, true), (0, true), (1, false), (1, false)]);
        assert_eq!(numbers(&[silent.clone(), silent]), [(0, true), (0, true)]);
        // The third process joins the first two.
        let (one, two) = (process("", (0, 10), &[(1, 10)]), process("", (100, 110), &[(2, 10)]));
        let both = process("", (5, 105), &[(3, 10)]);
        assert_eq!(numbers(&[one, two, both]), [(0, true), (0, true), (0, true)]);
        assert_eq!(numbers(&[]), []);
    }
}
