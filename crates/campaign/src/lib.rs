//! The loop that hunts: workers, budgets, the run folder, resuming, and what is known already.
