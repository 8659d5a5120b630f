"""ragauge.yaml, the one configuration file: read in one place for everyone, with all its mistakes at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from ragauge.core.errors import ConfigError, DataError, find_nearest
from ragauge.core.values import describe_value

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from ragauge.core.config.file import Config
    from ragauge.core.config.section import Section

DEFAULT_FILE = "ragauge.yaml"
KeyPath = tuple[str | int, ...]  # of a key in the tree


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """What a configuration file says."""

    name: str  #: of the file, as given.
    config: Config  #: what could be read of it; the parts with mistakes are left out.
    problems: tuple[DataError, ...] = ()  #: the mistakes so far; whoever knows more about a section adds to them.

    def build_problem(self, key: str, text: str, line: int | None) -> DataError:
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


def read_config(source: str | Path | Mapping[str, Any] = DEFAULT_FILE, name: str = "rules") -> ConfigFile:
    """Reads ragauge.yaml, or the same as a mapping.

    Unknown keys are refused with the nearest name. Mistakes are collected, not raised: `ConfigFile.checked` raises.

    Args:
        source: path of the file, or its content as plain Python values.
        name: what to call that content.

    Raises:
        DataError: there is no such file, or it is not YAML: nothing can be said about single keys.
    """
    from ragauge.core.config.section import to_yaml_values
    from ragauge.core.config.yaml_tree import read_tree

    if isinstance(source, Mapping):
        return _validate_tree(to_yaml_values(source), name)
    path = Path(source)
    if path.is_dir():
        raise DataError("is a folder.", source=str(path), hint=f"Give the path of a file: {path / DEFAULT_FILE}.")
    tree = read_tree(path)
    if tree is None:
        raise DataError("is empty.", source=str(path), hint="See ragauge docs gates for the format.")
    return _validate_tree(tree, str(path))


def _validate_tree(tree: Any, name: str) -> ConfigFile:
    from pydantic import ValidationError

    from ragauge.core.config.file import Config

    problems: list[DataError] = []
    for _ in range(2):  # once with the mistakes, once without the parts that hold them
        try:
            return ConfigFile(name, Config.model_validate(tree), tuple(problems))
        except ValidationError as error:
            errors = error.errors(include_url=False)
            existing = {str(problem) for problem in problems}
            problems += [
                new for error in errors if str(new := _build_problem(error, tree, name, Config)) not in existing
            ]
            if not isinstance(tree, Mapping):
                break
            tree = _drop_paths(tree, [tuple(error["loc"]) for error in errors])
    return ConfigFile(name, Config(), tuple(problems))


def _build_problem(error: ErrorDetails, tree: Any, name: str, model: type[Section]) -> DataError:
    loc = tuple(error["loc"])
    key = "".join(f"[{key_part + 1}]" if isinstance(key_part, int) else f".{key_part}" for key_part in loc).lstrip(".")
    return DataError(
        f"{key}: {_describe_error(error, loc, model)}" if key else _describe_error(error, loc, model),
        source=name,
        line=_find_line(tree, loc),
    )


def _describe_error(error: ErrorDetails, loc: KeyPath, model: type[Section]) -> str:
    """A mistake in our words: expected, found, nearest name."""
    raw, context = error["input"], error.get("ctx", {})
    match error["type"]:
        case "extra_forbidden":
            here = _find_section(model, loc[:-1])
            return _describe_unknown_key(str(loc[-1]), _list_keys(here)) + _suggest_parent_section(here, str(loc[-1]))
        case "missing":
            return "is missing."
        case "value_error":
            return str(context["error"])
        case "literal_error":
            options = str(context["expected"]).replace(" or ", ", ").replace("'", "").split(", ")
            near = _suggest_nearest(str(raw), options)
            return f"expected {' or '.join(options)}, got {describe_value(raw)}{near}."
        case "bool_type":
            return f"expected true or false, got {describe_value(raw)}."
        case "int_type" | "greater_than_equal":
            return f"expected a whole number of at least 1, got {describe_value(raw)}."
        case "string_type" | "string_too_short":
            return f"expected a name, got {describe_value(raw) if raw != '' else 'nothing'}."
        case "model_type" | "model_attributes_type" | "dict_type":
            return f"expected keys and values, got {describe_value(raw)}."
        case "tuple_type" | "list_type":
            return f"expected a list, got {describe_value(raw)}. Start each item with '- '."
        case _:
            return f"{error['msg']}, got {describe_value(raw)}."


def _list_keys(model: type[Section]) -> list[str]:
    """The keys of a section as they are written."""
    return [field_info.alias or name for name, field_info in model.model_fields.items()]


def _describe_unknown_key(key: str, valid_keys: Sequence[str]) -> str:
    return f"unknown key{_suggest_nearest(key, valid_keys)}. Known: {', '.join(valid_keys)}."


def _suggest_nearest(name: str, valid_names: Sequence[str]) -> str:
    near = find_nearest(name, valid_names, n=1)
    return f"; nearest: {near[0]}" if near else ""


def _find_section(model: type[Section], loc: KeyPath) -> type[Section]:
    """What may stand at a place."""
    for key_part in loc:
        if not isinstance(key_part, int) and key_part in model.model_fields:
            model = next(iter(_list_sections(model, key_part)), model)
    return model


def _list_sections(model: type[Section], key: str) -> list[type[Section]]:
    from ragauge.core.config.section import Section

    inner_types = _expand_types(model.model_fields[key].annotation)
    return [
        inner_type for inner_type in inner_types if isinstance(inner_type, type) and issubclass(inner_type, Section)
    ]


def _suggest_parent_section(model: type[Section], key: str) -> str:
    """Where a key that is not known here may stand, one level deeper; "" where it may not."""
    parents = [
        name for name in model.model_fields for section in _list_sections(model, name) if key in _list_keys(section)
    ]
    return f" It belongs under {parents[0]}." if parents else ""


def _expand_types(annotation: Any) -> list[Any]:
    """A type and all types in it."""
    return [annotation, *(inner for type_arg in get_args(annotation) for inner in _expand_types(type_arg))]


def _find_line(tree: Any, loc: KeyPath) -> int | None:
    """The line of the deepest part of a place that is in the file."""
    from ragauge.core.config.section import YamlList, YamlMapping

    line = getattr(tree, "line", 1 if tree is None else None)
    for key_part in loc:
        lines: Any = tree.lines if isinstance(tree, YamlMapping | YamlList) else {}
        try:
            line, tree = lines[key_part], tree[key_part]
        except (KeyError, IndexError, TypeError):
            break
    return line


def _drop_paths(tree: Any, paths: Sequence[KeyPath]) -> Any:
    """The tree without what is at some places; of a list, without the whole item that a place lies in."""
    from ragauge.core.config.section import YamlList, YamlMapping

    here = {path[0] for path in paths if path and (len(path) == 1 or isinstance(path[0], int))}
    deeper = {
        key_part: [path[1:] for path in paths if len(path) > 1 and path[0] == key_part]
        for key_part in {path[0] for path in paths if path}
    }
    if isinstance(tree, Mapping):
        items = {key: _drop_paths(value, deeper.get(key, [])) for key, value in tree.items() if key not in here}
        return YamlMapping(items, tree.lines, tree.line, tree.place) if isinstance(tree, YamlMapping) else items
    if isinstance(tree, list):
        kept_indices = [n for n in range(len(tree)) if n not in here]
        lines = getattr(tree, "lines", [])
        return YamlList(
            [tree[n] for n in kept_indices],
            [lines[n] for n in kept_indices if n < len(lines)],
            getattr(tree, "line", None),
        )
    return tree
