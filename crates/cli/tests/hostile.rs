//! Servers that send garbage, too much, too little or without end: Isopod ends in time, with little memory and an exit code that it has.

use std::process::{Command, Stdio};

#[test]
fn hostile_servers_end_no_run_of_isopod_otherwise_than_it_should() {
    let ran = Command::new(env!("CARGO_BIN_EXE_isopod"))
        .args(["selftest", "hostile", "--talks", "300", "--workers", "6", "--json"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert_eq!(ran.status.code(), Some(0), "{out}{err}");
    let figures: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(figures["talks"], 300, "{out}");
    assert!(figures["mysql"].as_u64() > Some(100) && figures["postgres"].as_u64() > Some(100), "{out}");
    assert!(figures["codes"]["0"].as_u64() > Some(5), "the honest ones go through: {out}");
}
