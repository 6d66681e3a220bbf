//! `thread_states`: when threads ran, could run, or slept.

use anyhow::Result;

use crate::common::{Dictionary, TableBuilder};
use crate::perfetto::processes::{Assembled, Process};
use crate::perfetto::thread_states::State;
use wavesieve_tables::columns::values::integers;

pub(crate) fn read_thread_states(builder: &mut TableBuilder<'_>, _: &Assembled, process: &Process) -> Result<()> {
    let states = &process.states;
    builder.set_height(states.len());
    builder.put_numbers("tid", states.iter().map(|one| one.tid));
    builder.put_dictionary("state", || {
        let name =
            |number: Option<i64>| State::ALL.get(usize::try_from(number?).ok()?).map(|state| state.name().to_owned());
        Dictionary::of(states.iter().map(|one| Some(one.state as i64)), name)
    })?;
    let times = |of: fn(&crate::perfetto::thread_states::ThreadState) -> i64| {
        integers("", states.iter().map(|one| Some(of(one))))
    };
    builder.put_times(&times(|one| one.start_ns), &times(|one| one.end_ns));
    builder.put_integers("cpu", states.iter().map(|one| one.cpu.map(i64::from)));
    Ok(())
}
