"""Which run a run is held against where none was named: the same on every page and list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ragauge.core.errors import UsageError

if TYPE_CHECKING:
    from ragauge.core.response import Run
    from ragauge.store.run_list import RunFacts
    from ragauge.store.store_access import Store

LAST = "which it was last evaluated against"
BEFORE = "the run before it on the same set"
BEFORE_IT = "the traffic of the same project before it"


class BaseChoice(NamedTuple):
    """A run to hold another one against.

    Attributes:
        run_id: of it.
        why: it is this one, in words that stand behind its name.
    """

    run_id: str
    why: str


class Bases:
    """Finds what runs of a store are held against, with the baselines read once.

    Args:
        store: where the runs are.
    """

    def __init__(self, store: Store) -> None:
        from ragauge.comparison.baselines.verb import usual_name

        try:
            usual = usual_name()
        except UsageError:  # git is on no branch: nothing tells which one is meant
            usual = ""
        lines = sorted(store.baselines.list(), key=lambda line: (line.name == usual, line.at), reverse=True)
        sets = store.run_list.sets([line.run_id for line in lines])
        self._named = [(line, sets[line.run_id]) for line in lines if line.run_id in sets]

    def of(self, run: Run, facts: RunFacts) -> list[BaseChoice]:
        """What a run may be held against, the first choice first; [] for nothing.

        A baseline of its set (that of the git branch first, then the one set last), what it was last evaluated
        against, and the run before it on the same set. Traffic is held against traffic of its own project.
        """
        found: dict[str, BaseChoice] = {}
        for base in self._each(run, facts):
            if base.run_id not in ("", run.run_id):
                found.setdefault(base.run_id, base)
        return list(found.values())

    def _each(self, run: Run, facts: RunFacts) -> Iterator[BaseChoice]:
        mine = run.system if run.kind == "traffic" else ""
        for line, (name, version, project) in self._named:
            if project == mine and (run.set_version == version or (run.set_name and run.set_name == name)):
                yield BaseChoice(line.run_id, f"the baseline {line.name}")
        if facts.evaluation is not None:
            yield BaseChoice(facts.evaluation.base_id, LAST)
        yield BaseChoice(facts.before, BEFORE_IT if mine else BEFORE)


def kept_verdict(
    bases: list[BaseChoice], facts: RunFacts, verdicts: Mapping[tuple[str | None, str], str]
) -> tuple[str, str]:
    """The verdict on the first choice that can be compared with the run, and that run's id.

    The verdict is "" where it is not known as things are now; the id too where there is nothing to compare it with.
    """
    from ragauge.store.cards import NO_VERDICT

    judge = next(iter(facts.judges), None)
    for base in bases:
        verdict = verdicts.get((judge, base.run_id), "")
        if verdict != NO_VERDICT:
            return verdict, base.run_id
    return "", ""
