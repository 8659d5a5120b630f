"""The judges that the store knows, and how far each can be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragauge.core.errors import UnknownName
from ragauge.labels.judges.judge_inventory import JudgeTrust, KnownJudge
from ragauge.verbs.sources import store_url

if TYPE_CHECKING:
    from ragauge.store.store_access import Store

MOST_RUNS = 10


def judges(*, store: str | None = None) -> list[KnownJudge]:
    """Every judge that judged a run or was checked against people, the newest first, with its last check.

    Args:
        store: URL of the store; RAGAUGE_STORE or sqlite:///.ragauge/ragauge.db by default.
    """
    from ragauge.store.store_access import open_store

    with open_store(store_url(store)) as opened:
        return _known(opened)


def judge_trust(judge_id: str, *, store: str | None = None) -> JudgeTrust:
    """What is known of a judge: how far its means lie from people's, every check, the newest runs that it judged.

    Args:
        judge_id: as `judges` gives it.
        store: URL of the store.

    Raises:
        UnknownName: no such judge.
    """
    from ragauge.engine.judge_error import judge_errors
    from ragauge.labels.history.compute import steps
    from ragauge.store.store_access import open_store

    with open_store(store_url(store)) as opened:
        known = {one.judge_id: one for one in _known(opened)}
        if judge_id not in known:
            raise UnknownName("judge", judge_id, known)
        records = opened.check_log.list()
        names = {record.name for record in records if record.judge_id == judge_id}
        mine = steps(record for record in records if record.name in names)
        judged = opened.judges.runs(judge_id, MOST_RUNS)
        newest = (draws[-1] for run_id, _ in judged if (draws := opened.draws.of_run(run_id)))
        drawn = next(((draw.number, draw.run_id) for draw in newest), None)
        labels = sum(opened.labels.guidelines().values())
        return JudgeTrust(known[judge_id], judge_errors(judge_id, opened), mine, tuple(judged), labels, drawn)


def _known(store: Store) -> list[KnownJudge]:
    from ragauge.labels.history.compute import steps

    last = {step.judge_id: step for step in sorted(steps(store.check_log.list()), key=lambda step: step.at)}
    return [KnownJudge(judge_id, spec or "", runs, last.get(judge_id)) for judge_id, spec, runs in store.judges.list()]
