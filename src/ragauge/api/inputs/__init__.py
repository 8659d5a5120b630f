"""What verbs are given: where questions and responses are, and how models are called."""
