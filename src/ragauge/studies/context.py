"""What longer contexts do to the answers of a sweep, whom a fixed number of passages favours, what a judge may err."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ragauge.core.identity import canonical
from ragauge.core.messages import number, signed
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import parse
from ragauge.scores.arrays import by_example
from ragauge.scores.estimation import judged_difference, judged_mean
from ragauge.stats.families import looks
from ragauge.studies.effects import ParameterEffect, parameter_effects
from ragauge.studies.figures import StudyFigures, StudyTable, Told

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.scores.arrays import Columns

    Floats = npt.NDArray[np.float64]

TOKENS = "context_tokens"
NUMBERS_OF_PASSAGES = ("k", "top_k", "n_passages")  # parameters that say how many reach the generator
APART = 1.1  # contexts whose lengths differ by more are said to
MOST, FEW = 12, 5  # rows of a table
THIRDS = ("passage_use", "passage_use:part=middle", "passage_use:part=end")


class TrialValues:
    """The scores of one metric, an example a row and a complete trial a column.

    Attributes:
        metric: which.
        names: of the trials.
        own: shape (examples, trials); NaN where there is no score.
        sign: −1 where less is better.
        clusters: shape (examples,), labels; None where every example stands alone.
        parameters: of each trial.
    """

    def __init__(self, found: StudyFigures, metric: Metric) -> None:
        import numpy as np

        self.metric = metric
        self.names = tuple(found.scores)
        columns = [column_of(found, name, str(metric)) for name in self.names]
        self.own: Floats = np.column_stack([one.value for one in columns])
        self.sign = -1.0 if metric.direction == "lower" else 1.0
        self.clusters = columns[0].cluster
        parameters = {trial.name: trial.parameters for trial in found.complete}
        self.parameters = [parameters[name] for name in self.names]


class AskedTrials:
    """All trials of a race that were asked something: the complete ones as in `TrialValues`, then those that fell.

    Attributes:
        names: of the trials.
        own: shape (examples, trials); NaN where there is no score, or where a trial was no longer asked.
        parameters: of each trial.
        dropped: numbers of those that fell.
        n_looks: looks at which they could.
    """

    def __init__(self, found: StudyFigures, values: TrialValues) -> None:
        import numpy as np

        self._trials = {trial.name: trial for trial in found.study.trials}
        ids = next(iter(found.scores.values())).index.query_ids
        place = {query_id: n for n, query_id in enumerate(ids)}
        self.names, columns = list(values.names), [values.own]
        for name, scores in found.fallen.items():
            if (held := scores.column(str(values.metric))) is not None:
                merged, column = by_example(held), np.full(len(ids), np.nan)
                column[[place[scores.index.query_ids[query]] for query in merged.query]] = merged.value
                self.names.append(name)
                columns.append(column)
        self.own: Floats = np.column_stack(columns)
        self.parameters = [self._trials[name].parameters for name in self.names]
        self.dropped = range(len(values.names), len(self.names))
        self.n_looks = len(looks(len(ids) if values.clusters is None else len(np.unique(values.clusters))))

    def costs(self, name: str) -> list[float | None]:
        """What was measured of each trial."""
        return [self._trials[trial].measured(name) for trial in self.names]


def column_of(found: StudyFigures, trial: str, metric: str) -> Columns:
    """The scores of a complete trial by one metric, an entry an example."""
    from ragauge.studies.means import score_column

    return score_column(found.scores[trial], metric)


def context_told(found: StudyFigures) -> Iterator[Told]:
    """Sentences and tables about contexts, and about the judge that read them."""
    if TOKENS in found.names:
        yield from _favoured(found)
        yield from _falls(found)
    if all(name in found.names for name in THIRDS):
        yield from _used(found)
    yield from _judge(found)


def tokens_of(found: StudyFigures) -> dict[str, float]:
    """Complete trial -> mean tokens of its contexts."""
    means = {trial.name: found.mean(trial.name, TOKENS) for trial in found.complete}
    return {name: one.mean for name, one in means.items() if one is not None and one.mean is not None}


def _favoured(found: StudyFigures) -> Iterator[Told]:
    """Trials of the same k whose contexts differ in length by over 10 %."""
    if "budget" in found.study.space:
        return
    tokens = tokens_of(found)
    groups: dict[str, list[str]] = {}
    for trial in found.complete:
        if trial.name in tokens:
            fixed = [f"{name}={trial.parameters[name]}" for name in NUMBERS_OF_PASSAGES if name in trial.parameters]
            groups.setdefault(", ".join(fixed), []).append(trial.name)
    rows, ratios, marked = [], [], 0
    for key, trials in groups.items():
        least, most = min(trials, key=tokens.__getitem__), max(trials, key=tokens.__getitem__)
        if tokens[most] <= APART * tokens[least]:
            continue
        ratios.append((tokens[most] / max(tokens[least], 1e-9), least, most))
        marked += len(trials)
        for name in sorted(trials, key=tokens.__getitem__) if len(trials) <= MOST // len(groups) else (least, most):
            share = tokens[name] / max(tokens[least], 1e-9)
            one = found.mean(name)
            told = "favoured by length" if share > APART else ""
            rows.append(
                (
                    key or "the same",
                    name,
                    f"{tokens[name]:,.0f}",
                    f"{share:.2f}",
                    number(one.mean if one else None),
                    told,
                )
            )
    if not ratios:
        return
    ratio, least, most = max(ratios)
    yield (
        f"Contexts differ in length under a fixed number of passages: {most} hands on {ratio:.1f} times the tokens of "
        f"{least}. A fixed k favours the longer ones in recall and the shorter ones in precision and cost; "
        "--budget TOKENS gives all of them the same room."
    )
    heads = ("passages", "trial", "tokens", "× the least", found.metric, "")
    notes = () if len(rows) == marked else ("Of each number of passages the shortest and the longest contexts alone.",)
    yield StudyTable("Tokens of contexts under a fixed number of passages", heads, tuple(rows), heads[2:5], (), notes)


def _falls(found: StudyFigures) -> Iterator[str]:
    """Metrics of answers that are lower at the greatest value of what lengthens contexts than at a smaller one."""
    metrics = [one for one in map(parse, found.names) if _of_answers(one) or str(one) == "context_recall"]
    tested = [
        (metric, name, effects)
        for metric in metrics
        for name in _lengthening(found)
        if (effects := _against_last(found, metric, name))
    ]
    for metric, name, effects in tested:
        sign = -1.0 if metric.direction == "lower" else 1.0
        sure = [
            one
            for one in effects
            if one.p_value is not None and one.p_value * len(tested) < 0.05 and sign * (one.difference or 0.0) > 0
        ]
        if sure:
            yield _fall(found, metric, name, max(sure, key=lambda one: sign * (one.difference or 0.0)))


def _of_answers(metric: Metric) -> bool:
    return metric.measures != "retrieval" and metric.direction != "neither" and metric.scale != "amount"


def _lengthening(found: StudyFigures) -> Iterator[str]:
    """Parameters with three numbers or more along which contexts grow."""
    tokens = tokens_of(found)
    for name in found.study.space:
        held: dict[float, list[float]] = {}
        for trial in found.complete:
            value = trial.parameters.get(name)
            if isinstance(value, int | float) and not isinstance(value, bool) and trial.name in tokens:
                held.setdefault(float(value), []).append(tokens[trial.name])
        line = [sum(ones) / len(ones) for _, ones in sorted(held.items())]
        if len(line) > 1 and line[-1] > APART * line[0] and all(a <= b for a, b in pairwise(line)):
            yield name


def _against_last(found: StudyFigures, metric: Metric, name: str) -> list[ParameterEffect]:
    """Each smaller value of a parameter against its greatest, trials otherwise equal."""
    values = TrialValues(found, metric)
    last = max(one[name] for one in values.parameters if isinstance(one.get(name), int | float))
    return parameter_effects(values.parameters, values.own, metric, {name: last}, clusters=values.clusters)


def _fall(found: StudyFigures, metric: Metric, name: str, at: ParameterEffect) -> str:
    ends = "" if at.interval is None else f" [{100 * at.interval.low:+.1f}, {100 * at.interval.high:+.1f}]"
    gap = f"{100 * (at.difference or 0.0):+.1f} points{ends} at {name}={at.value} against {name}={at.base}"
    here, there = (_mean_tokens(found, name, value) for value in (at.value, at.base))
    if str(metric) == "faithfulness":
        return f"faithfulness falls as {name} rises ({gap}): what is added is noise to the generator."
    if str(metric) == "context_recall":
        who = str(found.study.fixed.get("judge") or "the judge")
        return (
            f"context_recall falls as {name} rises ({gap}), though contexts grow from {here:,.0f} to {there:,.0f} "
            f"tokens. Either retrieval ranks worse, or {who} reads long passages worse: check it by recall@k on "
            "labels, or by ragauge judge check."
        )
    told = f"{metric} is {gap}, where contexts have {there:,.0f} tokens"
    return f"Beyond {here:,.0f} context tokens answers get worse: {told}."


def _mean_tokens(found: StudyFigures, name: str, value: Any) -> float:
    tokens = tokens_of(found)
    held = [
        tokens[one.name]
        for one in found.complete
        if one.name in tokens and canonical(one.parameters.get(name)) == canonical(value)
    ]
    return sum(held) / max(len(held), 1)


def _used(found: StudyFigures) -> Iterator[Told]:
    """Share of the passages at the start, in the middle and at the end of the context that answers use."""
    import numpy as np

    shown = dict.fromkeys((found.reading.recommendation.trial or "", found.base, *found.reading.best_set))
    rows = []
    for name in [one for one in shown if one in found.scores][:FEW]:
        thirds = np.column_stack([column_of(found, name, third).value for third in THIRDS])
        whole = thirds[~np.isnan(thirds).any(axis=1)]
        if len(whole):
            rows.append((name, *(f"{one:.0%}" for one in whole.mean(axis=0)), f"{len(whole):,}"))
    if rows:
        first, start, middle, end, _ = rows[0]
        yield (
            f"Of the passages handed on by {first}, answers use {start} at the start of the context, {middle} in the "
            f"middle and {end} at its end."
        )
        heads = ("trial", "start", "middle", "end", "examples")
        note = "Over the examples with at least three passages and an answer that claims something."
        yield StudyTable(
            "Passages that answers use, by their place in the context", heads, tuple(rows), heads[1:], (), (note,)
        )


def _judge(found: StudyFigures) -> Iterator[str]:
    """What the mean and the difference that matter may be by people's judgment."""
    error, name = found.errors.get(found.metric), found.reading.recommendation.trial
    name = name or max(found.scores, key=lambda one: _mean(found, one), default=None)
    one = found.mean(name) if name else None
    if error is None or name is None or one is None:
        return
    values = column_of(found, name, found.metric).value
    values = values[values == values]
    wide = judged_mean(one.interval, one.mean, error, values)
    if wide is None:
        return
    told = f"{found.metric} of {name} is {number(one.mean)} as {found.study.fixed.get('judge')} sees it"
    told += f"; by people's judgment it may be [{number(wide.low)}, {number(wide.high)}]"
    gap = judged_difference(one.difference_interval, one.difference or 0.0, error)
    if gap is not None:
        told += f", and the difference to {found.base} [{signed(gap.low)}, {signed(gap.high)}]"
    yield f"{told} (from {error.origin}). The race, and every interval of this page, leave the judge's error out."


def _mean(found: StudyFigures, trial: str) -> float:
    one = found.mean(trial)
    sign = -1.0 if parse(found.metric).direction == "lower" else 1.0
    return -9e9 if one is None or one.mean is None else sign * one.mean
