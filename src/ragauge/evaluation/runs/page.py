"""`/` and `/runs`: what came of the newest runs, and every run."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragauge.comparison.baselines.verb import baselines
from ragauge.core.errors import RagaugeError
from ragauge.dashboard.site import Site, asked_of
from ragauge.evaluation.overview.default_comparison import with_verdicts
from ragauge.evaluation.overview.verb import StoreOverview, overview
from ragauge.evaluation.runs.run_rows import RunRow
from ragauge.evaluation.runs.verb import runs
from ragauge.rendering.encoder import encode
from ragauge.rendering.lists import ServedLinks, question
from ragauge.rendering.verdict_texts import older_counts

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams

LAYERS = ("retrieval", "generation", "end_to_end")
ORDERS = ("newest", "oldest", "name")
FILTERS = ("set", "version", "system", "name", "kind", "variant", "state", "tag")
STATES = ("in flight", "stopped", "finished", "failed")
LIMIT = 50
PATIENCE = 0.1  # seconds for verdicts that nobody asked for before; the rest are made when the page is sent


@dataclass(frozen=True)
class RunsPage:
    """A page of runs.

    Attributes:
        site: what is served.
        asked: how it is sorted, what it is filtered by.
        rows: a row a run.
        after: the id that the next page begins behind; "" = there is none.
    """

    site: Site
    asked: dict[str, str]
    rows: list[RunRow]
    after: str

    @property
    def value(self) -> list[RunRow]:
        """Every row with its verdict."""
        return with_verdicts(self.rows, store=self.site.store)

    def html(self) -> str:
        """The page; verdicts that would take long are made while it is looked at, for the next time."""
        rows = with_verdicts(self.rows, store=self.site.store, seconds=None if self.site.exported else PATIENCE)
        named: dict[str, list[str]] = {}
        for line in baselines(store=self.site.store):
            named.setdefault(line["run_id"], []).append(line["name"])
        metrics = list(dict.fromkeys(name for row in rows for name in row.means))
        return self.site.render(
            "runs.html",
            "runs",
            rows=rows,
            links=ServedLinks(self.site.root, ""),
            asked=self.asked,
            named=named,
            layers=LAYERS,
            orders=ORDERS,
            metrics=metrics,
            states=STATES,
            older=question({**self.asked, "after": self.after}) if self.after else "",
            renew=older_counts((row.name, row.counts) for row in rows),
            shown=[name for name in LAYERS if any(name in row.headline for row in rows)],
            filters=[key for key in self.asked if key not in ("sort", "after")],
        )

    def afterwards(self) -> None:
        """Keeps the verdicts that the page went without; nothing where another list's are being made."""
        if self.site.access.read_only or self.site.exported or not self.site.filling.acquire(blocking=False):
            return
        try:
            with suppress(RagaugeError), self.site.served.reading():  # a run's own page says what is wrong with it
                with_verdicts(self.rows, store=self.site.store)
        finally:
            self.site.filling.release()


def _found(site: Site, asked: dict[str, str], limit: int | None) -> list[RunRow]:
    return runs(
        limit=limit,
        after=asked.get("after", ""),
        sort=asked.get("sort", ORDERS[0]),
        filter={name: value for name, value in asked.items() if name not in ("sort", "after")} or None,
        store=site.store,
    )


def table(site: Site, given: QueryParams) -> tuple[list[str], list[dict[str, Any]]]:
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
        for row in with_verdicts(
            _found(site, {key: value for key, value in _asked(given).items() if key != "after"}, None), store=site.store
        )
    ]
    return list(dict.fromkeys(name for row in rows for name in row)), rows


def _asked(given: QueryParams) -> dict[str, str]:
    return asked_of(given, ("sort", "after", *FILTERS), ("metric.",))


def page(site: Site, given: QueryParams) -> RunsPage:
    """The page that an address asks for.

    Raises:
        UnknownName: no such order, filter or value.
    """
    asked = _asked(given)
    found = _found(site, asked, LIMIT + 1)
    shown = found[:LIMIT]
    return RunsPage(site, asked, shown, shown[-1].run_id if len(found) > LIMIT else "")


@dataclass(frozen=True)
class OverviewPage:
    """The first page.

    Attributes:
        site: what is served.
        value: the newest run of each set, and what is in flight.
    """

    site: Site
    value: StoreOverview

    def html(self) -> str:
        """The page."""
        return self.site.render("overview.html", "", found=self.value)


def first(site: Site, given: QueryParams) -> OverviewPage:
    """The first page."""
    asked_of(given, ())
    return OverviewPage(site, overview(store=site.store))
