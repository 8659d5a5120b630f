"""What a set is and can, as sections: what it is made of, topics without a question, likeness, reach, robustness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragauge.comparison.tables.notes import format_detectable
from ragauge.core.messages import format_count, format_signed, format_value
from ragauge.rendering.sections import Col, ReportSection, ReportTable, build_table
from ragauge.rendering.words import HEADLINE, between, make_safe

if TYPE_CHECKING:
    from ragauge.testsets.stats.set_power import DetectableChange, SetReach, TwoSampleTest
    from ragauge.testsets.stats.set_profile import SetDescription, TopicCover

MAX_TOPICS = 10  # topics that are listed
NO_CHANGE_VERDICT = "no change seen"
MAX_METRICS = 3  # of the table by segment
UNVARIED_NOTE = "–: the spread of differences cannot be estimated because too few of them vary."
ONE_RUN_NOTE = (
    "Estimated from one run: differences between two runs are assumed to spread like its scores, which "
    "holds if the runs correlate at 0.5. --baseline RUN uses the pairs of two runs, as compare does."
)


def build_stats_sections(description: SetDescription, reach: SetReach | None) -> Iterator[ReportSection]:
    """All that is known of a set, each part where there is something to say."""
    yield _build_description(description)
    if description.topics is not None:
        yield _build_topics_section(description.topics)
    if description.like is not None:
        yield _build_likeness_section(description.like)
    if reach is not None:
        yield from build_detectable_sections(reach)
        if reach.robustness or reach.unpaired:
            yield _build_robustness_section(reach)


def _build_description(description: SetDescription) -> ReportSection:
    counts_by_kind: Mapping[str, Mapping[str, int]] = {
        "state": description.states,
        "type": description.types,
        "origin": description.origins,
        "variation": description.variations,
    }
    rows = [(name, value, n) for name, counts in counts_by_kind.items() for value, n in counts.items()]
    lead = [f"{make_safe(description.name)} ({description.version}): {format_count(description.examples, 'example')}."]
    overlap = description.overlap
    if overlap.mean is not None:
        low, middle, high = (format_value(quartile) for quartile in overlap.quartiles)
        where = "quoted evidence (no corpus given)" if overlap.quotes else "gold documents"
        lead.append(
            f"{format_value(overlap.mean)} {between(overlap.interval)} of a question's content words occur "
            f"in its {where} (quartiles {low}, {middle}, {high}; {format_count(overlap.n, 'question')})."
        )
    if overlap.lost:
        lead.append(
            f"{format_count(overlap.lost, 'question')} not counted because none of their gold documents is "
            "in the corpus; list them with ragauge testset check."
        )
    notes = (
        ()
        if overlap.mean is not None or description.topics is not None
        else ("To measure the word overlap of questions and gold documents, add --corpus.",)
    )
    table = build_table(rows, Col("of", "0"), Col("value", "1"), Col("examples", "2", "count"))
    return ReportSection("testset stats", lead=tuple(lead), table=table, notes=notes)


def _build_topics_section(cover: TopicCover) -> ReportSection:
    lead = (
        f"{len(cover.empty):,} of {format_count(cover.topics, 'topic')} have no question; {cover.asked:,} "
        f"of {format_count(cover.documents, 'document')} are gold documents of a question."
    )
    table = build_table(
        cover.empty[:MAX_TOPICS],
        Col("documents", "documents", "count"),
        Col("words", lambda topic: ", ".join(topic.words)),
        Col("first documents", lambda topic: ", ".join(topic.doc_ids), fold=True),
    )
    notes = (f"and {len(cover.empty) - MAX_TOPICS:,} more: --json lists all.",) if len(cover.empty) > MAX_TOPICS else ()
    return ReportSection("Topics without a question", lead=(lead,), table=table, notes=notes)


def _build_likeness_section(likeness: TwoSampleTest) -> ReportSection:
    heading = "Similarity to real questions"
    count = f"{format_count(likeness.n, 'question')} and {likeness.real:,} real ones"
    if likeness.auroc is None:
        return ReportSection(heading, lead=(f"{count}: too few to tell; needs at least 20 of each.",))
    auroc_text = f"AUROC {format_value(likeness.auroc)} {between(likeness.interval)}, 0.50 = no difference"
    verdict = (
        f"A classifier cannot distinguish them by these features ({auroc_text})."
        if not likeness.apart
        else f"A classifier can distinguish them ({auroc_text})."
    )
    table = build_table(
        likeness.tells,
        Col("feature", "name"),
        Col("AUROC", "auroc", "number"),
        Col("interval", "interval", "interval", whole=True),
        Col("the set's", "here", fold=True),
        Col("real", fold=True),
    )
    notes = [
        "AUROC: how often the classifier ranks a question of the set above a real one. The meaning feature also "
        "picks up differences in subject: real questions about other subjects count as different."
    ]
    notes += [
        f"Not used: {name}, which is missing for over 10 % of either side's questions." for name in likeness.without
    ]
    if likeness.left_out:
        notes.append(
            f"{format_count(likeness.left_out, 'question')} skipped: no known gold document or no content words."
        )
    return ReportSection(heading, lead=(f"{count}. {verdict}",), table=table, notes=tuple(notes))


def build_detectable_sections(detectable: SetReach) -> Iterator[ReportSection]:
    """The change that a set can show, by metric and by segment."""
    source = (
        f"{make_safe(detectable.run)} and {make_safe(detectable.baseline)}, paired"
        if detectable.baseline
        else f"run {make_safe(detectable.run)}"
    )
    warnings = () if detectable.same_set else (f"{make_safe(detectable.run)} answered another version of the set.",)
    overall = [change for change in detectable.changes if not change.segment]
    if not overall:
        message = f"{source}: apart from times and costs, no metric has scores for 5 examples."
        yield ReportSection("Detectable differences", lead=(message,), warnings=warnings)
        return
    notes = ["detects: the smallest true difference that a comparison of two runs finds 80 % of the time."]
    notes += [UNVARIED_NOTE] if any(change.detectable is None for change in overall) else []
    notes += [] if detectable.baseline else [ONE_RUN_NOTE]
    yield ReportSection(
        "Detectable differences",
        lead=(f"Estimated from {source}.",),
        warnings=warnings,
        table=_build_change_table(overall, detectable.detect),
        notes=tuple(notes),
    )
    names = [change.metric for change in overall]
    first = [name for name in HEADLINE if name in names]
    selected = [*first, *(name for name in names if name not in first)][:MAX_METRICS]
    segment_changes = [
        change for name in selected for change in detectable.changes if change.segment and change.metric == name
    ]
    if segment_changes:
        more = [f"{', '.join(selected)}; --json has all metrics."] if len(names) > len(selected) else []
        more += [UNVARIED_NOTE] if any(change.detectable is None for change in segment_changes) else []
        yield ReportSection(
            "By segment",
            table=_build_change_table(segment_changes, detectable.detect, segments=True),
            notes=tuple(more),
        )


def _build_change_table(
    changes: Sequence[DetectableChange], detect: str, *, segments: bool = False
) -> ReportTable | None:
    segment = Col("segment", lambda change: f"{change.segment}={change.value}", fold=True)
    planned = (Col(detect, "wanted", "{:.3f}"), Col("needed", "needed", "count"), Col("more", "n_missing", "count"))
    return build_table(
        changes,
        Col("metric", whole=True),
        segment if segments else None,
        Col("examples", "n", "count"),
        Col("mean", "mean", "number"),
        Col("detects", "detectable", format_detectable, kind="number"),
        *(planned if detect else ()),
    )


def _build_robustness_section(detectable: SetReach) -> ReportSection:
    changed = [variation for variation in detectable.robustness if variation.change.verdict != NO_CHANGE_VERDICT]
    same = Counter(
        variation.kind for variation in detectable.robustness if variation.change.verdict == NO_CHANGE_VERDICT
    )
    table = build_table(
        [(variation.kind, variation.change, variation.change.kind) for variation in changed],
        Col("kind", "0", whole=True),
        Col("metric", "1.metric", whole=True),
        Col("pairs", "1.difference.n", "count", room=1),
        Col("original", lambda row: format_value(row[1].base, row[2]), kind="number", room=3),
        Col("variant", lambda row: format_value(row[1].new, row[2]), kind="number", room=2),
        Col("difference", lambda row: format_signed(row[1].difference.mean, row[2]), kind="number"),
        Col("interval", lambda row: between(row[1].difference.interval, row[2]), whole=True),
        Col("verdict", "1.verdict"),
    )
    notes = [f"{kind}: no change seen in {format_count(n, 'metric')}; --json lists them." for kind, n in same.items()]
    notes += [
        f"{kind}: {format_count(n, 'example')} ask something that no document answers, so there is no original to "
        f"compare with. Check the segment variation={kind} to see whether the system declines to answer."
        for kind, n in detectable.unpaired
    ]
    lead = ("Each variant is paired with its original question: difference = variant − original.",)
    return ReportSection("Robustness", lead=lead, table=table, notes=tuple(notes))


def encode_stats(description: SetDescription, reach: SetReach | None) -> dict[str, Any]:
    """The same with every metric and segment, as the encoder takes it."""
    return {"set": description, "reach": reach}
