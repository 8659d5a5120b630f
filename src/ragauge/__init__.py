"""ragauge: tells whether a retrieval-augmented generation system works, where it fails and what to fix."""
