//! One server, on which cases are run and whatever the oracles ask for beside them.

use execute::Reset;
use model::Target;

pub use campaign::Stand as Server;

use crate::{arguments::How, targets};

/// Brings it up.
pub fn open(target: &Target, how: &How) -> anyhow::Result<Server> {
    Ok(Server::new(targets::runner(target, how, how.options(Reset::Clean))?, target))
}
