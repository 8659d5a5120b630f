"""What every JSON output has for keys, and that the schemas are those of the types."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

from ragauge.rendering.json_forms import FORMS, encode, find_form, format_json

ROOT = Path(__file__).resolve().parents[2]
KEYS = ROOT / "tests/golden/json_keys.txt"
SCHEMAS = ROOT / "src/ragauge/core/schema"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    """tools/schemas.py as a module; tools/ is no package."""
    spec = importlib.util.spec_from_file_location("schemas", ROOT / "tools/schemas.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_keys_are_those_of_today() -> None:
    """No key of an output is renamed, moved or lost: programs read them."""
    lines = []
    for name in FORMS:
        form = find_form(name)
        assert form is not None
        keys = (f"{'*' * key.spread}{key.key}{'?' * key.optional}" for key in form.keys)
        lines.append(f"{name}: {' '.join(keys)}")
    assert lines == KEYS.read_text(encoding="utf-8").splitlines()


def test_schemas_are_those_of_the_types(tool: ModuleType) -> None:
    """The committed JSON Schemas are generated from types and forms: tools/schemas.py writes them."""
    for name, text in tool.schemas().items():
        assert (SCHEMAS / name).read_text(encoding="utf-8") == text, name


def test_every_form_names_what_is_there(tool: ModuleType) -> None:
    """Each key of a form of a type is a field, a property or a function with a known type."""
    classes = tool.names()
    schema = tool.OutputSchema(classes)
    named = [name for name in FORMS if name in classes]
    assert len(named) > 50
    for name in named:
        assert schema.of(classes[name]) is not None
    with pytest.raises(KeyError):
        tool.OutputSchema(classes).of(classes["Finding"], "Flip")


class Point(NamedTuple):
    """A result without a form."""

    x: float
    y: tuple[int, ...]


def test_encoder_writes_json_alone() -> None:
    """Infinity is null, quantiles are p50, a type without a form has its fields; NaN is refused."""
    assert encode({0.5: math.inf, "b": Point(1.5, (1, 2)), "c": {3}}) == {
        "p50": None,
        "b": {"x": 1.5, "y": [1, 2]},
        "c": [3],
    }
    with pytest.raises(ValueError, match="not JSON compliant"):
        format_json(math.nan)
