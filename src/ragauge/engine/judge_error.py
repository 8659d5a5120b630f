"""How far a judge's means may lie from people's, as far as anybody has measured it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from ragauge.core.example import Example
from ragauge.core.messages import plural
from ragauge.core.response import Response
from ragauge.engine.people import responses_of
from ragauge.scores.estimation import LEAST_LABELS
from ragauge.scores.judge_usage import listed
from ragauge.scores.label_scores import text_hash
from ragauge.stats.judge_error import JudgeMeanError, known_by_labels
from ragauge.stats.label_gap import LabelGap, Scored, label_gap
from ragauge.text.language import guess
from ragauge.text.table_rows import Layout, layout_of_texts

if TYPE_CHECKING:
    from ragauge.store.judges import LabelFile, TextScore
    from ragauge.store.store_access import Store

SAMPLED = 100  # responses of a run that tell its layouts and languages
# metrics that are 1 less another one, on every example
MIRRORED: Mapping[str, str] = {"unsupported": "faithfulness"}
NAMED = 3  # files of labels that a sentence names


def judge_errors(
    judge_id: str | None, store: Store | None = None, runs: Collection[str] = ()
) -> Mapping[str, JudgeMeanError]:
    """Printed name of a metric -> how far the judge's mean of it errs; a metric that is not there is not known.

    The one place that says so. Of the local judge it is known from public labels, on sources in the layouts and
    languages of the runs before others. What `ragauge judge check` kept of
    any judge, by the user's own labels, is all that is known of a language model, a hybrid and a judge of the user's
    own; of the local judge it joins what public labels say, by `stats.label_gap.together`. From LEAST_LABELS labelled
    answers of the runs themselves on, labels of other answers do not count.

    Args:
        judge_id: None where nobody judged.
        store: where checks are kept; None = without them.
        runs: ids of the runs whose means it is the error of, both of a pair; () = of no run in particular.
    """
    if judge_id is None:
        return {}
    found = _public() if judge_id.partition(":")[0] == "local" else {}
    if found and store is not None:
        mix = _mix(store, runs)
        found = {name: error.of_texts(mix) for name, error in found.items()}
    found |= dict(_checked(judge_id, store, runs, found)) if store is not None else {}
    return found | {name: found[other].mirrored() for name, other in MIRRORED.items() if other in found}


def _public() -> dict[str, JudgeMeanError]:
    from ragauge.judges.local.judge import errors

    return dict(errors())


def layout_and_language(example: Example, response: Response) -> tuple[Layout, str]:
    """What the passages of a response, its answer where there are none, are laid out as, and their language."""
    texts = [passage.text for passage in response.passages or () if passage.text] or [response.answer or ""]
    return layout_of_texts(texts), guess("\n".join((example.query, *texts)))


def _mix(store: Store, runs: Collection[str]) -> dict[tuple[str, str], float]:
    """(layout, language) -> share of the texts of runs, by up to SAMPLED responses of each, in even steps."""
    counts: Counter[tuple[str, str]] = Counter()
    for run_id in runs:
        numbers = store.runs.order(run_id).numbers
        sample = numbers[:: max(1, len(numbers) // SAMPLED)][:SAMPLED]
        counts.update(layout_and_language(item.example, item.response) for item in store.runs.load(sample))
    return {kind: n / counts.total() for kind, n in counts.items()}


def _checked(
    judge_id: str, store: Store, runs: Collection[str], public: Mapping[str, JudgeMeanError]
) -> Iterator[tuple[str, JudgeMeanError]]:
    """The metrics that the user's labels tell of."""
    scores = store.checks.scores(judge_id)
    if not scores:
        return
    files = {file.digest: file for file in store.checks.files(judge_id)}
    own = _answered(store, runs, {one.item for one in scores})
    for name in dict.fromkeys(one.metric for one in scores):
        known = _KnownLabels(name, [one for one in scores if one.metric == name], files, own, _said_of(runs))
        found = known.error(public.get(name))
        if found is not None:
            yield name, found


def _answered(store: Store, runs: Collection[str], labelled: Collection[bytes]) -> frozenset[bytes]:
    """Which of some labelled texts are answers of runs; each run is read as a stream, until all are found."""
    left, found = set(labelled), set[bytes]()
    for item in chain.from_iterable(responses_of(store, run_id) for run_id in runs):
        texts = tuple(one.text or "" for one in item.response.passages or ())
        mine = text_hash(item.example.query, texts, item.response.answer or "")
        if mine in left:
            left.discard(mine)
            found.add(mine)
        if not left:
            break
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class _KnownLabels:
    """What people said of texts that a judge has scored, and which of it counts.

    Attributes:
        metric: printed name.
        scores: of this metric, each text once.
        files: digest -> the file of labels.
        own: texts of scores that are answers of the runs asked about.
        of: whose answers these are, in words; "" = no run is asked about.
    """

    metric: str
    scores: Sequence[TextScore]
    files: Mapping[bytes, LabelFile]
    own: frozenset[bytes]
    of: str

    def error(self, public: JudgeMeanError | None) -> JudgeMeanError | None:
        """The judge's error by the labels that count; None for no text.

        Args:
            public: what public labels say; None where they say nothing.
        """
        mine = [one for one in self.scores if one.item in self.own]
        alone = len(mine) >= LEAST_LABELS
        counted = mine if alone else self.scores
        gap = _gap(counted)
        if gap is None:
            return None
        checked = max(self.files[one.file].at for one in counted)
        whose = f" of {self.of}" if alone else self._whose(mine)
        several = f" in {gap.files:,} files" if gap.files > 1 else ""
        last = "last " if gap.files > 1 else ""
        origin = f"{gap.labels:,} of your labels{several}{whose}, {last}checked {checked[:10]}"
        told = (
            known_by_labels(gap, origin, checked)
            if public is None
            else (public.checked_by(gap, f"{origin}, with {public.origin}", checked))
        )
        return replace(told, disagreement=self._disagreement(counted, gap))

    def _whose(self, mine: Sequence[TextScore]) -> str:
        """Which answers the labels are of, where too few are of the runs'."""
        if not self.of:
            return ""
        others = {one.file for one in self.scores if one.item not in self.own}
        named = listed([self._name(file) for file in self.files if file in others][:NAMED])
        more = f" and {len(others) - NAMED:,} more" if len(others) > NAMED else ""
        if not mine:
            return f", none of {self.of} ({named}{more})"
        few = f"{plural(len(mine), 'answer')} of {self.of}, which count alone from {LEAST_LABELS} on"
        return f" ({few}; the others: {named}{more})" if others else f" ({few})"

    def _disagreement(self, counted: Sequence[TextScore], gap: LabelGap) -> str | None:
        """That files of labels lie farther apart than their labels are uncertain, and how far; None where not."""
        if gap.between <= gap.variance:
            return None
        told = []
        for file in self.files:
            one = _gap([score for score in counted if score.file == file])
            if one is not None:
                side = "above" if one.gap > 0 else "below"
                of = f"{self._name(file)} ({plural(one.examples, 'example')})"
                told.append(f"by {of} people's mean is {abs(one.gap):.2f} {side} the judge's")
        return (
            f"{plural(gap.files, 'file')} of labels disagree on {self.metric}: {listed(told[:NAMED])}. Which of them "
            f"other answers are like is not known, and the interval allows for more such. {LEAST_LABELS} labelled "
            "answers of a run would count alone for that run."
        )

    def _name(self, file: bytes) -> str:
        return self.files[file].name or "a table"


def _said_of(runs: Collection[str]) -> str:
    return "" if not runs else "this run" if len(set(runs)) == 1 else "these runs"


def _gap(scores: Sequence[TextScore]) -> LabelGap | None:
    return label_gap(Scored(one.people, one.judge, one.example, one.file, one.labels) for one in scores)
