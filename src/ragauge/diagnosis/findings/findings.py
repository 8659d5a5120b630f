"""Calls that the system failed: said with their error, which tells more than any metric.

Labels and passages that name documents in different ways: said before anything that labels would say.

Evidence that was lost since the baseline as fewer passages are handed on: said before what answers made of it.

Where nearly everything is blamed on retrieval by a judge that may simply not see the evidence.

What got worse against the baseline and belongs to no pattern: said plainly, so that no regression goes unnamed.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ragauge.core.messages import format_command, format_count, format_signed
from ragauge.diagnosis.causes.attribution import LABELS, RESOLUTION_OPTIONS, describe_missing
from ragauge.diagnosis.causes.system import SYSTEM_FAILED
from ragauge.diagnosis.findings.cause_texts import N_LABELS, build_draw_command, describe_labels
from ragauge.metrics.catalogue import list_questions, parse_metric
from ragauge.scores.failures import FailedResponses, describe_failed_calls
from ragauge.scores.id_match import IdMatch
from ragauge.scores.indicators import BASELINE, Against, describe_reading, read_change
from ragauge.scores.results.comparison import MetricChange, RunComparison
from ragauge.scores.results.scorecard import Finding, Reading

MAX_ERRORS_READ = 1_000  # failed calls whose errors are read for the most frequent one
ERROR_PREFIX = "the system failed: "
RUN_PLACEHOLDER = "RUN"  # stands for the name of the run until it is known


def build_unclear_finding(failed: FailedResponses, n: int) -> Finding:
    """The finding about the failures that nothing lays in one component: what would settle them, the cheapest first.

    Args:
        failed: one a failed example.
        n: examples evaluated.
    """
    rows = failed.select_cause("")
    lacking = Counter(missing_fact for facts in rows.lacking for missing_fact in facts)
    shown_query_id = rows.index.query_ids[rows.query[0]]
    decided_by = rows.decided_by([int(rows.place[0])])[int(rows.place[0])]
    unknown = describe_missing(
        (missing_fact for missing_fact, _ in lacking.most_common() if RESOLUTION_OPTIONS not in missing_fact), lacking
    )
    needs_gold = any(LABELS in missing_fact for missing_fact in lacking)
    gold_step = f"label the {LABELS.partition(' (')[0]} of these examples (relevant); " if needs_gold else ""
    return Finding(
        cause="",
        headline=f"unclear whether retrieval or generation is at fault ({len(rows):,} of "
        f"{format_count(len(failed), 'failure')}): {'gold documents or ' if needs_gold else ''}"
        f"{format_count(min(N_LABELS, n), 'label')} would resolve it",
        evidence=f"For example, {shown_query_id}: {decided_by}. {unknown}".rstrip(),
        fix=f"Resolve this first, cheapest way first: {gold_step}label {describe_labels(n)} "
        f"({build_draw_command(RUN_PLACEHOLDER, n)}); or use a model judge (--judge).",
        leave="the prompt and search, until this is resolved",
        measure_again="the number of unclear failures",
        explains=len(rows),
        failures=len(failed),
        confidence="low",
    )


def fill_run_name(findings: Sequence[Finding], failed: FailedResponses, run_name: str) -> tuple[Finding, ...]:
    """The findings with commands that name their run; that of failed calls with their most frequent error, too."""
    verb_replacements = {verb: f"{verb}{shlex.quote(run_name)} " for verb in ("ragauge show ", "ragauge label draw ")}
    updated = []
    for finding in findings:
        fix = finding.fix
        for verb, replacement in verb_replacements.items():
            fix = fix.replace(f"{verb}{RUN_PLACEHOLDER} ", replacement)
        updated.append(replace(finding, fix=fix))
    return _add_call_errors(updated, failed, run_name)


def _add_call_errors(findings: Sequence[Finding], failed: FailedResponses, run_name: str) -> tuple[Finding, ...]:
    """The findings; that of failed calls with how many they are, their most frequent error, and where to look.

    Args:
        findings: of the diagnosis.
        failed: every failed response.
        run_name: of the run.
    """
    rows = failed.select_cause(SYSTEM_FAILED.name)
    if not len(rows):
        return tuple(findings)
    errors = Counter(rows.decided_by(rows.place[:MAX_ERRORS_READ].tolist()).values())
    ((error, _),) = errors.most_common(1)
    headline = describe_failed_calls(len(rows), len(failed.index.number), error.removeprefix(ERROR_PREFIX)).rstrip(".")
    fix = (
        f"Fix the error; {format_command('show', run_name)} counts errors by kind, and the report lists the "
        "calls. "
        "Then rerun ragauge run with --retry-failed, or record the responses again."
    )
    return tuple(
        replace(finding, headline=headline, fix=fix) if finding.cause == SYSTEM_FAILED.name else finding
        for finding in findings
    )


IDS_DIFFER = "ids_differ"
FIX_IDS = (
    "Use the same ids in labels and passages: label documents by the doc_id that the system returns, or have it "
    "return the id of each passage's document (--map relevant=COLUMN, --map relevant_chunks=COLUMN or "
    "--map passages=COLUMN selects other columns). Then evaluate again."
)
FIX_TEXT_IDS = "Give labels and passages ids, or label with the exact passage texts. Then evaluate again."


def put_id_mismatch_first(
    matches: Sequence[IdMatch], failed: FailedResponses, findings: Sequence[Finding]
) -> tuple[Finding, ...]:
    """The findings; where not one labelled id can have been met, that comes first, and what rests on labels is unsure.

    Args:
        matches: of labelled with retrieved ids.
        failed: the failed examples.
        findings: of the diagnosis.
    """
    match = next((match for match in matches if match.kind == "document" and match.apart), None)
    if match is None:
        return tuple(findings)
    less_sure = (_lower_label_confidence(finding, failed.select_cause(finding.cause)) for finding in findings)
    return (_build_id_mismatch(match, failed), *less_sure)


def _build_id_mismatch(match: IdMatch, failed: FailedResponses) -> Finding:
    """One id of each side, and what makes them meet."""
    labelled, retrieved = match.shown
    ids_text = f"labeled {labelled!r}, retrieved {retrieved!r}"
    none_text = f"none of the {format_count(match.labelled, 'labeled id')} was retrieved"
    is_sure = match.differ or bool(match.respelled)
    other_reading = "" if is_sure else ", or retrieval finds none of the evidence"
    headline = f"labels and passages use different ids{other_reading} ({ids_text}): {none_text}"
    if match.is_by_text:
        headline = f"labels are texts, and none of them matches a passage exactly ({ids_text})"
    return Finding(
        cause=IDS_DIFFER,
        headline=headline,
        evidence="Until the ids match, recall and other label-based metrics are 0 whatever is retrieved, and failures "
        "found by labels may not be real.",
        fix=FIX_TEXT_IDS if match.is_by_text else FIX_IDS,
        measure_again="recall",
        explains=sum(shown_by == "labels" for shown_by in failed.shown_by),
        failures=len(failed),
        confidence="high" if is_sure else "low",
    )


def _lower_label_confidence(finding: Finding, rows: FailedResponses) -> Finding:
    """A finding that rests on labels, of low confidence while ids do not meet; `rows` are the failures of its cause."""
    by_labels = 2 * list(rows.basis).count("labels") > len(rows)
    reads_labels = any(
        fact.startswith("labels.")
        for reading in finding.readings
        for fact in parse_metric(reading.metric).needs.values()
    )
    if not (by_labels or reads_labels):
        return finding
    note = "This is uncertain while labels and passages use different ids."
    return replace(finding, confidence="low", evidence=f"{finding.evidence} {note}".strip())


MIN_EXAMPLES = 20  # examples below which a share tells nothing
NEARLY_ALL = 0.8  # share of all examples without evidence, from which the judge is as suspect as the retriever
MOST_SHARE = 0.5  # the same where the question alone was held against the passages, without a reference
SUSPECT_CAUSES = ("retrieval_miss", "compound")
NO_REFERENCE_NOTE = "relevance labels or a reference answer"  # what a miss lacks that no reference claim shows
MAX_IDS_SHOWN = 3
DIALOGUE_REASON = "questions that belong to a dialogue or use different words than the documents"
OTHER_WORDS_REASON = "references that use different words, another language or another register than the documents"


def describe_judge_doubt(failed: FailedResponses, n: int, judge_id: str) -> str:
    """That the local judge alone says of nearly all examples that evidence is missing, in words; "" where it does not.

    A retriever that finds nothing anywhere is rare; a judge that compares words and meets references in other words, in
    another language or register, or questions out of a dialogue, is not. Labels of documents end the doubt: failures
    that they show are not counted.

    Args:
        failed: one a failed example.
        n: examples evaluated.
        judge_id: who judged.

    Returns:
        Sentences that begin with a space.
    """
    if n < MIN_EXAMPLES or not judge_id.startswith("local"):
        return ""
    without_reference = [
        NO_REFERENCE_NOTE in lacking
        for cause, by, lacking in zip(failed.cause, failed.shown_by, failed.lacking, strict=True)
        if cause in SUSPECT_CAUSES and by == "judge"
    ]
    n_judge_alone, is_by_question = len(without_reference), 2 * sum(without_reference) > len(without_reference)
    if n_judge_alone < (MOST_SHARE if is_by_question else NEARLY_ALL) * n:
        return ""
    return (
        f" The judge alone, without gold document labels, finds evidence missing in {n_judge_alone:,} of "
        f"{format_count(n, 'example')} "
        f"({n_judge_alone / n:.0%}). The judge may not recognize the "
        "evidence "
        f"({DIALOGUE_REASON if is_by_question else OTHER_WORDS_REASON}), or the retriever may find nothing."
    )


def format_resolve_step(rows: FailedResponses) -> str:
    """What settles it, to be done before any other fix; ends with a space.

    Args:
        rows: the failures of one cause.
    """
    ids = [rows.index.query_ids[query] for query in rows.query[:MAX_IDS_SHOWN].tolist()]
    return (
        f"First check whether the evidence is really missing: open {', '.join(ids)} "
        f"({format_command('show', RUN_PLACEHOLDER, ids[0])}), label the gold documents of 20 examples (relevant), "
        "or ask a "
        "model judge "
        "(--judge). If it is missing: "
    )


def rests_on_missing_evidence(readings: Sequence[Reading]) -> bool:
    """Whether a pattern takes from the judge that evidence is missing or that what came is irrelevant."""
    context_readings = (
        reading for reading in readings if reading.metric.startswith(("context_recall", "context_precision"))
    )
    return any(judgement.level == "low" for judgement in context_readings)


LAYERS = ("retrieval", "generation", "end_to_end")
FEW_EXAMPLES = 30  # examples below which a change is less sure
MAX_EXAMPLES_SHOWN = 5  # examples named


def find_worsened(baseline: RunComparison, read_metrics: Iterable[str], failures: int, judge_id: str) -> list[Finding]:
    """One finding a layer for the metrics that got worse and that no other finding reads.

    It says where they fell most, and names the examples to look at: what happened is known, why is not.

    Args:
        baseline: with its changes.
        read_metrics: metrics that other findings read.
        failures: failed examples in all.
        judge_id: who judged; a judge whose id begins with "local" lowers the confidence.
    """
    known_metrics = set(read_metrics)
    unread_changes = [
        change for change in baseline.metrics if change.verdict == "worse" and change.metric not in known_metrics
    ]
    groups = {
        layer: [change for change in unread_changes if parse_metric(change.metric).measures == layer]
        for layer in LAYERS
    }
    return [
        _build_layer_finding(layer, group, failures, judge_id, baseline) for layer, group in groups.items() if group
    ]


def _build_layer_finding(
    layer: str, group: Sequence[MetricChange], failures: int, judge_id: str, baseline: RunComparison
) -> Finding:
    readings = tuple(reading for change in group if (reading := read_change(change, baseline.base.name)) is not None)
    names = [change.metric for change in group]
    headline = f"got worse: {describe_reading(readings[0]) if len(readings) == 1 else _join_names(names)}"
    worst_segment = next((change.where for change in group if change.where is not None), None)
    moved = dict.fromkeys(example.query_id for change in group for example in change.moved[:MAX_EXAMPLES_SHOWN])
    shown_ids = ", ".join(list(moved)[:MAX_EXAMPLES_SHOWN])
    examples_text = (
        f"the examples that dropped most ({shown_ids})" if shown_ids else "the examples with the worst scores"
    )
    return Finding(
        cause=f"worse_{layer}",
        headline=headline,
        evidence=" ".join([*_describe_worst_segments(group), "No known metric pattern explains it."]),
        fix=f"Check {examples_text}, and what changed in the system since {baseline.base.name}.",
        measure_again=_join_names(names),
        failures=failures,
        segment=worst_segment.segment if worst_segment is not None else "",
        confidence=_rate_change_confidence(group, judge_id),
        against=BASELINE,
        readings=readings,
    )


def _describe_worst_segments(group: Sequence[MetricChange]) -> list[str]:
    """Where each fell most, as sentences; those that share a segment in one."""
    by_segment: dict[str, list[str]] = {}
    for change in group:
        if change.where is not None:
            inside, outside = (
                format_signed(movement, parse_metric(change.metric).scale)
                for movement in (change.where.inside, change.where.outside)
            )
            by_segment.setdefault(change.where.segment, []).append(
                f"{change.metric} {inside} there, {outside} elsewhere"
            )
    return [f"Largest change in {segment}: {'; '.join(words)}." for segment, words in by_segment.items()]


def _rate_change_confidence(group: Sequence[MetricChange], judge_id: str) -> str:
    """High, less one step where the local judge gave one of the numbers, and one where one rests on few examples."""
    steps = judge_id.startswith("local") and any(list_questions([parse_metric(change.metric)]) for change in group)
    has_few = any(change.difference.n < FEW_EXAMPLES for change in group)
    return ("high", "medium", "low")[steps + has_few]


def _join_names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


EVIDENCE_LOST = "evidence_lost"
RETRIEVAL_LAYER_CAUSE = "worse_retrieval"  # the other finding of what retrieval lost, which says no reason
EVIDENCE_METRICS = ("recall", "hit", "context_recall")  # metrics that fall as evidence is lost, the surest first
CLEARLY_FEWER_SHARE = 0.9  # of the passages of the baseline: below, they are fewer


def find_lost_evidence(changes: Sequence[MetricChange]) -> MetricChange | None:
    """The change for the worse that says most surely that evidence was lost; None for none."""
    fell = [
        change
        for change in changes
        if change.verdict == "worse" and parse_metric(change.metric).name() in EVIDENCE_METRICS
    ]
    return min(fell, key=lambda change: EVIDENCE_METRICS.index(parse_metric(change.metric).name()), default=None)


def put_lost_evidence_first(
    findings: Sequence[Finding], against: Against | None, failed: FailedResponses, judge_id: str
) -> tuple[Finding, ...]:
    """The findings; where evidence was lost since the baseline and fewer passages are handed on, that stands first.

    Args:
        findings: of the diagnosis.
        against: what the run is held against.
        failed: the failed examples.
        judge_id: who judged; a judge whose id begins with "local" lowers the confidence in what it measured.
    """
    baseline = against.changed if against is not None else None
    change = None if baseline is None else find_lost_evidence(baseline.metrics)
    if against is None or baseline is None or change is None or against.fewer is None:
        return tuple(findings)
    previous, current = (f"{round(mean, 1):g}" for mean in against.fewer)
    own_reading, others = (
        read_change(change, baseline.base.name),
        [finding for finding in findings if finding.cause != RETRIEVAL_LAYER_CAUSE],
    )
    layer_readings = [
        reading for finding in findings if finding.cause == RETRIEVAL_LAYER_CAUSE for reading in finding.readings
    ]
    n_doubts = (change.difference.n < FEW_EXAMPLES) + (
        judge_id.startswith("local") and bool(list_questions([parse_metric(change.metric)]))
    )
    first = Finding(
        cause=EVIDENCE_LOST,
        headline=f"retrieval lost evidence since {baseline.base.name}: passages per question fell from "
        f"{previous} to {current}" + (f" ({describe_reading(own_reading)})" if own_reading is not None else ""),
        evidence="The model is not to blame for what the answers lack as a result.",
        fix=f"Pass as many passages to the generator as {baseline.base.name} did ({previous} per question, not "
        f"{current}), or rerank so that fewer passages contain the evidence.",
        leave="the prompt and the model, until retrieval recovers",
        measure_again=change.metric,
        explains=list(failed.component).count("retrieval"),
        failures=len(failed),
        confidence=("high", "medium", "low")[n_doubts],
        against=BASELINE,
        readings=(
            *([own_reading] if own_reading is not None else []),
            *(reading for reading in layer_readings if reading != own_reading),
        ),
    )
    position = 1 if others and others[0].cause == SYSTEM_FAILED.name else 0
    return (*others[:position], first, *others[position:])
