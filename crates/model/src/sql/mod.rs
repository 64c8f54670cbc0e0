//! The syntax tree.
