//! The numbers rocprofv3 gives to kinds of records and to their operations, which each JSON file lists by name.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::{Value, json};

const KINDS: &str = include_str!("kinds.txt");

/// The kinds of callback records. They are numbered on their own: a reader that mixes the two lists up finds other names.
#[rustfmt::skip]
const CALLBACK_KINDS: [&str; 22] = [
    "NONE", "HSA_CORE_API", "HSA_AMD_EXT_API", "HSA_IMAGE_EXT_API", "HSA_FINALIZE_EXT_API", "HIP_RUNTIME_API", "HIP_COMPILER_API",
    "MARKER_CORE_API", "MARKER_CONTROL_API", "MARKER_NAME_API", "CODE_OBJECT", "SCRATCH_MEMORY", "KERNEL_DISPATCH", "MEMORY_COPY",
    "RCCL_API", "OMPT", "MEMORY_ALLOCATION", "RUNTIME_INITIALIZATION", "ROCDECODE_API", "ROCJPEG_API", "HIP_STREAM",
    "MARKER_CORE_RANGE_API",
];

/// The one kind that only callbacks have.
const CODE_OBJECT_OPERATIONS: [&str; 4] = [
    "CODE_OBJECT_NONE",
    "CODE_OBJECT_LOAD",
    "CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER",
    "CODE_OBJECT_HOST_KERNEL_SYMBOL_REGISTER",
];

/// A kind and an operation as numbers.
#[derive(Debug, Clone, Copy)]
pub struct KindNumbers {
    pub kind: u32,
    pub operation: u32,
}

/// The list of kinds of buffered records and the numbers that follow from it.
#[derive(Debug)]
pub struct Kinds {
    listed: Vec<(&'static str, Vec<&'static str>)>,
    numbers: BTreeMap<(&'static str, &'static str), KindNumbers>,
}

impl Kinds {
    /// Reads `kinds.txt`.
    pub fn new() -> Self {
        let mut listed: Vec<(&'static str, Vec<&'static str>)> = Vec::new();
        for line in KINDS.lines().filter(|line| !line.starts_with('#')) {
            let mut words = line.split_whitespace();
            if !line.starts_with(' ') {
                listed.push((words.next().unwrap_or(""), Vec::new()));
            }
            if let Some((_, operations)) = listed.last_mut() {
                operations.extend(words);
            }
        }
        let mut numbers = BTreeMap::new();
        for ((name, operations), kind) in listed.iter().zip(0..) {
            for (operation_name, operation) in operations.iter().zip(0..) {
                numbers.insert((*name, *operation_name), KindNumbers { kind, operation });
            }
        }
        Self { listed, numbers }
    }

    /// The numbers of an operation.
    pub fn numbers(&self, kind: &str, operation: &str) -> Result<KindNumbers> {
        let found = self.numbers.get(&(kind, operation)).copied();
        found.with_context(|| format!("kinds.txt lacks {operation} of {kind}"))
    }

    /// The content of `strings.buffer_records`.
    pub fn buffer_json(&self) -> Value {
        self.listed.iter().map(|(name, operations)| json!({"kind": name, "operations": operations})).collect()
    }

    /// The content of `strings.callback_records`.
    pub fn callback_json(&self) -> Value {
        let operations = |name: &str| match self.listed.iter().find(|(listed, _)| *listed == name) {
            Some((_, operations)) => operations.clone(),
            None => CODE_OBJECT_OPERATIONS.to_vec(),
        };
        CALLBACK_KINDS.iter().map(|name| json!({"kind": name, "operations": operations(name)})).collect()
    }
}
