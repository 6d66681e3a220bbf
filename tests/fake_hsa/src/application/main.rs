//! A program as it would use HSA: it loads a code object, fills memory, and dispatches a kernel some times.
//!
//! `hsa_application CODE_OBJECT [--kernel NAME] [--dispatches N] [--elements N] [--regions N] [--region-bytes N] [--virtual]
//! [--file] [--batch] [--two-queues] [--dynamic-lds BYTES] [--no-shut-down] [--abort-after N]`

mod arguments;
mod runtime;
mod work;

use arguments::Arguments;

fn main() {
    match Arguments::of(std::env::args().skip(1)).and_then(|arguments| work::run(&arguments)) {
        Ok(()) => {}
        Err(reason) => {
            eprintln!("hsa_application: {reason}");
            std::process::exit(1);
        }
    }
}
