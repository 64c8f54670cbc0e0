//! cli
fn main() {
    if std::env::args_os().nth(1).is_some_and(|first| first == "__keeper") {
        dbms::servers::keeper_main();
    }
}
