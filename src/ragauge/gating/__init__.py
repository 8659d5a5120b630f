"""Rules, and whether a run meets them."""
