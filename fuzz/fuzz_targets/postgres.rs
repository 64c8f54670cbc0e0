//! `cargo fuzz run postgres`

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| lab::selftest::fuzz::inputs::postgres_messages(data));
