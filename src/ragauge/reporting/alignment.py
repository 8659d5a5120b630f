"""The misalignment page in a terminal: which ranks the answers use, and where evidence is lost on the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ragauge.analysis.results.overview import Alignment, MeanEstimate, Overview, RankUse
from ragauge.analysis.results.scorecard import ScorecardData
from ragauge.reporting.overview_json import overview_json
from ragauge.reporting.words import MOST_IGNORED, correlation, ignored, safe, share
from ragauge.stats.intervals import wilson
from ragauge.text.amounts import number
from ragauge.text.plural import plural

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

TRACK = 24
MOST_RANKS = 10
MOST_USED = 1 - MOST_IGNORED     # of relevant first passages: below, the generator passes over what it should use
STAGE_NAMES = {"top n of the candidates": "candidates, as many as handed on"}
NOTHING = (
    "Nothing is known about which passages the answers use: that needs answers with claims, passages with text, and a "
    "judge. Evaluate with faithfulness or ignored_top_ranked among the metrics."
)


def alignment_text(card: ScorecardData) -> RenderableType:
    """Use by rank, by position and by context length, and the stages of retrieval."""
    from rich.console import Group

    return Group(*_parts(card))


def alignment_json(card: ScorecardData) -> dict[str, Any]:
    """The same as JSON types, with the names that `evaluate --json` gives them."""
    found = overview_json(card.overview)
    kept = ("alignment", "stages", "context_length")
    return {"run_id": card.run.run_id, "name": card.run.name, **{name: found[name] for name in kept}}


def _parts(card: ScorecardData) -> Iterator[RenderableType]:
    from rich.text import Text

    found = card.overview.alignment
    counted = f"  run {card.run.run_id} · {plural(found.answers if found else 0, 'answer')} with claims over passages"
    yield Text(safe(card.run.name), style="bold") + Text(counted, style="dim")
    if found is None:
        yield Text(NOTHING)
    else:
        yield from _use(found)
    yield from _beside(card.overview)


def _use(found: Alignment) -> Iterator[RenderableType]:
    from rich.text import Text

    yield Text(ignored(found), style="bold red" if found.flagged else "")
    if found.flagged:
        yield Text(whose(found.ranks[0]))
    if found.unused:
        yield Text(f"{share(found.unused, found.answers)} answers use no passage at all.")
    yield Text(correlation(found))
    yield Text("\nUse by rank", style="bold cyan")
    yield _ranks(found)
    if len(found.ranks) > MOST_RANKS:
        yield Text(f"ranks up to {found.ranks[-1].rank}: --json has them all", style="dim")
    known = {name: part for name, part in found.positions.items() if part.n}
    if known:
        yield Text("\nRelevant passages used, by their place in the context", style="bold cyan")
        yield _estimates("place", "passages", [(f"{name} third", part) for name, part in known.items()])


def _ranks(found: Alignment) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    judged = any(rank.relevant is not None for rank in found.ranks)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("rank", justify="right")
    table.add_column("used in", justify="right")
    table.add_column("0 %" + " " * (TRACK - 8) + "100 %", no_wrap=True)
    table.add_column("highest used", justify="right")
    if judged:
        table.add_column("used where relevant", justify="right")
    for rank in found.ranks[:MOST_RANKS]:
        bar = Text(_bar(rank.used, rank.n), style="green")
        relevant = [_relevant(rank)] if judged else []
        table.add_row(str(rank.rank), share(rank.used, rank.n), bar, f"{rank.best:,}", *relevant)
    return table


def whose(first: RankUse) -> str:
    """Whether it is the ranking or the generator that disagrees, from the first passages that are relevant."""
    found = wilson(first.relevant_used or 0, first.relevant) if first.relevant else None
    if found is None:
        return "Look at chunk size, embeddings and the reranker's calibration."
    said = f"Where the first passage is relevant, {share(first.relevant_used or 0, first.relevant or 0)} answers use it"
    if found.low > MOST_USED:
        return f"{said}: it is mostly the ranking that puts others first. Look at embeddings and the reranker."
    if found.high < MOST_USED:
        return f"{said}: the generator passes over it. Look at the prompt, the order of passages and chunk size."
    return f"{said}, which does not tell whose fault it is. Look at chunk size, embeddings and the reranker."


def _relevant(rank: RankUse) -> str:
    if rank.relevant is None:
        return "not known"
    return share(rank.relevant_used or 0, rank.relevant) if rank.relevant else "none relevant"


def _bar(part: int, whole: int) -> str:
    return "█" * round(TRACK * part / whole) if whole else ""


def _beside(overview: Overview) -> Iterator[RenderableType]:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    if overview.stages:
        yield Text("\nLabelled documents still there", style="bold cyan")
        rows = [(STAGE_NAMES.get(stage.name, stage.name), stage.recall) for stage in overview.stages]
        yield _estimates("after", "examples", rows)
    if overview.lengths:
        yield Text("\nQuality by context length", style="bold cyan")
        names = list(overview.lengths[0].means)
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for column in (overview.lengths[0].unit, "responses", *names):
            table.add_column(column, justify="right")
        for band in overview.lengths:
            means = [_estimate(band.means[name]) for name in names]
            table.add_row(f"{band.low:,} to {band.high:,}", f"{band.n:,}", *means)
        yield table


def _estimates(first: str, of: str, rows: Sequence[tuple[str, MeanEstimate]]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(first)
    table.add_column("share", justify="right")
    table.add_column(of, justify="right")
    for name, found in rows:
        table.add_row(name, _estimate(found), f"{found.n:,}")
    return table


def _estimate(found: MeanEstimate) -> str:
    ends = "" if found.interval is None else f" [{number(found.interval.low)}, {number(found.interval.high)}]"
    return f"{number(found.mean)}{ends}"
