"""What probes of a judge found: whether what must not matter changes its verdicts, and what must matter does not.

A judge that wavers changes its verdicts by itself. Every probe is held against that: the same text is judged twice, and
only what a probe changes beyond it counts, paired verdict by verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ragauge.core.human_labels import AnswerPair, Preference
from ragauge.core.json_keys import Key, json_keys, key
from ragauge.scores.estimation import compute_gap_interval, compute_rate_interval
from ragauge.scores.results.overview import MeanEstimate
from ragauge.scores.verdict_pairs import SUPPORTED, PairedCases, compute_excess_interval, find_min_alpha
from ragauge.stats.families import holm
from ragauge.stats.weighted import Interval

if TYPE_CHECKING:
    from ragauge.scores.verdict_pairs import PairedCases
    from ragauge.stats.weighted import Interval


@dataclass(frozen=True, slots=True)
class PositionProbe:
    """Whether the place of an answer changes which one is preferred."""

    n: int  #: pairs.
    decided: int  #: pairs with a verdict in both orders; the shares below are of these.
    position_flip: MeanEstimate  #: share whose verdict the order changed; lower is better.
    #: of the flipped, the share in which an answer did better for being shown first: 1 = the first place is favoured, 0
    #: = the second, about one half = the judge wavers.
    first_place: MeanEstimate
    ties: MeanEstimate  #: share that is a tie: said to be alike, or inconsistent.
    #: share that agrees with the human preference, over pairs that have one; an inconsistent verdict is a tie and so
    #: agrees with no preference. Mean None = no human preference.
    agreement: MeanEstimate
    flipped: tuple[str, ...]  #: ids of the pairs whose verdict changed.
    undecided: dict[str, str]  #: id of a pair without both verdicts -> why.


def run_position_probe(
    pairs: Sequence[AnswerPair], preferences: Sequence[Preference], level: float = 0.95
) -> PositionProbe:
    """Compares the verdicts of both orders.

    position_flip = #{pairs whose verdicts differ} / #{pairs with both verdicts}, with Wilson's interval

    Args:
        pairs: what was shown.
        preferences: what the judge said of each, in the same order.
        level: of the intervals.

    Source: Zheng et al. (2023), Judging LLM-as-a-judge, section 3.4: consistency over both orders; an inconsistent
    verdict counts as a tie.
    """
    both = [(pair, preference) for pair, preference in zip(pairs, preferences, strict=True) if preference.decided]
    flipped = [(pair, preference) for pair, preference in both if preference.flipped]
    labelled = [(pair, preference) for pair, preference in both if pair.better is not None]
    return PositionProbe(
        len(pairs),
        len(both),
        _estimate_share(len(flipped), len(both), level),
        _estimate_share(sum(_favors_first(preference) for _, preference in flipped), len(flipped), level),
        _estimate_share(sum(preference.better_answer == 0 for _, preference in both), len(both), level),
        _estimate_share(
            sum(preference.better_answer == pair.better for pair, preference in labelled), len(labelled), level
        ),
        tuple(pair.query_id for pair, _ in flipped),
        {
            pair.query_id: preference.reason
            for pair, preference in zip(pairs, preferences, strict=True)
            if not preference.decided
        },
    )


def _favors_first(preference: Preference) -> bool:
    """Whether the answer shown first did better in its place than when it was shown second."""
    worth = {1: 1, 0: 0, 2: -1}  # of the file's first answer
    return worth[preference.shown or 0] > worth[preference.swapped or 0]


def _estimate_share(count: int, n: int, level: float) -> MeanEstimate:
    return MeanEstimate(count / n if n else None, compute_rate_interval(count, n, level), n)


MIN_FAMILY_VERDICTS = 10  # verdicts of a family below which nothing is said of it


@dataclass(frozen=True, slots=True, eq=False)
class FamilyGap:
    """How much more the judge favours one family than all others."""

    family: str  #: which.
    pairs: PairedCases[Any]  #: judge's and people's verdicts on it.
    others: PairedCases[Any]  #: the same elsewhere.
    chosen: int  #: families that it was chosen from; its interval is as much wider.

    @property
    def value(self) -> float:
        """Mean of judge less people in the family, less that elsewhere."""
        (new, base), (other_new, other_base) = self.pairs.means, self.others.means
        return (new - base) - (other_new - other_base)

    def at(self, level: float) -> Interval | None:
        """The interval of the value, by Bonferroni over the families that it was chosen from."""
        return compute_gap_interval(
            self.pairs.build_samples(), self.others.build_samples(), 1 - (1 - level) / self.chosen
        )


def find_family_gap(families: Sequence[str], pairs: PairedCases[Any], judge_family: str = "") -> FamilyGap | None:
    """The family that is favored most, or `judge_family`, against all others.

    None where no two families have 10 verdicts.

    Args:
        families: of each case; "" = not known, which is left out.
        pairs: judge's and people's verdicts, case by case.
        judge_family: the family that is looked at; "" = the one with the greatest gap.
    """
    counts = Counter(name for name in families if name)
    names = sorted(
        name for name, count in counts.items() if MIN_FAMILY_VERDICTS <= count <= counts.total() - MIN_FAMILY_VERDICTS
    )
    if not names or (judge_family and judge_family not in names):
        return None

    def build_gap(name: str) -> FamilyGap:
        """The gap of one family of systems compared with the others."""
        family_indices = [index for index, family in enumerate(families) if family == name]
        others = [index for index, family in enumerate(families) if family and family != name]
        # of two the gap of one is that of the other turned round: nothing was chosen
        return FamilyGap(
            name, pairs.among(family_indices), pairs.among(others), 1 if judge_family or len(counts) < 3 else len(names)
        )

    return build_gap(judge_family) if judge_family else max(map(build_gap, names), key=lambda family: family.value)


Compares = Literal["again", "flip", "support", "rise", "people", "families"]
ProbeVerdict = Literal["ok", "alarm", "not enough data"]
LEVEL = 0.95
MAX_WORST_CASES = 5  # examples that are named of a probe
DEFAULT_TOLERANCE = 0.05  # share of verdicts that a probe may change beyond the judge's own wavering
# a judge that says otherwise on one text in five has, of evenly mixed verdicts, a kappa with itself of 0.6
WAVERING_TOLERANCE = 0.2
TWO_SIDED_COMPARISONS = ("people", "families")


@dataclass(frozen=True, slots=True)
class ProbeRule:
    """What must hold under a probe, and how it is measured."""

    name: str = field(metadata=key("probe"))  #: of the probe.
    figure: str  #: what its value is called.
    changes: str  #: what the probe changes, in a few words.
    must: str  #: what must hold then.
    compares: Compares  #: how verdicts are compared, see `PairedCases.of`.
    advice: str  #: what to do about an alarm.
    tolerance: float = DEFAULT_TOLERANCE  #: how far the value may lie from 0.
    complement: bool = False  #: the value is shown as 1 less itself: a share of verdicts that stay.
    #: the verdict that is right on the changed text, where another that holds too is milder; "" = any that holds.
    best: str = ""
    if_milder: str = ""  #: what it means where milder verdicts are many. It is no alarm.


@dataclass(frozen=True, slots=True)
class ProbeCase:
    """One verdict that a probe looks at, beside the judge's own two on the unchanged text."""

    example: str  #: id of the example; what is of one example belongs together.
    text: str  #: what was judged: a part of an answer, or both answers of a pair.
    base: str  #: the verdict; "" = none.
    again: str  #: the verdict when it was asked a second time.
    changed: str  #: the verdict on the changed text; of a probe that changes nothing, `base`.
    kind: str = ""  #: of the change, such as number or name.
    shown: str = ""  #: the changed text where it differs from `text`.
    human: str = ""  #: what people say: supported or not_supported; "" = nothing, or they are split.
    family: str = ""  #: who wrote the answer.


@dataclass(frozen=True, slots=True)
class KindTally:
    """The cases of one kind of change, or of one family."""

    kind: str  #: its name.
    n: int  #: cases that count.
    #: of them in which what must hold does not, before the judge's own wavering is taken off; of labels, the mean of
    #: judge less people.
    share: float
    verdicts: Mapping[str, int] = field(default_factory=dict)  #: verdict on the changed text -> cases.


@json_keys(
    "rule value interval tolerance p verdict n examples changed wavering without milder among kinds worst texts",
    texts=Key("rule", at="changes must advice"),
)
@dataclass(frozen=True, slots=True)
class ProbeFinding:
    """What one probe found."""

    rule: ProbeRule = field(metadata=key(at="name figure"))  #: what must hold.
    n: int  #: verdicts that count.
    examples: int  #: that they are of.
    #: how far it does not hold, beyond the judge's own wavering; in [-1, 1], 0 is best (1 where the rule shows the
    #: complement). None = there is no case.
    value: float | None
    #: of the value; None where nothing can be said.
    interval: Interval | None = field(metadata=key(at="low high method"))
    #: share of verdicts in which it does not hold, wavering included; None where there is no case.
    changed: float | None = field(metadata=key("seen"))
    #: the same share of the judge's second asking about the unchanged text, or what the value is held against.
    wavering: float | None = field(metadata=key("by_itself"))
    tolerance: float  #: how far the value may lie from 0.
    p: float  #: the least level at which the value lies beyond the tolerance, by Holm over all probes.
    verdict: ProbeVerdict  #: alarm where the value surely lies beyond the tolerance, ok where its interval lies within.
    kinds: tuple[KindTally, ...] = ()  #: tallies by kind of change, the worst first.
    worst: tuple[ProbeCase, ...] = ()  #: cases to look at, the worst first.
    #: of several families the one that is favoured most; "" elsewhere.
    among: str = field(default="", metadata=key("favoured"))
    without: int = field(default=0, metadata=key("without_verdict"))  #: cases without a verdict, which are left out.
    #: of a rule with a best verdict, share of verdicts in [0, 1] in which what must hold does, by another verdict than
    #: the best; None elsewhere, and where there is no case.
    milder: float | None = None


@json_keys("judge_id examples pairs parts failed reasons findings left_out position stopped calls")
@dataclass(frozen=True, slots=True)
class JudgeProbes:
    """What probes found of a judge."""

    judge_id: str = field(metadata=key("judge"))  #: who was probed.
    examples: int  #: answers that were looked at.
    pairs: int  #: of answers that were compared.
    findings: tuple[ProbeFinding, ...]  #: one a probe, in the order of the catalogue.
    left_out: Mapping[str, str]  #: name of a probe that was not made -> why.
    #: what the order of two answers did, in more numbers; None where no pair was shown.
    position: PositionProbe | None = None
    parts: int = 0  #: of the answers that were looked at: what people labelled, else sentences.
    failed: int = 0  #: of them, those that the judge gave no verdict on.
    #: why it gave none -> of how many examples.
    reasons: Mapping[str, int] = field(default_factory=dict, metadata=key("failures"))
    stopped: str = ""  #: why it ended early; "" when it did not.
    #: facts of the calls made now; empty where no model is asked.
    calls: Mapping[str, float | int | None] = field(default_factory=dict, metadata=key(spread=True))


@dataclass(frozen=True, slots=True)
class _ProbeMeasurement:
    value: float | None
    at: Mapping[str, float | None]  # changed, wavering
    interval: Interval | None
    p: float
    among: str = ""


def build_findings(
    cases: Mapping[str, Sequence[ProbeCase]],
    rules: Sequence[ProbeRule],
    tolerance: float | None = None,
    judge_family: str = "",
) -> tuple[ProbeFinding, ...]:
    """What each probe found, in the order of the rules.

    A probe alarms where the interval of its value lies beyond the tolerance at the level that Holm leaves it among all
    probes; it is ok where its 95 % interval lies within the tolerance; else there is not enough data.

    Args:
        cases: name of a probe -> its cases.
        rules: of the probes that were made.
        tolerance: for all probes but that of wavering itself; None = each its own.
        judge_family: the family that the judge belongs to; "" = the one that it favours most is looked at.
    """
    limits = [
        WAVERING_TOLERANCE if rule.compares == "again" else rule.tolerance if tolerance is None else tolerance
        for rule in rules
    ]
    counted = [PairedCases.of(rule.compares, cases.get(rule.name, ())) for rule in rules]
    measured = [
        _measure_probe(rule, pairs, limit, judge_family)
        for rule, pairs, limit in zip(rules, counted, limits, strict=True)
    ]
    adjusted = holm([measurement.p for measurement in measured])
    return tuple(
        _build_finding(rule, pairs, limit, measurement, p)
        for rule, pairs, limit, measurement, p in zip(rules, counted, limits, measured, adjusted, strict=True)
    )


def _measure_probe(
    rule: ProbeRule, pairs: PairedCases[ProbeCase], limit: float, judge_family: str
) -> _ProbeMeasurement:
    if rule.compares == "families":
        gap = find_family_gap([case.family for case in pairs.cases], pairs, judge_family)
        if gap is None:
            return _ProbeMeasurement(None, {}, None, 1.0)
        return _ProbeMeasurement(
            gap.value, {}, gap.at(LEVEL), find_min_alpha(gap.at, limit, two_sided=True), gap.family
        )
    if not pairs.cases:
        return _ProbeMeasurement(None, {}, None, 1.0)

    def interval_at(level: float) -> Interval | None:
        """The interval of the value at one level."""
        return compute_excess_interval(pairs, level)

    new, base = pairs.means
    two_sided = rule.compares in TWO_SIDED_COMPARISONS
    return _ProbeMeasurement(
        new - base,
        {"changed": new, "wavering": base},
        interval_at(LEVEL),
        find_min_alpha(interval_at, limit, two_sided),
    )


def _build_finding(
    rule: ProbeRule, pairs: PairedCases[ProbeCase], limit: float, measured: _ProbeMeasurement, p: float
) -> ProbeFinding:
    value, interval = measured.value, measured.interval
    verdict: ProbeVerdict = "not enough data"
    if interval is not None:
        low = -limit if rule.compares in TWO_SIDED_COMPARISONS else -1.0
        if p <= 1 - LEVEL:
            verdict = "alarm"
        elif low <= interval.low and interval.high <= limit:
            verdict = "ok"
    if rule.complement and value is not None:
        value = 1 - value
        interval = interval and Interval(1 - interval.high, 1 - interval.low, interval.method, interval.level)
    return ProbeFinding(
        rule,
        len(pairs.cases),
        len(set(pairs.clusters)),
        value,
        interval,
        measured.at.get("changed"),
        measured.at.get("wavering"),
        limit,
        p,
        verdict,
        _tally_kinds(rule, pairs),
        _select_worst(rule, pairs),
        measured.among,
        pairs.without,
        _compute_milder_share(rule, pairs),
    )


def _compute_milder_share(rule: ProbeRule, pairs: PairedCases[ProbeCase]) -> float | None:
    if not rule.best or not pairs.cases:
        return None
    milder = sum(not new and case.changed != rule.best for new, case in zip(pairs.new, pairs.cases, strict=True))
    return milder / len(pairs.cases)


def _tally_kinds(rule: ProbeRule, pairs: PairedCases[ProbeCase]) -> tuple[KindTally, ...]:
    """By kind of change, or by family, where there are several."""
    names = [case.family if rule.compares == "families" else case.kind for case in pairs.cases]
    tallies = []
    for kind in dict.fromkeys(names):
        indices = [index for index, name in enumerate(names) if name == kind]
        share = sum(pairs.new[index] for index in indices) / len(indices)
        if rule.compares in TWO_SIDED_COMPARISONS:
            share -= sum(pairs.base[index] for index in indices) / len(indices)
        verdicts = Counter(pairs.cases[index].changed for index in indices)
        tallies.append(KindTally(kind, len(indices), share, dict(verdicts.most_common())))
    return tuple(sorted(tallies, key=lambda tally: -tally.share)) if len(tallies) > 1 else ()


def _select_worst(rule: ProbeRule, pairs: PairedCases[ProbeCase]) -> tuple[ProbeCase, ...]:
    """Cases in which what must hold does not though the judge was steady.

    What it calls supported comes before others, and of each example one before its others.
    """
    both = zip(pairs.new, pairs.base, pairs.cases, strict=True)
    violations = [
        case for new, base, case in both if new > base or (rule.compares in TWO_SIDED_COMPARISONS and new < base)
    ]
    first = {case.example: index for index, case in reversed(list(enumerate(violations)))}
    ranked = sorted(
        range(len(violations)),
        key=lambda number: (violations[number].changed != SUPPORTED, first[violations[number].example] != number),
    )
    return tuple(violations[index] for index in ranked[:MAX_WORST_CASES])
