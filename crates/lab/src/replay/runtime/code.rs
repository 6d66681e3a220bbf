//! Code objects, their kernels and variables.

use std::ffi::CString;

use super::agents::Gpu;
use super::error::RuntimeError;
use super::library::Hsa;
use super::memory::at;
use wavesieve_captures::hsa::*;

pub(in super::super) struct Code<'a> {
    hsa: &'a Hsa,
    agent: Agent,
    executable: Executable,
    // The runtime may read it while the executable exists.
    _bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct KernelSymbol {
    pub object: u64,
    /// Bytes of its kernel arguments.
    pub kernarg: u32,
    /// Bytes of LDS per workgroup.
    pub group: u32,
    /// Bytes of scratch per work-item.
    pub private: u32,
}

impl<'a> Code<'a> {
    pub(in super::super) fn load(hsa: &'a Hsa, gpu: &Gpu, bytes: Vec<u8>) -> Result<Self, RuntimeError> {
        let calls = &hsa.calls;
        let mut reader = CodeObjectReader::default();
        let create = calls.hsa_code_object_reader_create_from_memory;
        // SAFETY: the bytes live as long as the code loaded from them.
        let status = unsafe { create(bytes.as_ptr().cast(), bytes.len(), &raw mut reader) };
        hsa.check("hsa_code_object_reader_create_from_memory", status)?;
        let mut executable = Executable::default();
        let (create, options) = (calls.hsa_executable_create_alt, std::ptr::null());
        // SAFETY: there is room for the handle, and there are no options.
        let status = unsafe { create(PROFILE_FULL, FLOAT_ROUNDING_DEFAULT, options, &raw mut executable) };
        hsa.check("hsa_executable_create_alt", status)?;
        let (load, loaded) = (calls.hsa_executable_load_agent_code_object, std::ptr::null_mut());
        // SAFETY: all handles belong to this runtime; the loaded object is not requested.
        let status = unsafe { load(executable, gpu.agent, reader, options, loaded) };
        hsa.check("hsa_executable_load_agent_code_object", status)?;
        // SAFETY: the executable belongs to this runtime.
        hsa.check("hsa_executable_freeze", unsafe { (calls.hsa_executable_freeze)(executable, options) })?;
        Ok(Self { hsa, agent: gpu.agent, executable, _bytes: bytes })
    }

    fn symbol(&self, name: &str) -> Result<ExecutableSymbol, RuntimeError> {
        let text = CString::new(name).map_err(|_| RuntimeError::NoName(name.to_owned()))?;
        let mut symbol = ExecutableSymbol::default();
        let find = self.hsa.calls.hsa_executable_get_symbol_by_name;
        // SAFETY: the name is terminated, and there is room for the handle.
        let status = unsafe { find(self.executable, text.as_ptr(), &raw const self.agent, &raw mut symbol) };
        self.hsa.check("hsa_executable_get_symbol_by_name", status).map(|()| symbol)
    }

    fn info<T: Default>(&self, symbol: ExecutableSymbol, attribute: u32) -> Result<T, RuntimeError> {
        let mut value = T::default();
        // SAFETY: the callers below use the type of the attribute.
        let status =
            unsafe { (self.hsa.calls.hsa_executable_symbol_get_info)(symbol, attribute, (&raw mut value).cast()) };
        self.hsa.check("hsa_executable_symbol_get_info", status).map(|()| value)
    }

    /// The kernel of a symbol, which ends in `.kd`.
    pub(in super::super) fn kernel(&self, name: &str) -> Result<KernelSymbol, RuntimeError> {
        let symbol = self.symbol(name)?;
        Ok(KernelSymbol {
            object: self.info::<u64>(symbol, SYMBOL_INFO_KERNEL_OBJECT)?,
            kernarg: self.info::<u32>(symbol, SYMBOL_INFO_KERNARG_SIZE)?,
            group: self.info::<u32>(symbol, SYMBOL_INFO_GROUP_SIZE)?,
            private: self.info::<u32>(symbol, SYMBOL_INFO_PRIVATE_SIZE)?,
        })
    }

    pub(in super::super) fn variable(&self, name: &str) -> Result<(u64, u64), RuntimeError> {
        let symbol = self.symbol(name)?;
        let address = self.info::<u64>(symbol, SYMBOL_INFO_VARIABLE_ADDRESS)?;
        Ok((address, u64::from(self.info::<u32>(symbol, SYMBOL_INFO_VARIABLE_SIZE)?)))
    }

    pub(in super::super) fn read_variable(&self, name: &str) -> Result<Vec<u8>, RuntimeError> {
        let (address, size) = self.variable(name)?;
        let mut bytes = vec![0; usize::try_from(size).unwrap_or_default()];
        if !bytes.is_empty() {
            let copy = self.hsa.calls.hsa_memory_copy;
            // SAFETY: the variable is at this address, and has as many bytes as there is room for.
            let status = unsafe { copy(bytes.as_mut_ptr().cast(), at(address), bytes.len()) };
            self.hsa.check("hsa_memory_copy", status)?;
        }
        Ok(bytes)
    }

    /// Writes a variable, at most up to its end.
    pub(in super::super) fn set_variable(&self, name: &str, bytes: &[u8]) -> Result<(), RuntimeError> {
        let (address, size) = self.variable(name)?;
        let bytes = bytes.get(..usize::try_from(size).unwrap_or(usize::MAX)).unwrap_or(bytes);
        if bytes.is_empty() {
            return Ok(());
        }
        // SAFETY: the variable is at this address, and has at least as many bytes.
        let status = unsafe { (self.hsa.calls.hsa_memory_copy)(at(address), bytes.as_ptr().cast(), bytes.len()) };
        self.hsa.check("hsa_memory_copy", status)
    }
}
