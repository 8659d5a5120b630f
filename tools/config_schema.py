"""Writes the JSON Schema of ragauge.yaml, generated from its models."""

from __future__ import annotations

import json
from pathlib import Path

from ragauge.data.config.file import json_schema

PATH = Path(__file__).resolve().parents[1] / "src/ragauge/data/schema/ragauge.schema.json"

if __name__ == "__main__":
    PATH.write_text(json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"wrote {PATH}")
