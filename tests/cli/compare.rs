//! `compare`: runs whose difference is known.

mod changes;
mod gates;
mod inputs;
mod lengths;
mod outputs;
mod programs;
mod ranks;
mod runs;
mod views;
