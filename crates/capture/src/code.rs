//! Code objects of the program, until their executables are destroyed.

use std::collections::BTreeMap;
use std::sync::Arc;

use memchr::memmem;
use wavesieve_captures::hsa::Agent;

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
    /// The code object that a kernel of an agent is in.
    pub(crate) fn code_of(&self, agent: Agent, symbol: &str) -> Option<&Loaded> {
        let own: Vec<&Loaded> = self.loaded.iter().filter(|loaded| loaded.agent == agent).collect();
        if let [only] = own.as_slice() {
            return Some(only);
        }
        let name = format!("\0{symbol}\0");
        own.into_iter().find(|loaded| memmem::find(&loaded.bytes, name.as_bytes()).is_some())
    }
}

/// Readers and executables by their handles.
#[derive(Default)]
pub(crate) struct CodeObjects {
    readers: BTreeMap<u64, Arc<Vec<u8>>>,
    modules: BTreeMap<u64, Module>,
}

impl CodeObjects {
    pub(crate) fn add_reader(&mut self, reader: u64, bytes: Vec<u8>) {
        self.readers.insert(reader, Arc::new(bytes));
    }

    pub(crate) fn remove_reader(&mut self, reader: u64) {
        self.readers.remove(&reader);
    }

    pub(crate) fn reader(&self, reader: u64) -> Option<Arc<Vec<u8>>> {
        self.readers.get(&reader).cloned()
    }

    pub(crate) fn add_loaded(&mut self, executable: u64, loaded: Loaded) {
        self.modules.entry(executable).or_default().loaded.push(loaded);
    }

    pub(crate) fn set_variables(&mut self, executable: u64, variables: Vec<ModuleVariable>) {
        self.modules.entry(executable).or_default().variables = variables;
    }

    pub(crate) fn remove(&mut self, executable: u64) {
        self.modules.remove(&executable);
    }

    pub(crate) fn module(&self, executable: u64) -> Option<&Module> {
        self.modules.get(&executable)
    }

    pub(crate) fn agents(&self, executable: u64) -> Vec<Agent> {
        let mut agents: Vec<Agent> = self
            .module(executable)
            .map(|module| module.loaded.iter().map(|loaded| loaded.agent).collect())
            .unwrap_or_default();
        agents.sort_unstable();
        agents.dedup();
        agents
    }
}
