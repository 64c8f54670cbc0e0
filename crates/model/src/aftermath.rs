//! What was seen around a run beside the answers: the server's error log, its own check of the data, and the tables read
//! through each of their indexes. It stands beside the trace and is never compared with another run's.

use serde::{Deserialize, Serialize};

use crate::rows::RowSet;

/// What was seen beside the trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aftermath {
    /// The lines that the server's error log gained while the case ran. Asked for only where something went wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<String>,
    /// The stack of the crash, where the log or a core has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// What the server's own integrity check complains about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damage: Vec<String>,
    /// Tables after the end, read through each of their indexes.
    #[serde(rename = "through", default, skip_serializing_if = "Vec::is_empty")]
    pub index_scans: Vec<IndexScan>,
    /// Steps that waited for each other in a circle when nothing was left to be sent, and went on doing so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub circle: Vec<usize>,
}

impl Aftermath {
    pub fn is_empty(&self) -> bool {
        *self == Aftermath::default()
    }
}

/// A table read through one index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexScan {
    pub table: String,
    /// The index, by name; empty for the primary key or a plain scan.
    pub index: String,
    pub rows: RowSet,
}
