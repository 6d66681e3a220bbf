//! Tests of the health checks on whole traces.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::open;
use wavesieve_model::schema::table;
use wavesieve_tables::derive::health::needs;

/// In a pool of one thread, the second half of a `join` starts early only if the first waits for something.
#[test]
fn who_holds_the_lock_of_the_checks_waits_for_nothing() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let mut rows = BTreeMap::new();
    for fixture in ["../../fixtures/counters", "../../fixtures/hostile", "../../fixtures/two_nodes"] {
        let trace = open([fixture]).unwrap();
        for member in trace.members() {
            let mut checks = trace.checks(member);
            for (name, _) in needs() {
                let frame = trace.read_all(member, table(name).unwrap()).unwrap().frame.collect().unwrap();
                *rows.entry(name).or_insert(0) += frame.height();
                let other_began = AtomicBool::new(false);
                let put = || {
                    checks.put(name, &frame).unwrap();
                    assert!(!other_began.load(Ordering::SeqCst), "{name} of {fixture}");
                };
                pool.install(|| rayon::join(put, || other_began.store(true, Ordering::SeqCst)));
            }
        }
    }
    for name in ["kernels", "memory_copies", "regions", "marks", "counters"] {
        assert!(rows.get(name).is_some_and(|count| *count > 0), "{name}");
    }
}
