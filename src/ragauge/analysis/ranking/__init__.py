"""Rankings measured against relevance labels."""
