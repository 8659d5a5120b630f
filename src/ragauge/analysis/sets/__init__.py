"""Statistics of eval sets: arrays and mappings in, no model or corpus."""
