//! A GPU as formulas of metrics see it.

use std::collections::BTreeMap;

use crate::analysis::hardware::devices::catalog::target;
use crate::analysis::hardware::devices::constants::constants;
use crate::schema::process::Process;

/// Architecture and figures of a GPU.
#[derive(Clone, Debug, Default)]
pub struct Device {
    /// LLVM name such as gfx942; empty if unknown.
    pub architecture: String,
    /// Known constants by name.
    pub constants: BTreeMap<String, f64>,
}

/// The GPU of a process; without figures if it is not described.
pub fn device(process: &Process, gpu: Option<i64>) -> Device {
    let is_it = |agent_id: &i64| process.gpus.get(agent_id).is_some_and(|known| Some(known.gpu) == gpu);
    let agent = process.facts.agents.iter().find(|agent| is_it(&agent.agent_id));
    let Some(agent) = agent else { return Device::default() };
    let known = constants(agent).into_iter().filter_map(|(name, constant)| Some((name, constant.value?)));
    Device { architecture: target(&agent.name).to_owned(), constants: known.collect() }
}
