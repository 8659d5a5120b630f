"""What a report shows beyond means: distributions, ranks used, stages, lengths, timings."""
