//! Chrome's trace events as PyTorch's Kineto writes them, which HTA and other tools of PyTorch read: a file for each rank.

mod stream;

pub use stream::{Header, Stream};
