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
from ragauge.core.messages import format_count, format_metric_value, format_signed, format_value
from ragauge.diagnosis.causes.attribution import describe_missing
from ragauge.diagnosis.confirm import tables as confirmed
from ragauge.diagnosis.examples import tables as examples
from ragauge.evaluation.scorecard import alignment
from ragauge.evaluation.scorecard import page_parts as page
from ragauge.evaluation.scorecard import tables as scorecard
from ragauge.rendering import verdict_texts as verdict_words
from ragauge.rendering import words
from ragauge.rendering.lists import Anchors
from ragauge.rendering.sections import LinkResolver, ReportSection, to_plain_text
from ragauge.rendering.writers.html import (
    format_percent,
    make_breakable,
    render_bar,
    render_command,
    render_length_bars,
    render_link,
    render_sections,
    render_table,
)
from ragauge.scores.indicators import describe_reading as reading
from ragauge.scores.results.comparison import BaselineComparison
from ragauge.scores.results.scorecard import ScorecardData

if TYPE_CHECKING:
    from jinja2 import Environment

STYLE = "report/style.css"


def clean_value(value: Any) -> Any:
    """Text without control characters; markup of our own stays as it is."""
    return words.make_safe(value) if type(value) is str else value


def tighten_formula(formula: str) -> str:
    """A formula without the blanks that line it up with others.

    >>> tighten_formula("a      = b")
    'a = b'
    """
    return re.sub(" {2,}=", " =", formula)


def remove_empty_lines(text: str) -> str:
    r"""Text of a passage without empty lines, so that more of it is seen.

    >>> remove_empty_lines("# Title\n\n \nText.\n")
    '# Title\nText.\n'
    """
    return re.sub(r"\n\s*\n", "\n", text)


# functions that templates call by their names
WORDS = [
    "interval",
    "with_error",
    "between",
    "estimate",
    "counts",
    "opened",
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
]
VERDICT_WORDS = [
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
]


@cache
def get_environment() -> Environment:
    """Where the templates of all pages are rendered: everything that comes from data is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("ragauge.rendering"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=clean_value,
    )
    made.filters.update(
        line=words.to_line,
        breakable=make_breakable,
        as_command=render_command,
        tight=tighten_formula,
        closed_up=remove_empty_lines,
    )
    made.globals.update(_list_globals())
    return made


def _list_globals() -> dict[str, Any]:
    return dict(
        {name: getattr(words, name) for name in WORDS},
        **{name: getattr(verdict_words, name) for name in VERDICT_WORDS},
        number=format_value,
        signed=format_signed,
        against=comparing.describe_against_baseline,
        compared=comparing.describe_matched,
        plural=format_count,
        opened_findings=page.N_OPEN_FINDINGS,
        percent=format_percent,
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
        experiments_say=confirmed.describe_experiments,
        confirmed_share=confirmed.format_confirmed_share,
        meaning_of_experiments=confirmed.COLUMNS_NOTE,
        experiment_verdicts=dict(confirmed.EXPERIMENT_VERDICTS),
        heads_of_losses=losses.HEADERS,
        meaning_of_losses=losses.COLUMNS_NOTE,
        whose=alignment.explain_disagreement,
        change_class=page.get_change_class,
        pairs=page.format_values,
        spoken=page.format_named_values,
        found_in_answer=examples.describe_supported_claims,
        found_of_reference=examples.describe_found_claims,
        scored=examples.format_score,
        valued=format_metric_value,
        track=scorecard.build_score_bar,
        table=render_table,
        bar=render_bar,
        lengths=render_length_bars,
        linked=render_link,
    )


@cache
def read_style_sheet() -> tuple[str, str]:
    """The style sheet and the hash by which the page's policy lets it through, and no other."""
    text = get_environment().get_template(STYLE).render().strip()
    digest = base64.b64encode(hashlib.sha256(f"\n{text}\n".encode()).digest()).decode()
    return f"\n{text}\n", f"sha256-{digest}"


def render_sections_page(
    sections: Iterable[ReportSection], title: str = "", about: str = "", what: str = "result", *, framed: bool = False
) -> str:
    """A page of sections, one below the other, with their headings as its contents.

    Args:
        sections: what it shows; the lead and warnings of the first stand at its head.
        title: its name; "" = the first section's heading, which then heads nothing else.
        about: what stands below the title.
        what: what a reader who skips the contents comes to.
        framed: for the srcdoc of a frame, as notebooks show it.
    """
    from markupsafe import Markup

    style, digest = read_style_sheet()
    return (
        get_environment()
        .get_template("sections.html")
        .render(
            **build_sections_context(sections, Anchors(), title, about, what),
            framed=framed,
            digest=digest,
            style=Markup(style),  # noqa: S704 - our own file
        )
    )


def build_sections_context(
    sections: Iterable[ReportSection], links: LinkResolver, title: str = "", about: str = "", what: str = "result"
) -> dict[str, Any]:
    """What the template of such a page shows, whatever frame it stands in; see `render_sections_page`.

    Args:
        sections: what it shows.
        links: where its phrases lead.
        title: its name.
        about: what stands below the title.
        what: what a reader who skips the contents comes to.
    """
    first, *remaining = sections
    title, heading = title or to_plain_text(first.heading), first.heading if title else ""
    head = ReportSection(lead=first.lead, warnings=first.warnings)
    first = replace(first, heading=heading, lead=(), warnings=())
    groups: list[tuple[str, list[ReportSection]]] = []
    for section in (first, *remaining):
        if section.heading or not groups:
            groups.append((to_plain_text(section.heading), []))
        groups[-1][1].append(replace(section, top=False))
    rendered = [(name, body) for name, group in groups if (body := render_sections(group, links, 1))]
    return {"title": title, "about": about, "what": what, "head": render_sections([head], links, 1), "parts": rendered}


def render_report(card: ScorecardData, *, framed: bool = False) -> str:
    """The whole page. Everything that comes from data is escaped; only our own charts and style are markup.

    Args:
        card: what to show.
        framed: for the srcdoc of a frame, as notebooks show it: there a link to #part would otherwise load the page
            around the frame.
    """
    from markupsafe import Markup

    style, digest = read_style_sheet()
    return (
        get_environment()
        .get_template("report.html")
        .render(**page.build_context(card), framed=framed, style=Markup(style), digest=digest)  # noqa: S704 - our own file
    )


def render_comparison(compared: BaselineComparison, *, framed: bool = False) -> str:
    """The page of a comparison, likewise."""
    from markupsafe import Markup

    style, digest = read_style_sheet()
    return (
        get_environment()
        .get_template("compare.html")
        .render(
            **build_comparison_context(comparison_page.build_context(compared)),
            framed=framed,
            style=Markup(style),  # noqa: S704 - our own file
            digest=digest,
        )
    )


def build_comparison_context(values: dict[str, Any]) -> dict[str, Any]:
    """What the templates of a comparison use beside what was found."""
    return {**values, "say": comparing, "reading": reading, "most_values": comparison_page.MAX_TABLE_ROWS}
