"""Why an example failed: one row of the table a function."""
