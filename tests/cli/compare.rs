//! `compare`: runs whose difference is known.

mod changes;
mod gates;
mod inputs;
mod outputs;
mod programs;
mod ranks;
mod runs;
mod views;
