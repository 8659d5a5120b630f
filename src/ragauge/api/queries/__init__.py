"""What a store says of runs: read a piece at a time, joined, counted."""
