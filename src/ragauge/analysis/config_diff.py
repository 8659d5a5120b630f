"""What differs between the settings of two runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragauge.analysis.comparison import ConfigDiff, Setting


def config_diff(base: Mapping[str, Any], new: Mapping[str, Any]) -> ConfigDiff:
    """Settings by path, in the order of the paths. A list is one value; an empty group is one too.

    >>> found = config_diff({"retriever": {"k": 5}, "seed": 1}, {"retriever": {"k": 8, "rerank": True}})
    >>> [(one.path, one.base, one.new) for one in found.changed], [one.path for one in found.added]
    ([('retriever.k', 5, 8)], ['retriever.rerank'])
    >>> [one.path for one in found.removed]
    ['seed']
    """
    before, now = dict(_paths(base)), dict(_paths(new))
    both = sorted(before.keys() & now.keys())
    return ConfigDiff(
        tuple(Setting(path, new=now[path]) for path in sorted(now.keys() - before.keys())),
        tuple(Setting(path, base=before[path]) for path in sorted(before.keys() - now.keys())),
        tuple(Setting(path, before[path], now[path]) for path in both if not _same(before[path], now[path])),
    )


def _paths(config: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in config.items():
        path = f"{above}.{key}" if above else str(key)
        if isinstance(value, Mapping) and value:
            yield from _paths(value, path)
        else:
            yield path, value


def _same(one: Any, other: Any) -> bool:
    """Equal values; true is not 1, as it would be to Python."""
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
