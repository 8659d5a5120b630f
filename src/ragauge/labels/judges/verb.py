"""The judges that the store knows, and how far labels have shown each can be trusted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ragauge.core.errors import UnknownName
from ragauge.labels.judges.compute import CheckStep, JudgeTrust, KnownJudge
from ragauge.verbs.result_base import PageResult
from ragauge.verbs.sources import resolve_store_url

if TYPE_CHECKING:
    from ragauge.labels.check.runner import LabeledRows
    from ragauge.rendering.sections import ReportSection
    from ragauge.scores.judge_check import JudgeCheck
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
    from ragauge.labels.judges.compute import build_steps
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
    from ragauge.labels.judges.compute import build_steps

    last = {step.judge_id: step for step in sorted(build_steps(store.check_log.list()), key=lambda step: step.at)}
    return [KnownJudge(judge_id, spec or "", runs, last.get(judge_id)) for judge_id, spec, runs in store.judges.list()]


class JudgeHistory(PageResult):
    """Checks of judges, ready to be shown or written.

    Attributes:
        steps: every check beside the one before of the same judge, oldest first.
    """

    _file = "history.md"
    _what = "history of checks"

    def __init__(self, steps: Sequence[CheckStep]) -> None:
        self.steps = tuple(steps)

    @property
    def fell(self) -> tuple[CheckStep, ...]:
        """The checks by which a judge agrees less with people than before, beyond chance."""
        return tuple(step for step in self.steps if step.fell)

    @property
    def _value(self) -> dict[str, tuple[CheckStep, ...]]:
        return {"checks": self.steps}

    def _build_sections(self) -> Iterable[ReportSection]:
        from ragauge.labels.judges.tables import build_history_sections

        return build_history_sections(self.steps)


def judge_history(judge: str | Sequence[str] = (), *, store: str | None = None) -> JudgeHistory:
    """The checks of judges against people so far: how right each was, and where one fell.

    A check is kept as it ends; the same again adds nothing. A judge fell where the whole interval of its accuracy, less
    that of the check before, lies below 0: on the parts that both checks have, else between two samples.

    Args:
        judge: specs or columns, as the checks name them; all when empty.
        store: URL of the store; RAGAUGE_STORE or sqlite:///.ragauge/ragauge.db by default.

    Raises:
        UnknownName: no check of such a judge.
    """
    from ragauge.labels.judges.compute import build_steps
    from ragauge.store.store_access import open_store

    with open_store(resolve_store_url(store)) as opened_store:
        records = opened_store.check_log.list()
        current_files = {(file.judge_id, file.digest) for file in opened_store.checks.files()}
    requested = (judge,) if isinstance(judge, str) and judge else tuple(judge)
    names = {record.name for record in records}
    for entry in requested:
        if not any(_is_judge(entry, name) for name in names):
            raise UnknownName(
                "checked judge", entry, sorted(names), "ragauge judge check FILE --judge JUDGE checks one."
            )
    matching = [entry for entry in records if not requested or any(_is_judge(name, entry.name) for name in requested)]
    return JudgeHistory(build_steps(matching, current_files))


def _is_judge(judge: str, name: str) -> bool:
    """Whether a check's name is a judge's, however it was asked."""
    return name == judge or name.startswith(f"{judge} (")


def log_check(check: JudgeCheck, source: LabeledRows, store: Store) -> None:
    """Keeps what a check found of each judge."""
    from ragauge.labels.check.tables import format_judge_name
    from ragauge.labels.judges.compute import build_record

    with store.transaction():
        for judge_result in check.judges:
            store.check_log.add(
                build_record(format_judge_name(judge_result), judge_result, source.rows, (source.digest, source.name))
            )
