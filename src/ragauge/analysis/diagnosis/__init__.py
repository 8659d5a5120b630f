"""What is wrong with a run, where, and what to do first."""
