"""What every JSON output has for keys, and that the schemas are those of the types."""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, is_dataclass
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

from ragauge.core.json_keys import VIEWS, Key, encode, find_view, format_json, json_keys, json_property, key

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


@pytest.fixture(scope="module")
def declared(tool: ModuleType) -> dict[str, tuple[type, str]]:
    """Class or view -> its class and the view, of all that types of the package declare."""
    tool.names()
    for module in ("diagnosis.confirm.verb", "evaluation.run.verb"):
        importlib.import_module(f"ragauge.{module}")
    return {
        view or cls.__name__: (cls, view)
        for cls, views in VIEWS.items()
        if cls.__module__.startswith("ragauge.")
        for view in views
    }


def test_keys_are_those_of_today(tool: ModuleType, declared: dict[str, tuple[type, str]]) -> None:
    """No key of an output is renamed, moved or lost: programs read them."""
    schema = tool.OutputSchema(tool.names())

    def list_keys(cls: type, view: str) -> Iterator[str]:
        for entry in schema.split_keys(cls, find_view(cls, view).keys):
            yield f"*{entry.of}" if entry.spread else f"{entry.name}{'?' * entry.optional}"

    lines = KEYS.read_text(encoding="utf-8").splitlines()
    names = [line.partition(":")[0] for line in lines]
    known = {name: (cls, "") for name, cls in tool.names().items()} | declared
    assert set(declared) <= set(names)
    assert [f"{name}: {' '.join(list_keys(*known[name]))}" for name in names] == lines


def test_schemas_are_those_of_the_types(tool: ModuleType) -> None:
    """The committed JSON Schemas are generated from types and their keys: tools/schemas.py writes them."""
    for name, text in tool.schemas().items():
        assert (SCHEMAS / name).read_text(encoding="utf-8") == text, name


def test_every_key_names_what_is_there(tool: ModuleType, declared: dict[str, tuple[type, str]]) -> None:
    """Each key that a type declares is a field or a property with a known type."""
    classes = tool.names()
    values = [(cls, view) for cls, view in declared.values() if is_dataclass(cls) or hasattr(cls, "_fields")]
    assert len(values) > 50
    schema = tool.OutputSchema(classes)
    for cls, view in values:
        assert schema.of(cls, view) is not None
    with pytest.raises(KeyError):
        tool.OutputSchema(classes).of(classes["Finding"], "run_id name")


class Point(NamedTuple):
    """A result that declares nothing."""

    x: float
    y: tuple[int, ...]


@json_keys("x y", as_list=True, view="pair")
@json_keys("shown extent extent_y length words hint", optional="hint", extent_y=Key("extent", at="y"))
@dataclass(frozen=True)
class Shape:
    """A result that declares its keys."""

    shown: str = field(metadata=key("name"))
    extent: Point | None
    hint: str | None = None
    words: str = field(default="", metadata=key(null=True))

    @property
    def length(self) -> int:
        """Of its name."""
        return len(self.shown)

    @property
    def x(self) -> float:
        """Of its extent."""
        return 0.0

    y = x


@json_keys("extent")
@json_keys("other", view="spread")
@dataclass(frozen=True)
class Placed:
    """A result whose parts stand in its place."""

    extent: Point | None = field(metadata=key(at="x y"))
    other: Point | None = field(default=None, metadata=key(spread=True))


def test_encoder_writes_json_alone() -> None:
    """Infinity is null, quantiles are p50, a type that declares nothing has its fields; NaN is refused."""
    assert encode({0.5: math.inf, "b": Point(1.5, (1, 2)), "c": {3}}) == {
        "p50": None,
        "b": {"x": 1.5, "y": [1, 2]},
        "c": [3],
    }
    with pytest.raises(ValueError, match="not JSON compliant"):
        format_json(math.nan)


def test_types_declare_their_keys() -> None:
    """Fields are renamed, empty ones are null or left out, properties and parts of parts stand among them."""
    assert encode(Shape("a", Point(1.0, (2,)))) == {
        "name": "a",
        "extent": {"x": 1.0, "y": [2]},
        "extent_y": [2],
        "length": 1,
        "words": None,
    }
    assert encode(Shape("b", None, "h", "w")) == {
        "name": "b",
        "extent": None,
        "extent_y": None,
        "length": 1,
        "words": "w",
        "hint": "h",
    }
    assert list(encode([Shape("a", None)], by="shown", view="pair").items()) == [("a", [0.0, 0.0])]
    assert encode(Shape("a", None), "length x") == {"length": 1, "x": 0.0}


def test_parts_of_none_are_null() -> None:
    """Attributes that stand in the place of one that is None are null; a spread of None has no keys."""
    assert encode(Placed(None)) == {"x": None, "y": None}
    assert encode(Placed(Point(1.0, ()), Point(2.0, (3,)))) == {"x": 1.0, "y": []}
    assert encode(Placed(None, Point(2.0, (3,))), "spread") == {"x": 2.0, "y": [3]}
    assert encode(Placed(None), "spread") == {}


def test_a_function_is_the_property_of_a_type_below() -> None:
    """A function that words a result is written as its property."""

    @json_property(Point, "sentence")
    def describe(point: Point) -> str:
        return f"at {point.x:g}"

    assert encode(Point(2.0, ()), "sentence") == {"sentence": describe(Point(2.0, ()))} == {"sentence": "at 2"}
    del Point.sentence  # type: ignore[attr-defined]
