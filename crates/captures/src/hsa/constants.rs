//! Numbers of the specification and of AMD's extensions.

use super::types::Status;

pub const SUCCESS: Status = 0;
/// A callback stops the iteration.
pub const INFO_BREAK: Status = 1;
pub const ERROR_INVALID_MEMORY_POOL: Status = 0x28;
pub const ERROR: Status = 0x1000;
pub const ERROR_INVALID_ARGUMENT: Status = 0x1001;
pub const ERROR_INVALID_ALLOCATION: Status = 0x1003;
pub const ERROR_INVALID_AGENT: Status = 0x1004;
pub const ERROR_INVALID_SIGNAL: Status = 0x1006;
pub const ERROR_INVALID_QUEUE: Status = 0x1007;
pub const ERROR_OUT_OF_RESOURCES: Status = 0x1008;
pub const ERROR_NOT_INITIALIZED: Status = 0x100b;
pub const ERROR_INCOMPATIBLE_ARGUMENTS: Status = 0x100d;
pub const ERROR_INVALID_ISA: Status = 0x100f;
pub const ERROR_INVALID_CODE_OBJECT: Status = 0x1010;
pub const ERROR_INVALID_EXECUTABLE: Status = 0x1011;
pub const ERROR_FROZEN_EXECUTABLE: Status = 0x1012;
pub const ERROR_INVALID_SYMBOL_NAME: Status = 0x1013;
pub const ERROR_INVALID_FILE: Status = 0x1020;
pub const ERROR_INVALID_CODE_OBJECT_READER: Status = 0x1021;

pub const DEVICE_CPU: u32 = 0;
pub const DEVICE_GPU: u32 = 1;

pub const AGENT_INFO_NAME: u32 = 0;
pub const AGENT_INFO_VENDOR_NAME: u32 = 1;
pub const AGENT_INFO_FEATURE: u32 = 2;
pub const AGENT_INFO_WAVEFRONT_SIZE: u32 = 6;
pub const AGENT_INFO_QUEUE_MAX_SIZE: u32 = 0xe;
pub const AGENT_INFO_DEVICE: u32 = 0x11;
pub const AGENT_INFO_ISA: u32 = 0x13;
pub const AMD_AGENT_INFO_COMPUTE_UNIT_COUNT: u32 = 0xa002;
pub const AMD_AGENT_INFO_PRODUCT_NAME: u32 = 0xa009;

pub const ISA_INFO_NAME_LENGTH: u32 = 0;
pub const ISA_INFO_NAME: u32 = 1;

pub const SYSTEM_INFO_VERSION_MAJOR: u32 = 0;
pub const SYSTEM_INFO_VERSION_MINOR: u32 = 1;
pub const SYSTEM_INFO_TIMESTAMP: u32 = 2;
pub const SYSTEM_INFO_TIMESTAMP_FREQUENCY: u32 = 3;

/// Segments and flags of pools and of regions alike.
pub const SEGMENT_GLOBAL: u32 = 0;
pub const GLOBAL_FLAG_KERNARG: u32 = 1;
pub const GLOBAL_FLAG_FINE_GRAINED: u32 = 2;
pub const GLOBAL_FLAG_COARSE_GRAINED: u32 = 4;

pub const POOL_INFO_SEGMENT: u32 = 0;
pub const POOL_INFO_GLOBAL_FLAGS: u32 = 1;
pub const POOL_INFO_SIZE: u32 = 2;
pub const POOL_INFO_ALLOC_ALLOWED: u32 = 5;
pub const POOL_INFO_ALLOC_GRANULE: u32 = 6;
pub const POOL_INFO_ALLOC_ALIGNMENT: u32 = 7;
pub const POOL_INFO_ACCESSIBLE_BY_ALL: u32 = 0xf;
pub const POOL_INFO_ALLOC_MAX_SIZE: u32 = 0x10;

pub const SYMBOL_INFO_TYPE: u32 = 0;
pub const SYMBOL_INFO_NAME_LENGTH: u32 = 1;
pub const SYMBOL_INFO_NAME: u32 = 2;
pub const SYMBOL_INFO_VARIABLE_SIZE: u32 = 9;
pub const SYMBOL_INFO_VARIABLE_IS_CONST: u32 = 0xa;
pub const SYMBOL_INFO_KERNARG_SIZE: u32 = 0xb;
pub const SYMBOL_INFO_KERNARG_ALIGNMENT: u32 = 0xc;
pub const SYMBOL_INFO_GROUP_SIZE: u32 = 0xd;
pub const SYMBOL_INFO_PRIVATE_SIZE: u32 = 0xe;
pub const SYMBOL_INFO_AGENT: u32 = 0x14;
pub const SYMBOL_INFO_VARIABLE_ADDRESS: u32 = 0x15;
pub const SYMBOL_INFO_KERNEL_OBJECT: u32 = 0x16;
pub const SYMBOL_VARIABLE: u32 = 0;
pub const SYMBOL_KERNEL: u32 = 1;

pub const QUEUE_MULTI: u32 = 0;
pub const QUEUE_SINGLE: u32 = 1;
/// A queue takes kernel dispatches.
pub const QUEUE_FEATURE_KERNEL_DISPATCH: u32 = 1;

pub const PACKET_INVALID: u16 = 1;
pub const PACKET_KERNEL_DISPATCH: u16 = 2;
pub const PACKET_BARRIER_AND: u16 = 3;
pub(crate) const FENCE_SCOPE_SYSTEM: u16 = 2;

pub const CONDITION_EQ: u32 = 0;
pub const CONDITION_NE: u32 = 1;
pub const CONDITION_LT: u32 = 2;
pub const WAIT_BLOCKED: u32 = 0;

pub const PROFILE_FULL: u32 = 1;
pub const FLOAT_ROUNDING_DEFAULT: u32 = 0;

pub const ACCESS_READ: u32 = 1;
pub const ACCESS_READ_WRITE: u32 = 3;
pub const MEMORY_TYPE_NONE: u32 = 0;

pub const EXTENSION_AMD_LOADER: u16 = 0x201;
pub const CODE_OBJECT_INFO_MEMORY_BASE: u32 = 5;
pub const CODE_OBJECT_INFO_MEMORY_SIZE: u32 = 6;
