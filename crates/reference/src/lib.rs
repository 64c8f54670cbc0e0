//! A small in-memory engine behind the executor's traits, with bugs that can be planted by name.
