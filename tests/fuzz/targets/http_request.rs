#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wavesieve::properties::http_request(bytes));
