"""`/compare`: runs held against one, with the answers that flipped beside each other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ragauge.comparison.result import ComparisonResult
from ragauge.comparison.tables import page_parts as report
from ragauge.comparison.verb import compare, comparison_state
from ragauge.core.errors import UsageError
from ragauge.dashboard.site import Moved, Site, asked_of
from ragauge.evaluation.runs.verb import OpenRun, oldest_run
from ragauge.evaluation.scorecard.html import comparison_values
from ragauge.rendering.lists import question

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams

MOST = 5  # runs held against one


@dataclass(frozen=True)
class ComparePage:
    """A comparison.

    Attributes:
        site: what is served.
        base: the run that the others are held against.
        runs: the others.
        asked: which metrics, whose verdicts, of which segments.
    """

    site: Site
    base: OpenRun
    runs: tuple[OpenRun, ...]
    asked: dict[str, str]

    @cached_property
    def found(self) -> ComparisonResult:
        """What changed."""
        begin = "segment."
        filters = {key.removeprefix(begin): value for key, value in self.asked.items() if key.startswith(begin)}
        return compare(
            self.base,
            self.runs[0],
            *self.runs[1:],
            metrics=self.asked.get("metrics", ""),
            judge=self.asked.get("judge"),
            filter=filters or None,
            store=self.site.store,
        )

    @property
    def value(self) -> Any:
        """Every number."""
        return self.found.compared

    def html(self) -> str:
        """The page; it is made anew where something that it is made of was written since."""
        made_of = comparison_state(self.base.run, [one.run for one in self.runs], store=self.site.store)
        return self.site.kept(("compare", made_of, *sorted(self.asked.items())), self._made)

    def _made(self) -> str:
        runs = self.runs
        kept = {"judge": self.asked["judge"]} if "judge" in self.asked else {}
        values = report.context(self.value, self.site.links(runs[0], kept))
        said = values["parts"][0].sentence if len(runs) == 1 else ""
        shown = comparison_values(values)
        return self.site.render("compare.html", "runs", **shown, now=said, now_of=self.value.runs[0].run.name)


def page(site: Site, given: QueryParams) -> ComparePage:
    """The comparison that an address asks for.

    Raises:
        NoSuchPage: no such run.
        Moved: runs were ticked without saying which is held against; then it is the oldest of them.
        UsageError: fewer than two runs, more than six, or runs that were judged differently.
    """
    asked = asked_of(given, ("base", "judge", "metrics"), ("segment.",), many=("new",))
    new = list(dict.fromkeys(filter(None, given.getlist("new"))))
    if "base" not in asked and len(new) > 1:
        named = {site.run(name).run.run_id: name for name in new}
        first = named[oldest_run([*named], store=site.store).run.run_id]
        raise Moved(question([("base", first), *(("new", name) for name in new if name != first)]))
    if "base" not in asked or not 1 <= len(new) <= MOST:
        none = "" if "base" in asked else " and no base"
        raise UsageError(
            f"a comparison takes a base and 1 to {MOST} new runs, got {len(new)}{none}. Tick them in the list of runs, "
            "or write /compare?base=main&new=latest."
        )
    base, found = site.base(asked["base"]), [site.run(name) for name in new]
    others = [run for run in found if run.run.run_id != base.run.run_id]
    if not others:
        raise UsageError(
            f"base and new are the same run, {base.run.name}: there is nothing to compare. Choose another run for one "
            "of them, or tick two in the list of runs."
        )
    return ComparePage(site, base, tuple(others), asked)


def table(site: Site, given: QueryParams) -> tuple[list[str], list[dict[str, Any]]]:
    """Columns and rows, one a run, metric and segment."""
    frame = page(site, given).found.to_polars()
    return frame.columns, frame.to_dicts()
