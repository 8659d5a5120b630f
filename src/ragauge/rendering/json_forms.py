"""The encoder of results, under its earlier name."""

from ragauge.core.json_keys import encode, format_json

__all__ = ["encode", "format_json"]
