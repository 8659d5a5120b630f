"""What ragauge.yaml may say: one model a section, as plain frozen values."""
