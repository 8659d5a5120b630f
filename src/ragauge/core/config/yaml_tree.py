"""YAML with line numbers: every mapping and list knows where it stands; plain values only, and not without end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.core.config.section import YamlList, YamlMapping
from ragauge.core.errors import DataError

if TYPE_CHECKING:
    import yaml

MAX_NODES = 20_000  # a file of rules has a few hundred; a bomb of aliases has billions
MAX_DEPTH = 40
TOO_DEEP = "is too large or too deeply nested for a configuration file."
BOOL, SWITCHES = "tag:yaml.org,2002:bool", ("on", "off", "yes", "no")  # words, where they are keys
COLLECTIONS = ("tag:yaml.org,2002:seq", "tag:yaml.org,2002:map")


def read_tree(path: Path) -> Any:
    """The content of a YAML file.

    Raises:
        DataError: it is not there, not text, or not YAML; the line is named.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise DataError("there is no such file.", source=str(path), hint="Create one with ragauge init.") from None
    except UnicodeDecodeError as error:
        raise DataError(f"is not UTF-8 text: {error.reason} at byte {error.start}.", source=str(path)) from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}.", source=str(path)) from None
    return parse_tree(text, str(path))


def parse_tree(text: str, source: str) -> Any:
    """The content of a YAML text; `source` is what errors call it.

    Raises:
        DataError: it is not YAML; the line is named.
    """
    import yaml

    try:
        loader = yaml.SafeLoader(text)
        try:
            node = loader.get_single_node()
            return None if node is None else _TreeBuilder(loader, source).value(node, 0)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = " ".join(message for message in (error.context, error.problem) if message)
        raise DataError(f"is not YAML: {problem}.", source=source, line=mark.line + 1 if mark else None) from None
    except RecursionError:
        raise DataError(TOO_DEEP, source=source) from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date such as 2024-13-45
        raise DataError(f"is not YAML: {' '.join(str(error).split())}.", source=source) from None


class _TreeBuilder:
    """Turns nodes into values."""

    def __init__(self, loader: yaml.SafeLoader, source: str) -> None:
        self._loader, self._source, self._seen = loader, source, 0

    def value(self, node: yaml.Node, depth: int) -> Any:
        """A node's value."""
        import yaml

        self._seen += 1
        line = node.start_mark.line + 1
        if self._seen > MAX_NODES or depth > MAX_DEPTH:
            raise DataError(TOO_DEEP, source=self._source, line=line)
        if not isinstance(node, yaml.ScalarNode) and node.tag not in COLLECTIONS:
            raise DataError(f"is not plain YAML: {node.tag}.", source=self._source, line=line)
        if isinstance(node, yaml.SequenceNode):
            items = [self.value(item, depth + 1) for item in node.value]
            for index, item in enumerate(items, 1):
                if isinstance(item, YamlMapping):
                    item.place = index
            return YamlList(items, [item.start_mark.line + 1 for item in node.value], line)
        if isinstance(node, yaml.MappingNode):
            return self._build_mapping(node, depth, line)
        return self._loader.construct_object(node)

    def _build_mapping(self, node: yaml.MappingNode, depth: int, line: int) -> YamlMapping:
        self._check_unique_keys(node)
        self._loader.flatten_mapping(node)  # merges "<<"
        items: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for key, value in node.value:
            name = key.value if key.tag == BOOL and key.value.lower() in SWITCHES else self.value(key, depth + 1)
            if not isinstance(name, str):
                key_line = key.start_mark.line + 1
                raise DataError(f"a key must be text, got {name!r}.", source=self._source, line=key_line)
            items[name], lines[name] = self.value(value, depth + 1), key.start_mark.line + 1
        return YamlMapping(items, lines, line)

    def _check_unique_keys(self, node: yaml.MappingNode) -> None:
        first_lines: dict[str, int] = {}
        for key, _ in node.value:
            line, name = key.start_mark.line + 1, str(key.value)
            if name in first_lines and name != "<<":
                raise DataError(
                    f"the key {name!r} appears twice, first in line {first_lines[name]}.",
                    source=self._source,
                    line=line,
                    hint="Only the last one would count. Remove one of them.",
                )
            first_lines[name] = line
