"""What holds for every test."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("fixed", derandomize=True, deadline=None)      # the same draws on every machine
settings.load_profile("fixed")
