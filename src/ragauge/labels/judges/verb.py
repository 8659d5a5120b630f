"""The judges that the store knows, and how far each can be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragauge.core.errors import UnknownName
from ragauge.labels.judges.judge_inventory import JudgeTrust, KnownJudge
from ragauge.verbs.sources import resolve_store_url

if TYPE_CHECKING:
    from ragauge.store.store_access import Store

MAX_RUNS = 10


def list_judges(*, store: str | None = None) -> list[KnownJudge]:
    """Every judge that judged a run or was checked against people, the newest first, with its last check.

    Args:
        store: URL of the store; RAGAUGE_STORE or sqlite:///.ragauge/ragauge.db by default.
    """
    from ragauge.store.store_access import open_store

    with open_store(resolve_store_url(store)) as opened_store:
        return _list_known(opened_store)


def build_judge_trust(judge_id: str, *, store: str | None = None) -> JudgeTrust:
    """What is known of a judge: how far its means lie from people's, every check, the newest runs that it judged.

    Args:
        judge_id: as `list_judges` gives it.
        store: URL of the store.

    Raises:
        UnknownName: no such judge.
    """
    from ragauge.engine.judge_error import find_judge_errors
    from ragauge.labels.history.compute import build_steps
    from ragauge.store.store_access import open_store

    with open_store(resolve_store_url(store)) as opened_store:
        judges_by_id = {known_judge.judge_id: known_judge for known_judge in _list_known(opened_store)}
        if judge_id not in judges_by_id:
            raise UnknownName("judge", judge_id, judges_by_id)
        records = opened_store.check_log.list()
        names = {record.name for record in records if record.judge_id == judge_id}
        own_steps = build_steps(record for record in records if record.name in names)
        judged_runs = opened_store.judges.runs(judge_id, MAX_RUNS)
        newest = (draws[-1] for run_id, _ in judged_runs if (draws := opened_store.draws.list_for_run(run_id)))
        newest_draw = next(((draw.number, draw.run_id) for draw in newest), None)
        labels = sum(opened_store.labels.count_by_guideline().values())
        return JudgeTrust(
            judges_by_id[judge_id],
            find_judge_errors(judge_id, opened_store),
            own_steps,
            tuple(judged_runs),
            labels,
            newest_draw,
        )


def _list_known(store: Store) -> list[KnownJudge]:
    from ragauge.labels.history.compute import build_steps

    last = {step.judge_id: step for step in sorted(build_steps(store.check_log.list()), key=lambda step: step.at)}
    return [KnownJudge(judge_id, spec or "", runs, last.get(judge_id)) for judge_id, spec, runs in store.judges.list()]
