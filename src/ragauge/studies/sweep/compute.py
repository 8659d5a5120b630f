"""Sweeps of whole systems: what the race came to, which parameters matter, and what is expected on new questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

from ragauge.core.identity import canonical
from ragauge.core.messages import command, number, plural, signed
from ragauge.core.score import STATUSES
from ragauge.core.search_space import called
from ragauge.core.study import Measurement
from ragauge.metrics.catalogue import parse
from ragauge.stats.families import rivalries
from ragauge.stats.selection import expected_on_new
from ragauge.studies.base_tests import with_base_tests
from ragauge.studies.context import AskedTrials, TrialValues, column_of, context_told
from ragauge.studies.effects import EffectSettings, ParameterEffect, interactions, parameter_effects
from ragauge.studies.figures import StudyFigures, StudyKind, StudyTable, Told
from ragauge.studies.means import TrialMean
from ragauge.studies.objective import score_span
from ragauge.studies.recommendation import Recommendation, TrialCosts, cheapest_of_best
from ragauge.studies.sweep.charts import forest_chart, heat_map, precision_recall, race_chart
from ragauge.studies.trial_summary import StudyReading

NOISE = 0.03
DROPPED_PAIRS = (
    "dropped: pairs of which the race stopped asking a trial, on the questions asked by then; what was unlucky there "
    "looks worse than it is, so the p of these rows is multiplied by the number of looks."
)
CONFIRMED = "confirmed_difference"  # a measurement of the trial that was asked what had been held back
COSTS = ("cost", "latency", "context_tokens")


def _tells(summary: StudyFigures) -> Iterable[Told]:
    yield from _race(summary)
    if not summary.scored:
        return
    if unscored := list(_unscored(summary)):
        yield from unscored
        return
    values = TrialValues(summary, parse(summary.metric))
    yield from _base(summary)
    yield from _confirmation(summary)
    yield from _all_zero(summary, values)
    yield from _winner(summary, values)
    yield from _effects(summary, values)
    yield from _idle(summary)
    yield from _segments(summary, values)
    yield from context_told(summary)
    yield from precision_recall(summary)
    yield from heat_map(summary)
    yield from race_chart(summary)


def _race(summary: StudyFigures) -> Iterator[Told]:
    """Who was dropped, when and why, and what that saved."""
    trials = summary.study.trials
    n_asked = {trial.name: int(trial.measured("questions") or 0) for trial in trials}
    most = max(n_asked.values(), default=0)
    pruned = [trial for trial in trials if trial.state == "pruned"]
    if pruned:
        planned, made = most * len(trials), sum(n_asked.values())
        yield (
            f"The race asked {made:,} of {planned:,} questions ({1 - made / planned:.0%} saved): "
            f"{plural(len(pruned), 'trial')} of {len(trials)} surely lost on the way. The chance that the best was "
            "dropped is at most 5 %."
        )
        rows = []
        for trial in sorted(pruned, key=lambda trial: -n_asked[trial.name]):
            rival, by = _fell(trial.reason)
            beaten_by = summary.short(rival) if rival in n_asked else rival
            rows.append((trial.name, f"{n_asked[trial.name]:,}", beaten_by, by))
        heads = ("trial", "questions", "beaten by", "difference")
        notes = (f"Of what beat it: {' · '.join(summary.varied)}.",) if len(summary.varied) > 2 else ()
        yield StudyTable("Dropped on the way", heads, tuple(rows), ("questions", "difference"), (), notes)


def _fell(reason: str) -> tuple[str, str]:
    """The rival, and by how much it is better, of the reason that `Loser` gives."""
    rival, better, by = reason.partition(": ")[2].rpartition(" is better by ")
    return (rival, by) if better else (reason, "–")


def _unscored(summary: StudyFigures) -> Iterator[str]:
    """Why what decides has no score, where it has none."""
    why: Counter[str] = Counter()
    for name in summary.scores:
        column = column_of(summary, name, summary.metric)
        if (column.status == STATUSES.index("scored")).any():
            return
        why.update(column.reasons[number] for number in column.reason.tolist())
    reasons = "; ".join(f"{reason} ({n:,})" for reason, n in why.most_common(3) if reason)
    yield (
        f"{summary.metric} has no score in any trial, so nothing decides: {reasons or 'it applies to no example'}. "
        "Choose another objective, or add to the set what it needs."
    )


def _base(summary: StudyFigures) -> Iterator[str]:
    """Where the base surely loses: that is decided even where what to take is not."""
    trial = summary.base_trial
    if trial is None:
        return
    rest = "" if summary.reading.recommendation.trial else "; which other to take is not decided yet"
    if trial.state == "pruned" and "cannot be better" in trial.reason:
        yield f"The base, {summary.short(trial.name)}, was dropped: {_why_dropped(trial.reason)}."
    elif trial.state == "pruned":
        rival, by = _fell(trial.reason)
        yield f"Leave the base, {summary.short(trial.name)}: it surely loses, to {rival} by {by}{rest}."
    elif trial.state == "complete" and trial.name not in summary.reading.best_set:
        yield f"Leave the base, {summary.short(trial.name)}: another trial is better by more than chance{rest}."


def _why_dropped(reason: str) -> str:
    return reason.partition(": ")[2] or reason


def _confirmed(summary: StudyFigures) -> tuple[str, Measurement, str] | None:
    """The trial that was asked the questions held back, its difference to the base there, and what that shows."""
    for trial in summary.study.trials:
        kept = next((measurement for measurement in trial.measurements if measurement.name == CONFIRMED), None)
        if kept is not None and kept.value is not None:
            sign = -1 if parse(summary.metric).direction == "lower" else 1
            low, high = sorted(sign * (kept.value if end is None else end) for end in (kept.low, kept.high))
            verdict = "confirmed" if low > 0 else "refuted" if high < 0 else "neither confirmed nor refuted"
            return trial.name, kept, verdict
    return None


def _rules(summary: StudyFigures, reading: StudyReading) -> StudyReading:
    """Nothing is recommended that questions held back refute, or whose value all pairs of trials together refute."""
    taken = reading.recommendation.trial
    confirmed = _confirmed(summary) if summary.study.fixed.get("base_trial") else None
    if confirmed is not None and confirmed[2] == "refuted" and taken == confirmed[0]:
        reason = f"{taken} was chosen, and questions held back refute it: keep the base"
        return replace(reading, recommendation=Recommendation(None, reason))
    if taken is None or summary.target is not None or reading.cost != summary.cost:
        return reading
    return replace(reading, recommendation=_not_refuted(summary, reading, reading.recommendation))


def _not_refuted(summary: StudyFigures, reading: StudyReading, taken: Recommendation) -> Recommendation:
    """The recommendation, made among the trials that may be best and that have no value which surely loses.

    A value surely loses where the effect over all pairs of trials matters, and the trial that differs in it alone may
    be the best too, with no lower mean.
    """
    import numpy as np

    values = TrialValues(summary, parse(summary.metric))
    means = dict(zip(values.names, np.nanmean(values.sign * values.own, axis=0).tolist(), strict=True))
    parameters = dict(zip(values.names, values.parameters, strict=True))
    out: dict[str, str] = {}
    for effect in _effects_of(summary, values, AskedTrials(summary, values)):
        if effect.verdict != "matters" or effect.difference is None:
            continue
        is_better = values.sign * effect.difference > 0
        better, worse = (effect.value, effect.base) if is_better else (effect.base, effect.value)
        for name in reading.best_set:
            other = called({**parameters[name], effect.parameter: better})
            has_worse = canonical(parameters[name].get(effect.parameter)) == canonical(worse)
            if has_worse and other in reading.best_set and means[other] >= means[name]:
                pairs = f"over {plural(effect.pairs, 'pair')} of trials together"
                points = f"{100 * abs(effect.difference):.1f} points {pairs}"
                out[name] = f"{effect.parameter}={better} is better than {worse} by {points}"
    if taken.trial not in out:
        return taken
    left = [name for name in reading.best_set if name not in out]
    base = summary.base_trial.name if summary.base_trial is not None else ""
    costs = TrialCosts(reading.cost, summary.costs(reading.cost))
    which = f"left of the {len(reading.best_set)} that may be the best"
    chosen = cheapest_of_best(summary.scores, values.metric, left, costs, means, base=base, which=which)
    return replace(chosen, reason=f"{chosen.reason}; {taken.trial} is not taken: {out[taken.trial]}")


def _tests(summary: StudyFigures, means: tuple[TrialMean, ...]) -> tuple[TrialMean, ...]:
    """The p-values of the test that says which trials may be the best."""
    return with_base_tests(
        means, summary.scores, parse(summary.metric), summary.base, summary.reading, raced=summary.raced
    )


def _confirmation(summary: StudyFigures) -> Iterator[str]:
    """What questions that had no part in the choice say of the trial that was chosen."""
    confirmed = _confirmed(summary)
    if confirmed is None or confirmed[1].value is None:
        return
    trial, kept, verdict = confirmed
    ends = "" if kept.low is None or kept.high is None else f" [{signed(kept.low)}, {signed(kept.high)}]"
    base = str(summary.study.fixed["base_trial"])  # of the sweep, whatever is held against now
    runs = [f"{summary.study.name}-confirm-{name}" for name in (base, trial)]
    beside = "the base" if summary.base in ("", base) else base
    yield (
        f"On {kept.n:,} questions held back {trial} is {signed(confirmed[1].value)}{ends} beside {beside}: {verdict}. "
        f"The two runs: {command('compare', *runs)}"
    )


def _all_zero(summary: StudyFigures, values: TrialValues) -> Iterator[str]:
    """A metric of labels that is 0 everywhere: labels and passages may name documents differently."""
    import numpy as np

    metric = values.metric
    if metric.direction == "higher" and np.nansum(np.abs(values.own)) == 0 and len(values.names) > 1:
        trial = next(trial for trial in summary.complete if trial.name == values.names[0])
        yield (
            f"{summary.metric} is 0 for every example of every trial. Do the labels of the set name documents as the "
            f"system does? ragauge show {trial.run_id} compares them."
        )


def _winner(summary: StudyFigures, values: TrialValues) -> Iterator[str]:
    """What the highest mean is worth on questions that had no part in its choice."""
    if len(values.names) < 2:
        return
    means = {name: summary.mean(name) for name in values.names}
    seen = [mean.mean for mean in means.values() if mean is not None and mean.mean is not None]
    expected = expected_on_new(values.sign * values.own, None, values.clusters)
    if seen and expected is not None:
        top = (min if values.sign < 0 else max)(seen)
        yield (
            f"The best mean seen is {number(top)}; the best of {len(values.names)} is chosen with luck, and on new "
            f"questions {number(values.sign * expected)} is expected of it."
        )


def _effects(summary: StudyFigures, values: TrialValues) -> Iterator[Told]:
    base = _base_values(summary)
    if not base:
        return
    noise, asked_trials = float(summary.study.fixed.get("noise", NOISE)), AskedTrials(summary, values)
    costs = tuple(name for name in COSTS if name in summary.measured)
    effects = _effects_of(summary, values, asked_trials)
    there = {(effect.parameter, canonical(effect.value)) for effect in effects}
    effects += [  # values of which no trial was asked anything
        ParameterEffect(name, value, base[name], 0)
        for name, tried in summary.study.space.items()
        for value in tried
        if name in base and canonical(value) != canonical(base[name]) and (name, canonical(value)) not in there
    ]
    if not any(effect.pairs for effect in effects):
        return
    heads = ("parameter", "value", "instead of", "pairs", str(values.metric), "95 %", *costs, "verdict")
    rows = tuple(_effect_row(effect, costs) for effect in effects)
    yield StudyTable(
        "What each value changes",
        heads,
        rows,
        heads[3:-1],
        (
            "Against the base's value, over all pairs of trials that are otherwise equal, on the questions that both "
            "were asked.",
        ),
        (
            *((DROPPED_PAIRS,) if any(effect.dropped for effect in effects) else ()),
            f"inside the noise: the whole interval lies within ±{100 * noise:g} points; not the bottleneck.",
            "matters is corrected by Holm over all rows, so an interval without 0 may not be enough data.",
        ),
    )
    for interaction in interactions(values.parameters, values.own, values.metric, base, clusters=values.clusters):
        (a, x), (b, y) = interaction.first, interaction.second
        interval = interaction.interval
        within = f" [{100 * interval.low:+.1f}, {100 * interval.high:+.1f}]" if interval else ""
        yield (
            f"{a}={x} and {b}={y} do {100 * interaction.difference:+.1f} points{within} together beyond what each does "
            "alone (false discovery rate 5 %)."
        )
    yield from forest_chart(effects, str(values.metric))


def _effects_of(summary: StudyFigures, values: TrialValues, asked_trials: AskedTrials) -> list[ParameterEffect]:
    """What each value changes; none without a base."""
    return parameter_effects(
        asked_trials.parameters,
        asked_trials.own,
        values.metric,
        _base_values(summary),
        clusters=values.clusters,
        costs={name: asked_trials.costs(name) for name in COSTS if name in summary.measured},
        settings=EffectSettings(
            float(summary.study.fixed.get("noise", NOISE)), frozenset(asked_trials.dropped), asked_trials.n_looks
        ),
    )


def _base_values(summary: StudyFigures) -> Mapping[str, Any]:
    """The parameters of the trial that others are held against; of none, those that the study was made with."""
    return summary.base_trial.parameters if summary.base_trial is not None else summary.study.fixed.get("base") or {}


def _effect_row(effect: ParameterEffect, costs: tuple[str, ...]) -> tuple[str, ...]:
    ends = f"{100 * effect.interval.low:+.1f} to {100 * effect.interval.high:+.1f}" if effect.interval else "–"
    change = "–" if effect.difference is None else f"{100 * effect.difference:+.1f}"
    held: Mapping[str, float] = effect.costs or {}
    spent = (f"{held[name]:+.3g}" if name in held else "–" for name in costs)
    verdict = effect.verdict if effect.pairs else "no pair was asked"
    pairs = f"{effect.pairs} ({effect.dropped} dropped)" if effect.dropped else str(effect.pairs)
    return (effect.parameter, str(effect.value), str(effect.base), pairs, change, ends, *spent, verdict)


def _idle(summary: StudyFigures) -> Iterator[str]:
    """Parameters that change no score and no length of the context."""
    import numpy as np

    metrics = [name for name in summary.names if name not in ("latency", "cost", "tokens")]
    held = {name: [column_of(summary, name, metric).value for metric in metrics] for name in summary.scores}
    parameters = {trial.name: trial.parameters for trial in summary.complete if trial.name in held}
    for name in next(iter(parameters.values()), {}):
        pairs = [
            (first, second)
            for first, second in combinations(parameters, 2)
            if parameters[first].get(name) != parameters[second].get(name)
            and _without(parameters[first], name) == _without(parameters[second], name)
        ]
        same = (
            np.array_equal(x, y, equal_nan=True)
            for first, second in pairs
            for x, y in zip(held[first], held[second], strict=True)
        )
        some = any(len(x) >= 10 and not np.isnan(x).all() for columns in held.values() for x in columns)
        if pairs and some and all(same):
            yield f"{name} changes no score in any pair of trials: does the system use it?"


def _without(parameters: Mapping[str, Any], name: str) -> str:
    return canonical({key: value for key, value in parameters.items() if key != name})


def _segments(summary: StudyFigures, values: TrialValues) -> Iterator[str]:
    """Segments in which the trial that is recommended is surely not the best, trials that fell on the way counted."""
    taken = summary.reading.recommendation.trial
    if taken is None or taken not in values.names or not summary.masks:
        return
    asked_trials = AskedTrials(summary, values)
    names, table = asked_trials.names, values.sign * asked_trials.own
    level = 1 - 0.05 / len(summary.masks)  # of all segments together
    for segment, mask in summary.masks.items():
        clusters = None if values.clusters is None else values.clusters[mask]
        stands = rivalries(table[mask], clusters=clusters, alpha=1 - level, span=score_span(values.metric))
        rivalry = stands[names.index(taken)]
        if rivalry.beaten and rivalry.rival is not None:
            rival = names[rivalry.rival]
            fell = ", which the race dropped for the other segments," if rival in summary.fallen else ""
            yield (
                f"In {segment}, {taken} is surely not the best: {rival}{fell} is better by "
                f"{100 * rivalry.difference:.1f} points there."
            )


BESIDE = ("*", "!passage_use*", *(f"!{name}" for name in COSTS))  # what has a column or a table of its own
SWEEP = StudyKind(
    "sweep",
    (),
    COSTS,
    ("questions", "judge_calls"),
    _tells,
    BESIDE,
    ranked=True,
    rules=_rules,
    tests=_tests,
    tested="p is one-sided, by the test that says which may be the best, over all trials and looks: below 0.05 only "
    "where the worse of the two surely is not the best.",
)
