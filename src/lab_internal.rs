//! What the capture library, and the runtime that tests put in place of ROCm's, share with the program. It changes without
//! notice.

pub use crate::lab::{captures, hsa};
