"""Which runs are over the same set, whatever its files were called and however it grew."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ragauge.data.response import Run

TRAFFIC = "traffic"     # what the log calls the set of runs that have none


def listed_under(runs: Iterable[Run], alike: Callable[[Run, Run], bool]) -> dict[str, str]:
    """The set that each run is listed under: run id -> name of the set when it was evaluated first.

    A run is over the set of an earlier run that answered the same version of it, or else that calls its set the same,
    or else of the newest with which it has most examples in common. What comes later moves no earlier run.

    Args:
        runs: the oldest first.
        alike: whether two versions of a set, each given by a run over it, have most of their examples in common.

    >>> base, other = Run("1", "base", set_name="base", set_version="a"), Run("3", "k5", set_name="k5", set_version="c")
    >>> again = Run("2", "k8", set_name="k8", set_version="a")
    >>> listed_under([base, again, other], lambda one, earlier: False)
    {'1': 'base', '2': 'base', '3': 'k5'}
    """
    found: dict[str, str] = {}
    names: dict[str, str] = {}
    versions: dict[str, str] = {}
    known: list[Run] = []
    for run in runs:
        if run.kind == "traffic":
            found[run.run_id] = TRAFFIC
            continue
        name = versions.get(run.set_version, names.get(run.set_name))
        if name is None:
            like = next((earlier for earlier in reversed(known) if alike(run, earlier)), None)
            name = run.set_name if like is None else versions[like.set_version]
        if run.set_version not in versions:
            known.append(run)
        found[run.run_id] = names[run.set_name] = versions[run.set_version] = name
    return found
