"""The parts of an explanation: symbols with their values, what counts, the arithmetic, the cause table."""
