"""How far a judge's means may lie from people's, as far as anybody has measured it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from ragauge.core.example import Example
from ragauge.core.messages import format_count
from ragauge.core.response import Response
from ragauge.engine.people import iter_responses
from ragauge.scores.estimation import MIN_LABELS
from ragauge.scores.judge_usage import join_names
from ragauge.scores.label_scores import hash_text
from ragauge.stats.judge_error import JudgeMeanError, build_from_labels
from ragauge.stats.label_gap import LabelGap, ScoredText, label_gap
from ragauge.text.language import guess_language
from ragauge.text.table_rows import Layout, detect_common_layout

if TYPE_CHECKING:
    from ragauge.store.judges import LabelFile, TextScore
    from ragauge.store.store_access import Store

MAX_SAMPLED_RESPONSES = 100  # responses of a run that tell its layouts and languages
# metrics that are 1 less another one, on every example
COMPLEMENT_METRICS: Mapping[str, str] = {"unsupported": "faithfulness"}
MAX_NAMED_FILES = 3  # files of labels that a sentence names


def find_judge_errors(
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
    errors_by_metric = _load_public_errors() if judge_id.partition(":")[0] == "local" else {}
    if errors_by_metric and store is not None:
        mix = _compute_text_mix(store, runs)
        errors_by_metric = {name: error.weight_by_texts(mix) for name, error in errors_by_metric.items()}
    errors_by_metric |= dict(_iter_checked_errors(judge_id, store, runs, errors_by_metric)) if store is not None else {}
    return errors_by_metric | {
        name: errors_by_metric[other].mirror()
        for name, other in COMPLEMENT_METRICS.items()
        if other in errors_by_metric
    }


def _load_public_errors() -> dict[str, JudgeMeanError]:
    from ragauge.judges.local.judge import read_mean_errors

    return dict(read_mean_errors())


def detect_layout_and_language(example: Example, response: Response) -> tuple[Layout, str]:
    """What the passages of a response, its answer where there are none, are laid out as, and their language."""
    texts = [passage.text for passage in response.passages or () if passage.text] or [response.answer or ""]
    return detect_common_layout(texts), guess_language("\n".join((example.query, *texts)))


def _compute_text_mix(store: Store, runs: Collection[str]) -> dict[tuple[str, str], float]:
    """(layout, language) -> share of the texts of runs, by up to SAMPLED responses of each, in even steps."""
    counts: Counter[tuple[str, str]] = Counter()
    for run_id in runs:
        numbers = store.runs.load_order(run_id).numbers
        sample = numbers[:: max(1, len(numbers) // MAX_SAMPLED_RESPONSES)][:MAX_SAMPLED_RESPONSES]
        counts.update(detect_layout_and_language(item.example, item.response) for item in store.runs.load(sample))
    return {kind: n / counts.total() for kind, n in counts.items()}


def _iter_checked_errors(
    judge_id: str, store: Store, runs: Collection[str], public: Mapping[str, JudgeMeanError]
) -> Iterator[tuple[str, JudgeMeanError]]:
    """The metrics that the user's labels tell of."""
    scores = store.checks.scores(judge_id)
    if not scores:
        return
    files = {file.digest: file for file in store.checks.files(judge_id)}
    own_texts = _find_answered_texts(store, runs, {score.item for score in scores})
    for name in dict.fromkeys(score.metric for score in scores):
        known_labels = _KnownLabels(
            name, [score for score in scores if score.metric == name], files, own_texts, _describe_runs(runs)
        )
        judge_error = known_labels.error(public.get(name))
        if judge_error is not None:
            yield name, judge_error


def _find_answered_texts(store: Store, runs: Collection[str], labeled_hashes: Collection[bytes]) -> frozenset[bytes]:
    """Which of some labelled texts are answers of runs; each run is read as a stream, until all are found."""
    remaining, matches = set(labeled_hashes), set[bytes]()
    for item in chain.from_iterable(iter_responses(store, run_id) for run_id in runs):
        texts = tuple(passage.text or "" for passage in item.response.passages or ())
        item_hash = hash_text(item.example.query, texts, item.response.answer or "")
        if item_hash in remaining:
            remaining.discard(item_hash)
            matches.add(item_hash)
        if not remaining:
            break
    return frozenset(matches)


@dataclass(frozen=True, slots=True)
class _KnownLabels:
    """What people said of texts that a judge has scored, and which of it counts."""

    metric: str  #: printed name.
    scores: Sequence[TextScore]  #: of this metric, each text once.
    files: Mapping[bytes, LabelFile]  #: digest -> the file of labels.
    own: frozenset[bytes]  #: texts of scores that are answers of the runs asked about.
    of: str  #: whose answers these are, in words; "" = no run is asked about.

    def error(self, public: JudgeMeanError | None) -> JudgeMeanError | None:
        """The judge's error by the labels that count; None for no text.

        Args:
            public: what public labels say; None where they say nothing.
        """
        own_scores = [score for score in self.scores if score.item in self.own]
        counts_alone = len(own_scores) >= MIN_LABELS
        counted = own_scores if counts_alone else self.scores
        gap = _compute_gap(counted)
        if gap is None:
            return None
        checked = max(self.files[score.file].at for score in counted)
        whose = f" of {self.of}" if counts_alone else self._describe_origin(own_scores)
        file_note = f" in {gap.files:,} files" if gap.files > 1 else ""
        last = "last " if gap.files > 1 else ""
        origin = f"{gap.labels:,} of your labels{file_note}{whose}, {last}checked {checked[:10]}"
        judge_error = (
            build_from_labels(gap, origin, checked)
            if public is None
            else (public.with_labels(gap, f"{origin}, with {public.origin}", checked))
        )
        return replace(judge_error, disagreement=self._describe_disagreement(counted, gap))

    def _describe_origin(self, own_scores: Sequence[TextScore]) -> str:
        """Which answers the labels are of, where too few are of the runs'."""
        if not self.of:
            return ""
        others = {score.file for score in self.scores if score.item not in self.own}
        file_names = join_names([self._get_file_name(file) for file in self.files if file in others][:MAX_NAMED_FILES])
        more = f" and {len(others) - MAX_NAMED_FILES:,} more" if len(others) > MAX_NAMED_FILES else ""
        if not own_scores:
            return f", none of {self.of} ({file_names}{more})"
        few = (
            f"{format_count(len(own_scores), 'answer')} of {self.of}, which are used alone once there are {MIN_LABELS}"
        )
        return f" ({few}; the others: {file_names}{more})" if others else f" ({few})"

    def _describe_disagreement(self, counted: Sequence[TextScore], gap: LabelGap) -> str | None:
        """That files of labels lie farther apart than their labels are uncertain, and how far; None where not."""
        if gap.between <= gap.variance:
            return None
        file_notes = []
        for file in self.files:
            file_gap = _compute_gap([score for score in counted if score.file == file])
            if file_gap is not None:
                direction = "above" if file_gap.gap > 0 else "below"
                of = f"{self._get_file_name(file)} ({format_count(file_gap.examples, 'example')})"
                file_notes.append(
                    f"in {of} the mean of the human labels is {abs(file_gap.gap):.2f} {direction} the judge's"
                )
        return (
            f"{format_count(gap.files, 'file')} of labels disagree on {self.metric}: "
            f"{join_names(file_notes[:MAX_NAMED_FILES])}. Other answers may be like any of them, so the interval "
            f"includes this difference. With {MIN_LABELS} labeled answers of a run, only those are used for that run."
        )

    def _get_file_name(self, file: bytes) -> str:
        return self.files[file].name or "a table"


def _describe_runs(runs: Collection[str]) -> str:
    return "" if not runs else "this run" if len(set(runs)) == 1 else "these runs"


def _compute_gap(scores: Sequence[TextScore]) -> LabelGap | None:
    return label_gap(ScoredText(score.people, score.judge, score.example, score.file, score.labels) for score in scores)
