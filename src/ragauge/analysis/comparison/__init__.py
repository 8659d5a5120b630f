"""Runs held against each other, example by example."""
