"""ragauge.yaml, the one configuration file: read in one place for everyone, with all its mistakes at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from ragauge.core.errors import ConfigError, DataError, nearest
from ragauge.core.values import described

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from ragauge.core.config.file import Config
    from ragauge.core.config.section import Section

DEFAULT = "ragauge.yaml"
Path_ = tuple[str | int, ...]  # of a key in the tree


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """What a configuration file says.

    Attributes:
        name: of the file, as given.
        config: what could be read of it; the parts with mistakes are left out.
        problems: the mistakes so far; whoever knows more about a section adds to them.
    """

    name: str
    config: Config
    problems: tuple[DataError, ...] = ()

    def problem(self, key: str, text: str, line: int | None) -> DataError:
        """A mistake at a key, to be added to the others."""
        return DataError(f"{key}: {text}" if key else text, source=self.name, line=line)

    def checked(self) -> Config:
        """What the file says.

        Raises:
            ConfigError: there are mistakes; all of them are in the text.
        """
        if self.problems:
            raise ConfigError(self.problems)
        return self.config


def read_config(source: str | Path | Mapping[str, Any] = DEFAULT, name: str = "rules") -> ConfigFile:
    """Reads ragauge.yaml, or the same as a mapping.

    Unknown keys are refused with the nearest name. Mistakes are collected, not raised: `ConfigFile.checked` raises.

    Args:
        source: path of the file, or its content as plain Python values.
        name: what to call that content.

    Raises:
        DataError: there is no such file, or it is not YAML: nothing can be said about single keys.
    """
    from ragauge.core.config.section import located
    from ragauge.core.config.yaml_tree import read_tree

    if isinstance(source, Mapping):
        return _read(located(source), name)
    path = Path(source)
    if path.is_dir():
        raise DataError("is a folder.", source=str(path), hint=f"Give the path of a file: {path / DEFAULT}.")
    tree = read_tree(path)
    if tree is None:
        raise DataError("is empty.", source=str(path), hint="ragauge docs gates shows what it may say.")
    return _read(tree, str(path))


def _read(tree: Any, name: str) -> ConfigFile:
    from pydantic import ValidationError

    from ragauge.core.config.file import Config

    problems: list[DataError] = []
    for _ in range(2):  # once with the mistakes, once without the parts that hold them
        try:
            return ConfigFile(name, Config.model_validate(tree), tuple(problems))
        except ValidationError as error:
            errors = error.errors(include_url=False)
            known = {str(problem) for problem in problems}
            problems += [new for error in errors if str(new := _problem(error, tree, name, Config)) not in known]
            if not isinstance(tree, Mapping):
                break
            tree = _without(tree, [tuple(error["loc"]) for error in errors])
    return ConfigFile(name, Config(), tuple(problems))


def _problem(error: ErrorDetails, tree: Any, name: str, model: type[Section]) -> DataError:
    loc = tuple(error["loc"])
    key = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in loc).lstrip(".")
    return DataError(
        f"{key}: {_said(error, loc, model)}" if key else _said(error, loc, model), source=name, line=_line(tree, loc)
    )


def _said(error: ErrorDetails, loc: Path_, model: type[Section]) -> str:
    """A mistake in our words: expected, found, nearest name."""
    given, about = error["input"], error.get("ctx", {})
    match error["type"]:
        case "extra_forbidden":
            here = _section(model, loc[:-1])
            return _no_key(str(loc[-1]), _written(here)) + _meant_within(here, str(loc[-1]))
        case "missing":
            return "is missing."
        case "value_error":
            return str(about["error"])
        case "literal_error":
            options = str(about["expected"]).replace(" or ", ", ").replace("'", "").split(", ")
            near = _nearest(str(given), options)
            return f"expected {' or '.join(options)}, got {described(given)}{near}."
        case "bool_type":
            return f"expected true or false, got {described(given)}."
        case "int_type" | "greater_than_equal":
            return f"expected a whole number of at least 1, got {described(given)}."
        case "string_type" | "string_too_short":
            return f"expected a name, got {described(given) if given != '' else 'nothing'}."
        case "model_type" | "model_attributes_type" | "dict_type":
            return f"expected keys and values, got {described(given)}."
        case "tuple_type" | "list_type":
            return f"expected a list, got {described(given)}. Begin each item with '- '."
        case _:
            return f"{error['msg']}, got {described(given)}."


def _written(model: type[Section]) -> list[str]:
    """The keys of a section as they are written."""
    return [part.alias or name for name, part in model.model_fields.items()]


def _no_key(key: str, known: Sequence[str]) -> str:
    return f"no such key{_nearest(key, known)}. Known: {', '.join(known)}."


def _nearest(name: str, known: Sequence[str]) -> str:
    near = nearest(name, known, n=1)
    return f"; nearest: {near[0]}" if near else ""


def _section(model: type[Section], loc: Path_) -> type[Section]:
    """What may stand at a place."""
    for part in loc:
        if not isinstance(part, int) and part in model.model_fields:
            model = next(iter(_sections(model, part)), model)
    return model


def _sections(model: type[Section], key: str) -> list[type[Section]]:
    from ragauge.core.config.section import Section

    inside = _inside(model.model_fields[key].annotation)
    return [part for part in inside if isinstance(part, type) and issubclass(part, Section)]


def _meant_within(model: type[Section], key: str) -> str:
    """Where a key that is not known here may stand, one level deeper; "" where it may not."""
    places = [name for name in model.model_fields for section in _sections(model, name) if key in _written(section)]
    return f" It belongs within {places[0]}." if places else ""


def _inside(annotation: Any) -> list[Any]:
    """A type and all types in it."""
    return [annotation, *(inner for part in get_args(annotation) for inner in _inside(part))]


def _line(tree: Any, loc: Path_) -> int | None:
    """The line of the deepest part of a place that is in the file."""
    from ragauge.core.config.section import YamlList, YamlMapping

    line = getattr(tree, "line", 1 if tree is None else None)
    for part in loc:
        lines: Any = tree.lines if isinstance(tree, YamlMapping | YamlList) else {}
        try:
            line, tree = lines[part], tree[part]
        except (KeyError, IndexError, TypeError):
            break
    return line


def _without(tree: Any, places: Sequence[Path_]) -> Any:
    """The tree without what is at some places; of a list, without the whole item that a place lies in."""
    from ragauge.core.config.section import YamlList, YamlMapping

    here = {path[0] for path in places if path and (len(path) == 1 or isinstance(path[0], int))}
    deeper = {
        part: [path[1:] for path in places if len(path) > 1 and path[0] == part]
        for part in {path[0] for path in places if path}
    }
    if isinstance(tree, Mapping):
        items = {key: _without(value, deeper.get(key, [])) for key, value in tree.items() if key not in here}
        return YamlMapping(items, tree.lines, tree.line, tree.place) if isinstance(tree, YamlMapping) else items
    if isinstance(tree, list):
        kept = [n for n in range(len(tree)) if n not in here]
        lines = getattr(tree, "lines", [])
        return YamlList(
            [tree[n] for n in kept], [lines[n] for n in kept if n < len(lines)], getattr(tree, "line", None)
        )
    return tree
