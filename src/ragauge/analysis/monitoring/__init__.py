"""What is watched in production: series of scores, what fires, since when, and what changed."""
