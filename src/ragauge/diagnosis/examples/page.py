"""`/runs/R/examples` and `/runs/R/examples/Q`: the examples of a run, and one of them in full."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UnknownName
from ragauge.core.messages import command, plural
from ragauge.dashboard.site import Moved, NoSuchPage, Site, asked_of, number_of
from ragauge.diagnosis.examples.example_views import ExamplePage, ExamplePlace, ListedExamples
from ragauge.diagnosis.explain import tables as explain
from ragauge.evaluation.runs.verb import OpenRun
from ragauge.evaluation.scorecard import page_parts as report
from ragauge.rendering.lists import Anchors, named_by, question
from ragauge.rendering.words import headline_of
from ragauge.rendering.writers.html import sections_html
from ragauge.testsets.add.verb import place_in_set

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams

LIMIT = 50
MOST_VALUES = 100  # of a segment that are offered to choose from; beyond that it is typed
FILTERS = ("q", "status", "cause", "tag")
BEGINS = ("segment.", "metric.", "status.")
LIST = ("judge", "sort", *FILTERS)  # what an example keeps of the list that led to it
TOLD = ("added", "there")  # how many examples a form added to the regression set, and how many it had
KEYS = (*LIST, "page", "columns", *TOLD)
OF_ROW = ("query_id", "repeat", "query", "answer", "status", "cause", "quality")  # first columns of a table
SIGNS = {"lt": "<", "lte": "≤", "gt": ">", "gte": "≥"}
SET, TAG = "regression.jsonl", "regression"  # that a command adds an example to, and as what


def wanted_of(asked: Mapping[str, str], limit: int | None = None) -> ExamplePage:
    """The part of a list that an address asks for.

    Raises:
        UsageError: a page that is no number from 1 on.
    """
    number = number_of(asked, "page", 1, 1)
    filters = {key: value for key, value in asked.items() if key in FILTERS or key.startswith(BEGINS)}
    return ExamplePage(
        limit=limit,
        skip=0 if limit is None else (number - 1) * limit,
        sort=asked.get("sort", ""),
        filter=filters,
        metrics=asked.get("columns", ""),
    )


SAID = {"status": "outcome", "q": "words"}  # keys of the address, as the fields above the list call them


@dataclass(frozen=True)
class ExamplesPage:
    """A list of examples.

    Attributes:
        site: what is served.
        run: of the store.
        asked: order, filters, page.
        value: the rows, and what there is to choose from.
        added: what a form did to the regression set, in a sentence; "" where none was sent.
    """

    site: Site
    run: OpenRun
    asked: dict[str, str]
    value: ListedExamples
    added: str = ""

    def html(self) -> str:
        """The page."""
        found, asked = self.value, self.asked
        number, last = int(asked.get("page", "1")), max(1, ceil(found.matching / LIMIT))
        kept = {key: value for key, value in asked.items() if key not in ("page", "columns", "judge")}
        links = self.site.links(self.run, {key: asked[key] for key in ("judge",) if key in asked})
        columns = found.metrics if "columns" in asked else headline_of(found.metrics)
        if asked.get("sort") in found.scored and asked["sort"] not in columns:
            columns = (asked["sort"], *columns)
        offered = {f"segment.{column}" for column in found.segments}
        bounds = {key: value for key, value in asked.items() if key.startswith(BEGINS) and key not in offered}
        return self.site.render(
            "examples.html",
            "runs",
            run=self.run.run,
            found=found,
            asked=asked,
            kept=kept,
            links=links,
            columns=columns,
            turn=number,
            added=self.added,
            last=last,
            bounds=bounds,
            most_values=MOST_VALUES,
            list=question(asked)[1:],
            turned=self._turned,
            filters=tuple(self._filters()),
            pairs_of=_twice,
            causes=[(cause, f"{cause} ({count:,})") for cause, count in found.causes.items() if cause],
            orders=[
                ("quality", "lowest quality first"),
                ("cause", "by cause"),
                *((name, f"worst {name} first") for name in found.scored),
            ],
        )

    def _filters(self) -> Iterator[tuple[str, str]]:
        """What the list is filtered by, in words, and the address of the list without it."""
        for key, value in self.asked.items():
            name, _, how = key.removeprefix("metric.").rpartition(".")
            if key.startswith("metric."):
                yield f"{name} {SIGNS[how]} {float(value):.4g}", self._without(key)
            elif key in FILTERS or key.startswith(BEGINS):
                said = SAID.get(key, key.removeprefix("segment.").replace(".", " of ", 1))
                yield f"{said}: {value}", self._without(key)

    def _without(self, *keys: str) -> str:
        """The address of this list without some keys, from its first page on."""
        return question({key: value for key, value in self.asked.items() if key not in (*keys, "page")}) or "?"

    def _turned(self, number: int) -> str:
        """The address of another page of this list."""
        return question({**self.asked, "page": str(number)})


def told_of(site: Site, asked: dict[str, str]) -> str:
    """What the form that led here did, in a sentence; its keys are taken out of what is asked for."""
    counts = {key: number_of(asked, key, 0, 0) for key in TOLD if key in asked}
    for key in counts:
        del asked[key]
    if not counts or not site.regression_set:
        return ""
    added, there = (counts.get(key, 0) for key in TOLD)
    had = f"{plural(there, 'example')} {'was' if there == 1 else 'were'} in it already" if there else ""
    new = f"{plural(added, 'example')} added to {site.regression_set}" if added or not there else ""
    return f"{new}; {had}." if new and had else f"{new or f'Nothing added to {site.regression_set}: {had}'}."


def _twice(values: Sequence[str]) -> list[tuple[str, str]]:
    """What is sent and what is read, of values that are both."""
    return [(value, value) for value in values]


def page(site: Site, given: QueryParams, run: str) -> ExamplesPage:
    """The list that an address asks for.

    Raises:
        NoSuchPage: no such run.
        Moved: a page behind the last one.
        UnknownName: no such order, filter or value.
    """
    asked = asked_of(given, KEYS, BEGINS)
    found, added = site.run(run), told_of(site, asked)
    listed = found.listed(wanted_of(asked, LIMIT), asked.get("judge"))
    last = max(1, ceil(listed.matching / LIMIT))
    if int(asked.get("page", "1")) > last:
        raise Moved(question({**asked, "page": str(last)}))
    return ExamplesPage(site, found, asked, listed, added)


def table(site: Site, given: QueryParams, run: str) -> tuple[list[str], Iterator[dict[str, Any]]]:
    """Columns and every row of the list that an address asks for, whatever its page."""
    asked = asked_of(given, KEYS, BEGINS)
    told_of(site, asked)
    asked.pop("page", None)
    found = site.run(run).listed(wanted_of(asked), asked.get("judge"))
    rows = (
        {
            **{name: getattr(row, name) for name in OF_ROW},
            "tags": ", ".join(row.tags),
            **{f"segment.{name}": value for name, value in row.segments.items()},
            **row.values,
        }
        for row in found.rows
    )
    return [*OF_ROW, "tags", *(f"segment.{name}" for name in found.segments), *found.metrics], rows


@dataclass(frozen=True)
class ExampleOnPage:
    """One example in full.

    Attributes:
        site: what is served.
        run: of the store.
        asked: the list that led here.
        repeat: which of the system's answers.
        view: everything that was found about it.
        value: how its numbers came about; None where nothing was scored.
        place: where it stands in the list; None where it does not.
        elsewhere: the same question in all runs, the newest first.
        replies: what models said for it.
        added: what a form did to the regression set, in a sentence; "" where none was sent.
    """

    site: Site
    run: OpenRun
    asked: dict[str, str]
    repeat: int
    view: Any
    value: Any
    place: ExamplePlace | None
    elsewhere: Sequence[Any]
    replies: Sequence[Any]
    added: str = ""

    def html(self) -> str:
        """The page."""
        links = self.site.links(self.run)
        shown = report.in_full(self.view, Anchors(), whole=True)
        sections = () if self.value is None else tuple(explain.example_sections(self.value))[1:]
        to, query_id = self.site.regression_set, self.view.example.query_id
        return self.site.render(
            "example.html",
            "runs",
            run=self.run.run,
            ex=shown,
            experiments={},
            place=self.place,
            back=links.examples(self.asked),
            beside=self._beside,
            lost=_lost(self.view),
            explained=sections_html(sections, links) if sections else "",
            elsewhere=self.elsewhere,
            columns=headline_of(list(self.view.scores)),
            replies=self.replies,
            at=lambda row: self.site.example(row.run_id, query_id, row.repeat),
            adds=command("testset", "add", self.run.run.run_id, query_id, "--to", to or SET, "--tag", TAG),
            kept=place_in_set(to, self.view, self.run.run, tag=TAG),
            added=self.added,
            list=question(self.asked)[1:],
        )

    def _beside(self, key: tuple[str, int]) -> str:
        return self.site.links(self.run).example(*key, self.asked)


def _lost(view: Any) -> Sequence[tuple[int, Any]]:
    """The candidates of retrieval that never reached the generator, with their ranks."""
    handed = {passage.passage_id for passage in view.response.passages or ()}
    candidates = enumerate(view.response.candidates or (), 1)
    return [(rank, passage) for rank, passage in candidates if passage.passage_id not in handed]


def one(site: Site, given: QueryParams, run: str, query_id: str) -> ExampleOnPage:
    """The example that an address names.

    Raises:
        NoSuchPage: no such run or example.
        UnknownName: no such judge, order, filter or value.
    """
    asked = asked_of(given, (*LIST, "repeat", *TOLD), BEGINS)
    added = told_of(site, asked)
    repeat = number_of(asked, "repeat", 0, 0)
    asked.pop("repeat", None)
    found, judge, query_id = site.run(run), asked.get("judge"), named_by(query_id)
    place = found.place(query_id, repeat, wanted_of(asked), judge)
    try:
        view = found.example(query_id, repeat, judge=judge)
    except UnknownName as error:
        raise NoSuchPage(str(error)) from error
    worked = found.explain_view(view) if view.scores else None
    return ExampleOnPage(
        site, found, asked, repeat, view, worked, place, found.question_in_runs(query_id), found.replies(view), added
    )
