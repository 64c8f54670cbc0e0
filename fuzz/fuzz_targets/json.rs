//! `cargo fuzz run json`

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| lab::selftest::fuzz::inputs::json(data));
