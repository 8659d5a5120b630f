"""Runs over time: the log of evaluations, and levels that serve."""
