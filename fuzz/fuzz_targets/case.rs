//! `cargo fuzz run case`

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| lab::selftest::fuzz::inputs::case_file(data));
