"""The keys of every JSON output by type, and the encoder that writes them."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping, Set
from datetime import date
from functools import cache
from math import isinf
from operator import attrgetter
from typing import Any, NamedTuple

FORMS: Mapping[str, str] = {
    "Interval": "[low high]",
    "interval": "low high level method",
    "MeanEstimate": "mean ci=interval n",
    "quantile": "value=mean ci=interval",
    # a scorecard
    "ScorecardData": (
        "schema_version=schema_version() rule_version run_id=run.run_id name=run.name judge=judge.judge_id n pending "
        "level metrics=summaries[metric] "
        "segments[metric] segment_sizes=segment_sizes() diagnosis=findings failures=causes failed_examples failed_by "
        "failed_share? unclear_examples passed_examples not_judged_examples unclear not_judged "
        "uncertain_claims=judge.uncertain judge_error=judge_errors() known_no=judge.controls "
        "readability=judge.scales warnings "
        "calls=calls() cost=cost() judging=use took baseline:baseline gaps confirmed "
        "causes_by_segment=overview.causes_by_segment alignment=overview.alignment stages=overview.stages "
        "context_length=overview.lengths latency=overview.timings[stage]"
    ),
    "Summary": (
        "mean ci=interval scored undefined not_applicable failed not_read ci_method?=interval.method judged_ci?=judged "
        "rectified? judge_mean? judge_ci?=judge_interval micro? "
        "bounds?=bounds() quantiles? reasons?"
    ),
    "LabelCorrectedMean": (
        "mean ci=interval judge=judged people=classical labels=n judged_only=others worth=effective weight"
    ),
    "Reading": "metric level mean point interval source against difference n of method=interval.method",
    "baseline": (
        "run_id=base.run_id name=base.name matched=matched.pairs only_here=matched.here only_there=matched.there "
        "changes=metrics[metric]:baseline_change failures=failures.base failed_examples=failures.failed_base"
    ),
    "baseline_change": (
        "base new difference=difference.mean ci=difference.interval ci_method=difference.interval.method "
        "judged_ci=difference.judged n=difference.n verdict"
    ),
    "Alignment": (
        "answers ignored_top_ranked=self:ignored unused correlation correlation_ci=correlation_interval ranks positions"
    ),
    "ignored": "count=ignored_top *ignored_share flagged",
    "RankUse": "rank n used highest_used=best relevant relevant_used",
    "Stage": "name *recall",
    "LengthBand": "low high unit n metrics=means",
    "Timing": "n p50 p95 p99",
    "alignment": (
        "run_id=run.run_id name=run.name alignment=overview.alignment stages=overview.stages "
        "context_length=overview.lengths"
    ),
    "JudgeMeanError": "from=origin public_sources=sources disagreement? *labelled()",
    "LabelledError": "labels examples? files? checked? people_mean? judge_mean? difference? difference_ci?",
    # what judging took
    "CallTotals": (
        "calls calls_in_vain=failed input_tokens output_tokens cached_tokens cost=known_cost "
        "calls_without_price=unpriced"
    ),
    "AskedOf": "question model *paid",
    "JudgeUse": (
        "*paid replies replies_reused=reused questions questions_lacking=lacking failure_rate "
        "lacking_reason=reason verdicts_unnamed=unnamed by_question=question_costs "
        "askings=spread[metric] *hybrid():hybrid"
    ),
    "hybrid": "verdicts verdicts_local=local calls_saved=spared verdicts_of_both=both verdicts_agreed=same",
    "JudgeSpread": "means range=width deviation changed n",
    "RunCost": "run_id=run.run_id name=run.name *paid by_model=models by_judge=judges by_example=examples",
    "JudgeCost": "judge=judge_id *paid by_question=question_costs by_metric=metrics[metric]",
    "MetricCost": "questions *paid alone shared_with",
    "ExampleCost": "query_id repeat *paid",
    "SystemRun": (
        "run_id=run.run_id name=run.name system=run.system config=run.config variant=run.variant set=run.set_name "
        "set_version=run.set_version state=run.state planned=run.planned *counts asked "
        "tried_again=again *counts:spent seconds"
    ),
    "RunCounts": "responses answered unanswered blank empty_retrieval=empty failed such_as=such_as() derived_ids",
    "spent": "latency_ms=timings[stage] tokens=tokens() cost=spending.cost",
    # gaps, experiments, thresholds, the log
    "Gaps": "run oracle! closed_book! metrics[metric] segments[metric] notes",
    "MetricGaps": "direction oracle closed_book",
    "Oracle": "own oracle oracle_gap=gap lost_to_generation=rest failed undefined",
    "ClosedBook": "own closed_book=alone closed_book_gap=gap failed undefined",
    "Confirmed": "answers experiments=outcomes# causes=tested()[cause]",
    "Confirmation": (
        "run=run.name run_id=run.run_id answers=answers.run_id judge=judge_id asked experiments=outcomes# "
        "causes[cause] examples=outcomes"
    ),
    "CauseTally": (
        "component inferred experiments=made confirmed refuted undecided confirmed_share=share ci=interval "
        "without_experiment=without"
    ),
    "ExperimentOutcome": (
        "query_id=experiment.query_id repeat=experiment.repeat cause=experiment.cause experiment=experiment.rule.name "
        "passages=experiment.passages:passage_id verdict why before=graded_before() after=graded_after()"
    ),
    "passage_id": "=passage_id",
    "Thresholds": (
        "run_id name=run judge=judge_id metric direction n mean ci=interval judged_ci=judged "
        "starting_point reached outcome good other_outcomes=others without_outcome by_outcome"
    ),
    "Reached": "share value ci=interval",
    "ByOutcome": ("target verdict level n rate ci=interval trend=self:trend needed confidence levels"),
    "trend": "word=trend correlation ci=correlation_interval p_value",
    "ScoreLevel": "low high n rate ci=interval from_here=self:from_here serves",
    "from_here": "n=from_n rate=from_rate ci=from_interval",
    "HistoryRow": (
        "when=run.created_at evaluated_at name=run.name run_id=run.run_id set=listed set_version=run.set_version "
        "series variant=run.variant system=run.system git=run.git judge=judge_id n responses before=before_id() note "
        "judging_cost=judging apart baselines changed counts metrics:log"
    ),
    "History": "columns older rows",
    "log": "mean ci=interval scored undefined not_applicable failed not_read",
    # a comparison
    "BaselineComparison": (
        "schema_version=schema_version() base judge=judge_id level correction tests=self:tests comparisons=runs"
    ),
    "tests": "metrics=tests segments=segment_tests",
    "Run": "run_id name kind set=set_name set_version system variant git created_at",
    "run_name": "run_id name",
    "RunComparison": (
        "run verdict summary=comparison_sentence() examples=matched metrics[metric] worse_segments "
        "segments=changes_by_segment() amounts[metric] flips failures settings diagnosis=findings warnings"
    ),
    "Matched": "paired matched=n clusters only_new=self:only_new only_base=self:only_base",
    "only_new": "n=only_new query_ids=ids_new",
    "only_base": "n=only_base query_ids=ids_base",
    "SegmentChange": "column value metric=change.metric difference=change.difference.mean overall=whole",
    "MetricChange": (
        "base new difference=difference.mean ci=difference.interval ci_method=difference.interval.method "
        "judged_ci=difference.judged n=difference.n p=p_value p_holm=holm p_bh=discovery test! effect wins ties losses "
        "failed verdict alone detectable? rectified? judge_base? judge_new?"
    ),
    "ChangeEffect": "name value ci=interval",
    "AmountChange": "n base:quantile new:quantile",
    "Flip": "query_id query change scores[metric] base new",
    "Flipped": "[base new]",
    "ConfigDiff": "added[path]:new_value removed[path]:base_value changed[path]",
    "Setting": "[base new]",
    "new_value": "=new",
    "base_value": "=base",
    # a gate
    "Gated": (
        "schema_version=schema_version() "
        "verdict exit_code summary=gate_summary() run:run_name baseline=base:run_name judge=judge_id rules=source "
        "matched unpaired=unpaired() too_few=too_few() clusters checks families warnings"
    ),
    "Check": (
        "rule line kind metric asks segment=segment() tag verdict because reason=gate_reason() on_fail stops decide "
        "statistic limit estimate new baseline=base interval:interval sampled:interval fail_interval:interval alpha "
        "reach n n_baseline=n_base paired=paired() failed not_read min_n examples unclear_or_not_judged=unknown "
        "rectified"
    ),
    "CheckExample": "query_id new baseline=base why",
    # explanations, one example
    "ExampleExplained": (
        "schema_version=schema_version() "
        "query_id repeat query answer facts metrics[metric] sign cause=cause_of() rows note verdict "
        "reason settled_by"
    ),
    "Worked": (
        "sentence formula symbols items arithmetic status=score.status value=score.value numerator=score.numerator "
        "denominator=score.denominator low=score.low high=score.high reason=score.reason cases note"
    ),
    "RunExplained": (
        "schema_version=schema_version() "
        "run_id name judge=judge_id n level against failures causes metrics[summary.metric] findings"
    ),
    "MeanWorked": ("sentence formula mean counts interval why_no_interval=why_none micro bounds judged summary"),
    "ExampleView": (
        "example=example_of() response=response_of() evidence=evidence_of() untold=untold_of() scores cause=cause_of() "
        "verdict verdicts:verdict_pair reason=verdicts.reason settled_by=verdicts.settled_by"
    ),
    "verdict_pair": "right grounded",
    "Score": "value status reason",
    # a judge
    "JudgeCheck": (
        "rows=n_rows parts=n_parts labels human repeated_rows=repeated rows_without_passages=bare split "
        "annotators_kappa=annotators.value annotators_alpha ceiling weighted cross_fitted "
        "judges=judges() pairs=judge_pairs() stopped *calls"
    ),
    "JudgeWithErrors": (
        "judge=checked.answers.name mode=checked.answers.mode judge_id=checked.answers.judge_id *checked.whole "
        "supported_or_not=checked.supported "
        "detection=checked.detection probabilities=checked.probabilities segments=checked.segments "
        "error no_verdict=without_verdict() no_verdict_reasons=checked.without took=checked.answers.took "
        "alternative_annotator=checked.alternatives alphas=checked.alphas differs=checked.differs"
    ),
    "GradeCheck": "items grades several alphas ceiling judges weighted",
    "GradingJudge": "judge=name agreement alphas segments no_verdict=without",
    "GradeAgreement": "pairs=n items same weighted_kappa",
    "CheckStep": (
        "judge=name judge_id at file n accuracy kappa change compared pairs fell judge_changed reweighted forgotten"
    ),
    "Detection": "base_rate majority precision recall f1",
    "Probabilities": "n auroc brier brier_base ece curve",
    "ReliabilityBin": "n least most p supported",
    "Agreement": "n labels confusion=table accuracy balanced_accuracy kappa weighted_kappa?=weighted found",
    "AlternativeAnnotator": "epsilon winning_rate=winning advantage annotators items passes",
    "AgreementFigure": "value low=interval.low high=interval.high method=interval.method reason",
    "Differs": (
        "query_id=row.query_id line=row.line query=row.query text=part_text() human annotators=part.labels "
        "verdict=verdict.label p=verdict.p claim=verdict.claim passage=verdict.window.passage window=window_text()"
    ),
    "JudgeProbes": (
        "judge=judge_id examples pairs parts failed failures=reasons findings left_out position stopped *calls"
    ),
    "ProbeFinding": (
        "probe=rule.name figure=rule.figure value low=interval.low high=interval.high method=interval.method "
        "tolerance p verdict n examples seen=changed by_itself=wavering without_verdict=without milder favoured=among "
        "kinds worst changes=rule.changes must=rule.must advice=rule.advice"
    ),
    "PositionProbe": "n decided position_flip first_place ties agreement flipped undecided",
    # a test set
    "SetReach": "run judge_id baseline detect same_set changes robustness unpaired=unpaired_counts",
    "DetectableChange": "metric segment value n mean detectable wanted needed more=n_missing",
    "VariationChange": (
        "kind metric=change.metric n=change.difference.n original=change.base variant=change.new "
        "difference=change.difference.mean interval=change.difference.interval p_value=change.p_value "
        "corrected=change.corrected verdict=change.verdict"
    ),
    "VariationCount": "made there without missing",
    "BrokenContract": "query_id type reason=problem",
    "ExampleState": "query_id=line.example.query_id state evidence",
    "EvidenceState": "state doc_id=was.doc_id start end now then_text now_text whole=whole_stretch",
    "EvidenceLocation": "doc_id start end alike",
    "WholeStretch": "start end text",
    "Stratum": "wanted=n_wanted kept=kept# ended rejected unwritten",
    "CorpusCounts": "documents of_use=n_usable empty copies huge not_utf8=undecoded",
}


TOKEN = re.compile(
    r"(?P<spread>\*)?(?:(?P<key>\w*)(?P<optional>\?)?=)?(?P<path>[\w.]+)(?P<bare>\?)?"
    r"(?P<end>\(\)|#|!)?(?:\[(?P<by>[\w.]+)\])?(?::(?P<form>\w+))?"
)


class FormKey(NamedTuple):
    """One entry of a form."""

    key: str
    path: tuple[str, ...]
    spread: bool
    optional: bool
    end: str
    by: str
    form: str


class JsonForm(NamedTuple):
    """A form that was read; `values` where it is a list, or one value without a key."""

    keys: tuple[FormKey, ...]
    values: bool


def encode(value: Any, form: str = "", by: str = "") -> Any:
    """A result as JSON types; infinity is null, since JSON has no such number.

    Args:
        value: a number, a text, a day or moment, a mapping, a sequence, a dataclass or a named tuple.
        form: name of a form in place of that of its type.
        by: the field by which the members of a sequence are keys of a mapping.
    """
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return None if isinf(value) else value
    if isinstance(value, date):  # a moment too
        return value.isoformat()
    if isinstance(value, Mapping):
        return {_format_key(key): encode(item, form, by) for key, item in value.items()}
    if isinstance(value, tuple | list) and not hasattr(value, "_fields"):
        if by:
            return {attrgetter(by)(item): encode(item, form) for item in value}
        return [encode(item, form) for item in value]
    if isinstance(value, Set):
        return sorted(map(encode, value))
    return _encode_with_form(value, form or type(value).__name__)


def format_json(value: Any) -> str:
    """A result as a JSON file: indented, in UTF-8, without NaN."""
    return json.dumps(encode(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


@cache
def find_form(name: str) -> JsonForm | None:
    """The form of a type, or of this name; None where the fields are the keys."""
    text = FORMS.get(name)
    if text is None:
        return None
    return JsonForm(tuple(map(_parse_key, (text[1:-1] if text[0] == "[" else text).split())), text[0] in "[=")


def _parse_key(token: str) -> FormKey:
    match = TOKEN.fullmatch(token)
    if match is None:
        raise ValueError(f"a form has {token!r}, which is no entry of one.")
    path = tuple(match["path"].split("."))
    optional = bool(match["optional"] or match["bare"])
    end, by, form = (match[name] or "" for name in ("end", "by", "form"))
    return FormKey(match["key"] or path[-1], path, bool(match["spread"]), optional, end, by, form)


def _encode_with_form(value: Any, name: str) -> Any:
    form = find_form(name)
    if form is None:
        names = getattr(value, "_fields", None) or [field_name.name for field_name in dataclasses.fields(value)]
        return {field_name: encode(getattr(value, field_name)) for field_name in names}
    pairs = [(key, _get_value(value, key)) for key in form.keys]
    if form.values:
        values = [item for _, item in pairs]
        return values if len(values) > 1 else values[0]
    return dict(pair for key, item in pairs for pair in _list_pairs(key, item))


def _list_pairs(key: FormKey, item: Any) -> Iterator[tuple[str, Any]]:
    if key.spread:
        yield from (item or {}).items()
    elif not (key.optional and item in (None, {}, [])):
        yield key.key, item


def _get_value(value: Any, key: FormKey) -> Any:
    if key.end == "()":
        from ragauge.rendering import json_values

        return encode(getattr(json_values, key.path[0])(value), key.form, key.by)
    for step in key.path:
        value = value if step == "self" or value is None else getattr(value, step)
    if key.end == "#":
        return len(value)
    return None if key.end == "!" and not value else encode(value, key.form, key.by)


def _format_key(key: object) -> str:
    """A key of a mapping; of quantiles p50.

    >>> _format_key("a"), _format_key(0.95)
    ('a', 'p95')
    """
    return f"p{round(100 * key)}" if isinstance(key, float) else str(key)
