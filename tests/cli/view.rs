//! `view`: pictures and lanes equal the tables, foreign requests are refused, and the program ends with its window.

mod answers;
mod ends;
mod refused;
mod server;
