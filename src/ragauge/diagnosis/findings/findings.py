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

from ragauge.core.messages import command, plural, signed
from ragauge.diagnosis.causes.attribution import LABELS, SETTLES
from ragauge.diagnosis.causes.missing_facts import describe_missing
from ragauge.diagnosis.causes.system import SYSTEM_FAILED
from ragauge.diagnosis.findings.label_advice import N_LABELS, describe_labels, draw_command
from ragauge.metrics.catalogue import parse, questions
from ragauge.scores.failures import FailedResponses, calls_failed
from ragauge.scores.id_match import IdMatch
from ragauge.scores.indicators import BASELINE, Against, changed, words
from ragauge.scores.results.change import MetricChange
from ragauge.scores.results.comparison import RunComparison
from ragauge.scores.results.scorecard import Finding, Reading

MOST_READ = 1_000  # failed calls whose errors are read for the most frequent one
HEAD = "the system failed: "
RUN = "RUN"  # stands for the name of the run until it is known


def unclear(failed: FailedResponses, n: int) -> Finding:
    """The finding about the failures that nothing lays in one component: what would settle them, the cheapest first.

    Args:
        failed: one a failed example.
        n: examples evaluated.
    """
    rows = failed.of_cause("")
    lacking = Counter(what for facts in rows.lacking for what in facts)
    shown = rows.index.query_ids[rows.query[0]]
    decided_by = rows.decided_by([int(rows.place[0])])[int(rows.place[0])]
    unknown = describe_missing((what for what, _ in lacking.most_common() if SETTLES not in what), lacking)
    needs_gold = any(LABELS in what for what in lacking)
    gold = f"label the {LABELS.partition(' (')[0]} of these examples (relevant); " if needs_gold else ""
    return Finding(
        cause="",
        headline=f"unclear whether retrieval or generation is at fault ({len(rows):,} of "
        f"{plural(len(failed), 'failure')}): {'gold documents would show it, else ' if needs_gold else ''}"
        f"{plural(min(N_LABELS, n), 'label')}{'' if needs_gold else ' would show it'}",
        evidence=f"For example, {shown}: {decided_by}. {unknown}".rstrip(),
        fix=f"Resolve this first, in the cheapest way: {gold}label {describe_labels(n)} "
        f"({draw_command(RUN, n)}); or ask a model judge (--judge).",
        leave="prompt and search, until it is resolved",
        measure_again="how many failures are still unclear",
        explains=len(rows),
        failures=len(failed),
        confidence="low",
    )


def with_run_name(findings: Sequence[Finding], failed: FailedResponses, run_name: str) -> tuple[Finding, ...]:
    """The findings with commands that name their run; that of failed calls with their most frequent error, too."""
    places = {verb: f"{verb}{shlex.quote(run_name)} " for verb in ("ragauge show ", "ragauge label draw ")}
    named = []
    for finding in findings:
        fix = finding.fix
        for verb, place in places.items():
            fix = fix.replace(f"{verb}{RUN} ", place)
        named.append(replace(finding, fix=fix))
    return _with_errors(named, failed, run_name)


def _with_errors(findings: Sequence[Finding], failed: FailedResponses, run_name: str) -> tuple[Finding, ...]:
    """The findings; that of failed calls with how many they are, their most frequent error, and where to look.

    Args:
        findings: of the diagnosis.
        failed: every failed response.
        run_name: of the run.
    """
    rows = failed.of_cause(SYSTEM_FAILED.name)
    if not len(rows):
        return tuple(findings)
    errors = Counter(rows.decided_by(rows.place[:MOST_READ].tolist()).values())
    ((error, _),) = errors.most_common(1)
    headline = calls_failed(len(rows), len(failed.index.number), error.removeprefix(HEAD)).rstrip(".")
    fix = (
        f"Mend what the error names; {command('show', run_name)} counts every kind, and the report lists the calls. "
        "Then repeat ragauge run with --retry-failed, or record the responses anew."
    )
    return tuple(
        replace(finding, headline=headline, fix=fix) if finding.cause == SYSTEM_FAILED.name else finding
        for finding in findings
    )


IDS_DIFFER = "ids_differ"
FIX = (
    "Give labels and passages the same ids: label the documents by the doc_id that the system returns, or let it "
    "return the id of the document that a passage is from (--map relevant=COLUMN, --map relevant_chunks=COLUMN or "
    "--map passages=COLUMN reads others). Then evaluate again."
)
FIX_OF_TEXTS = "Give ids to passages and labels, or label with the passages' texts as they are. Then evaluate again."


def before_labels(
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
    doubted = (_doubted(finding, failed.of_cause(finding.cause)) for finding in findings)
    return (_ids_differ(match, failed), *doubted)


def _ids_differ(match: IdMatch, failed: FailedResponses) -> Finding:
    """One id of each side, and what makes them meet."""
    labelled, retrieved = match.shown
    which = f"labelled {labelled!r}, retrieved {retrieved!r}"
    none = f"none of the {plural(match.labelled, 'labelled id')} is among those retrieved"
    sure = match.differ or bool(match.respelled)
    or_missed = "" if sure else ", or retrieval finds none of the evidence"
    headline = f"labels and passages use different ids{or_missed} ({which}): {none}"
    if match.by_text:
        headline = f"labels are texts, and no passage is one of them word for word ({which})"
    return Finding(
        cause=IDS_DIFFER,
        headline=headline,
        evidence="Until ids meet, recall and all that rests on labels is 0 whatever was retrieved, and no failure "
        "that labels show is one for sure.",
        fix=FIX_OF_TEXTS if match.by_text else FIX,
        measure_again="recall",
        explains=sum(shown_by == "labels" for shown_by in failed.shown_by),
        failures=len(failed),
        confidence="high" if sure else "low",
    )


def _doubted(finding: Finding, rows: FailedResponses) -> Finding:
    """A finding that rests on labels, of low confidence while ids do not meet; `rows` are the failures of its cause."""
    by_labels = 2 * list(rows.basis).count("labels") > len(rows)
    read = any(
        fact.startswith("labels.") for reading in finding.readings for fact in parse(reading.metric).needs.values()
    )
    if not (by_labels or read):
        return finding
    more = "Not known while labels and passages use different ids."
    return replace(finding, confidence="low", evidence=f"{finding.evidence} {more}".strip())


LEAST = 20  # examples below which a share tells nothing
NEARLY_ALL = 0.8  # share of all examples without evidence, from which the judge is as suspect as the retriever
MOST = 0.5  # the same where the question alone was held against the passages, without a reference
SUSPECT = ("retrieval_miss", "compound")
NO_REFERENCE = "relevance labels or a reference answer"  # what a miss lacks that no reference claim shows
SHOWN = 3
DIALOGUE = "questions of a dialogue, or in other words than the documents'"
OTHER_WORDS = "references in other words, another language or another register than the documents'"


def unseen(failed: FailedResponses, n: int, judge_id: str) -> str:
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
    if n < LEAST or not judge_id.startswith("local"):
        return ""
    alone = [
        NO_REFERENCE in lacking
        for cause, by, lacking in zip(failed.cause, failed.shown_by, failed.lacking, strict=True)
        if cause in SUSPECT and by == "judge"
    ]
    count, by_question = len(alone), 2 * sum(alone) > len(alone)
    if count < (MOST if by_question else NEARLY_ALL) * n:
        return ""
    return (
        f" The judge alone, without labels of gold documents, says of {count:,} of {plural(n, 'example')} "
        f"({count / n:.0%}) that the evidence is missing. That is as likely a judge that cannot see the evidence "
        f"({DIALOGUE if by_question else OTHER_WORDS}) as a retriever that finds nothing."
    )


def settle(rows: FailedResponses) -> str:
    """What settles it, to be done before any other fix; ends with a space.

    Args:
        rows: the failures of one cause.
    """
    ids = [rows.index.query_ids[query] for query in rows.query[:SHOWN].tolist()]
    return (
        f"First settle whether the evidence is really missing: open {', '.join(ids)} "
        f"({command('show', RUN, ids[0])}), label the gold documents of 20 examples (relevant), or ask a model judge "
        "(--judge). Where it is missing: "
    )


def rests_on_it(readings: Sequence[Reading]) -> bool:
    """Whether a pattern takes from the judge that evidence is missing or that what came is irrelevant."""
    judged = (reading for reading in readings if reading.metric.startswith(("context_recall", "context_precision")))
    return any(judgement.level == "low" for judgement in judged)


LAYERS = ("retrieval", "generation", "end_to_end")
FEW = 30  # examples below which a change is less sure
MOST_SHOWN = 5  # examples named


def got_worse(baseline: RunComparison, named: Iterable[str], failures: int, judge_id: str) -> list[Finding]:
    """One finding a layer for the metrics that got worse and that no other finding reads.

    It says where they fell most, and names the examples to look at: what happened is known, why is not.

    Args:
        baseline: with its changes.
        named: metrics that other findings read.
        failures: failed examples in all.
        judge_id: who judged; a judge whose id begins with "local" lowers the confidence.
    """
    known = set(named)
    left = [change for change in baseline.metrics if change.verdict == "worse" and change.metric not in known]
    groups = {layer: [change for change in left if parse(change.metric).measures == layer] for layer in LAYERS}
    return [_finding(layer, group, failures, judge_id, baseline) for layer, group in groups.items() if group]


def _finding(
    layer: str, group: Sequence[MetricChange], failures: int, judge_id: str, baseline: RunComparison
) -> Finding:
    readings = tuple(reading for change in group if (reading := changed(change, baseline.base.name)) is not None)
    names = [change.metric for change in group]
    head = f"got worse: {words(readings[0]) if len(readings) == 1 else _joined(names)}"
    where = next((change.where for change in group if change.where is not None), None)
    moved = dict.fromkeys(example.query_id for change in group for example in change.moved[:MOST_SHOWN])
    shown = ", ".join(list(moved)[:MOST_SHOWN])
    look = f"the examples that lost most ({shown})" if shown else "the examples with the worst scores"
    return Finding(
        cause=f"worse_{layer}",
        headline=head,
        evidence=" ".join([*_places(group), "No pattern of metrics says why."]),
        fix=f"Look at {look}, and at what changed in the system since {baseline.base.name}.",
        measure_again=_joined(names),
        failures=failures,
        segment=where.segment if where is not None else "",
        confidence=_confidence(group, judge_id),
        against=BASELINE,
        readings=readings,
    )


def _places(group: Sequence[MetricChange]) -> list[str]:
    """Where each fell most, as sentences; those that share a segment in one."""
    by_segment: dict[str, list[str]] = {}
    for change in group:
        if change.where is not None:
            inside, outside = (
                signed(moved, parse(change.metric).scale) for moved in (change.where.inside, change.where.outside)
            )
            by_segment.setdefault(change.where.segment, []).append(
                f"{change.metric} {inside} there, {outside} elsewhere"
            )
    return [f"Most with {segment}: {'; '.join(words)}." for segment, words in by_segment.items()]


def _confidence(group: Sequence[MetricChange], judge_id: str) -> str:
    """High, less one step where the local judge gave one of the numbers, and one where one rests on few examples."""
    steps = judge_id.startswith("local") and any(questions([parse(change.metric)]) for change in group)
    few = any(change.difference.n < FEW for change in group)
    return ("high", "medium", "low")[steps + few]


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


EVIDENCE_LOST = "evidence_lost"
LAYER = "worse_retrieval"  # the other finding of what retrieval lost, which says no reason
OF_EVIDENCE = ("recall", "hit", "context_recall")  # metrics that fall as evidence is lost, the surest first
CLEARLY = 0.9  # of the passages of the baseline: below, they are fewer


def lost_evidence(changes: Sequence[MetricChange]) -> MetricChange | None:
    """The change for the worse that says most surely that evidence was lost; None for none."""
    fell = [change for change in changes if change.verdict == "worse" and parse(change.metric).name() in OF_EVIDENCE]
    return min(fell, key=lambda change: OF_EVIDENCE.index(parse(change.metric).name()), default=None)


def with_lost_evidence(
    findings: Sequence[Finding], against: Against | None, failed: FailedResponses, judge_id: str
) -> tuple[Finding, ...]:
    """The findings; where evidence was lost since the baseline and fewer passages are handed on, that stands first.

    Args:
        findings: of the diagnosis.
        against: what the run is held against.
        failed: the failed examples.
        judge_id: who judged; a judge whose id begins with "local" lowers the confidence in what it measured.
    """
    base = against.changed if against is not None else None
    change = None if base is None else lost_evidence(base.metrics)
    if against is None or base is None or change is None or against.fewer is None:
        return tuple(findings)
    before, now = (f"{round(mean, 1):g}" for mean in against.fewer)
    mine, others = changed(change, base.base.name), [finding for finding in findings if finding.cause != LAYER]
    also = [reading for finding in findings if finding.cause == LAYER for reading in finding.readings]
    unsure = (change.difference.n < FEW) + (judge_id.startswith("local") and bool(questions([parse(change.metric)])))
    first = Finding(
        cause=EVIDENCE_LOST,
        headline=f"retrieval lost evidence since {base.base.name}: passages handed on fell from {before} to {now}"
        + (f" ({words(mine)})" if mine is not None else ""),
        evidence="What the answers lack of it is no fault of the model.",
        fix=f"Hand on as many passages as in {base.base.name} ({before} a question, not {now}), or rerank so that "
        "fewer hold the evidence.",
        leave="the prompt and the model, until it is back",
        measure_again=change.metric,
        explains=list(failed.component).count("retrieval"),
        failures=len(failed),
        confidence=("high", "medium", "low")[unsure],
        against=BASELINE,
        readings=(*([mine] if mine is not None else []), *(reading for reading in also if reading != mine)),
    )
    at = 1 if others and others[0].cause == SYSTEM_FAILED.name else 0
    return (*others[:at], first, *others[at:])
