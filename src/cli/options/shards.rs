//! Options of a conversion that several programs share.

use clap::Args;

use crate::cli::exit::Failure;
use wavesieve_export::conversion::Share;

/// Variables of launchers with the rank and the number of processes.
const LAUNCHERS: [(&str, &str); 3] =
    [("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE"), ("SLURM_PROCID", "SLURM_NTASKS")];
/// The variable with the index of a job in a Slurm array.
const ARRAY_ID: &str = "SLURM_ARRAY_TASK_ID";
const ARRAY_COUNT: &str = "SLURM_ARRAY_TASK_COUNT";
const ARRAY_MIN: &str = "SLURM_ARRAY_TASK_MIN";
const ARRAY_STEP: &str = "SLURM_ARRAY_TASK_STEP";

/// The part of a conversion to make, or whether to put parts together.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Shards")]
pub(crate) struct ShardArguments {
    /// Convert only part I of N of the inputs, next to the output; `auto` takes I and N from Slurm, Open MPI or PMI
    #[arg(long, value_name = "I/N", value_parser = Division::parse, conflicts_with = "finish")]
    shard: Option<Division>,
    /// Put the parts together that --shard converted from the same inputs, and remove them
    #[arg(long)]
    finish: bool,
    /// Finish without the shards that are missing
    #[arg(long, requires = "finish")]
    partial: bool,
}

/// How inputs are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Division {
    /// From the environment.
    Auto,
    /// From the command line.
    Named(Share),
}

impl Division {
    fn parse(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let numbers = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        let share = numbers.and_then(|(number, of)| Share::new(number, of));
        share.map(Self::Named).ok_or_else(|| "expected I/N with I from 1 to N, such as 3/8, or auto".to_owned())
    }
}

impl ShardArguments {
    pub(crate) fn are_given(&self) -> bool {
        self.shard.is_some() || self.finish
    }

    /// Returns whether parts are combined.
    pub(crate) fn finish(&self) -> bool {
        self.finish
    }

    /// Returns whether parts may be missing.
    pub(crate) fn partial(&self) -> bool {
        self.partial
    }

    /// The part to convert; `None` for everything.
    pub(crate) fn share(&self) -> Result<Option<Share>, Failure> {
        let of_environment = || share_of(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
        match self.shard {
            None => Ok(None),
            Some(Division::Named(share)) => Ok(Some(share)),
            Some(Division::Auto) => of_environment().map(Some).map_err(Failure::Usage),
        }
    }
}

/// The share of a process from the variables of its launcher. Tasks of the jobs in an array are numbered consecutively.
fn share_of(variable: impl Fn(&str) -> Option<String>) -> Result<Share, String> {
    let number = |name: &str| -> Result<Option<u64>, String> {
        let parse = |text: String| {
            text.trim().parse().map_err(|_| format!("--shard auto: {name} is `{text}`, not a number; pass --shard I/N"))
        };
        variable(name).map(parse).transpose()
    };
    let required = |name: &str, other: &str| {
        let missing = || format!("--shard auto: {other} is set, but {name} is not; pass --shard I/N");
        number(name)?.ok_or_else(missing)
    };
    let array = match number(ARRAY_ID)? {
        None => None,
        Some(id) => {
            let (count, least) = (required(ARRAY_COUNT, ARRAY_ID)?, required(ARRAY_MIN, ARRAY_ID)?);
            let step = number(ARRAY_STEP)?.unwrap_or(1).max(1);
            let index = id.checked_sub(least).filter(|above| above % step == 0).map(|above| above / step);
            let uneven = || format!("--shard auto: {ARRAY_ID} {id} is not in an even range; pass --shard I/N");
            Some((index.filter(|index| *index < count).ok_or_else(uneven)?, count))
        }
    };
    let mut task = None;
    for (rank, size) in LAUNCHERS {
        if let Some(number) = number(rank)? {
            // A job of an array may have no number of tasks.
            let is_alone = array.is_some() && variable(size).is_none();
            task = Some(if is_alone { (0, 1) } else { (number, required(size, rank)?) });
            break;
        }
    }
    if array.is_none() && task.is_none() {
        let known: Vec<&str> = LAUNCHERS.iter().map(|(rank, _)| *rank).chain([ARRAY_ID]).collect();
        return Err(format!("--shard auto: none of {} is set; pass --shard I/N", known.join(", ")));
    }
    let ((job, jobs), (rank, ranks)) = (array.unwrap_or((0, 1)), task.unwrap_or((0, 1)));
    let all = jobs.checked_mul(ranks);
    let share = job.checked_mul(ranks).and_then(|first| Share::new(first.checked_add(rank)?.checked_add(1)?, all?));
    share.ok_or_else(|| format!("--shard auto: there is no task {rank} of {ranks}; pass --shard I/N"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(variables: &[(&str, &str)]) -> Result<Share, String> {
        let value =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        share_of(value)
    }

    #[test]
    fn launchers_number_their_processes() {
        let expected = |number, of| Ok(Share::new(number, of).unwrap());
        assert_eq!(share(&[("SLURM_PROCID", "2"), ("SLURM_NTASKS", "8")]), expected(3, 8));
        assert_eq!(share(&[("PMI_RANK", "0"), ("PMI_SIZE", "4")]), expected(1, 4));
        // Under mpirun, the Slurm variables describe the process that started it.
        let mpirun = [("SLURM_PROCID", "0"), ("SLURM_NTASKS", "2"), ("OMPI_COMM_WORLD_RANK", "1")];
        assert_eq!(share(&[&mpirun[..], &[("OMPI_COMM_WORLD_SIZE", "2")]].concat()), expected(2, 2));
        let array = [(ARRAY_ID, "5"), (ARRAY_COUNT, "3"), (ARRAY_MIN, "1"), (ARRAY_STEP, "2")];
        assert_eq!(share(&array), expected(3, 3));
        assert_eq!(share(&[&array[..], &[("SLURM_PROCID", "0")]].concat()), expected(3, 3));
        let tasks = [("SLURM_PROCID", "1"), ("SLURM_NTASKS", "4")];
        assert_eq!(share(&[&array[..], &tasks].concat()), expected(10, 12));
    }

    #[test]
    fn what_is_missing_is_named() {
        let refused = |variables: &[(&str, &str)], said: &str| {
            let error = share(variables).unwrap_err();
            assert!(error.contains(said) && error.contains("--shard I/N"), "{error}");
        };
        refused(&[], "none of OMPI_COMM_WORLD_RANK, PMI_RANK, SLURM_PROCID, SLURM_ARRAY_TASK_ID is set");
        refused(&[("SLURM_PROCID", "0")], "SLURM_PROCID is set, but SLURM_NTASKS is not");
        refused(&[("PMI_RANK", "x")], "PMI_RANK is `x`");
        refused(&[("PMI_RANK", "4"), ("PMI_SIZE", "4")], "no task 4 of 4");
        refused(&[(ARRAY_ID, "4"), (ARRAY_COUNT, "2")], ARRAY_MIN);
        refused(&[(ARRAY_ID, "9"), (ARRAY_COUNT, "2"), (ARRAY_MIN, "3")], "not in an even range");
    }

    #[test]
    fn shares_are_written_as_fractions() {
        assert_eq!(Division::parse("3/8"), Ok(Division::Named(Share::new(3, 8).unwrap())));
        assert_eq!(Division::parse("auto"), Ok(Division::Auto));
        assert!(["0/8", "9/8", "3", "3/", "-1/2", "a/b"].iter().all(|text| Division::parse(text).is_err()));
    }
}
