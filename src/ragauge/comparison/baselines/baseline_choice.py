"""Which run a run is held against where none was named: the same on every page and list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ragauge.core.errors import UsageError

if TYPE_CHECKING:
    from ragauge.core.response import Run
    from ragauge.store.run_facts import RunFacts
    from ragauge.store.store_access import Store

LAST_BASELINE_REASON = "the baseline of its last evaluation"
PREVIOUS_RUN_REASON = "the previous run on the same set"
PREVIOUS_TRAFFIC_REASON = "the previous traffic of the same project"


class BaselineChoice(NamedTuple):
    """A run to hold another one against."""

    run_id: str  #: of it.
    why: str  #: it is this one, in words that stand behind its name.


class BaselineFinder:
    """Finds what runs of a store are held against, with the baselines read once.

    Args:
        store: where the runs are.
    """

    def __init__(self, store: Store) -> None:
        from ragauge.comparison.baselines.verb import find_default_name

        try:
            usual = find_default_name()
        except UsageError:  # git is on no branch: nothing tells which one is meant
            usual = ""
        lines = sorted(store.baselines.list(), key=lambda line: (line.name == usual, line.at), reverse=True)
        sets = store.run_list.load_sets([line.run_id for line in lines])
        self._named = [(line, sets[line.run_id]) for line in lines if line.run_id in sets]

    def of(self, run: Run, facts: RunFacts) -> list[BaselineChoice]:
        """What a run may be held against, the first choice first; [] for nothing.

        A baseline of its set (that of the git branch first, then the one set last), what it was last evaluated
        against, and the run before it on the same set. Traffic is held against traffic of its own project.
        """
        choices: dict[str, BaselineChoice] = {}
        for base in self._iter_choices(run, facts):
            if base.run_id not in ("", run.run_id):
                choices.setdefault(base.run_id, base)
        return list(choices.values())

    def _iter_choices(self, run: Run, facts: RunFacts) -> Iterator[BaselineChoice]:
        own_project = run.system if run.kind == "traffic" else ""
        for line, (name, version, project) in self._named:
            if project == own_project and (run.set_version == version or (run.set_name and run.set_name == name)):
                yield BaselineChoice(line.run_id, f"the baseline {line.name}")
        if facts.evaluation is not None:
            yield BaselineChoice(facts.evaluation.base_id, LAST_BASELINE_REASON)
        yield BaselineChoice(facts.before, PREVIOUS_TRAFFIC_REASON if own_project else PREVIOUS_RUN_REASON)


def find_cached_verdict(
    bases: list[BaselineChoice], facts: RunFacts, verdicts: Mapping[tuple[str | None, str], str]
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
