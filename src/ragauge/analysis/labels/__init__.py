"""People's labels: what is drawn for them, and how many are needed."""
