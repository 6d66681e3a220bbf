//! Code objects of the program, until their executables are destroyed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use memchr::memmem;
use wavesieve_captures::hsa::{Agent, Executable};

/// A code object that was loaded for an agent.
#[derive(Clone)]
pub(crate) struct Loaded {
    pub agent: Agent,
    pub bytes: Arc<Vec<u8>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModuleVariable {
    pub agent: Agent,
    pub name: String,
    pub address: u64,
    pub size: u64,
}

#[derive(Default, Clone)]
pub(crate) struct Module {
    pub loaded: Vec<Loaded>,
    pub variables: Vec<ModuleVariable>,
}

impl Module {
    /// The code object of a kernel of an agent.
    pub(crate) fn code_of(&self, agent: Agent, symbol: &str) -> Option<&Loaded> {
        let own: Vec<&Loaded> = self.loaded.iter().filter(|loaded| loaded.agent == agent).collect();
        if let [only] = own.as_slice() {
            return Some(only);
        }
        let name = format!("\0{symbol}\0");
        own.into_iter().find(|loaded| memmem::find(&loaded.bytes, name.as_bytes()).is_some())
    }

    pub(crate) fn agents(&self) -> BTreeSet<Agent> {
        self.loaded.iter().map(|loaded| loaded.agent).collect()
    }
}

/// Readers and executables by their handles.
#[derive(Default)]
pub(crate) struct CodeObjects {
    pub readers: BTreeMap<u64, Arc<Vec<u8>>>,
    pub modules: BTreeMap<u64, Module>,
}

impl CodeObjects {
    pub(crate) fn module(&mut self, executable: Executable) -> &mut Module {
        self.modules.entry(executable.handle).or_default()
    }
}
