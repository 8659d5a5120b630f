"""A judge held against people: what it says of what they labelled, and how far both agree. Pure: no model, no store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from ragauge.core.facts import AnswerFacts, Claim, Window
from ragauge.core.human_labels import SEVERITY, THREE_LABELS, TWO_LABELS, HumanLabel, LabeledAnswer, LabeledPart
from ragauge.core.json_keys import Key, json_keys, key
from ragauge.scores.agreement import (
    Agreement,
    AgreementFigure,
    Basis,
    compare_accuracy,
    compute_agreement,
    compute_fleiss_kappa,
)
from ragauge.scores.annotators import (
    compute_alphas,
    compute_ceiling,
    find_majority,
    list_annotator_labels,
    map_to_scale,
    run_alternative_tests,
)
from ragauge.scores.detection_quality import Detection, Probabilities, assess_probabilities, measure_detection
from ragauge.scores.label_scores import hash_example
from ragauge.stats.agreement import AlternativeAnnotator, Scale
from ragauge.stats.judge_error import JudgeMeanError

RECORDED_PREFIX = "recorded:"  # begins the id of a judge whose verdicts stand in the labelled file
NO_CLAIMS_REASON = "it finds nothing to check"
MIN_SEGMENT_PARTS = 2  # parts of a segment value that are reported on their own


@json_keys("verdict p claim passage", view="differs", verdict="label", passage=Key("window", at="passage"))
@dataclass(frozen=True, slots=True)
class PartVerdict:
    """What a judge says of one labelled part."""

    label: HumanLabel | None  #: None = no verdict.
    reason: str = ""  #: why there is none.
    p: float | None = None  #: the judge's probability that it is supported, where it has one.
    claim: str = ""  #: the claim that decided.
    window: Window | None = None  #: the piece of a passage that decided.


@dataclass(frozen=True, slots=True)
class VerdictCost:
    """What the verdicts of one judge took."""

    replies: int = 0  #: of models that they rest on, paid for now or before.
    input_tokens: int = 0  #: of those replies.
    output_tokens: int = 0  #: of those replies.
    cost: float | None = 0.0  #: of those replies in US dollars; None when a price is unknown.


@dataclass(frozen=True, slots=True)
class JudgeAnswers:
    """Everything that one judge said, in one way of asking."""

    name: str = field(metadata=key("judge"))  #: its spec, such as openai:gpt-5-mini.
    mode: str  #: fused or per_claim; "" for a judge that knows no such ways.
    judge_id: str  #: of the judge.
    verdicts: tuple[tuple[PartVerdict, ...], ...]  #: one tuple a row, one verdict a part.
    took: VerdictCost = VerdictCost()  #: what it took.

    @property
    def is_recorded(self) -> bool:
        """Whether it was asked elsewhere, and its verdicts stand in the file."""
        return self.judge_id.startswith(RECORDED_PREFIX)


@json_keys("row text human part verdict window")
@dataclass(frozen=True, slots=True)
class Differs:
    """A part where judge and people differ."""

    row: LabeledAnswer = field(metadata=key(at="query_id line query"))
    part: LabeledPart = field(metadata=key("annotators", at="labels"))
    human: str
    verdict: PartVerdict = field(metadata=key(view="differs", spread=True))

    @property
    def text(self) -> str:
        """The part of the answer that is labelled."""
        return self.row.answer[self.part.start : self.part.end]

    @property
    def window(self) -> str:
        """The text of the passage that decided; "" for none."""
        window = self.verdict.window
        return "" if window is None else self.row.passages[window.passage - 1][window.start : window.end]


@json_keys(
    "answers whole supported detection probabilities segments error no_verdict without took alternatives alphas "
    "differs",
    took=Key("answers", at="took"),
)
@dataclass(frozen=True, slots=True)
class CheckedJudge:
    """One judge against people."""

    answers: JudgeAnswers = field(metadata=key(at="name mode judge_id"))  #: what it said.
    #: agreement over all parts with a verdict, on the scale of the file; on two labels where the judge knows no more.
    whole: Agreement = field(metadata=key(spread=True))
    #: the same for supported or not; equal to `whole` where that has two labels.
    supported: Agreement = field(metadata=key("supported_or_not"))
    segments: Mapping[str, Mapping[str, Agreement]]  #: column -> value -> agreement, values in their order.
    #: why there is no verdict -> how many parts.
    without: Mapping[str, int] = field(metadata=key("no_verdict_reasons"))
    detection: Detection  #: how well it finds what people call not supported.
    probabilities: Probabilities | None = None  #: what its probabilities are worth; None where it has none.
    differs: tuple[Differs, ...] = ()  #: the parts where both differ, worst first.
    #: the alternative-annotator test at each allowance; () with too few annotators or parts.
    alternatives: tuple[AlternativeAnnotator, ...] = field(default=(), metadata=key("alternative_annotator"))
    #: Krippendorff's alpha with the judge as one more annotator, by scale of differences.
    alphas: Mapping[Scale, AgreementFigure] = field(default_factory=dict)
    #: row and part -> whether both say the same of supported or not; of parts with a label and a verdict.
    right: Mapping[tuple[int, int], bool] = field(default_factory=dict)
    #: printed name of a metric -> how far its mean lies from people's; empty but in the JSON of a check.
    error: Mapping[str, JudgeMeanError] = field(default_factory=dict)

    @property
    def no_verdict(self) -> int:
        """Parts without a verdict."""
        return sum(self.without.values())


@dataclass(frozen=True, slots=True)
class JudgePair:
    """Two judges, or two ways of asking one, against each other on the parts that both have a verdict on."""

    new: int  #: place in the list of judges.
    base: int  #: place in the list of judges.
    agreement: Agreement  #: rows are the base's labels, columns the new one's.
    gain: AgreementFigure  #: accuracy against people, new less base, paired.


@json_keys(
    "n_rows n_parts labels human repeated bare split annotators annotators_alpha ceiling weighted cross_fitted "
    "judges pairs stopped calls",
    judges="judges_with_errors",
    pairs="named_pairs",
)
@dataclass(frozen=True, slots=True)
class JudgeCheck:
    """The report of `ragauge judge check`."""

    n_rows: int = field(metadata=key("rows"))  #: rows read.
    n_parts: int = field(metadata=key("parts"))  #: labelled parts.
    labels: tuple[str, ...]  #: the scale of people's labels: two or three.
    human: Mapping[str, int]  #: label -> parts that people gave it.
    split: int  #: parts on which as many annotators say one thing as another; left out.
    #: Fleiss' kappa of the annotators among themselves; None where there is one an item.
    annotators: AgreementFigure | None = field(metadata=key("annotators_kappa", at="value"))
    judges: tuple[CheckedJudge, ...]  #: in the order asked for.
    pairs: tuple[JudgePair, ...]  #: of judges.
    stopped: str = ""  #: why it ended early; "" when it did not.
    #: what was called now; empty where no model is asked.
    calls: Mapping[str, float | int | None] = field(default_factory=dict, metadata=key(spread=True))
    #: judge id -> printed name of a metric -> how far its mean errs, by all that was checked so far.
    errors: Mapping[str, Mapping[str, JudgeMeanError]] = field(default_factory=dict)
    #: further rows of the file, left out since a later one labels the same text.
    repeated: int = field(default=0, metadata=key("repeated_rows"))
    #: rows without passages, on which nothing can be supported.
    bare: int = field(default=0, metadata=key("rows_without_passages"))
    #: Krippendorff's alpha of the same, by scale of differences; empty where there is one an item.
    annotators_alpha: Mapping[Scale, AgreementFigure] = field(default_factory=dict)
    #: each annotator against what most of the others say; None where there is one an item.
    ceiling: Agreement | None = None
    #: judge id -> texts that it was calibrated by, on each of which it was asked as it is without them.
    cross_fitted: Mapping[str, int] = field(default_factory=dict)
    weighted: bool = False  #: rows have weights that differ, and count by them in every figure that is no count.

    @property
    def judges_with_errors(self) -> list[CheckedJudge]:
        """The judges, each with what labels say of its means."""
        labelled = {
            judge_id: {metric: error for metric, error in errors.items() if error.labels is not None}
            for judge_id, errors in self.errors.items()
        }
        return [replace(judge, error=labelled.get(judge.answers.judge_id, {})) for judge in self.judges]


def list_part_verdicts(row: LabeledAnswer, facts: AnswerFacts | None, reason: str = "") -> tuple[PartVerdict, ...]:
    """What the facts of a row's answer say of each of its parts; facts None = the judge failed, for this reason."""
    if facts is None:
        return tuple(PartVerdict(None, reason or "no verdict") for _ in row.parts)
    return tuple(_judge_part(part, facts.claims) for part in row.parts)


def _judge_part(part: LabeledPart, claims: Sequence[Claim]) -> PartVerdict:
    """A part is contradicted if one of its claims is, else not in the context if one is not, else supported."""
    part_claims = [claim for claim in claims if claim.start < part.end and claim.end > part.start]
    if not part_claims:
        return PartVerdict(None, NO_CLAIMS_REASON)
    lacking = next((claim for claim in part_claims if claim.label is None), None)
    if lacking is not None:
        return PartVerdict(None, lacking.reason or "no verdict", claim=lacking.text or "")
    worst: Claim = min(part_claims, key=lambda claim: (SEVERITY[claim.label or "supported"], claim.p or 0.0))
    return PartVerdict(worst.label, "", worst.p, worst.text or "", worst.window)


def build_report(
    rows: Sequence[LabeledAnswer],
    judge_answers: Sequence[JudgeAnswers],
    stopped: str = "",
    calls: Mapping[str, float | int | None] | None = None,
) -> JudgeCheck:
    """How far each judge agrees with people, and the judges with each other.

    Several annotators count by majority; a part on which they are split is left out and counted. Where one of them says
    only that something is not supported, all labels are read on that scale; where a judge does, they are for this
    judge alone, so that each judge's figures are those of a check of it alone.

    Args:
        rows: the labelled file.
        judge_answers: what each judge said, in the order of the rows.
        stopped: why it ended early.
        calls: what was called now.
    """
    every = {label for row in rows for part in row.parts for label in part.labels}
    full_scale: tuple[str, ...] = THREE_LABELS if "not_supported" not in every and every - {"supported"} else TWO_LABELS
    part_indices = [(n, m) for n, row in enumerate(rows) for m in range(len(row.parts))]
    labels_by_scale = {scale: _HumanLabels.of(rows, scale) for scale in (full_scale, TWO_LABELS)}
    overall = labels_by_scale[full_scale]
    counts = [[list(part.values()).count(label) for label in full_scale] for part in overall.people]
    has_several = any(sum(row) > 1 for row in counts)
    judge_labels = [[judge.verdicts[n][m].label for n, m in part_indices] for judge in judge_answers]
    scales = [TWO_LABELS if "not_supported" in labels else full_scale for labels in judge_labels]
    groups = [hash_example(rows[n]) for n, _ in part_indices]
    weights = [rows[n].weight for n, _ in part_indices]
    basis = Basis(groups if len(set(groups)) < len(groups) else None, weights if len(set(weights)) > 1 else None)
    checked = tuple(
        _check_judge(judge, rows, part_indices, labels_by_scale[scale], basis)
        for judge, scale in zip(judge_answers, scales, strict=True)
    )
    return JudgeCheck(
        len(rows),
        len(part_indices),
        full_scale,
        {label: overall.human.count(label) for label in full_scale},
        overall.human.count(""),
        compute_fleiss_kappa(counts, basis.weights) if has_several else None,
        checked,
        tuple(_compare_judges(labels_by_scale, judge_labels, scales, basis)),
        stopped,
        calls or {},
        bare=sum(not row.passages for row in rows) if any(not judge.is_recorded for judge in judge_answers) else 0,
        annotators_alpha=compute_alphas(overall.people, full_scale, basis.weights) if has_several else {},
        ceiling=compute_ceiling(overall.people, full_scale, groups, basis.weights) if has_several else None,
        weighted=basis.weights is not None,
    )


@dataclass(frozen=True, slots=True)
class _HumanLabels:
    """What people say of every labelled part, on one scale."""

    scale: tuple[str, ...]  #: two or three labels.
    people: Sequence[Mapping[str, str]]  #: annotator -> label, a part each.
    human: Sequence[str]  #: what most say, a part each; "" = they are split.

    @classmethod
    def of(cls, rows: Sequence[LabeledAnswer], scale: tuple[str, ...]) -> _HumanLabels:
        people = list_annotator_labels(rows, scale)
        return cls(scale, people, [find_majority(list(part.values())) for part in people])


def _check_judge(
    judge_answers: JudgeAnswers,
    rows: Sequence[LabeledAnswer],
    part_indices: Sequence[tuple[int, int]],
    labels: _HumanLabels,
    basis: Basis,
) -> CheckedJudge:
    human, scale = labels.human, labels.scale
    answers = [map_to_scale(judge_answers.verdicts[n][m].label, scale) for n, m in part_indices]
    both = [k for k, (label, other) in enumerate(zip(human, answers, strict=True)) if label and other]
    labelled = [k for k, label in enumerate(human) if label]
    verdict = {k: judge_answers.verdicts[n][m] for k, (n, m) in enumerate(part_indices)}
    without = Counter(verdict[k].reason for k in labelled if not answers[k])
    segments = {}
    for name in dict.fromkeys(name for row in rows for name in row.segments):
        values = sorted(
            {rows[part_indices[k][0]].segments[name] for k in both if name in rows[part_indices[k][0]].segments}
        )
        indices_by_value = {v: [k for k in both if rows[part_indices[k][0]].segments.get(name) == v] for v in values}
        segments[name] = {
            v: _compare_labels(ks, human, answers, scale, basis)
            for v, ks in indices_by_value.items()
            if len(ks) >= MIN_SEGMENT_PARTS
        }
    differs = [
        Differs(rows[n], rows[n].parts[m], human[k], verdict[k])
        for k, (n, m) in enumerate(part_indices)
        if human[k] and answers[k] and human[k] != answers[k]
    ]
    binary_human, binary_answers = (
        [map_to_scale(label, TWO_LABELS) if label else "" for label in each] for each in (human, answers)
    )
    right, passed = ([each[k] == "supported" for k in both] for each in (human, answers))
    joint = [{**part, "": own} if own else dict(part) for part, own in zip(labels.people, answers, strict=True)]
    sure = [(k, p) for k in both if (p := verdict[k].p) is not None]
    return CheckedJudge(
        judge_answers,
        _compare_labels(both, human, answers, scale, basis),
        _compare_labels(both, binary_human, binary_answers, TWO_LABELS, basis),
        segments,
        dict(without.most_common()),
        measure_detection(right, passed, *basis.at(both)),
        assess_probabilities(
            [human[k] == "supported" for k, _ in sure], [p for _, p in sure], *basis.at([k for k, _ in sure])
        ),
        tuple(sorted(differs, key=_severity_key)),
        run_alternative_tests(labels.people, answers, basis.weights),
        compute_alphas(joint, scale, basis.weights),
        {part_indices[k]: binary_human[k] == binary_answers[k] for k in both},
    )


def _compare_labels(
    indices: Sequence[int], human: Sequence[str], answers: Sequence[str], scale: Sequence[str], basis: Basis
) -> Agreement:
    people, judge = ([each[k] for k in indices] for each in (human, answers))
    return compute_agreement(people, judge, scale, *basis.at(indices))


def _severity_key(disagreement: Differs) -> tuple[int, float]:
    """What people called wrong and the judge let pass comes first, the surest verdicts of each kind before others."""
    judge_label, p = disagreement.verdict.label, disagreement.verdict.p
    kind = 0 if judge_label == "supported" else 1 if disagreement.human == "supported" else 2
    confidence = 0.0 if p is None else p if judge_label == "supported" else 1 - p
    return kind, -confidence


def _compare_judges(
    labels_by_scale: Mapping[tuple[str, ...], _HumanLabels],
    judge_labels: Sequence[Sequence[str | None]],
    scales: Sequence[tuple[str, ...]],
    basis: Basis,
) -> list[JudgePair]:
    """Every two judges, on the scale that both know."""
    pairs = []
    for base, new in combinations(range(len(judge_labels)), 2):
        scale = min(scales[base], scales[new], key=len)
        human, (base_labels, new_labels) = (
            labels_by_scale[scale].human,
            ([map_to_scale(label, scale) for label in judge_labels[k]] for k in (base, new)),
        )
        both = [k for k in range(len(human)) if base_labels[k] and new_labels[k]]
        labeled = [k for k in both if human[k]]
        people, new_side, base_side = ([each[k] for k in labeled] for each in (human, new_labels, base_labels))
        gain = compare_accuracy(people, new_side, base_side, *basis.at(labeled))
        pairs.append(JudgePair(new, base, _compare_labels(both, base_labels, new_labels, scale, basis), gain))
    return pairs
