"""Results as self-contained HTML pages: no script, no request, light and dark, print."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from ragauge.comparison.gaps import losses
from ragauge.comparison.tables import page_parts as comparison_page
from ragauge.comparison.tables import words as comparing
from ragauge.core.messages import plural, valued
from ragauge.diagnosis.causes.missing_facts import describe_missing
from ragauge.diagnosis.confirm import tables as confirmed
from ragauge.diagnosis.examples import tables as examples
from ragauge.evaluation.scorecard import alignment
from ragauge.evaluation.scorecard import page_parts as page
from ragauge.evaluation.scorecard import tables as scorecard
from ragauge.rendering import verdict_texts as verdict_words
from ragauge.rendering import words
from ragauge.rendering.lists import Anchors
from ragauge.rendering.sections import LinkResolver, ReportSection, plain
from ragauge.rendering.writers.html import (
    bar_html,
    breakable,
    command_html,
    lengths_html,
    linked,
    percent,
    sections_html,
    table_html,
)
from ragauge.scores.indicators import words as reading
from ragauge.scores.results.comparison import Compared
from ragauge.scores.results.scorecard import ScorecardData

if TYPE_CHECKING:
    from jinja2 import Environment

STYLE = "report/style.css"


def plainly(value: Any) -> Any:
    """Text without control characters; markup of our own stays as it is."""
    return words.safe(value) if type(value) is str else value


def tight(formula: str) -> str:
    """A formula without the blanks that line it up with others.

    >>> tight("a      = b")
    'a = b'
    """
    return re.sub(" {2,}=", " =", formula)


def closed_up(text: str) -> str:
    r"""Text of a passage without empty lines, so that more of it is seen.

    >>> closed_up("# Title\n\n \nText.\n")
    '# Title\nText.\n'
    """
    return re.sub(r"\n\s*\n", "\n", text)


@cache
def environment() -> Environment:
    """Where the templates of all pages are rendered: everything that comes from data is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("ragauge.rendering"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=plainly,
    )
    made.filters.update(line=words.line, breakable=breakable, as_command=command_html, tight=tight, closed_up=closed_up)
    made.globals.update(
        {
            name: getattr(words, name)
            for name in (
                "number",
                "interval",
                "with_error",
                "between",
                "estimate",
                "counts",
                "opened",
                "signed",
                "difference",
                "share",
                "by_layer",
                "left_out",
                "first_of_layers",
                "ignored",
                "correlation",
                "confidence",
                "pareto_line",
                "rectified_means",
                "known_no",
                "unreadable",
            )
        },
        **{
            name: getattr(verdict_words, name)
            for name in (
                "verdict",
                "first_thing",
                "label_first",
                "outcomes",
                "verdict_pair",
                "older_rule",
                "settled_by",
                "open_counts",
                "count_words",
                "labels_decide",
            )
        },
        against=comparing.against,
        compared=comparing.matched,
        plural=plural,
        opened_findings=page.OPENED,
        percent=percent,
        describe_missing=describe_missing,
        arrows=dict(words.ARROWS),
        layer_names=dict(words.LAYERS),
        short=dict(words.SHORT_LAYERS),
        labels=dict(words.LABELS),
        states_of_runs=dict(words.STATES),
        unnamed=words.UNNAMED,
        verdicts=dict(verdict_words.VERDICTS),
        signs=dict(examples.MARKS),
        stated_words=dict(examples.STATED_WORDS),
        experiments_say=confirmed.experiments_say,
        confirmed_share=confirmed.confirmed_share,
        meaning_of_experiments=confirmed.MEANING,
        experiment_verdicts=dict(confirmed.EXPERIMENT_VERDICTS),
        heads_of_losses=losses.HEADS,
        meaning_of_losses=losses.MEANING,
        whose=alignment.whose,
        change_class=page.change_class,
        pairs=page.pairs,
        spoken=page.spoken,
        found_in_answer=examples.found_in_answer,
        found_of_reference=examples.found_of_reference,
        scored=examples.scored,
        valued=valued,
        track=scorecard.track,
        table=table_html,
        bar=bar_html,
        lengths=lengths_html,
        linked=linked,
    )
    return made


@cache
def style_sheet() -> tuple[str, str]:
    """The style sheet and the hash by which the page's policy lets it through, and no other."""
    text = environment().get_template(STYLE).render().strip()
    digest = base64.b64encode(hashlib.sha256(f"\n{text}\n".encode()).digest()).decode()
    return f"\n{text}\n", f"sha256-{digest}"


def sections_page(
    found: Iterable[ReportSection], title: str = "", about: str = "", what: str = "result", *, framed: bool = False
) -> str:
    """A page of sections, one below the other, with their headings as its contents.

    Args:
        found: what it shows; the lead and warnings of the first stand at its head.
        title: its name; "" = the first section's heading, which then heads nothing else.
        about: what stands below the title.
        what: what a reader who skips the contents comes to.
        framed: for the srcdoc of a frame, as notebooks show it.
    """
    from markupsafe import Markup

    style, digest = style_sheet()
    return (
        environment()
        .get_template("sections.html")
        .render(
            **sections_values(found, Anchors(), title, about, what),
            framed=framed,
            digest=digest,
            style=Markup(style),  # noqa: S704 - our own file
        )
    )


def sections_values(
    found: Iterable[ReportSection], links: LinkResolver, title: str = "", about: str = "", what: str = "result"
) -> dict[str, Any]:
    """What the template of such a page shows, whatever frame it stands in; see `sections_page`.

    Args:
        found: what it shows.
        links: where its phrases lead.
        title: its name.
        about: what stands below the title.
        what: what a reader who skips the contents comes to.
    """
    first, *rest = found
    title, heading = title or plain(first.heading), first.heading if title else ""
    head = ReportSection(lead=first.lead, warnings=first.warnings)
    first = replace(first, heading=heading, lead=(), warnings=())
    parts: list[tuple[str, list[ReportSection]]] = []
    for one in (first, *rest):
        if one.heading or not parts:
            parts.append((plain(one.heading), []))
        parts[-1][1].append(replace(one, top=False))
    shown = [(name, body) for name, mine in parts if (body := sections_html(mine, links, 1))]
    return {"title": title, "about": about, "what": what, "head": sections_html([head], links, 1), "parts": shown}


def html(card: ScorecardData, *, framed: bool = False) -> str:
    """The whole page. Everything that comes from data is escaped; only our own charts and style are markup.

    Args:
        card: what to show.
        framed: for the srcdoc of a frame, as notebooks show it: there a link to #part would otherwise load the page
            around the frame.
    """
    from markupsafe import Markup

    style, digest = style_sheet()
    return (
        environment()
        .get_template("report.html")
        .render(
            **page.context(card),
            framed=framed,
            style=Markup(style),  # noqa: S704 - our own file
            digest=digest,
        )
    )


def comparison_html(compared: Compared, *, framed: bool = False) -> str:
    """The page of a comparison, likewise."""
    from markupsafe import Markup

    style, digest = style_sheet()
    return (
        environment()
        .get_template("compare.html")
        .render(
            **comparison_values(comparison_page.context(compared)),
            framed=framed,
            style=Markup(style),  # noqa: S704 - our own file
            digest=digest,
        )
    )


def comparison_values(values: dict[str, Any]) -> dict[str, Any]:
    """What the templates of a comparison use beside what was found."""
    return {**values, "say": comparing, "reading": reading, "most_values": comparison_page.MOST_VALUES}
