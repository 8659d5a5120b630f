"""`/label`: what was drawn for people, the page on which they label it, and how far judges agree with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UnknownName, UsageError
from ragauge.dashboard.site import NoSuchPage, Site, asked_of, number_of
from ragauge.labels.check import tables as judge_check
from ragauge.labels.label.draw_tables import agreement_sections, draw_sections, in_words
from ragauge.labels.label.label_session import (
    GivenLabel,
    LabelSheet,
    annotator_named,
    give_label,
    label_agreement,
    label_draws,
    label_sheet,
)
from ragauge.rendering.lists import ServedLinks, question
from ragauge.rendering.writers.html import sections_html

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams

LIMIT = 20  # draws of a page


@dataclass(frozen=True)
class DrawsPage:
    """What was drawn, the newest first.

    Attributes:
        site: what is served.
        run: whose draws; "" = of all runs.
        value: a row a draw.
        behind: number of the draw that the next page begins before; 0 = there is none.
    """

    site: Site
    run: str
    value: list[Any]
    behind: int

    def html(self) -> str:
        """The page."""
        root = self.site.root
        above = [(f"{root}/label", "All draws"), (f"{root}/runs/{self.run}", "The run")]
        return self.site.render(
            "list.html",
            "label",
            title="Labels",
            sections=sections_html(draw_sections(self.value, self.run), ServedLinks(root, "")),
            before="",
            behind=f"{root}/label{question({'before': str(self.behind)})}" if self.behind else "",
            **({"above": above} if self.run else {}),
        )


@dataclass(frozen=True)
class NamePage:
    """A draw, before it is known who labels.

    Attributes:
        site: what is served.
        draw: its number.
        value: the draw, and how far everybody is.
    """

    site: Site
    draw: int
    value: Any

    def html(self) -> str:
        """The page, which tells nothing of system or judge."""
        asked = in_words(self.value.question)
        return self.site.render("label.html", "label", about=self.value, sheet=None, asked=asked)


@dataclass(frozen=True)
class SheetPage:
    """One answer, to be labelled.

    Attributes:
        site: what is served.
        value: the answer, and what its annotator said of it.
    """

    site: Site
    value: LabelSheet

    def html(self) -> str:
        """The page."""
        sheet = self.value
        return self.site.render(
            "label.html",
            "label",
            sheet=sheet,
            asked=in_words(sheet.question),
            before=self.at(sheet.place - 1) if sheet.place > 1 else "",
            behind=self.at(sheet.place + 1) if sheet.place < sheet.answers else "",
        )

    def at(self, place: int) -> str:
        """The address of another answer of the draw."""
        asked = {"draw": str(self.value.draw), "annotator": self.value.annotator, "answer": str(place)}
        return f"{self.site.root}/label{question(asked)}"

    def onward(self) -> str:
        """Where its annotator goes on: to what is left of this answer, else to the next one with something left."""
        sheet = self.value
        if sheet.left or not sheet.next:
            return self.at(sheet.place) + (f"#part-{sheet.left[0]}" if sheet.left else "#done")
        return f"{self.at(sheet.next)}#part-1"


@dataclass(frozen=True)
class AgreementPage:
    """How far judges agree with what people labelled.

    Attributes:
        site: what is served.
        about: the draw.
        value: the check of the judges; None where there is nothing to check yet.
    """

    site: Site
    about: Any
    value: Any

    def html(self) -> str:
        """The page."""
        about, root = self.about, self.site.root
        links = ServedLinks(root, about.run_id)
        checked = tuple(judge_check.sections(self.value)) if self.value is not None else ()
        above = [
            (f"{root}/label", "Labels"),
            (links.link("draw", about.draw), f"draw {about.draw}"),
            (links.link("run", about.run_id), about.run),
        ]
        return self.site.render(
            "list.html",
            "label",
            title="Judges and people",
            above=above,
            sections=sections_html(agreement_sections(about, checked), links),
        )


def page(site: Site, given: QueryParams) -> DrawsPage | NamePage | SheetPage:
    """The draws; of one that is named the page of a name, and with a name that of an answer.

    Raises:
        NoSuchPage: no such run or draw.
        UsageError: a number or a name that is none.
    """
    asked = asked_of(given, ("draw", "annotator", "answer", "run", "before"))
    try:
        if "draw" not in asked:
            return _draws(site, asked)
        draw = number_of(asked, "draw", 1, 0)
        if "annotator" in asked:
            who = annotator_named(asked["annotator"])
            return SheetPage(site, label_sheet(draw, who, number_of(asked, "answer", 1, 0), store=site.store))
        return NamePage(site, draw, label_agreement(draw, store=site.store)[0])
    except UnknownName as error:
        raise NoSuchPage(str(error)) from error


def _draws(site: Site, asked: Mapping[str, str]) -> DrawsPage:
    run = site.run(asked["run"]).run.run_id if "run" in asked else ""
    before = number_of(asked, "before", 1, 0) or None
    found = label_draws(run, limit=LIMIT + 1, before=before, store=site.store)
    return DrawsPage(site, run, found[:LIMIT], found[LIMIT - 1].draw if len(found) > LIMIT else 0)


def agreement(site: Site, given: QueryParams) -> AgreementPage:
    """How far the judges of a draw's run agree with people.

    Raises:
        NoSuchPage: no such draw.
        UsageError: no draw is named.
    """
    asked = asked_of(given, ("draw",))
    if "draw" not in asked:
        raise UsageError("draw: name one, such as /label/agreement?draw=1. /label lists those there are.")
    try:
        return AgreementPage(site, *label_agreement(number_of(asked, "draw", 1, 0), store=site.store))
    except UnknownName as error:
        raise NoSuchPage(str(error)) from error


def give(site: Site, fields: Mapping[str, str]) -> tuple[str, LabelSheet]:
    """Keeps the label that a form gives; returns where its annotator goes on, and the answer as it is now.

    Raises:
        UsageError: no such draw, answer, part or value, or a name that is none.
    """
    given = GivenLabel(*(fields.get(name, "") for name in ("key", "part", "value", "annotator")))
    sheet = give_label(number_of(fields, "draw", 1, 0), given, store=site.store)
    return SheetPage(site, sheet).onward(), sheet
