//! `cargo fuzz run proc`

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| lab::selftest::fuzz::inputs::proc_files(data));
