"""Evaluation cases whose cause of failure is known, because it was planted."""
