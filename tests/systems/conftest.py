"""Makes `tests.systems.one_index` importable; frameworks are used without their telemetry."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = str(Path(__file__).resolve().parents[2])
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)
os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")
