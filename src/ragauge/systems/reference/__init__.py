"""A real retrieval-augmented system: offline, deterministic, small enough to read."""
