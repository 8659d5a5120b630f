"""What a set is and can, as sections: what it is made of, topics without a question, likeness, reach, robustness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ragauge.comparison.tables.notes import least_seen
from ragauge.core.messages import number, plural, signed
from ragauge.rendering.sections import ReportColumn, ReportSection, ReportTable, columns
from ragauge.rendering.words import HEADLINE, between, line, safe

if TYPE_CHECKING:
    from ragauge.testsets.stats.detectable_difference import SetReach
    from ragauge.testsets.stats.robustness import VariationChange
    from ragauge.testsets.stats.set_power import DetectableChange
    from ragauge.testsets.stats.set_profile import SetDescription, TopicCover
    from ragauge.testsets.stats.two_sample import TwoSampleTest

MOST = 10  # topics that are listed
UNCHANGED = "no change seen"
MOST_METRICS = 3  # of the table by segment
UNVARIED = "–: nothing tells how far differences spread, since too few or none vary."
ONE_RUN = (
    "From one run: differences of two runs are taken to spread as its scores do, which is right where the two "
    "correlate at one half. --baseline RUN takes the pairs of two runs, as compare does."
)


def stats_sections(made_of: SetDescription, reach: SetReach | None) -> Iterator[ReportSection]:
    """All that is known of a set, each part where there is something to say."""
    yield _made_of(made_of)
    if made_of.topics is not None:
        yield _topics(made_of.topics)
    if made_of.like is not None:
        yield _likeness(made_of.like)
    if reach is not None:
        yield from reach_sections(reach)
        if reach.robustness or reach.unpaired:
            yield _robustness(reach)


def _made_of(found: SetDescription) -> ReportSection:
    rows: list[tuple[str, str, str]] = []
    parts: Mapping[str, Mapping[str, int]] = {
        "state": found.states,
        "type": found.types,
        "origin": found.origins,
        "variation": found.variations,
    }
    for name, counts in parts.items():
        rows += [(name, safe(value), f"{n:,}") for value, n in counts.items()]
    lead = [f"{safe(found.name)} ({found.version}): {plural(found.examples, 'example')}."]
    overlap = found.overlap
    if overlap.mean is not None:
        low, middle, high = (number(one) for one in overlap.quartiles)
        where = "quoted evidence (no corpus was given)" if overlap.quotes else "gold documents"
        lead.append(
            f"Of a question's content words, {number(overlap.mean)} {between(overlap.interval)} stand in its {where} "
            f"(quartiles {low}, {middle}, {high}; {plural(overlap.n, 'question')})."
        )
    if overlap.lost:
        lead.append(
            f"{plural(overlap.lost, 'question')} not counted there: none of their gold documents is in the corpus. "
            "ragauge testset check says which."
        )
    notes = (
        ()
        if overlap.mean is not None or found.topics is not None
        else ("How much questions repeat their gold is not known: give --corpus.",)
    )
    table = ReportTable(columns("of", "value", numbers=("examples",)), tuple(rows))
    return ReportSection("testset stats", lead=tuple(lead), table=table, notes=notes)


def _topics(cover: TopicCover) -> ReportSection:
    lead = (
        f"{len(cover.empty):,} of {plural(cover.topics, 'topic')} have no question; {cover.asked:,} of "
        f"{plural(cover.documents, 'document')} are gold of one."
    )
    rows = tuple(
        (f"{one.documents:,}", line(", ".join(one.words)), line(", ".join(one.doc_ids))) for one in cover.empty[:MOST]
    )
    heads = (ReportColumn("documents", "number"), ReportColumn("words"), ReportColumn("first documents", fold=True))
    notes = (f"and {len(cover.empty) - MOST:,} more: --json lists all.",) if len(cover.empty) > MOST else ()
    return ReportSection(
        "Topics without a question", lead=(lead,), table=ReportTable(heads, rows) if rows else None, notes=notes
    )


def _likeness(found: TwoSampleTest) -> ReportSection:
    heading = "Like real questions?"
    count = f"{plural(found.n, 'question')} and {found.real:,} real ones"
    if found.auroc is None:
        return ReportSection(heading, lead=(f"{count}: too few to tell; it takes 20 of either.",))
    held = f"AUROC {number(found.auroc)} {between(found.interval)}, 0.50 = alike"
    verdict = (
        f"Not told apart by these features ({held})." if not found.apart else f"A classifier tells them apart ({held})."
    )
    heads = (
        ReportColumn("by this alone"),
        ReportColumn("AUROC", "number"),
        ReportColumn("interval", whole=True),
        ReportColumn("the set's", fold=True),
        ReportColumn("real", fold=True),
    )
    rows = tuple(
        (one.name, number(one.auroc), between(one.interval), line(one.here), line(one.real)) for one in found.tells
    )
    notes = [
        "AUROC: how often the classifier finds a question of the set likelier to be one than a real question. Meaning "
        "tells subjects apart too: real questions on other subjects are not alike."
    ]
    notes += [f"Left out: {name}, which is not known of nine in ten of either." for name in found.without]
    if found.left_out:
        notes.append(f"{plural(found.left_out, 'question')} without a known gold document or content words left out.")
    return ReportSection(heading, lead=(f"{count}. {verdict}",), table=ReportTable(heads, rows), notes=tuple(notes))


def reach_sections(found: SetReach) -> Iterator[ReportSection]:
    """The change that a set can show, by metric and by segment."""
    source = f"{safe(found.run)} and {safe(found.baseline)}, paired" if found.baseline else f"run {safe(found.run)}"
    warnings = () if found.same_set else (f"{safe(found.run)} answered another version of the set.",)
    whole = [one for one in found.changes if not one.segment]
    if not whole:
        told = f"By {source} nothing: it has no metric, times and costs aside, with scores of 5 examples."
        yield ReportSection("What the set can show", lead=(told,), warnings=warnings)
        return
    notes = ["detects: the least true change that 80 of 100 comparisons of two runs on this set see."]
    notes += [UNVARIED] if any(one.detectable is None for one in whole) else []
    notes += [] if found.baseline else [ONE_RUN]
    yield ReportSection(
        "What the set can show",
        lead=(f"By {source}.",),
        warnings=warnings,
        table=_changes(whole, found.detect),
        notes=tuple(notes),
    )
    names = [one.metric for one in whole]
    first = [name for name in HEADLINE if name in names]
    chosen = [*first, *(name for name in names if name not in first)][:MOST_METRICS]
    parts = [one for name in chosen for one in found.changes if one.segment and one.metric == name]
    if parts:
        more = [f"{', '.join(chosen)}; --json has all metrics."] if len(names) > len(chosen) else []
        more += [UNVARIED] if any(one.detectable is None for one in parts) else []
        yield ReportSection("By segment", table=_changes(parts, found.detect, segments=True), notes=tuple(more))


def _changes(found: list[DetectableChange], detect: str, *, segments: bool = False) -> ReportTable:
    heads = [ReportColumn("metric", whole=True)]
    heads += [ReportColumn("segment", fold=True)] if segments else []
    heads += [ReportColumn(name, "number") for name in ("examples", "mean", "detects")]
    heads += [ReportColumn(name, "number") for name in (detect, "needed", "more")] if detect else []
    rows = []
    for one in found:
        row = [one.metric, *([f"{safe(one.segment)}={safe(one.value)}"] if segments else [])]
        row += [f"{one.n:,}", number(one.mean), least_seen(one.detectable)]
        row += [_points(one.wanted), _count(one.needed), _count(one.more)] if detect else []
        rows.append(tuple(row))
    return ReportTable(tuple(heads), tuple(rows))


def _points(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _count(n: int | None) -> str:
    return "–" if n is None else f"{n:,}"


def _robustness(found: SetReach) -> ReportSection:
    heads = (
        ReportColumn("kind", whole=True),
        ReportColumn("metric", whole=True),
        ReportColumn("pairs", "number", room=1),
        ReportColumn("original", "number", room=3),
        ReportColumn("variant", "number", room=2),
        ReportColumn("difference", "number"),
        ReportColumn("interval", whole=True),
        ReportColumn("verdict"),
    )
    told = [one for one in found.robustness if one.change.verdict != UNCHANGED]
    same = Counter(one.kind for one in found.robustness if one.change.verdict == UNCHANGED)
    rows = tuple(_variation(one) for one in told)
    notes = [f"{kind}: no change seen in {plural(n, 'metric')}; --json lists them." for kind, n in same.items()]
    notes += [
        f"{kind}: {plural(n, 'example')} ask for what no document tells; they have no original to be held against. "
        f"Look at the segment variation={kind}: do they get a refusal?"
        for kind, n in found.unpaired
    ]
    lead = ("Each question put otherwise beside its original, paired: difference = variant − original.",)
    return ReportSection("Robustness", lead=lead, table=ReportTable(heads, rows) if rows else None, notes=tuple(notes))


def _variation(one: VariationChange) -> tuple[str, ...]:
    change = one.change
    kind = change.kind
    return (
        one.kind,
        change.metric,
        f"{change.difference.n:,}",
        number(change.base, kind),
        number(change.new, kind),
        signed(change.difference.mean, kind),
        between(change.difference.interval, kind),
        change.verdict,
    )


def stats_value(made_of: SetDescription, reach: SetReach | None) -> dict[str, Any]:
    """The same with every metric and segment, as the encoder takes it."""
    return {"set": made_of, "reach": None if reach is None else reach_value(reach)}


def reach_value(found: SetReach) -> dict[str, Any]:
    """What a run tells of its set, as the encoder takes it."""
    return {
        "run": found.run,
        "judge_id": found.judge_id,
        "baseline": found.baseline,
        "detect": found.detect,
        "same_set": found.same_set,
        "changes": [
            {
                "metric": one.metric,
                "segment": one.segment,
                "value": one.value,
                "n": one.n,
                "mean": one.mean,
                "detectable": one.detectable,
                "wanted": one.wanted,
                "needed": one.needed,
                "more": one.more,
            }
            for one in found.changes
        ],
        "robustness": [
            {
                "kind": one.kind,
                "metric": one.change.metric,
                "n": one.change.difference.n,
                "original": one.change.base,
                "variant": one.change.new,
                "difference": one.change.difference.mean,
                "interval": one.change.difference.interval,
                "p_value": one.change.p_value,
                "corrected": one.change.corrected,
                "verdict": one.change.verdict,
            }
            for one in found.robustness
        ],
        "unpaired": dict(found.unpaired),
    }
