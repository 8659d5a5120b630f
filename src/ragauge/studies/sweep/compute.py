"""Sweeps of whole systems: what the race came to, which parameters matter, and what is expected on new questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

from ragauge.core.identity import to_canonical_json
from ragauge.core.messages import format_command, format_count, format_signed, format_value
from ragauge.core.score import STATUSES
from ragauge.core.search_space import format_parameters
from ragauge.core.study import Measurement
from ragauge.metrics.catalogue import parse_metric
from ragauge.metrics.reasons import BEATEN, CANNOT_WIN
from ragauge.stats.families import compare_rivals
from ragauge.stats.selection import estimate_on_new
from ragauge.studies.context import RacedTrials, TrialValues, describe_context, get_trial_column
from ragauge.studies.effects import EffectSettings, ParameterEffect, compute_effects, find_interactions
from ragauge.studies.figures import StudyContent, StudyKind, StudySummary, StudyTable
from ragauge.studies.means import TrialMean
from ragauge.studies.recommendation import Recommendation, TrialCosts, recommend_cheapest_best
from ragauge.studies.sweep.charts import build_forest_chart, build_heat_map, build_precision_recall, build_race_chart
from ragauge.studies.trial_summary import StudyReading, add_base_tests, compute_score_span

NOISE = 0.03
DROPPED_PAIRS = (
    "dropped: pairs in which the race dropped a trial, on the questions asked up to then. A trial that was merely "
    "unlucky looks worse than it is, so p in these rows is multiplied by the number of checkpoints."
)
CONFIRMED_MEASUREMENT = "confirmed_difference"  # a measurement of the trial that was asked what had been held back
COSTS = ("cost", "latency", "context_tokens")


def _build_sections(summary: StudySummary) -> Iterable[StudyContent]:
    yield from _describe_race(summary)
    if not summary.scored:
        return
    if unscored := list(_describe_unscored(summary)):
        yield from unscored
        return
    values = TrialValues(summary, parse_metric(summary.metric))
    yield from _describe_base(summary)
    yield from _describe_confirmation(summary)
    yield from _describe_all_zero(summary, values)
    yield from _describe_winner(summary, values)
    yield from _build_effects(summary, values)
    yield from _describe_idle(summary)
    yield from _describe_segments(summary, values)
    yield from describe_context(summary)
    yield from build_precision_recall(summary)
    yield from build_heat_map(summary)
    yield from build_race_chart(summary)


def _describe_race(summary: StudySummary) -> Iterator[StudyContent]:
    """Who was dropped, when and why, and what that saved."""
    trials = summary.study.trials
    n_asked = {trial.name: int(trial.find_measurement_value("questions") or 0) for trial in trials}
    max_questions = max(n_asked.values(), default=0)
    pruned = [trial for trial in trials if trial.state == "pruned"]
    if pruned:
        planned, made = max_questions * len(trials), sum(n_asked.values())
        yield (
            f"The race asked {made:,} of {planned:,} questions ({1 - made / planned:.0%} saved): "
            f"{format_count(len(pruned), 'trial')} of {len(trials)} were dropped as clear losers. The "
            "chance that the best trial was dropped is at most 5 %."
        )
        rows = []
        for trial in sorted(pruned, key=lambda trial: -n_asked[trial.name]):
            rival, by = _parse_loser_reason(trial.reason)
            beaten_by = summary.shorten_name(rival) if rival in n_asked else rival
            rows.append((trial.name, f"{n_asked[trial.name]:,}", beaten_by, by))
        headers = ("trial", "questions", "beaten by", "difference")
        notes = (
            (f"beaten by shows: {' · '.join(summary.varied_parameters)}.",)
            if len(summary.varied_parameters) > 2
            else ()
        )
        yield StudyTable("Trials dropped early", headers, tuple(rows), ("questions", "difference"), (), notes)


def _parse_loser_reason(reason: str) -> tuple[str, str]:
    """The rival, and by how much it is better, of the reason that `Loser` gives."""
    _, _, rival, by = BEATEN.parse_reason(reason) or ("", "", reason, "–")
    return rival, by


def _describe_unscored(summary: StudySummary) -> Iterator[str]:
    """Why what decides has no score, where it has none."""
    reason_counts: Counter[str] = Counter()
    for name in summary.scores:
        column = get_trial_column(summary, name, summary.metric)
        if (column.status == STATUSES.index("scored")).any():
            return
        reason_counts.update(column.reasons[number] for number in column.reason.tolist())
    reasons = "; ".join(f"{reason} ({n:,})" for reason, n in reason_counts.most_common(3) if reason)
    yield (
        f"No trial can be recommended because none has a {summary.metric} score: "
        f"{reasons or 'it applies to no example'}. Choose another objective, or add what it needs to the eval set."
    )


def _describe_base(summary: StudySummary) -> Iterator[str]:
    """Where the base surely loses: that is decided even where what to take is not."""
    trial = summary.base_trial
    if trial is None:
        return
    open_note = "" if summary.reading.recommendation.trial else "; which trial to use instead is not decided yet"
    if trial.state == "pruned" and CANNOT_WIN.parse_reason(trial.reason):
        reason = trial.reason.partition(": ")[2] or trial.reason
        yield f"The base, {summary.shorten_name(trial.name)}, was dropped: {reason}."
    elif trial.state == "pruned":
        rival, by = _parse_loser_reason(trial.reason)
        yield (f"Don't keep the base, {summary.shorten_name(trial.name)}: it loses to {rival} by {by}{open_note}.")
    elif trial.state == "complete" and trial.name not in summary.reading.best_set:
        yield (
            f"Don't keep the base, {summary.shorten_name(trial.name)}: another trial is better by more "
            f"than chance{open_note}."
        )


def _find_confirmation(summary: StudySummary) -> tuple[str, Measurement, str] | None:
    """The trial that was asked the questions held back, its difference to the base there, and what that shows."""
    for trial in summary.study.trials:
        confirmation = next(
            (measurement for measurement in trial.measurements if measurement.name == CONFIRMED_MEASUREMENT), None
        )
        if confirmation is not None and confirmation.value is not None:
            sign = -1 if parse_metric(summary.metric).direction == "lower" else 1
            low, high = sorted(
                sign * (confirmation.value if end is None else end) for end in (confirmation.low, confirmation.high)
            )
            verdict = "confirmed" if low > 0 else "refuted" if high < 0 else "neither confirmed nor refuted"
            return trial.name, confirmation, verdict
    return None


def _apply_rules(summary: StudySummary, reading: StudyReading) -> StudyReading:
    """Nothing is recommended that questions held back refute, or whose value all pairs of trials together refute."""
    taken = reading.recommendation.trial
    confirmed = _find_confirmation(summary) if summary.study.fixed.get("base_trial") else None
    if confirmed is not None and confirmed[2] == "refuted" and taken == confirmed[0]:
        reason = f"{taken} was chosen, but the held-back questions refute it: keep the base"
        return replace(reading, recommendation=Recommendation(None, reason))
    if taken is None or summary.target is not None or reading.cost != summary.cost:
        return reading
    return replace(reading, recommendation=_exclude_refuted(summary, reading, reading.recommendation))


def _exclude_refuted(summary: StudySummary, reading: StudyReading, taken: Recommendation) -> Recommendation:
    """The recommendation, made among the trials that may be best and that have no value which surely loses.

    A value surely loses where the effect over all pairs of trials matters, and the trial that differs in it alone may
    be the best too, with no lower mean.
    """
    import numpy as np

    values = TrialValues(summary, parse_metric(summary.metric))
    means = dict(zip(values.names, np.nanmean(values.sign * values.own, axis=0).tolist(), strict=True))
    parameters = dict(zip(values.names, values.parameters, strict=True))
    out: dict[str, str] = {}
    for effect in _compute_effects(summary, values, RacedTrials(summary, values)):
        if effect.verdict != "matters" or effect.difference is None:
            continue
        is_better = values.sign * effect.difference > 0
        better, worse = (effect.value, effect.base) if is_better else (effect.base, effect.value)
        for name in reading.best_set:
            other = format_parameters({**parameters[name], effect.parameter: better})
            has_worse = to_canonical_json(parameters[name].get(effect.parameter)) == to_canonical_json(worse)
            if has_worse and other in reading.best_set and means[other] >= means[name]:
                pairs = f"over {format_count(effect.pairs, 'pair')} of trials"
                points = f"{100 * abs(effect.difference):.1f} points {pairs}"
                out[name] = f"{effect.parameter}={better} is better than {worse} by {points}"
    if taken.trial not in out:
        return taken
    remaining = [name for name in reading.best_set if name not in out]
    base = summary.base_trial.name if summary.base_trial is not None else ""
    costs = TrialCosts(reading.cost, summary.get_costs(reading.cost))
    which = f"left of the {len(reading.best_set)} that may be best"
    recommendation = recommend_cheapest_best(
        summary.scores, values.metric, remaining, costs, means, base=base, which=which
    )
    return replace(recommendation, reason=f"{recommendation.reason}; {taken.trial} is excluded: {out[taken.trial]}")


def _add_tests(summary: StudySummary, means: tuple[TrialMean, ...]) -> tuple[TrialMean, ...]:
    """The p-values of the test that says which trials may be the best."""
    return add_base_tests(
        means, summary.scores, parse_metric(summary.metric), summary.base, summary.reading, raced=summary.is_raced
    )


def _describe_confirmation(summary: StudySummary) -> Iterator[str]:
    """What questions that had no part in the choice say of the trial that was chosen."""
    confirmed = _find_confirmation(summary)
    if confirmed is None or confirmed[1].value is None:
        return
    trial, measurement, verdict = confirmed
    interval_text = (
        ""
        if measurement.low is None or measurement.high is None
        else f" [{format_signed(measurement.low)}, {format_signed(measurement.high)}]"
    )
    base = str(summary.study.fixed["base_trial"])  # of the sweep, whatever is held against now
    runs = [f"{summary.study.name}-confirm-{name}" for name in (base, trial)]
    base_text = "the base" if summary.base in ("", base) else base
    yield (
        f"On {measurement.n:,} held-back questions, {trial} differs by "
        f"{format_signed(confirmed[1].value)}{interval_text} from {base_text}: {verdict}. To compare the "
        f"two runs: {format_command('compare', *runs)}"
    )


def _describe_all_zero(summary: StudySummary, values: TrialValues) -> Iterator[str]:
    """A metric of labels that is 0 everywhere: labels and passages may name documents differently."""
    import numpy as np

    metric = values.metric
    if metric.direction == "higher" and np.nansum(np.abs(values.own)) == 0 and len(values.names) > 1:
        trial = next(trial for trial in summary.complete if trial.name == values.names[0])
        yield (
            f"{summary.metric} is 0 for every example of every trial. The labels and the system may use "
            f"different document ids; compare them with: ragauge show {trial.run_id}"
        )


def _describe_winner(summary: StudySummary, values: TrialValues) -> Iterator[str]:
    """What the highest mean is worth on questions that had no part in its choice."""
    if len(values.names) < 2:
        return
    means = {name: summary.mean(name) for name in values.names}
    observed_means = [mean.mean for mean in means.values() if mean is not None and mean.mean is not None]
    expected = estimate_on_new(values.sign * values.own, None, values.clusters)
    if observed_means and expected is not None:
        top = (min if values.sign < 0 else max)(observed_means)
        yield (
            f"The best mean is {format_value(top)}. The best of {len(values.names)} trials is partly luck; "
            f"expect {format_value(values.sign * expected)} on new questions."
        )


def _build_effects(summary: StudySummary, values: TrialValues) -> Iterator[StudyContent]:
    base = _get_base_parameters(summary)
    if not base:
        return
    noise, asked_trials = float(summary.study.fixed.get("noise", NOISE)), RacedTrials(summary, values)
    costs = tuple(name for name in COSTS if name in summary.measured)
    effects = _compute_effects(summary, values, asked_trials)
    tested = {(effect.parameter, to_canonical_json(effect.value)) for effect in effects}
    effects += [  # values of which no trial was asked anything
        ParameterEffect(name, value, base[name], 0)
        for name, tried in summary.study.parameter_values.items()
        for value in tried
        if name in base
        and to_canonical_json(value) != to_canonical_json(base[name])
        and (name, to_canonical_json(value)) not in tested
    ]
    if not any(effect.pairs for effect in effects):
        return
    headers = ("parameter", "value", "instead of", "pairs", str(values.metric), "95 %", *costs, "verdict")
    rows = tuple(_build_effect_row(effect, costs) for effect in effects)
    yield StudyTable(
        "Effect of each parameter value",
        headers,
        rows,
        headers[3:-1],
        (
            "Compared with the base value, over all pairs of trials that are otherwise equal, on the "
            "questions that both were asked.",
        ),
        (
            *((DROPPED_PAIRS,) if any(effect.dropped for effect in effects) else ()),
            (f"inside the noise: the whole interval is within ±{100 * noise:g} points; not the bottleneck."),
            ("matters is corrected over all rows (Holm), so an interval without 0 may not be enough."),
        ),
    )
    for interaction in find_interactions(values.parameters, values.own, values.metric, base, clusters=values.clusters):
        (a, x), (b, y) = interaction.first, interaction.second
        interval = interaction.interval
        within = f" [{100 * interval.low:+.1f}, {100 * interval.high:+.1f}]" if interval else ""
        yield (
            f"{a}={x} and {b}={y} together add {100 * interaction.difference:+.1f} points{within} to the "
            "sum of their separate effects (false discovery rate 5 %)."
        )
    yield from build_forest_chart(effects, str(values.metric))


def _compute_effects(summary: StudySummary, values: TrialValues, asked_trials: RacedTrials) -> list[ParameterEffect]:
    """What each value changes; none without a base."""
    return compute_effects(
        asked_trials.parameters,
        asked_trials.own,
        values.metric,
        _get_base_parameters(summary),
        clusters=values.clusters,
        costs={name: asked_trials.list_costs(name) for name in COSTS if name in summary.measured},
        settings=EffectSettings(
            float(summary.study.fixed.get("noise", NOISE)), frozenset(asked_trials.dropped), asked_trials.n_looks
        ),
    )


def _get_base_parameters(summary: StudySummary) -> Mapping[str, Any]:
    """The parameters of the trial that others are held against; of none, those that the study was made with."""
    return summary.base_trial.parameters if summary.base_trial is not None else summary.study.fixed.get("base") or {}


def _build_effect_row(effect: ParameterEffect, costs: tuple[str, ...]) -> tuple[str, ...]:
    interval_text = f"{100 * effect.interval.low:+.1f} to {100 * effect.interval.high:+.1f}" if effect.interval else "–"
    change = "–" if effect.difference is None else f"{100 * effect.difference:+.1f}"
    effect_costs: Mapping[str, float] = effect.costs or {}
    spent = (f"{effect_costs[name]:+.3g}" if name in effect_costs else "–" for name in costs)
    verdict = effect.verdict if effect.pairs else "no pair asked"
    pairs = f"{effect.pairs} ({effect.dropped} dropped)" if effect.dropped else str(effect.pairs)
    return (effect.parameter, str(effect.value), str(effect.base), pairs, change, interval_text, *spent, verdict)


def _describe_idle(summary: StudySummary) -> Iterator[str]:
    """Parameters that change no score and no length of the context."""
    import numpy as np

    metrics = [name for name in summary.names if name not in ("latency", "cost", "tokens")]
    columns_by_trial = {
        name: [get_trial_column(summary, name, metric).value for metric in metrics] for name in summary.scores
    }
    parameters = {trial.name: trial.parameters for trial in summary.complete if trial.name in columns_by_trial}
    for name in next(iter(parameters.values()), {}):
        pairs = [
            (first, second)
            for first, second in combinations(parameters, 2)
            if parameters[first].get(name) != parameters[second].get(name)
            and _drop_parameter(parameters[first], name) == _drop_parameter(parameters[second], name)
        ]
        same = (
            np.array_equal(x, y, equal_nan=True)
            for first, second in pairs
            for x, y in zip(columns_by_trial[first], columns_by_trial[second], strict=True)
        )
        some = any(len(x) >= 10 and not np.isnan(x).all() for columns in columns_by_trial.values() for x in columns)
        if pairs and some and all(same):
            yield f"{name} changes no score in any pair of trials. Check that the system uses it."


def _drop_parameter(parameters: Mapping[str, Any], name: str) -> str:
    return to_canonical_json({key: value for key, value in parameters.items() if key != name})


def _describe_segments(summary: StudySummary, values: TrialValues) -> Iterator[str]:
    """Segments in which the trial that is recommended is surely not the best, trials that fell on the way counted."""
    taken = summary.reading.recommendation.trial
    if taken is None or taken not in values.names or not summary.masks:
        return
    asked_trials = RacedTrials(summary, values)
    names, table = asked_trials.names, values.sign * asked_trials.own
    level = 1 - 0.05 / len(summary.masks)  # of all segments together
    for segment, mask in summary.masks.items():
        clusters = None if values.clusters is None else values.clusters[mask]
        results = compare_rivals(
            table[mask], clusters=clusters, alpha=1 - level, span=compute_score_span(values.metric)
        )
        rivalry = results[names.index(taken)]
        if rivalry.is_beaten and rivalry.rival is not None:
            rival = names[rivalry.rival]
            fell = ", which the race dropped because of other segments," if rival in summary.fallen else ""
            yield (
                f"In {segment}, {taken} is not the best: {rival}{fell} is better by "
                f"{100 * rivalry.difference:.1f} points there."
            )


SIDE_PATTERNS = ("*", "!passage_use*", *(f"!{name}" for name in COSTS))  # what has a column or a table of its own
SWEEP = StudyKind(
    "sweep",
    (),
    COSTS,
    ("questions", "judge_calls"),
    _build_sections,
    SIDE_PATTERNS,
    ranked=True,
    rules=_apply_rules,
    tests=_add_tests,
    tested="p is one-sided, from the test of which trials may be best, over all trials and checkpoints. It is "
    "below 0.05 only if the worse of the two is clearly not the best.",
)
