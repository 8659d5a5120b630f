"""Faults that a written question can have, each found by a test of its own."""
