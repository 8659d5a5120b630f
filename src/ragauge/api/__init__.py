"""The verbs: what the command line, notebooks and tests call; one a file, with rooms for what several share."""
