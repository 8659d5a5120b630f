"""The verbs: what the command line, notebooks and tests call."""
