"""What longer contexts do to the answers of a sweep, whom a fixed number of passages favours, what a judge may err."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ragauge.core.identity import to_canonical_json
from ragauge.core.messages import format_signed, format_value
from ragauge.metrics.base import Metric
from ragauge.metrics.catalogue import parse_metric
from ragauge.scores.arrays import merge_repeats
from ragauge.scores.estimation import compute_judged_difference, compute_judged_mean
from ragauge.stats.families import plan_checkpoints
from ragauge.studies.effects import ParameterEffect, compute_effects
from ragauge.studies.figures import StudyContent, StudySummary, StudyTable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.scores.arrays import Columns

    Floats = npt.NDArray[np.float64]

TOKENS = "context_tokens"
PASSAGE_COUNT_PARAMETERS = ("k", "top_k", "n_passages")  # parameters that say how many reach the generator
MIN_LENGTH_RATIO = 1.1  # contexts whose lengths differ by more are said to
MAX_ROWS, MAX_USE_ROWS = 12, 5  # rows of a table
PASSAGE_USE_METRICS = ("passage_use", "passage_use:part=middle", "passage_use:part=end")


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

    def __init__(self, summary: StudySummary, metric: Metric) -> None:
        import numpy as np

        self.metric = metric
        self.names = tuple(summary.scores)
        columns = [get_trial_column(summary, name, str(metric)) for name in self.names]
        self.own: Floats = np.column_stack([column.value for column in columns])
        self.sign = -1.0 if metric.direction == "lower" else 1.0
        self.clusters = columns[0].cluster
        parameters = {trial.name: trial.parameters for trial in summary.complete}
        self.parameters = [parameters[name] for name in self.names]


class RacedTrials:
    """All trials of a race that were asked something: the complete ones as in `TrialValues`, then those that fell.

    Attributes:
        names: of the trials.
        own: shape (examples, trials); NaN where there is no score, or where a trial was no longer asked.
        parameters: of each trial.
        dropped: numbers of those that fell.
        n_looks: looks at which they could.
    """

    def __init__(self, summary: StudySummary, values: TrialValues) -> None:
        import numpy as np

        self._trials = {trial.name: trial for trial in summary.study.trials}
        ids = next(iter(summary.scores.values())).index.query_ids
        row_by_id = {query_id: n for n, query_id in enumerate(ids)}
        self.names, columns = list(values.names), [values.own]
        for name, scores in summary.fallen.items():
            if (metric_scores := scores.column(str(values.metric))) is not None:
                merged, column = merge_repeats(metric_scores), np.full(len(ids), np.nan)
                column[[row_by_id[scores.index.query_ids[query]] for query in merged.query]] = merged.value
                self.names.append(name)
                columns.append(column)
        self.own: Floats = np.column_stack(columns)
        self.parameters = [self._trials[name].parameters for name in self.names]
        self.dropped = range(len(values.names), len(self.names))
        self.n_looks = len(plan_checkpoints(len(ids) if values.clusters is None else len(np.unique(values.clusters))))

    def list_costs(self, name: str) -> list[float | None]:
        """What was measured of each trial."""
        return [self._trials[trial].find_measurement_value(name) for trial in self.names]


def get_trial_column(summary: StudySummary, trial: str, metric: str) -> Columns:
    """The scores of a complete trial by one metric, an entry an example."""
    from ragauge.studies.means import get_score_column

    return get_score_column(summary.scores[trial], metric)


def describe_context(summary: StudySummary) -> Iterator[StudyContent]:
    """Sentences and tables about contexts, and about the judge that read them."""
    if TOKENS in summary.names:
        yield from _describe_length_bias(summary)
        yield from _describe_falls(summary)
    if all(name in summary.names for name in PASSAGE_USE_METRICS):
        yield from _describe_passage_use(summary)
    yield from _describe_judge_error(summary)


def compute_context_tokens(summary: StudySummary) -> dict[str, float]:
    """Complete trial -> mean tokens of its contexts."""
    means = {trial.name: summary.mean(trial.name, TOKENS) for trial in summary.complete}
    return {name: mean.mean for name, mean in means.items() if mean is not None and mean.mean is not None}


def _describe_length_bias(summary: StudySummary) -> Iterator[StudyContent]:
    """Trials of the same k whose contexts differ in length by over 10 %."""
    if "budget" in summary.study.parameter_values:
        return
    tokens = compute_context_tokens(summary)
    groups: dict[str, list[str]] = {}
    for trial in summary.complete:
        if trial.name in tokens:
            fixed = [
                f"{name}={trial.parameters[name]}" for name in PASSAGE_COUNT_PARAMETERS if name in trial.parameters
            ]
            groups.setdefault(", ".join(fixed), []).append(trial.name)
    rows, ratios, marked = [], [], 0
    for key, trials in groups.items():
        shortest, longest = min(trials, key=tokens.__getitem__), max(trials, key=tokens.__getitem__)
        if tokens[longest] <= MIN_LENGTH_RATIO * tokens[shortest]:
            continue
        ratios.append((tokens[longest] / max(tokens[shortest], 1e-9), shortest, longest))
        marked += len(trials)
        for name in (
            sorted(trials, key=tokens.__getitem__) if len(trials) <= MAX_ROWS // len(groups) else (shortest, longest)
        ):
            share = tokens[name] / max(tokens[shortest], 1e-9)
            mean = summary.mean(name)
            note = "favored by length" if share > MIN_LENGTH_RATIO else ""
            rows.append(
                (
                    key or "same",
                    name,
                    f"{tokens[name]:,.0f}",
                    f"{share:.2f}",
                    format_value(mean.mean if mean else None),
                    note,
                )
            )
    if not ratios:
        return
    ratio, shortest, longest = max(ratios)
    yield (
        f"Contexts differ in length at the same number of passages: {longest} passes {ratio:.1f} times as many "
        f"tokens to the generator as {shortest}. A fixed k favors long contexts in recall and short ones in precision "
        "and cost; --budget TOKENS limits all of them to the same length."
    )
    headers = ("passages", "trial", "tokens", "× shortest", summary.metric, "")
    notes = () if len(rows) == marked else ("Shows only the shortest and longest contexts per number of passages.",)
    yield StudyTable("Context length at a fixed number of passages", headers, tuple(rows), headers[2:5], (), notes)


def _describe_falls(summary: StudySummary) -> Iterator[str]:
    """Metrics of answers that are lower at the greatest value of what lengthens contexts than at a smaller one."""
    metrics = [
        item for item in map(parse_metric, summary.names) if _is_answer_metric(item) or str(item) == "context_recall"
    ]
    tested = [
        (metric, name, effects)
        for metric in metrics
        for name in _find_lengthening_parameters(summary)
        if (effects := _compare_with_greatest(summary, metric, name))
    ]
    for metric, name, effects in tested:
        sign = -1.0 if metric.direction == "lower" else 1.0
        sure = [
            item
            for item in effects
            if item.p_value is not None and item.p_value * len(tested) < 0.05 and sign * (item.difference or 0.0) > 0
        ]
        if sure:
            yield _describe_fall(summary, metric, name, max(sure, key=lambda item: sign * (item.difference or 0.0)))


def _is_answer_metric(metric: Metric) -> bool:
    return metric.measures != "retrieval" and metric.direction != "neither" and metric.scale != "amount"


def _find_lengthening_parameters(summary: StudySummary) -> Iterator[str]:
    """Parameters with three numbers or more along which contexts grow."""
    tokens = compute_context_tokens(summary)
    for name in summary.study.parameter_values:
        tokens_by_value: dict[float, list[float]] = {}
        for trial in summary.complete:
            value = trial.parameters.get(name)
            if isinstance(value, int | float) and not isinstance(value, bool) and trial.name in tokens:
                tokens_by_value.setdefault(float(value), []).append(tokens[trial.name])
        line = [sum(ones) / len(ones) for _, ones in sorted(tokens_by_value.items())]
        if len(line) > 1 and line[-1] > MIN_LENGTH_RATIO * line[0] and all(a <= b for a, b in pairwise(line)):
            yield name


def _compare_with_greatest(summary: StudySummary, metric: Metric, name: str) -> list[ParameterEffect]:
    """Each smaller value of a parameter against its greatest, trials otherwise equal."""
    values = TrialValues(summary, metric)
    last = max(parameters[name] for parameters in values.parameters if isinstance(parameters.get(name), int | float))
    return compute_effects(values.parameters, values.own, metric, {name: last}, clusters=values.clusters)


def _describe_fall(summary: StudySummary, metric: Metric, name: str, effect: ParameterEffect) -> str:
    interval_text = (
        "" if effect.interval is None else f" [{100 * effect.interval.low:+.1f}, {100 * effect.interval.high:+.1f}]"
    )
    gap = (
        f"{100 * (effect.difference or 0.0):+.1f} points{interval_text} at {name}={effect.value} compared "
        f"with {name}={effect.base}"
    )
    value_tokens, base_tokens = (_compute_mean_tokens(summary, name, value) for value in (effect.value, effect.base))
    if str(metric) == "faithfulness":
        return f"faithfulness falls as {name} rises ({gap}): the added passages are noise to the generator."
    if str(metric) == "context_recall":
        who = str(summary.study.fixed.get("judge") or "the judge")
        return (
            f"context_recall falls as {name} rises ({gap}), though contexts grow from {value_tokens:,.0f} "
            f"to {base_tokens:,.0f} tokens. Either retrieval ranks worse, or {who} reads long passages "
            "less well. To find out, check recall@k on labels or run ragauge judge check."
        )
    difference_text = f"{metric} is {gap}, with {base_tokens:,.0f} context tokens"
    return f"Answers get worse beyond {value_tokens:,.0f} context tokens: {difference_text}."


def _compute_mean_tokens(summary: StudySummary, name: str, value: Any) -> float:
    tokens = compute_context_tokens(summary)
    token_counts = [
        tokens[trial.name]
        for trial in summary.complete
        if trial.name in tokens and to_canonical_json(trial.parameters.get(name)) == to_canonical_json(value)
    ]
    return sum(token_counts) / max(len(token_counts), 1)


def _describe_passage_use(summary: StudySummary) -> Iterator[StudyContent]:
    """Share of the passages at the start, in the middle and at the end of the context that answers use."""
    import numpy as np

    trial_names = dict.fromkeys((summary.reading.recommendation.trial or "", summary.base, *summary.reading.best_set))
    rows = []
    for name in [item for item in trial_names if item in summary.scores][:MAX_USE_ROWS]:
        thirds = np.column_stack([get_trial_column(summary, name, third).value for third in PASSAGE_USE_METRICS])
        complete = thirds[~np.isnan(thirds).any(axis=1)]
        if len(complete):
            rows.append((name, *(f"{item:.0%}" for item in complete.mean(axis=0)), f"{len(complete):,}"))
    if rows:
        first, start, middle, end, _ = rows[0]
        yield (
            f"With {first}, answers use {start} of the passages at the start of the context, {middle} of "
            f"those in the middle and {end} of those at the end."
        )
        headers = ("trial", "start", "middle", "end", "examples")
        note = "Only examples with at least three passages and an answer that makes a claim are counted."
        yield StudyTable(
            "Passages used by answers, by position in the context", headers, tuple(rows), headers[1:], (), (note,)
        )


def _describe_judge_error(summary: StudySummary) -> Iterator[str]:
    """What the mean and the difference that matter may be by people's judgment."""
    error, name = summary.errors.get(summary.metric), summary.reading.recommendation.trial
    name = name or max(summary.scores, key=lambda mean: _compute_signed_mean(summary, mean), default=None)
    mean = summary.mean(name) if name else None
    if error is None or name is None or mean is None:
        return
    values = get_trial_column(summary, name, summary.metric).value
    values = values[values == values]
    wide = compute_judged_mean(mean.interval, mean.mean, error, values)
    if wide is None:
        return
    text = f"{summary.study.fixed.get('judge')} puts {summary.metric} of {name} at {format_value(mean.mean)}"
    text += f"; human labels would put it in [{format_value(wide.low)}, {format_value(wide.high)}]"
    gap = compute_judged_difference(mean.difference_interval, mean.difference or 0.0, error)
    if gap is not None:
        text += f" and its difference from {summary.base} in [{format_signed(gap.low)}, {format_signed(gap.high)}]"
    yield f"{text} (from {error.origin}). The race and all intervals on this page exclude the judge's error."


def _compute_signed_mean(summary: StudySummary, trial: str) -> float:
    mean = summary.mean(trial)
    sign = -1.0 if parse_metric(summary.metric).direction == "lower" else 1.0
    return -9e9 if mean is None or mean.mean is None else sign * mean.mean
