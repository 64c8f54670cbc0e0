//! dbms
