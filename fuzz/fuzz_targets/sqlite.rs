//! `cargo fuzz run sqlite`

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| lab::selftest::fuzz::inputs::sqlite_frames(data));
