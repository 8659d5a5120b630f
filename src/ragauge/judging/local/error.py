"""How far the local judge's means err on texts of a source that nobody labelled.

`judge_error.json` beside this file is written by bench/judge_error.py and never edited by hand. It changes no verdict,
so it is no part of the judge's id.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ragauge.stats.instrument import JudgeMeanError

FILE = Path(__file__).parent / "judge_error.json"


@cache
def errors() -> Mapping[str, JudgeMeanError]:
    """Printed name of a metric -> how far its mean errs."""
    found = json.loads(FILE.read_text(encoding="utf-8"))
    return {name: _error(one) for name, one in found["metrics"].items()}


def _error(stored: Mapping[str, Any]) -> JudgeMeanError:
    bands = {part: tuple(stored[part]) for part in ("edges", "shifts", "spreads")}
    return JudgeMeanError(**{**stored, **bands})
