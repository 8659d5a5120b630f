"""How far a judge's means may lie from people's, as far as anybody has measured it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ragauge.stats.instrument import JudgeMeanError, known_by_labels
from ragauge.stats.label_gap import Scored, label_gap

if TYPE_CHECKING:
    from ragauge.store.judges import TextScore
    from ragauge.store.open import Store

# metrics that are 1 less another one, on every example
MIRRORED: Mapping[str, str] = {"unsupported": "faithfulness"}


def judge_errors(judge_id: str | None, store: Store | None = None) -> Mapping[str, JudgeMeanError]:
    """Printed name of a metric -> how far the judge's mean of it errs; a metric that is not there is not known.

    The one place that says so. Of the local judge it is known from public labels. What `ragauge judge check` kept of
    any judge, by the user's own labels, is all that is known of a language model, a hybrid and a judge of the user's
    own; of the local judge it joins what public labels say, by `stats.label_gap.together`.

    Args:
        judge_id: None where nobody judged.
        store: where checks are kept; None = without them.
    """
    if judge_id is None:
        return {}
    found = {} if judge_id.partition(":")[0] != "local" else _public()
    found |= dict(_checked(judge_id, store, found)) if store is not None else {}
    return found | {name: found[other].mirrored() for name, other in MIRRORED.items() if other in found}


def _public() -> dict[str, JudgeMeanError]:
    from ragauge.judging.local.judge import errors

    return dict(errors())


def _checked(judge_id: str, store: Store, public: Mapping[str, JudgeMeanError]) -> Iterator[tuple[str, JudgeMeanError]]:
    """The metrics that the user's labels tell of."""
    scores = store.checks.scores(judge_id)
    if not scores:
        return
    at = {file.digest: file.at for file in store.checks.files(judge_id)}
    for name in dict.fromkeys(one.metric for one in scores):
        mine = [one for one in scores if one.metric == name]
        found = error_of(mine, max(at[one.file] for one in mine), public.get(name))
        if found is not None:
            yield name, found


def error_of(scores: Sequence[TextScore], checked: str, public: JudgeMeanError | None = None) -> JudgeMeanError | None:
    """The error that labelled texts tell of one metric; None for no text.

    Args:
        scores: of one judge and metric, each text once.
        checked: when the last of them was, ISO 8601.
        public: what public labels say; None where they say nothing.
    """
    gap = label_gap(Scored(one.people, one.judge, one.example, one.file, one.labels) for one in scores)
    if gap is None:
        return None
    several = f" in {gap.files:,} files, last" if gap.files > 1 else ","
    origin = f"{gap.labels:,} of your labels{several} checked {checked[:10]}"
    if public is None:
        return known_by_labels(gap, origin, checked)
    return public.checked_by(gap, f"{origin}, with {public.origin}", checked)
