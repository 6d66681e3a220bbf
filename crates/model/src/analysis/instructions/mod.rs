//! GPU instructions in disassembly: classes, source lines, and the operations that waits wait for.

mod rules;
mod source_chain;
mod waits;

pub use crate::analysis::instructions::rules::InstructionRules;
pub use crate::analysis::instructions::source_chain::{innermost, outermost};
pub use crate::analysis::instructions::waits::{Instruction, Unattributed, attribute, part_of};

/// The mnemonic of an instruction with its operands.
pub fn mnemonic(instruction: &str) -> &str {
    instruction.split_whitespace().next().unwrap_or_default()
}
