//! Lists that rocprofv3 JSON has before the records: counters, code objects and kernel symbols.

use serde::Serialize;

use crate::json_records::Handle;
use crate::model::{CodeObject, Counter, KernelSymbol, Setup};

/// The only axis along which counters have instances here.
const XCC: (u32, &str) = (1, "DIMENSION_XCC");

/// An axis of counter instances.
#[derive(Serialize)]
pub struct Dimension {
    id: u32,
    instance_size: u64,
    name: &'static str,
}

/// The dimensions of all counters.
pub fn dimensions(setup: &Setup) -> Vec<Dimension> {
    let largest = setup.counters.iter().map(|counter| counter.instances).max();
    largest.into_iter().map(|instances| Dimension { id: XCC.0, instance_size: instances, name: XCC.1 }).collect()
}

/// A counter of an agent, collected or not.
#[derive(Serialize)]
pub struct CounterRow {
    agent_id: Handle,
    id: Handle,
    is_constant: u32,
    is_derived: u32,
    name: &'static str,
    description: &'static str,
    block: &'static str,
    expression: &'static str,
    dimensions: Vec<Dimension>,
    instances: Vec<CounterInstance>,
}

/// One instance of a counter.
#[derive(Serialize)]
struct CounterInstance {
    instance_id: i64,
    counter_id: i64,
    dimensions: Vec<DimensionIndex>,
}

/// Where an instance lies.
#[derive(Serialize)]
struct DimensionIndex {
    dimension_name: &'static str,
    index: i64,
}

impl From<&Counter> for CounterRow {
    fn from(counter: &Counter) -> Self {
        let template = counter.template;
        let instances = (0..counter.instances as i64).map(|index| CounterInstance {
            instance_id: (counter.id << 48) | (index << 42),
            counter_id: counter.id,
            dimensions: vec![DimensionIndex { dimension_name: XCC.1, index }],
        });
        Self {
            agent_id: Handle::of_agent(Some(counter.agent_id)),
            id: Handle { handle: counter.id },
            is_constant: 0,
            is_derived: u32::from(!template.expression.is_empty()),
            name: template.name,
            description: template.description,
            block: template.block,
            expression: template.expression,
            dimensions: vec![Dimension { id: XCC.0, instance_size: counter.instances, name: XCC.1 }],
            instances: instances.collect(),
        }
    }
}

/// A code object; its default stands for code object 0, which does not exist.
#[derive(Serialize)]
pub struct CodeObjectRow<'a> {
    size: u32,
    code_object_id: i64,
    agent_id: Handle,
    uri: &'a str,
    load_base: i64,
    load_size: i64,
    load_delta: i64,
    /// 2 is memory; the database leaves it unset.
    storage_type: u32,
}

impl Default for CodeObjectRow<'_> {
    fn default() -> Self {
        Self {
            size: 0,
            code_object_id: 0,
            agent_id: Handle::of_agent(None),
            uri: "",
            load_base: 0,
            load_size: 0,
            load_delta: 0,
            storage_type: 0,
        }
    }
}

impl<'a> From<&'a CodeObject> for CodeObjectRow<'a> {
    fn from(object: &'a CodeObject) -> Self {
        Self {
            size: 88,
            code_object_id: object.id,
            agent_id: Handle::of_agent(Some(object.agent_id)),
            uri: &object.uri,
            load_base: object.load_base,
            load_size: object.load_size,
            load_delta: object.load_base,
            storage_type: 2,
        }
    }
}

/// A kernel symbol.
#[derive(Serialize)]
pub struct KernelSymbolRow {
    size: u32,
    kernel_id: i64,
    code_object_id: i64,
    kernel_name: String,
    kernel_object: i64,
    kernarg_segment_size: u32,
    kernarg_segment_alignment: u32,
    group_segment_size: i64,
    private_segment_size: i64,
    sgpr_count: i64,
    arch_vgpr_count: i64,
    accum_vgpr_count: i64,
    kernel_code_entry_byte_offset: i64,
    kernel_address: Handle,
    formatted_kernel_name: String,
    demangled_kernel_name: String,
    truncated_kernel_name: String,
}

/// Distance from a kernel's descriptor to its code, the same for all.
const CODE_OFFSET: i64 = 12_352;

impl KernelSymbolRow {
    /// Stands for kernel 0, which does not exist.
    pub fn placeholder() -> Self {
        Self {
            size: 0,
            kernel_id: 0,
            code_object_id: 0,
            kernel_name: String::new(),
            kernel_object: 0,
            kernarg_segment_size: 0,
            kernarg_segment_alignment: 0,
            group_segment_size: 0,
            private_segment_size: 0,
            sgpr_count: 0,
            arch_vgpr_count: 0,
            accum_vgpr_count: 0,
            kernel_code_entry_byte_offset: 0,
            kernel_address: Handle { handle: 0 },
            formatted_kernel_name: "0".to_owned(),
            demangled_kernel_name: "0".to_owned(),
            truncated_kernel_name: "0".to_owned(),
        }
    }
}

impl From<&KernelSymbol> for KernelSymbolRow {
    fn from(symbol: &KernelSymbol) -> Self {
        let template = symbol.template;
        // A demangler shows the suffix like this, though it does not belong to the name.
        let demangled = match template.mangled_name.starts_with("_Z") {
            true => format!("{} [clone .kd]", template.display_name),
            false => format!("{}.kd", template.mangled_name),
        };
        Self {
            size: 88,
            kernel_id: symbol.id,
            code_object_id: symbol.code_object_id,
            kernel_name: format!("{}.kd", template.mangled_name),
            kernel_object: symbol.kernel_object,
            kernarg_segment_size: 256,
            kernarg_segment_alignment: 16,
            group_segment_size: template.lds_bytes,
            private_segment_size: template.scratch_bytes,
            sgpr_count: template.sgpr_count,
            arch_vgpr_count: template.arch_vgpr_count,
            accum_vgpr_count: template.accum_vgpr_count,
            kernel_code_entry_byte_offset: CODE_OFFSET,
            kernel_address: Handle { handle: symbol.kernel_object + CODE_OFFSET },
            formatted_kernel_name: template.display_name.to_owned(),
            demangled_kernel_name: demangled,
            truncated_kernel_name: template.truncated_name.to_owned(),
        }
    }
}
