"""`/compare`: runs held against one, with the answers that flipped beside each other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ragauge.comparison.result import ComparisonResult
from ragauge.comparison.tables import page_parts as report
from ragauge.comparison.verb import build_comparison_state, compare
from ragauge.core.errors import UsageError
from ragauge.dashboard.site import Address, AddressMoved, Site, parse_options
from ragauge.evaluation.runs.verb import OpenRun, find_oldest_run
from ragauge.evaluation.scorecard.html import build_comparison_context
from ragauge.rendering.lists import format_query

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams

MAX_COMPARED_RUNS = 5  # runs held against one


@dataclass(frozen=True)
class ComparePage:
    """A comparison."""

    site: Site  #: what is served.
    base: OpenRun  #: the run that the others are held against.
    runs: tuple[OpenRun, ...]  #: the others.
    params: dict[str, str]  #: which metrics, whose verdicts, of which segments.

    @cached_property
    def found(self) -> ComparisonResult:
        """What changed."""
        begin = "segment."
        filters = {key.removeprefix(begin): value for key, value in self.params.items() if key.startswith(begin)}
        return compare(
            self.base,
            self.runs[0],
            *self.runs[1:],
            metrics=self.params.get("metrics", ""),
            judge=self.params.get("judge"),
            filter=filters or None,
            store=self.site.store,
        )

    @property
    def value(self) -> Any:
        """Every number."""
        return self.found.compared

    def html(self) -> str:
        """The page; it is made anew where something that it is made of was written since."""
        made_of = build_comparison_state(self.base.run, [run.run for run in self.runs], store=self.site.store)
        return self.site.get_or_render(("compare", made_of, *sorted(self.params.items())), self._render_page)

    def _render_page(self) -> str:
        runs = self.runs
        link_options = {"judge": self.params["judge"]} if "judge" in self.params else {}
        values = report.build_context(self.value, self.site.build_links(runs[0], link_options))
        sentence = values["parts"][0].sentence if len(runs) == 1 else ""
        context = build_comparison_context(values)
        return self.site.render("compare.html", "runs", **context, now=sentence, now_of=self.value.runs[0].run.name)


def build_page(site: Site, params: QueryParams) -> ComparePage:
    """The comparison that an address asks for.

    Raises:
        NoSuchPage: no such run.
        Moved: runs were ticked without saying which is held against; then it is the oldest of them.
        UsageError: fewer than two runs, more than six, or runs that were judged differently.
    """
    options = parse_options(params, ("base", "judge", "metrics"), ("segment.",), many=("new",))
    new = list(dict.fromkeys(filter(None, params.getlist("new"))))
    if "base" not in options and len(new) > 1:
        names_by_run_id = {site.run(name).run.run_id: name for name in new}
        first = names_by_run_id[find_oldest_run([*names_by_run_id], store=site.store).run.run_id]
        raise AddressMoved(format_query([("base", first), *(("new", name) for name in new if name != first)]))
    if "base" not in options or not 1 <= len(new) <= MAX_COMPARED_RUNS:
        none = "" if "base" in options else " and no baseline"
        raise UsageError(
            f"a comparison takes a baseline and 1 to {MAX_COMPARED_RUNS} new runs, got {len(new)}{none}. Tick them in "
            "the list of runs, "
            "or write /compare?base=main&new=latest."
        )
    base, opened_runs = site.base(options["base"]), [site.run(name) for name in new]
    others = [run for run in opened_runs if run.run.run_id != base.run.run_id]
    if not others:
        raise UsageError(
            f"base and new are the same run, {base.run.name}. Choose another run for one of them, or "
            "select two in the list of runs."
        )
    return ComparePage(site, base, tuple(others), options)


def build_table(site: Site, params: QueryParams) -> tuple[list[str], list[dict[str, Any]]]:
    """Columns and rows, one a run, metric and segment."""
    frame = build_page(site, params).found.to_polars()
    return frame.columns, frame.to_dicts()


ADDRESSES = (Address("/compare", build_page, "Runs compared with a baseline.", "comparison", build_table),)
