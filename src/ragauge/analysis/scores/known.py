"""Of which examples it is known whether they failed: what was not judged is neither failed nor passed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ragauge.analysis.causes.attribute import SHOWING, can_show
from ragauge.analysis.scores import verdicts
from ragauge.analysis.scores.arrays import FAILED, SCORED, UNDEFINED, Columns, ResponseIndex
from ragauge.analysis.scores.failed import FailedResponses
from ragauge.analysis.scores.verdicts import ResponseVerdicts
from ragauge.data.label import BY_PEOPLE
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import questions

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Mask = npt.NDArray[np.bool_]

NOTHING_SHOWS = "nothing measured here shows it"
CALL_FAILED = "a judge call or a score failed"
PEOPLE_SPLIT = "people are split on it, or labelled only a part of it"
UNSEEN = "nothing that its answer says could be checked"
ANSWER_UNSEEN = "its answer was not judged"
# facts that tell whether what an answer says is so, or whether it rightly says nothing
TELLING = ("verify_answer.support", "verify_answer.used", "agree.answer", "agree.agrees", "agree.reference",
           "agree.states", "set.answerable")     # fmt: skip
NOT_JUDGED = "not judged by"     # whom, follows
OF_ANSWER = frozenset(["verify_answer", "agree"])     # questions that see the answer, among those that show a failure
# a judge's question in words, of an example that it was not asked about
NOT_ASKED: Mapping[str, str] = {
    "verify_answer": "its answer was not checked",
    "verify_reference": "its reference was not looked for in the passages",
    "agree": "its answer was not held against its reference",
}


class Shows(NamedTuple):
    """What a metric's scores show of whether an example failed; metrics that are alike in it may be read as one.

    Attributes:
        asked: a judge was asked.
        failure: a failure can be seen by it.
        questions: those that count, of a judge.
        says: it tells whether what the answer says is so.
    """

    asked: bool
    failure: bool
    questions: frozenset[str]
    says: bool

    @classmethod
    def of(cls, metric: Metric) -> Shows:
        """What a metric shows."""
        asked, showing = questions([metric]), can_show(metric)
        wanted = frozenset(asked).intersection(SHOWING) if showing else frozenset()
        return cls(bool(asked), showing, wanted, showing and not set(TELLING).isdisjoint(metric.needs.values()))


class SeenScores(NamedTuple):
    """Which responses have scores, and of which status: two arrays with an entry a score."""

    place: npt.NDArray[np.int64]
    status: npt.NDArray[np.integer[Any]]


class KnownScores:
    """Takes in one metric's scores after another, and then says which examples nobody can call passed.

    An example that did not fail has passed where everything was asked of it that was asked of the others, and nothing
    of that failed. The questions that count are those by which a failure is seen (`attribute.SHOWING`), among the
    metrics that are read: an example that lacks one of them could have failed by it.

    Args:
        index: the responses.
        answered: whether the system answered at all, so that no label of a document and no verdict on its passages
            alone says that it passed.
    """

    def __init__(self, index: ResponseIndex, *, answered: bool = False) -> None:
        import numpy as np

        self._index, self._answered = index, answered
        self._judged, self._lost, self._shown, self._told = np.zeros((4, len(index)), dtype=bool)
        self._telling = False
        self._asked: dict[str, Mask] = {}

    def read(self, metric: Metric, responses: Columns | None) -> None:
        """Takes in a metric's scores, one entry a response; None where none of these responses has one."""
        self.see(Shows.of(metric), None if responses is None else SeenScores(responses.place, responses.status))

    def see(self, shows: Shows, scores: SeenScores | None) -> None:
        """Takes in scores of metrics that show the same; None where there are none."""
        import numpy as np

        for question in shows.questions:
            self._asked.setdefault(question, np.zeros(len(self._index), dtype=bool))
        if scores is None:
            return
        if shows.asked:
            self._judged[scores.place] = True
        if shows.failure:
            self._lost[scores.place[scores.status == FAILED]] = True
            self._shown[scores.place[np.isin(scores.status, (SCORED, UNDEFINED))]] = True
        if shows.says:
            self._telling = True
            self._told[scores.place[scores.status == SCORED]] = True
        for question in shows.questions:
            self._asked[question][scores.place] = True

    def verdicts(
        self, failed: FailedResponses, judge_id: str | None, stored: ResponseVerdicts | None = None
    ) -> ResponseVerdicts:
        """The verdict on every response, after every metric was read.

        Args:
            failed: the failed responses, of this index.
            judge_id: whose verdicts were read; None or "" = nobody's, and labels alone say what passed.
            stored: the verdict on each response by what it was asked itself; None = none is stored.
        """
        import numpy as np

        if stored is not None:
            return self._with_unasked(stored, failed, judge_id)
        lacking = {NOT_ASKED.get(name, f"{name} was not asked"): ~asked for name, asked in self._asked.items()}
        judged = self._judged if self._asked else np.ones_like(self._judged)
        lost = PEOPLE_SPLIT if (judge_id or "").startswith(BY_PEOPLE) else CALL_FAILED
        unseen = np.full(len(self._index), self._answered and OF_ANSWER.isdisjoint(self._asked))
        whys = [
            (f"{NOT_JUDGED} {judge_id or 'anybody'}", ~judged, verdicts.NOT_JUDGED),
            (lost, self._lost, verdicts.UNCLEAR),
            *((reason, mask, verdicts.NOT_JUDGED) for reason, mask in lacking.items()),
            (NOTHING_SHOWS, ~self._shown, verdicts.NOT_JUDGED),
            (UNSEEN, ~self._told & self._telling, verdicts.UNCLEAR),
            (ANSWER_UNSEEN, unseen, verdicts.NOT_JUDGED),
        ]
        reason = np.zeros(len(self._index), dtype=np.int64)
        verdict = np.full(len(self._index), verdicts.PASSED, dtype=np.int8)
        for number, (_, mask, code) in reversed(list(enumerate(whys, 1))):     # the first that holds is the one given
            reason[mask], verdict[mask] = number, code
        reason[failed.place], verdict[failed.place] = 0, verdicts.FAILED
        none = np.full(len(self._index), verdicts.NOT_JUDGED, dtype=np.int8)
        return ResponseVerdicts(self._index, verdict, none, none, reason, ("", *(why for why, _, _ in whys)))

    def _with_unasked(
        self, stored: ResponseVerdicts, failed: FailedResponses, judge_id: str | None
    ) -> ResponseVerdicts:
        """The stored verdicts, but not judged where a question was not asked that was asked of others."""
        import numpy as np

        unasked = [(NOT_ASKED.get(name, f"{name} was not asked"), ~asked) for name, asked in self._asked.items()]
        if self._asked:
            unasked.append((f"{NOT_JUDGED} {judge_id or 'anybody'}", ~self._judged))     # said before the others
        verdict, reason, reasons = stored.verdict.copy(), stored.reason.copy(), list(stored.reasons)
        for text, mask in unasked:
            places = mask & np.isin(stored.verdict, (verdicts.PASSED, verdicts.NOT_JUDGED))
            verdict[places], reason[places] = verdicts.NOT_JUDGED, len(reasons)
            reasons.append(text)
        verdict[failed.place] = verdicts.FAILED
        return replace(stored, verdict=verdict, reason=reason, reasons=tuple(reasons))

    @property
    def labels_alone(self) -> bool:
        """Whether nobody was asked anything by which a failure could be seen."""
        return not self._asked


def with_unjudged(columns: Columns, index: ResponseIndex, judge_id: str | None) -> Columns:
    """A metric's scores, one entry a response, with a failed score for every response that has none.

    So whoever asks for a mean over all of them is told how far those that were never judged could move it. One that
    was not drawn for the judge has none and needs none: the drawn ones stand for it.
    """
    import numpy as np

    absent = ~index.left_out() if columns.sampled else np.ones(len(index), dtype=bool)
    absent[columns.place] = False
    more = absent.nonzero()[0]
    if not more.size:
        return columns
    place = np.concatenate([columns.place, more])

    def grown(values: npt.NDArray[Any], value: float) -> npt.NDArray[Any]:
        return np.concatenate([values, np.full(more.size, value)])

    filled = Columns(
        place=place, query=index.query[place], status=grown(columns.status, FAILED),
        value=grown(columns.value, np.nan), numerator=grown(columns.numerator, np.nan),
        denominator=grown(columns.denominator, np.nan), low=grown(columns.low, np.nan),
        high=grown(columns.high, np.nan), reason=grown(columns.reason, len(columns.reasons)),
        weight=index.weights(place, sampled=columns.sampled),
        cluster=None if index.cluster is None else index.cluster[place],
        reasons=(*columns.reasons, f"{NOT_JUDGED} {judge_id or 'anybody'}"), sampled=columns.sampled,
    )     # fmt: skip
    return filled.take(np.argsort(place, kind="stable"))
