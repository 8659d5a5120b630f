"""The checks of judges against people that were made so far."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ragauge.core.errors import UnknownName
from ragauge.verbs.result_base import PageResult
from ragauge.verbs.sources import store_url

if TYPE_CHECKING:
    from ragauge.labels.check.runner import LabelledRows
    from ragauge.labels.history.compute import CheckStep
    from ragauge.rendering.sections import ReportSection
    from ragauge.scores.judge_check import JudgeCheck
    from ragauge.store.store_access import Store


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

    def _sections(self) -> Iterable[ReportSection]:
        from ragauge.labels.history.tables import sections

        return sections(self.steps)


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
    from ragauge.labels.history.compute import steps
    from ragauge.store.store_access import open_store

    with open_store(store_url(store)) as opened:
        records = opened.check_log.list()
        kept = {(file.judge_id, file.digest) for file in opened.checks.files()}
    wanted = (judge,) if isinstance(judge, str) and judge else tuple(judge)
    names = {record.name for record in records}
    for one in wanted:
        if not any(_is(one, name) for name in names):
            raise UnknownName("checked judge", one, sorted(names), "ragauge judge check FILE --judge JUDGE checks one.")
    mine = [one for one in records if not wanted or any(_is(name, one.name) for name in wanted)]
    return JudgeHistory(steps(mine, kept))


def _is(judge: str, name: str) -> bool:
    """Whether a check's name is a judge's, however it was asked."""
    return name == judge or name.startswith(f"{judge} (")


def log_check(check: JudgeCheck, source: LabelledRows, store: Store) -> None:
    """Keeps what a check found of each judge."""
    from ragauge.labels.history.compute import record_of
    from ragauge.rendering.json_values import judge_name

    with store.transaction():
        for one in check.judges:
            store.check_log.add(record_of(judge_name(one), one, source.rows, (source.digest, source.name)))
