"""Charts that are kept: the page is the same, and nothing is drawn twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import pytest

from ragauge.evaluation.scorecard.html import render_report
from ragauge.rendering.charts import svg as drawing
from ragauge.rendering.charts.svg import render_with_cache
from ragauge.scores.results.scorecard import ScorecardData


class Shelf:
    """Keeps charts in memory."""

    def __init__(self) -> None:
        self.charts: dict[bytes, str] = {}
        self.asked = 0

    def read(self, digests: Iterable[bytes]) -> Mapping[bytes, str]:
        self.asked += 1
        return {digest: self.charts[digest] for digest in digests if digest in self.charts}

    def save(self, drawn: Mapping[bytes, str]) -> None:
        self.charts |= drawn


def test_a_page_of_kept_charts_is_the_drawn_one(
    whole: Callable[..., ScorecardData], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page is byte for byte that without a shelf; the second time all charts are asked for at once, none drawn."""
    full = whole()
    plain, shelf = render_report(full), Shelf()
    assert render_with_cache(shelf, lambda: render_report(full)) == plain
    assert len(shelf.charts) > 3
    monkeypatch.setattr(drawing, "_draw_svg", None)
    shelf.asked = 0
    assert render_with_cache(shelf, lambda: render_report(full)) == plain
    assert shelf.asked == 1


def test_charts_of_one_page_share_no_clip(whole: Callable[..., ScorecardData]) -> None:
    """Every clip that a chart refers to is in the same chart, however many were drawn before."""
    shelf = Shelf()
    render_with_cache(shelf, lambda: render_report(whole()))
    for svg in shelf.charts.values():
        used = {part.partition(")")[0] for part in svg.split("url(#")[1:]}
        assert all(f'id="{name}"' in svg for name in used)
    clips = [part.partition('"')[0] for svg in shelf.charts.values() for part in svg.split('<clipPath id="')[1:]]
    assert clips
    assert len(clips) == len(set(clips))


def test_a_mark_in_data_is_no_chart(card: ScorecardData) -> None:
    """A text that looks like the mark of a chart is shown as text."""
    from dataclasses import replace

    hostile = replace(card, run=replace(card.run, name=f"<!--chart {'0' * 64}-->"))
    page = render_with_cache(Shelf(), lambda: render_report(hostile))
    assert f"&lt;!--chart {'0' * 64}--&gt;" in page
