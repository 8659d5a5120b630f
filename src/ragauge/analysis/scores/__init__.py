"""Scores of a run as arrays and tables: summaries, segments, intervals."""
