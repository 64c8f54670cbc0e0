//! stub
use model::{Product, schema::SetupData};
pub enum Parsed {
    Tree(()),
    Opaque(String),
}
pub struct Facts {
    pub changes_session: bool,
}
impl Facts {
    pub fn changes_schema(&self) -> bool {
        false
    }
}
pub fn facts(_: &()) -> Facts {
    Facts { changes_session: false }
}
pub fn parse(_: Product, _: &str) -> Parsed {
    Parsed::Opaque(String::new())
}
pub fn setup(_: Product, _: &[String]) -> Result<SetupData, String> {
    Err("stub".into())
}
