"""Test sets: generated, filtered, checked against their corpus, curated."""
