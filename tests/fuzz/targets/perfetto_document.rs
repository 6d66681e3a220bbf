#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wavesieve::properties::perfetto_document(bytes));
