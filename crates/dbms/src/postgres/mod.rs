//! PostgreSQL and whatever else speaks its protocol.
