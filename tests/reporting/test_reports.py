from __future__ import annotations

import io
import json
import re
from html.parser import HTMLParser

from ragauge.core.json_keys import encode
from ragauge.diagnosis.examples.tables import describe_claim_verdict, describe_missed_documents, split_answer
from ragauge.evaluation.scorecard.html import render_report
from ragauge.evaluation.scorecard.tables import build_score_bar, build_sections
from ragauge.rendering.writers import markdown as writer
from ragauge.rendering.writers.terminal import draw_bar as drawn_track
from ragauge.rendering.writers.terminal import render_terminal
from ragauge.scores.results.scorecard import ScorecardData


class Page(HTMLParser):
    """Collects tags, text and the places where a page could load or run something."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def markdown(card: ScorecardData) -> str:
    return writer.render_markdown("", build_sections(card), 2)


def printed(card: ScorecardData) -> str:
    from rich.console import Console

    out = io.StringIO()
    Console(file=out, width=140, color_system=None).print(render_terminal(build_sections(card)))
    return out.getvalue()


def test_html_runs_and_loads_nothing(card: ScorecardData) -> None:
    """The page has no script, no handler and no address outside itself, whatever the data holds (case 69)."""
    page = Page(render_report(card))
    assert not {"script", "iframe", "img", "object", "link", "form", "base"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    links = [value for name, value in page.attributes if name in ("href", "src", "xlink:href")]
    assert all(value is not None and value.startswith("#") for value in links)


def test_hostile_strings_are_shown_as_text(card: ScorecardData) -> None:
    """Markup in questions, answers, passages, names and segments stands in the page as text."""
    text = " ".join(Page(render_report(card)).text)
    assert text.count("<script>alert('x')</script>") >= 6


def test_terminal_gets_no_escape_from_data(card: ScorecardData) -> None:
    """No control character of the data reaches the terminal, and markup of the data is not interpreted."""
    out = printed(card)
    assert "\x1b" not in out
    assert "[red]a|b[/red]" in out


def test_markdown_table_survives_hostile_names(card: ScorecardData) -> None:
    """A pipe or a tag in a segment's name neither adds a cell nor a tag."""
    lines = [line for line in markdown(card).splitlines() if "alert" in line and line.startswith("|")]
    assert lines
    for line in lines:
        assert len(re.findall(r"(?<!\\)\|", line)) == 5  # four columns: value, n, recall@5, faithfulness
        assert "<script>" not in line


def test_one_run_same_numbers_everywhere(card: ScorecardData) -> None:
    """Terminal, Markdown, HTML and JSON show one mean, one interval and the same counts (case 66)."""
    data = json.loads(json.dumps(encode(card), allow_nan=False))
    found = data["metrics"]["faithfulness"]
    shown = f"{found['mean']:.2f}", f"[{found['ci'][0]:.2f}, {found['ci'][1]:.2f}]"
    for text in (printed(card), markdown(card), " ".join(Page(render_report(card)).text)):
        squeezed = " ".join(text.split())
        assert shown[0] in squeezed
        assert shown[1] in squeezed
        assert "110 scored · 6 undefined · 3 not applicable" in squeezed


def test_metric_that_applies_to_nothing_is_named_once_with_its_reason(card: ScorecardData) -> None:
    """A metric without any input is told apart from one that scored 0."""
    out = printed(card)
    assert "Not applicable (no aspects prepared): completeness" in out
    assert encode(card)["metrics"]["completeness"]["mean"] is None


def test_answer_is_cut_at_its_claims(card: ScorecardData) -> None:
    """The pieces of an answer join to the answer, and each claim carries its label."""
    (view,) = card.worst
    cut = split_answer(view)
    assert "".join(piece.text for piece in cut) == view.response.answer
    assert [piece.label for piece in cut if piece.label] == ["supported", "not_in_context"]
    assert ("90 kg", True) in cut[2].parts
    assert "90 kg" in describe_claim_verdict(cut[2].claims[0], cut[2].label)


def test_missed_documents_are_named(card: ScorecardData) -> None:
    """A labelled document that was not handed on is named; one that was is not."""
    assert describe_missed_documents(card.worst[0]) == ("z",)


def test_track_marks_the_mean_inside_its_interval(card: ScorecardData) -> None:
    """The mark of the mean stands where the mean is on the line from 0 to 1."""
    bar = build_score_bar(card.summaries[0])
    assert bar is not None
    drawn = drawn_track(bar)
    assert drawn.index("●") == int(0.41 * len(drawn))
    assert drawn.index("━") < drawn.index("●") < drawn.rindex("━")


def test_amounts_show_quantiles(card: ScorecardData) -> None:
    """Latency is shown with its quantiles and without a line from 0 to 1."""
    assert "p50 900 ms, p95 3,210 ms" in printed(card)
    assert build_score_bar(card.summaries[3]) is None
