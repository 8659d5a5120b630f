"""`/` and `/runs`: what came of the newest runs, and every run."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragauge.comparison.baselines.verb import baselines
from ragauge.core.errors import RagaugeError
from ragauge.core.json_keys import encode
from ragauge.dashboard.site import Address, Site, parse_options
from ragauge.evaluation.overview.verb import StoreOverview, add_verdicts, build_overview
from ragauge.evaluation.runs.run_rows import RunRow
from ragauge.evaluation.runs.verb import runs
from ragauge.rendering.lists import ServedLinks, format_query
from ragauge.rendering.verdict_texts import describe_older_counts

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams

LAYERS = ("retrieval", "generation", "end_to_end")
ORDERS = ("newest", "oldest", "name")
FILTERS = ("set", "version", "system", "name", "kind", "variant", "state", "tag")
STATES = ("in flight", "stopped", "finished", "failed")
PAGE_SIZE = 50
VERDICT_TIMEOUT_S = 0.1  # seconds for verdicts that nobody asked for before; the rest are made when the page is sent


@dataclass(frozen=True)
class RunsPage:
    """A page of runs."""

    site: Site  #: what is served.
    params: dict[str, str]  #: how it is sorted, what it is filtered by.
    rows: list[RunRow]  #: a row a run.
    after: str  #: the id that the next page begins behind; "" = there is none.

    @property
    def value(self) -> list[RunRow]:
        """Every row with its verdict."""
        return add_verdicts(self.rows, store=self.site.store)

    def html(self) -> str:
        """The page; verdicts that would take long are made while it is looked at, for the next time."""
        rows = add_verdicts(self.rows, store=self.site.store, seconds=None if self.site.exported else VERDICT_TIMEOUT_S)
        names_by_run: dict[str, list[str]] = {}
        for line in baselines(store=self.site.store):
            names_by_run.setdefault(line["run_id"], []).append(line["name"])
        metrics = list(dict.fromkeys(name for row in rows for name in row.means))
        return self.site.render(
            "runs.html",
            "runs",
            rows=rows,
            links=ServedLinks(self.site.root, ""),
            asked=self.params,
            named=names_by_run,
            layers=LAYERS,
            orders=ORDERS,
            metrics=metrics,
            states=STATES,
            older=format_query({**self.params, "after": self.after}) if self.after else "",
            renew=describe_older_counts((row.name, row.counts) for row in rows),
            shown=[name for name in LAYERS if any(name in row.headline for row in rows)],
            filters=[key for key in self.params if key not in ("sort", "after")],
        )

    def afterwards(self) -> None:
        """Keeps the verdicts that the page went without; nothing where another list's are being made."""
        if self.site.access.read_only or self.site.exported or not self.site.filling.acquire(blocking=False):
            return
        try:
            with suppress(RagaugeError), self.site.served.open_page():  # a run's own page says what is wrong with it
                add_verdicts(self.rows, store=self.site.store)
        finally:
            self.site.filling.release()


def _list_rows(site: Site, options: dict[str, str], limit: int | None) -> list[RunRow]:
    return runs(
        limit=limit,
        after=options.get("after", ""),
        sort=options.get("sort", ORDERS[0]),
        filter={name: value for name, value in options.items() if name not in ("sort", "after")} or None,
        store=site.store,
    )


def build_table(site: Site, params: QueryParams) -> tuple[list[str], list[dict[str, Any]]]:
    """Every row of the list that an address asks for, whatever its page: columns, one a metric among them, and rows."""
    rows = [
        {
            "run_id": row.run_id,
            "name": row.name,
            "created_at": row.created_at,
            "set": row.set,
            "commit": row.commit,
            "tags": " ".join(row.tags),
            "state": row.state,
            "responses": row.responses,
            "verdict": row.verdict,
            "baseline": row.baseline,
            "judging_cost": row.cost,
            **({} if row.counts is None else encode(row.counts)),
            **row.means,
        }
        for row in add_verdicts(
            _list_rows(site, {key: value for key, value in _parse_options(params).items() if key != "after"}, None),
            store=site.store,
        )
    ]
    return list(dict.fromkeys(name for row in rows for name in row)), rows


def _parse_options(params: QueryParams) -> dict[str, str]:
    return parse_options(params, ("sort", "after", *FILTERS), ("metric.",))


def build_page(site: Site, params: QueryParams) -> RunsPage:
    """The page that an address asks for.

    Raises:
        UnknownName: no such order, filter or value.
    """
    options = _parse_options(params)
    rows = _list_rows(site, options, PAGE_SIZE + 1)
    visible_rows = rows[:PAGE_SIZE]
    return RunsPage(site, options, visible_rows, visible_rows[-1].run_id if len(rows) > PAGE_SIZE else "")


@dataclass(frozen=True)
class OverviewPage:
    """The first page."""

    site: Site  #: what is served.
    value: StoreOverview  #: the newest run of each set, and what is in flight.

    def html(self) -> str:
        """The page."""
        return self.site.render("overview.html", "", found=self.value)


def build_overview_page(site: Site, params: QueryParams) -> OverviewPage:
    """The first page."""
    parse_options(params, ())
    return OverviewPage(site, build_overview(store=site.store))


ADDRESSES = (
    Address("/", build_overview_page, "The newest run of each set, and runs in flight."),
    Address("/runs", build_page, "All runs, newest first.", table=build_table),
)
