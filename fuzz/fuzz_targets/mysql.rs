//! `cargo fuzz run mysql`

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| lab::selftest::fuzz::inputs::mysql_packets(data));
