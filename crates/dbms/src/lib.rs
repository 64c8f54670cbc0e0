//! dbms
pub mod servers;
