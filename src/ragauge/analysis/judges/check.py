"""A judge held against people: what it says of what they labelled, and how far both agree. Pure: no model, no store.

Probes of a judge: what changes its verdicts that must not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from ragauge.analysis.estimating import interval_of_rate
from ragauge.analysis.judges.agreement import Agreement, AgreementFigure, agreement, difference, fleiss_kappa
from ragauge.analysis.judges.annotators import alpha, alternatives, ceiling, estimated, majority, on, people_of
from ragauge.analysis.judges.telling import Detection, Probabilities, detection, probabilities
from ragauge.analysis.results.overview import MeanEstimate
from ragauge.data.facts import AnswerFacts, Claim, SupportLabel, Window
from ragauge.data.labelled import SEVERITY, THREE, TWO, AnswerPair, Labelled, LabelledPart, Preference
from ragauge.stats.alternative_annotator import AlternativeAnnotator
from ragauge.stats.instrument import JudgeMeanError

NOTHING = "it finds nothing to check"
ALL_FEWEST = 2     # parts of a segment value that are reported on their own


@dataclass(frozen=True, slots=True)
class PartVerdict:
    """What a judge says of one labelled part.

    Attributes:
        label: None = no verdict.
        reason: why there is none.
        p: the judge's probability that it is supported, where it has one.
        claim: the claim that decided.
        window: the piece of a passage that decided.
    """

    label: SupportLabel | None
    reason: str = ""
    p: float | None = None
    claim: str = ""
    window: Window | None = None


@dataclass(frozen=True, slots=True)
class Took:
    """What the verdicts of one judge took.

    Attributes:
        replies: of models that they rest on, paid for now or before.
        input_tokens: of those replies.
        output_tokens: of those replies.
        cost: of those replies in US dollars; None when a price is unknown.
    """

    replies: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0


@dataclass(frozen=True, slots=True)
class JudgeAnswers:
    """Everything that one judge said, in one way of asking.

    Attributes:
        name: its spec, such as openai:gpt-5-mini.
        mode: fused or per_claim; "" for a judge that knows no such ways.
        judge_id: of the judge.
        verdicts: one tuple a row, one verdict a part.
        took: what it took.
    """

    name: str
    mode: str
    judge_id: str
    verdicts: tuple[tuple[PartVerdict, ...], ...]
    took: Took = Took()


@dataclass(frozen=True, slots=True)
class Differs:
    """A part where judge and people differ."""

    row: Labelled
    part: LabelledPart
    human: str
    verdict: PartVerdict


@dataclass(frozen=True, slots=True)
class CheckedJudge:
    """One judge against people.

    Attributes:
        said: what it said.
        whole: agreement over all parts with a verdict, on the scale of the file.
        supported: the same for supported or not; equal to `whole` where the file knows no more.
        segments: column -> value -> agreement, values in their order.
        without: why there is no verdict -> how many parts.
        detection: how well it finds what people call not supported.
        probabilities: what its probabilities are worth; None where it has none.
        differs: the parts where both differ, worst first.
        alternatives: the alternative-annotator test at each allowance; () with too few annotators or parts.
    """

    said: JudgeAnswers
    whole: Agreement
    supported: Agreement
    segments: Mapping[str, Mapping[str, Agreement]]
    without: Mapping[str, int]
    detection: Detection
    probabilities: Probabilities | None = None
    differs: tuple[Differs, ...] = ()
    alternatives: tuple[AlternativeAnnotator, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgePair:
    """Two judges, or two ways of asking one, against each other on the parts that both have a verdict on.

    Attributes:
        new: place in the list of judges.
        base: place in the list of judges.
        agreement: rows are the base's labels, columns the new one's.
        gain: accuracy against people, new less base, paired.
    """

    new: int
    base: int
    agreement: Agreement
    gain: AgreementFigure


@dataclass(frozen=True, slots=True)
class JudgeCheck:
    """The report of `ragauge judge check`.

    Attributes:
        n_rows: rows read.
        n_parts: labelled parts.
        labels: the scale: two or three labels.
        human: label -> parts that people gave it.
        split: parts on which as many annotators say one thing as another; left out.
        annotators: Fleiss' kappa of the annotators among themselves; None where there is one an item.
        annotators_alpha: Krippendorff's alpha of the same, nominal.
        judges: in the order asked for.
        pairs: of judges.
        stopped: why it ended early; "" when it did not.
        calls: what was called now; empty where no model is asked.
        errors: judge id -> printed name of a metric -> how far its mean errs, by all that was checked so far.
        repeated: further rows of the file, left out since a later one labels the same text.
        bare: rows without passages, on which nothing can be supported.
        ceiling: each annotator against what most of the others say; None where there is one an item.
        estimated: of each judge, the accuracy that the judges' verdicts alone suggest; () of fewer than 3 judges.
    """

    n_rows: int
    n_parts: int
    labels: tuple[str, ...]
    human: Mapping[str, int]
    split: int
    annotators: AgreementFigure | None
    judges: tuple[CheckedJudge, ...]
    pairs: tuple[JudgePair, ...]
    stopped: str = ""
    calls: Mapping[str, float | int | None] = field(default_factory=dict)
    errors: Mapping[str, Mapping[str, JudgeMeanError]] = field(default_factory=dict)
    repeated: int = 0
    bare: int = 0
    annotators_alpha: AgreementFigure | None = None
    ceiling: Agreement | None = None
    estimated: tuple[float, ...] = ()


def verdicts_of(row: Labelled, facts: AnswerFacts | None, reason: str = "") -> tuple[PartVerdict, ...]:
    """What the facts of a row's answer say of each of its parts; facts None = the judge failed, for this reason."""
    if facts is None:
        return tuple(PartVerdict(None, reason or "no verdict") for _ in row.parts)
    return tuple(_verdict(part, facts.claims) for part in row.parts)


def _verdict(part: LabelledPart, claims: Sequence[Claim]) -> PartVerdict:
    """A part is contradicted if one of its claims is, else not in the context if one is not, else supported."""
    mine = [claim for claim in claims if claim.start < part.end and claim.end > part.start]
    if not mine:
        return PartVerdict(None, NOTHING)
    lacking = next((claim for claim in mine if claim.label is None), None)
    if lacking is not None:
        return PartVerdict(None, lacking.reason or "no verdict", claim=lacking.text or "")
    worst: Claim = min(mine, key=lambda claim: (SEVERITY[claim.label or "supported"], claim.p or 0.0))
    return PartVerdict(worst.label, "", worst.p, worst.text or "", worst.window)


def report(
    rows: Sequence[Labelled],
    judged: Sequence[JudgeAnswers],
    stopped: str = "",
    calls: Mapping[str, float | int | None] | None = None,
) -> JudgeCheck:
    """How far each judge agrees with people, and the judges with each other.

    Several annotators count by majority; a part on which they are split is left out and counted. Where one of them
    says only that something is not supported, all labels are read on that scale.

    Args:
        rows: the labelled file.
        judged: what each judge said, in the order of the rows.
        stopped: why it ended early.
        calls: what was called now.
    """
    every = [label for row in rows for part in row.parts for label in part.labels]
    three = "not_supported" not in every and any(label != "supported" for label in every)
    scale = THREE if three else TWO
    parts = [(n, m) for n, row in enumerate(rows) for m in range(len(row.parts))]
    human = [majority([on(label, scale) for label in rows[n].parts[m].labels]) for n, m in parts]
    counts = [[part.count(label) for label in scale] for part in ([on(o, scale) for o in rows[n].parts[m].labels]
              for n, m in parts)]  # fmt: skip
    several = any(sum(row) > 1 for row in counts)
    people = people_of(rows, scale)
    answers = [[on(judge.verdicts[n][m].label, scale) for n, m in parts] for judge in judged]
    groups = [n for n, _ in parts]
    clusters = groups if len(set(groups)) < len(groups) else None
    checked = tuple(
        replace(_checked(judge, rows, parts, human, answer, scale, clusters), alternatives=alternatives(people, answer))
        for judge, answer in zip(judged, answers, strict=True)
    )
    known = Counter(label for label in human if label)
    return JudgeCheck(
        len(rows), len(parts), scale, {label: known.get(label, 0) for label in scale}, human.count(""),
        fleiss_kappa(counts) if several else None, checked, tuple(_pairs(human, answers, scale, clusters)), stopped,
        calls or {}, bare=sum(not row.passages for row in rows),
        annotators_alpha=alpha(people, scale) if several else None,
        ceiling=ceiling(people, scale, groups) if several else None, estimated=estimated(answers),
    )     # fmt: skip


def _checked(
    judged: JudgeAnswers,
    rows: Sequence[Labelled],
    parts: Sequence[tuple[int, int]],
    human: Sequence[str],
    answers: Sequence[str],
    scale: Sequence[str],
    clusters: Sequence[int] | None,
) -> CheckedJudge:
    both = [k for k, (label, other) in enumerate(zip(human, answers, strict=True)) if label and other]
    labelled = [k for k, label in enumerate(human) if label]
    verdict = {k: judged.verdicts[n][m] for k, (n, m) in enumerate(parts)}
    without = Counter(verdict[k].reason for k in labelled if not answers[k])
    columns = dict.fromkeys(name for row in rows for name in row.segments)
    segments = {}
    for name in columns:
        values = sorted({rows[parts[k][0]].segments[name] for k in both if name in rows[parts[k][0]].segments})
        mine = {v: [k for k in both if rows[parts[k][0]].segments.get(name) == v] for v in values}
        segments[name] = {v: _over(ks, human, answers, scale, clusters) for v, ks in mine.items()
                          if len(ks) >= ALL_FEWEST}  # fmt: skip
    differs = [
        Differs(rows[n], rows[n].parts[m], human[k], verdict[k])
        for k in both if human[k] != answers[k] for n, m in [parts[k]]
    ]  # fmt: skip
    plain_human, plain = ([on(label, TWO) if label else "" for label in each] for each in (human, answers))
    right, passed = ([each[k] == "supported" for k in both] for each in (human, answers))
    sure = [(k, p) for k in both if (p := verdict[k].p) is not None]
    return CheckedJudge(
        judged, _over(both, human, answers, scale, clusters), _over(both, plain_human, plain, TWO, clusters), segments,
        dict(without.most_common()), detection(right, passed, _groups(both, clusters)),
        probabilities([human[k] == "supported" for k, _ in sure], [p for _, p in sure],
                      _groups([k for k, _ in sure], clusters)),
        tuple(sorted(differs, key=_badness)),
    )     # fmt: skip


def _groups(places: Sequence[int], clusters: Sequence[int] | None) -> list[int] | None:
    return None if clusters is None else [clusters[k] for k in places]


def _over(
    places: Sequence[int],
    human: Sequence[str],
    answers: Sequence[str],
    scale: Sequence[str],
    clusters: Sequence[int] | None,
) -> Agreement:
    people, judge = ([each[k] for k in places] for each in (human, answers))
    return agreement(people, judge, scale, _groups(places, clusters))


def _badness(differs: Differs) -> tuple[int, float]:
    """What people called wrong and the judge let pass comes first, the surest verdicts of each kind before others."""
    judged, p = differs.verdict.label, differs.verdict.p
    kind = 0 if judged == "supported" else 1 if differs.human == "supported" else 2
    sure = 0.0 if p is None else p if judged == "supported" else 1 - p
    return kind, -sure


def _pairs(
    human: Sequence[str], answers: Sequence[Sequence[str]], scale: Sequence[str], clusters: Sequence[int] | None
) -> list[JudgePair]:
    pairs = []
    for base, new in combinations(range(len(answers)), 2):
        both = [k for k in range(len(human)) if answers[base][k] and answers[new][k]]
        known = [k for k in both if human[k]]
        groups = _groups(known, clusters)
        people, mine, theirs = ([each[k] for k in known] for each in (human, answers[new], answers[base]))
        gain = difference(people, mine, theirs, groups)
        pairs.append(JudgePair(new, base, _over(both, answers[base], answers[new], scale, clusters), gain))
    return pairs


@dataclass(frozen=True, slots=True)
class PositionProbe:
    """Whether the place of an answer changes which one is preferred.

    Attributes:
        n: pairs.
        decided: pairs with a verdict in both orders; the shares below are of these.
        position_flip: share whose verdict the order changed; lower is better.
        first_place: of the flipped, the share in which an answer did better for being shown first: 1 = the first place
            is favoured, 0 = the second, about one half = the judge wavers.
        ties: share that is a tie: said to be alike, or inconsistent.
        agreement: share that agrees with the human preference, over pairs that have one; an inconsistent verdict is a
            tie and so agrees with no preference. Mean None = no human preference.
        flipped: ids of the pairs whose verdict changed.
        undecided: id of a pair without both verdicts -> why.
    """

    n: int
    decided: int
    position_flip: MeanEstimate
    first_place: MeanEstimate
    ties: MeanEstimate
    agreement: MeanEstimate
    flipped: tuple[str, ...]
    undecided: dict[str, str]


def position_probe(
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
        len(pairs), len(both),
        _share(len(flipped), len(both), level),
        _share(sum(_favours_first(preference) for _, preference in flipped), len(flipped), level),
        _share(sum(preference.better == 0 for _, preference in both), len(both), level),
        _share(sum(preference.better == pair.better for pair, preference in labelled), len(labelled), level),
        tuple(pair.query_id for pair, _ in flipped),
        {
            pair.query_id: preference.reason
            for pair, preference in zip(pairs, preferences, strict=True) if not preference.decided
        },
    )     # fmt: skip


def _favours_first(preference: Preference) -> bool:
    """Whether the answer shown first did better in its place than when it was shown second."""
    worth = {1: 1, 0: 0, 2: -1}     # of the file's first answer
    return worth[preference.shown or 0] > worth[preference.swapped or 0]


def _share(count: int, n: int, level: float) -> MeanEstimate:
    return MeanEstimate(count / n if n else None, interval_of_rate(count, n, level), n)
