//! The library inside of another program.

use std::panic;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use wavesieve::Trace;

/// Panics of the program that its hook heard of.
static HEARD: AtomicUsize = AtomicUsize::new(0);
/// Panics of the engine that it heard of.
static HEARD_OF_ENGINE: AtomicUsize = AtomicUsize::new(0);

const THREADS: usize = 4;
const ROUNDS: usize = 50;

fn panic_as_program() {
    let thread = thread::Builder::new().name("embedding-program".to_owned());
    assert!(thread.spawn(|| panic!("of the program")).unwrap().join().is_err());
}

/// Statements that make the engine panic are errors on several threads at once, and the hook of the program hears of its own
/// panics all the time and of no other.
#[test]
fn the_panic_hook_of_the_program_stays() {
    let previous = panic::take_hook();
    panic::set_hook(Box::new(move |info| match thread::current().name() {
        Some("embedding-program") => drop(HEARD.fetch_add(1, Ordering::SeqCst)),
        Some("embedding-query") => drop(HEARD_OF_ENGINE.fetch_add(1, Ordering::SeqCst)),
        _ => previous(info),
    }));
    let trace = Trace::open(["fixtures/two_nodes"]).unwrap();
    panic_as_program();
    assert_eq!(HEARD.load(Ordering::SeqCst), 1, "before");
    let begin = Barrier::new(THREADS + 1);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            let query = || {
                begin.wait();
                for _ in 0..ROUNDS {
                    let error = trace.sql("SELECT GREATEST() FROM kernels").err().unwrap().to_string();
                    assert!(error.contains("the engine gave up on it; "), "{error}");
                }
            };
            thread::Builder::new().name("embedding-query".to_owned()).spawn_scoped(scope, query).unwrap();
        }
        begin.wait();
        (0..ROUNDS).for_each(|_| panic_as_program());
    });
    assert_eq!(HEARD.load(Ordering::SeqCst), ROUNDS + 1, "while queries run");
    panic_as_program();
    assert_eq!(HEARD.load(Ordering::SeqCst), ROUNDS + 2, "after");
    assert_eq!(HEARD_OF_ENGINE.load(Ordering::SeqCst), 0, "errors of the engine");
}
