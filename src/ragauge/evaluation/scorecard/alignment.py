"""The misalignment page: which ranks the answers use, and where evidence is lost on the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragauge.core.messages import number, plural
from ragauge.rendering.sections import Phrase, ReportColumn, ReportSection, ReportTable, Wording, columns
from ragauge.rendering.words import MOST_IGNORED, correlation, ignored, safe, share
from ragauge.scores.estimation import interval_of_rate
from ragauge.scores.results.overview import Alignment, MeanEstimate, Overview, RankUse
from ragauge.scores.results.scorecard import ScorecardData

TRACK = 24
MOST_RANKS = 10
MOST_USED = 1 - MOST_IGNORED  # of relevant first passages: below, the generator passes over what it should use
STAGE_NAMES = {"top n of the candidates": "candidates, as many as handed on"}
NOTHING = (
    "Nothing is known about which passages the answers use: that needs answers with claims, passages with text, and a "
    "judge. Evaluate with faithfulness or ignored_top_ranked among the metrics."
)


def sections(card: ScorecardData) -> Iterator[ReportSection]:
    """Use by rank, by position and by context length, and the stages of retrieval."""
    alignment = card.overview.alignment
    about = (
        f"run {card.run.run_id} · {plural(alignment.answers if alignment else 0, 'answer')} with claims over passages"
    )
    lead = (NOTHING,) if alignment is None else tuple(_lead(alignment))
    yield ReportSection(safe(card.run.name), about, lead)
    if alignment is not None:
        yield from _use(alignment)
    yield from _beside(card.overview)


def _lead(alignment: Alignment) -> Iterator[Wording]:
    yield Phrase(ignored(alignment), "bad" if alignment.flagged else "")
    if alignment.flagged:
        yield whose(alignment.ranks[0])
    if alignment.unused:
        yield f"{share(alignment.unused, alignment.answers)} answers use no passage at all."
    yield correlation(alignment)


def _use(alignment: Alignment) -> Iterator[ReportSection]:
    more = (
        (f"ranks up to {alignment.ranks[-1].rank}: --json has them all",) if len(alignment.ranks) > MOST_RANKS else ()
    )
    yield ReportSection(Phrase("Use by rank", "title"), table=_ranks(alignment), notes=more)
    known = {name: part for name, part in alignment.positions.items() if part.n}
    if known:
        table = _estimates("place", "passages", [(f"{name} third", part) for name, part in known.items()])
        yield ReportSection(Phrase("Relevant passages used, by their place in the context", "title"), table=table)


def _ranks(alignment: Alignment) -> ReportTable:
    judged = any(rank.relevant is not None for rank in alignment.ranks)
    scale = ReportColumn("0 %" + " " * (TRACK - 8) + "100 %", "bar", whole=True, tone="good")
    heads = *columns(numbers=("rank", "used in")), scale, *columns(numbers=("highest used",))
    rows = tuple(
        (
            str(rank.rank),
            share(rank.used, rank.n),
            _bar(rank.used, rank.n),
            f"{rank.best:,}",
            *([_relevant(rank)] if judged else ()),
        )
        for rank in alignment.ranks[:MOST_RANKS]
    )
    return ReportTable((*heads, *columns(numbers=("used where relevant",) if judged else ())), rows)


def whose(first: RankUse) -> str:
    """Whether it is the ranking or the generator that disagrees, from the first passages that are relevant."""
    rate = interval_of_rate(first.relevant_used or 0, first.relevant) if first.relevant else None
    if rate is None:
        return "Look at chunk size, embeddings and the reranker's calibration."
    words = (
        f"Where the first passage is relevant, {share(first.relevant_used or 0, first.relevant or 0)} answers use it"
    )
    if rate.low > MOST_USED:
        return f"{words}: it is mostly the ranking that puts others first. Look at embeddings and the reranker."
    if rate.high < MOST_USED:
        return f"{words}: the generator passes over it. Look at the prompt, the order of passages and chunk size."
    return f"{words}, which does not tell whose fault it is. Look at chunk size, embeddings and the reranker."


def _relevant(rank: RankUse) -> str:
    if rank.relevant is None:
        return "not known"
    return share(rank.relevant_used or 0, rank.relevant) if rank.relevant else "none relevant"


def _bar(part: int, whole: int) -> str:
    return "█" * round(TRACK * part / whole) if whole else ""


def _beside(overview: Overview) -> Iterator[ReportSection]:
    if overview.stages:
        stages = [(STAGE_NAMES.get(stage.name, stage.name), stage.recall) for stage in overview.stages]
        table = _estimates("after", "examples", stages)
        yield ReportSection(Phrase("Labelled documents still there", "title"), table=table)
    if overview.lengths:
        names = list(overview.lengths[0].means)
        rows = tuple(
            (f"{band.low:,} to {band.high:,}", f"{band.n:,}", *(_estimate(band.means[name]) for name in names))
            for band in overview.lengths
        )
        heads = columns(numbers=(overview.lengths[0].unit, "responses", *names))
        yield ReportSection(Phrase("Quality by context length", "title"), table=ReportTable(heads, rows))


def _estimates(first: str, of: str, rows: Sequence[tuple[str, MeanEstimate]]) -> ReportTable:
    shown = tuple((name, _estimate(estimate), f"{estimate.n:,}") for name, estimate in rows)
    return ReportTable(columns(first, numbers=("share", of)), shown)


def _estimate(estimate: MeanEstimate) -> str:
    ends = "" if estimate.interval is None else f" [{number(estimate.interval.low)}, {number(estimate.interval.high)}]"
    return f"{number(estimate.mean)}{ends}"
