"""The misalignment page: which ranks the answers use, and where evidence is lost on the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragauge.core.messages import format_count, format_value
from ragauge.rendering.sections import Phrase, ReportColumn, ReportSection, ReportTable, Wording, build_columns
from ragauge.rendering.words import MAX_IGNORED, correlation, ignored, make_safe, share
from ragauge.scores.estimation import compute_rate_interval
from ragauge.scores.results.overview import Alignment, MeanEstimate, Overview, RankUse
from ragauge.scores.results.scorecard import ScorecardData

TRACK_CHARS = 24
MAX_RANKS = 10
MIN_USED_SHARE = 1 - MAX_IGNORED  # of relevant first passages: below, the generator passes over what it should use
STAGE_NAMES = {"top n of the candidates": "top candidates", "handed on": "passed to the generator"}
NO_CLAIMS_NOTE = (
    "Which passages the answers use was not measured: this needs answers with claims, passages with text, and a judge. "
    "Evaluate with faithfulness or ignored_top_ranked."
)


def build_sections(card: ScorecardData) -> Iterator[ReportSection]:
    """Use by rank, by position and by context length, and the stages of retrieval."""
    alignment = card.overview.alignment
    about = (
        f"run {card.run.run_id} · {format_count(alignment.answers if alignment else 0, 'answer')} with claims over "
        "passages"
    )
    lead = (NO_CLAIMS_NOTE,) if alignment is None else tuple(_build_lead(alignment))
    yield ReportSection(make_safe(card.run.name), about, lead)
    if alignment is not None:
        yield from _build_usage_sections(alignment)
    yield from _build_stage_sections(card.overview)


def _build_lead(alignment: Alignment) -> Iterator[Wording]:
    yield Phrase(ignored(alignment), "bad" if alignment.flagged else "")
    if alignment.flagged:
        yield explain_disagreement(alignment.ranks[0])
    if alignment.unused:
        yield f"{share(alignment.unused, alignment.answers)} answers use no passage."
    yield correlation(alignment)


def _build_usage_sections(alignment: Alignment) -> Iterator[ReportSection]:
    more = (f"ranks up to {alignment.ranks[-1].rank}: --json lists them",) if len(alignment.ranks) > MAX_RANKS else ()
    yield ReportSection(Phrase("Use by rank", "title"), table=_build_rank_table(alignment), notes=more)
    estimates = {name: estimate for name, estimate in alignment.positions.items() if estimate.n}
    if estimates:
        table = _build_estimate_table(
            "place", "passages", [(f"{name} third", estimate) for name, estimate in estimates.items()]
        )
        yield ReportSection(Phrase("Relevant passages used, by position in the context", "title"), table=table)


def _build_rank_table(alignment: Alignment) -> ReportTable:
    has_relevance = any(rank.relevant is not None for rank in alignment.ranks)
    scale = ReportColumn("0 %" + " " * (TRACK_CHARS - 8) + "100 %", "bar", whole=True, tone="good")
    headers = *build_columns(numbers=("rank", "used in")), scale, *build_columns(numbers=("highest used",))
    rows = tuple(
        (
            str(rank.rank),
            share(rank.used, rank.n),
            _format_bar(rank.used, rank.n),
            f"{rank.best:,}",
            *([_format_relevant_use(rank)] if has_relevance else ()),
        )
        for rank in alignment.ranks[:MAX_RANKS]
    )
    return ReportTable((*headers, *build_columns(numbers=("used if relevant",) if has_relevance else ())), rows)


def explain_disagreement(first: RankUse) -> str:
    """Whether it is the ranking or the generator that disagrees, from the first passages that are relevant."""
    rate = compute_rate_interval(first.relevant_used or 0, first.relevant) if first.relevant else None
    if rate is None:
        return "Check chunk size, embeddings and the reranker's calibration."
    words = (
        f"Where the first passage is relevant, {share(first.relevant_used or 0, first.relevant or 0)} answers use it"
    )
    if rate.low > MIN_USED_SHARE:
        return f"{words}: the ranking is mostly at fault. Check the embeddings and the reranker."
    if rate.high < MIN_USED_SHARE:
        return f"{words}: the generator ignores it. Check the prompt, the order of passages and the chunk size."
    return f"{words}, which does not show which part is at fault. Check chunk size, embeddings and the reranker."


def _format_relevant_use(rank: RankUse) -> str:
    if rank.relevant is None:
        return "not known"
    return share(rank.relevant_used or 0, rank.relevant) if rank.relevant else "none relevant"


def _format_bar(count: int, total: int) -> str:
    return "█" * round(TRACK_CHARS * count / total) if total else ""


def _build_stage_sections(overview: Overview) -> Iterator[ReportSection]:
    if overview.stages:
        stages = [(STAGE_NAMES.get(stage.name, stage.name), stage.recall) for stage in overview.stages]
        table = _build_estimate_table("after", "examples", stages)
        yield ReportSection(Phrase("Labeled documents remaining", "title"), table=table)
    if overview.lengths:
        names = list(overview.lengths[0].means)
        rows = tuple(
            (f"{band.low:,} to {band.high:,}", f"{band.n:,}", *(_format_estimate(band.means[name]) for name in names))
            for band in overview.lengths
        )
        headers = build_columns(numbers=(overview.lengths[0].unit, "responses", *names))
        yield ReportSection(Phrase("Quality by context length", "title"), table=ReportTable(headers, rows))


def _build_estimate_table(first: str, count_name: str, rows: Sequence[tuple[str, MeanEstimate]]) -> ReportTable:
    table_rows = tuple((name, _format_estimate(estimate), f"{estimate.n:,}") for name, estimate in rows)
    return ReportTable(build_columns(first, numbers=("share", count_name)), table_rows)


def _format_estimate(estimate: MeanEstimate) -> str:
    interval_text = (
        ""
        if estimate.interval is None
        else f" [{format_value(estimate.interval.low)}, {format_value(estimate.interval.high)}]"
    )
    return f"{format_value(estimate.mean)}{interval_text}"
