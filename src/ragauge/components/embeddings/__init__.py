"""Embedders held against each other: what turns texts into vectors, how these are kept, shortened and searched."""
