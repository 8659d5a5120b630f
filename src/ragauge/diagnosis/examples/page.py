"""`/runs/R/examples` and `/runs/R/examples/Q`: the examples of a run, and one of them in full."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UnknownName
from ragauge.core.messages import format_command, format_count
from ragauge.dashboard.site import Address, AddressMoved, NoSuchPage, Site, parse_number, parse_options
from ragauge.diagnosis.examples.example_views import ExamplePageOptions, ExamplePosition, ListedExamples
from ragauge.diagnosis.explain import tables as explain
from ragauge.evaluation.runs.verb import OpenRun
from ragauge.evaluation.scorecard import page_parts as report
from ragauge.rendering.lists import Anchors, decode_name, format_query
from ragauge.rendering.words import select_headline_names
from ragauge.rendering.writers.html import render_sections
from ragauge.testsets.add.verb import preview_addition

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams

PAGE_SIZE = 50
MAX_VALUES = 100  # of a segment that are offered to choose from; beyond that it is typed
FILTERS = ("q", "status", "cause", "tag")
FILTER_PREFIXES = ("segment.", "metric.", "status.")
LIST = ("judge", "sort", *FILTERS)  # what an example keeps of the list that led to it
ADDED_KEYS = ("added", "there")  # how many examples a form added to the regression set, and how many it had
KEYS = (*LIST, "page", "columns", *ADDED_KEYS)
ROW_COLUMNS = ("query_id", "repeat", "query", "answer", "status", "cause", "quality")  # first columns of a table
SIGNS = {"lt": "<", "lte": "≤", "gt": ">", "gte": "≥"}
DEFAULT_SET, TAG = "regression.jsonl", "regression"  # that a command adds an example to, and as what


def build_page_request(options: Mapping[str, str], limit: int | None = None) -> ExamplePageOptions:
    """The part of a list that an address asks for.

    Raises:
        UsageError: a page that is no number from 1 on.
    """
    number = parse_number(options, "page", 1, 1)
    filters = {key: value for key, value in options.items() if key in FILTERS or key.startswith(FILTER_PREFIXES)}
    return ExamplePageOptions(
        limit=limit,
        skip=0 if limit is None else (number - 1) * limit,
        sort=options.get("sort", ""),
        filter=filters,
        metrics=options.get("columns", ""),
    )


FILTER_LABELS = {"status": "outcome", "q": "words"}  # keys of the address, as the fields above the list call them


@dataclass(frozen=True)
class ExamplesPage:
    """A list of examples."""

    site: Site  #: what is served.
    run: OpenRun  #: of the store.
    params: dict[str, str]  #: order, filters, page.
    value: ListedExamples  #: the rows, and what there is to choose from.
    added: str = ""  #: what a form did to the regression set, in a sentence; "" where none was sent.

    def html(self) -> str:
        """The page."""
        listed_examples, options = self.value, self.params
        number, last = int(options.get("page", "1")), max(1, ceil(listed_examples.matching / PAGE_SIZE))
        link_options = {key: value for key, value in options.items() if key not in ("page", "columns", "judge")}
        links = self.site.build_links(self.run, {key: options[key] for key in ("judge",) if key in options})
        columns = listed_examples.metrics if "columns" in options else select_headline_names(listed_examples.metrics)
        if options.get("sort") in listed_examples.scored and options["sort"] not in columns:
            columns = (options["sort"], *columns)
        offered = {f"segment.{column}" for column in listed_examples.segments}
        bounds = {
            key: value for key, value in options.items() if key.startswith(FILTER_PREFIXES) and key not in offered
        }
        return self.site.render(
            "examples.html",
            "runs",
            run=self.run.run,
            found=listed_examples,
            asked=options,
            kept=link_options,
            links=links,
            columns=columns,
            turn=number,
            added=self.added,
            last=last,
            bounds=bounds,
            most_values=MAX_VALUES,
            list=format_query(options)[1:],
            turned=self._link_page,
            filters=tuple(self._list_filters()),
            pairs_of=_pair_values,
            causes=[(cause, f"{cause} ({count:,})") for cause, count in listed_examples.causes.items() if cause],
            orders=[
                ("quality", "lowest quality first"),
                ("cause", "by cause"),
                *((name, f"worst {name} first") for name in listed_examples.scored),
            ],
        )

    def _list_filters(self) -> Iterator[tuple[str, str]]:
        """What the list is filtered by, in words, and the address of the list without it."""
        for key, value in self.params.items():
            name, _, how = key.removeprefix("metric.").rpartition(".")
            if key.startswith("metric."):
                yield f"{name} {SIGNS[how]} {float(value):.4g}", self._link_without(key)
            elif key in FILTERS or key.startswith(FILTER_PREFIXES):
                filter_label = FILTER_LABELS.get(key, key.removeprefix("segment.").replace(".", " of ", 1))
                yield f"{filter_label}: {value}", self._link_without(key)

    def _link_without(self, *keys: str) -> str:
        """The address of this list without some keys, from its first page on."""
        return format_query({key: value for key, value in self.params.items() if key not in (*keys, "page")}) or "?"

    def _link_page(self, number: int) -> str:
        """The address of another page of this list."""
        return format_query({**self.params, "page": str(number)})


def describe_added(site: Site, options: dict[str, str]) -> str:
    """What the form that led here did, in a sentence; its keys are taken out of what is asked for."""
    counts = {key: parse_number(options, key, 0, 0) for key in ADDED_KEYS if key in options}
    for key in counts:
        del options[key]
    if not counts or not site.regression_set:
        return ""
    added, n_existing = (counts.get(key, 0) for key in ADDED_KEYS)
    had = (
        f"{format_count(n_existing, 'example')} {'was' if n_existing == 1 else 'were'} already in it"
        if n_existing
        else ""
    )
    new = f"{format_count(added, 'example')} added to {site.regression_set}" if added or not n_existing else ""
    return f"{new}; {had}." if new and had else f"{new or f'Nothing added to {site.regression_set}: {had}'}."


def _pair_values(values: Sequence[str]) -> list[tuple[str, str]]:
    """What is sent and what is read, of values that are both."""
    return [(value, value) for value in values]


def build_page(site: Site, params: QueryParams, run: str) -> ExamplesPage:
    """The list that an address asks for.

    Raises:
        NoSuchPage: no such run.
        Moved: a page behind the last one.
        UnknownName: no such order, filter or value.
    """
    options = parse_options(params, KEYS, FILTER_PREFIXES)
    opened_run, added = site.run(run), describe_added(site, options)
    listed_examples = opened_run.listed(build_page_request(options, PAGE_SIZE), options.get("judge"))
    last = max(1, ceil(listed_examples.matching / PAGE_SIZE))
    if int(options.get("page", "1")) > last:
        raise AddressMoved(format_query({**options, "page": str(last)}))
    return ExamplesPage(site, opened_run, options, listed_examples, added)


def build_table(site: Site, params: QueryParams, run: str) -> tuple[list[str], Iterator[dict[str, Any]]]:
    """Columns and every row of the list that an address asks for, whatever its page."""
    options = parse_options(params, KEYS, FILTER_PREFIXES)
    describe_added(site, options)
    options.pop("page", None)
    listed_examples = site.run(run).listed(build_page_request(options), options.get("judge"))
    rows = (
        {
            **{name: getattr(row, name) for name in ROW_COLUMNS},
            "tags": ", ".join(row.tags),
            **{f"segment.{name}": value for name, value in row.segments.items()},
            **row.values,
        }
        for row in listed_examples.rows
    )
    return [
        *ROW_COLUMNS,
        "tags",
        *(f"segment.{name}" for name in listed_examples.segments),
        *listed_examples.metrics,
    ], rows


@dataclass(frozen=True)
class ExampleOnPage:
    """One example in full."""

    site: Site  #: what is served.
    run: OpenRun  #: of the store.
    params: dict[str, str]  #: the list that led here.
    repeat: int  #: which of the system's answers.
    view: Any  #: everything that was found about it.
    value: Any  #: how its numbers came about; None where nothing was scored.
    place: ExamplePosition | None  #: where it stands in the list; None where it does not.
    elsewhere: Sequence[Any]  #: the same question in all runs, the newest first.
    replies: Sequence[Any]  #: what models said for it.
    added: str = ""  #: what a form did to the regression set, in a sentence; "" where none was sent.

    def html(self) -> str:
        """The page."""
        links = self.site.build_links(self.run)
        full_example = report.build_full_example(self.view, Anchors(), is_whole=True)
        sections = () if self.value is None else tuple(explain.build_example_sections(self.value))[1:]
        to, query_id = self.site.regression_set, self.view.example.query_id
        return self.site.render(
            "example.html",
            "runs",
            run=self.run.run,
            ex=full_example,
            experiments={},
            place=self.place,
            back=links.examples(self.params),
            beside=self._link_example,
            lost=_list_dropped_candidates(self.view),
            explained=render_sections(sections, links) if sections else "",
            elsewhere=self.elsewhere,
            columns=select_headline_names(list(self.view.scores)),
            replies=self.replies,
            at=lambda row: self.site.example(row.run_id, query_id, row.repeat),
            adds=format_command(
                "testset", "add", self.run.run.run_id, query_id, "--to", to or DEFAULT_SET, "--tag", TAG
            ),
            kept=preview_addition(to, self.view, self.run.run, tag=TAG),
            added=self.added,
            list=format_query(self.params)[1:],
        )

    def _link_example(self, key: tuple[str, int]) -> str:
        return self.site.build_links(self.run).example(*key, self.params)


def _list_dropped_candidates(view: Any) -> Sequence[tuple[int, Any]]:
    """The candidates of retrieval that never reached the generator, with their ranks."""
    handed = {passage.passage_id for passage in view.response.passages or ()}
    candidates = enumerate(view.response.candidates or (), 1)
    return [(rank, passage) for rank, passage in candidates if passage.passage_id not in handed]


def build_example_page(site: Site, params: QueryParams, run: str, query_id: str) -> ExampleOnPage:
    """The example that an address names.

    Raises:
        NoSuchPage: no such run or example.
        UnknownName: no such judge, order, filter or value.
    """
    options = parse_options(params, (*LIST, "repeat", *ADDED_KEYS), FILTER_PREFIXES)
    added = describe_added(site, options)
    repeat = parse_number(options, "repeat", 0, 0)
    options.pop("repeat", None)
    opened_run, judge, query_id = site.run(run), options.get("judge"), decode_name(query_id)
    list_place = opened_run.place(query_id, repeat, build_page_request(options), judge)
    try:
        view = opened_run.example(query_id, repeat, judge=judge)
    except UnknownName as error:
        raise NoSuchPage(str(error)) from error
    worked = opened_run.explain_view(view) if view.scores else None
    return ExampleOnPage(
        site,
        opened_run,
        options,
        repeat,
        view,
        worked,
        list_place,
        opened_run.question_in_runs(query_id),
        opened_run.replies(view),
        added,
    )


ADDRESSES = (
    Address(
        "/runs/{run}/examples", build_page, "The examples of a run, sorted, filtered and paginated.", table=build_table
    ),
    Address(
        "/runs/{run}/examples/{query_id:text}",
        build_example_page,
        "One example, with the computation of every score.",
        "explained_example",
    ),
)
