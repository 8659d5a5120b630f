"""What differs between the settings of two runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragauge.analysis.results.comparison import ConfigDiff, Setting

PASSAGES = ("k", "top_k", "topk", "n_passages", "num_passages", "max_passages")     # settings that say how many


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


def _same(value: Any, other: Any) -> bool:
    """Equal values; true is not 1, as it would be to Python."""
    return isinstance(value, bool) == isinstance(other, bool) and bool(value == other)


def handed_on_more(new: Mapping[str, Any], base: Mapping[str, Any]) -> str:
    """How many more passages a run's settings hand on than another's, in words; "" when not, or not known.

    >>> handed_on_more({"retriever": {"k": 10}}, {"retriever": {"k": 5}})
    'k went from 5 to 10'
    """
    before = dict(_paths(base))
    for path, value in _paths(new):
        name, was = path.rpartition(".")[2], before.get(path)
        if name.lower() in PASSAGES and _is_number(value) and _is_number(was) and value > was:
            return f"{name} went from {was:g} to {value:g}"
    return ""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
