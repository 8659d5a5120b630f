"""The store's versions."""
