"""`/label`: draws, the page on which people label them, and how far judges agree with the labels."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.identity import hash_json
from ragauge.core.label import ADJUDICATOR, LabelTask, format_part
from ragauge.dashboard.site import Address, NoSuchPage, Site, parse_number, parse_options
from ragauge.labels.check import tables as judge_check
from ragauge.labels.label.label_session import (
    LabelInput,
    LabelSheet,
    compute_agreement,
    list_draws,
    open_label_sheet,
    save_label,
    validate_annotator,
)
from ragauge.labels.label.tables import build_agreement_sections, build_draw_sections, describe_question
from ragauge.rendering.lists import ServedLinks, format_query
from ragauge.rendering.writers.html import render_sections

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams


PAGE_SIZE = 20  # draws of a page


@dataclass(frozen=True)
class DrawsPage:
    """What was drawn, the newest first."""

    site: Site  #: what is served.
    run: str  #: whose draws; "" = of all runs.
    value: list[Any]  #: a row a draw.
    behind: int  #: number of the draw that the next page begins before; 0 = there is none.

    def html(self) -> str:
        """The page."""
        root = self.site.root
        above = [(f"{root}/label", "All draws"), (f"{root}/runs/{self.run}", "The run")]
        return self.site.render(
            "list.html",
            "label",
            title="Labels",
            sections=render_sections(build_draw_sections(self.value, self.run), ServedLinks(root, "")),
            before="",
            behind=f"{root}/label{format_query({'before': str(self.behind)})}" if self.behind else "",
            **({"above": above} if self.run else {}),
        )


@dataclass(frozen=True)
class NamePage:
    """A draw, before it is known who labels."""

    site: Site  #: what is served.
    draw: int  #: its number.
    value: Any  #: the draw, and how far everybody is.

    def html(self) -> str:
        """The page, which tells nothing of system or judge."""
        question_text = describe_question(self.value.question)
        return self.site.render("label.html", "label", about=self.value, sheet=None, asked=question_text)


@dataclass(frozen=True)
class SheetPage:
    """One answer, to be labelled."""

    site: Site  #: what is served.
    value: LabelSheet  #: the answer, and what its annotator said of it.

    def html(self) -> str:
        """The page."""
        sheet = self.value
        return self.site.render(
            "label.html",
            "label",
            sheet=sheet,
            asked=describe_question(sheet.question),
            before=self.at(sheet.place - 1) if sheet.place > 1 else "",
            behind=self.at(sheet.place + 1) if sheet.place < sheet.answers else "",
        )

    def at(self, answer_number: int) -> str:
        """The address of another answer of the draw."""
        params = {"draw": str(self.value.draw), "annotator": self.value.annotator, "answer": str(answer_number)}
        return f"{self.site.root}/label{format_query(params)}"

    def link_next(self) -> str:
        """Where its annotator goes on: to what is left of this answer, else to the next one with something left."""
        sheet = self.value
        if sheet.left or not sheet.next:
            return self.at(sheet.place) + (f"#part-{sheet.left[0]}" if sheet.left else "#done")
        return f"{self.at(sheet.next)}#part-1"


@dataclass(frozen=True)
class AgreementPage:
    """How far judges agree with what people labelled."""

    site: Site  #: what is served.
    about: Any  #: the draw.
    value: Any  #: the check of the judges; None where there is nothing to check yet.

    def html(self) -> str:
        """The page."""
        about, root = self.about, self.site.root
        links = ServedLinks(root, about.run_id)
        checked = tuple(judge_check.build_sections(self.value)) if self.value is not None else ()
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
            sections=render_sections(build_agreement_sections(about, checked), links),
        )


def build_page(site: Site, params: QueryParams) -> DrawsPage | NamePage | SheetPage:
    """The draws; of one that is named the page of a name, and with a name that of an answer.

    Raises:
        NoSuchPage: no such run or draw.
        UsageError: a number or a name that is none.
    """
    options = parse_options(params, ("draw", "annotator", "answer", "run", "before"))
    try:
        if "draw" not in options:
            return _build_draws_page(site, options)
        draw = parse_number(options, "draw", 1, 0)
        if "annotator" in options:
            who = validate_annotator(options["annotator"])
            return SheetPage(site, open_label_sheet(draw, who, parse_number(options, "answer", 1, 0), store=site.store))
        return NamePage(site, draw, compute_agreement(draw, store=site.store)[0])
    except UnknownName as error:
        raise NoSuchPage(str(error)) from error


def _build_draws_page(site: Site, options: Mapping[str, str]) -> DrawsPage:
    run = site.run(options["run"]).run.run_id if "run" in options else ""
    before_draw = parse_number(options, "before", 1, 0) or None
    draws = list_draws(run, limit=PAGE_SIZE + 1, before=before_draw, store=site.store)
    return DrawsPage(site, run, draws[:PAGE_SIZE], draws[PAGE_SIZE - 1].draw if len(draws) > PAGE_SIZE else 0)


def build_agreement_page(site: Site, params: QueryParams) -> AgreementPage:
    """How far the judges of a draw's run agree with people.

    Raises:
        NoSuchPage: no such draw.
        UsageError: no draw is named.
    """
    options = parse_options(params, ("draw",))
    if "draw" not in options:
        raise UsageError("draw: name one, such as /label/agreement?draw=1. /label lists them all.")
    try:
        return AgreementPage(site, *compute_agreement(parse_number(options, "draw", 1, 0), store=site.store))
    except UnknownName as error:
        raise NoSuchPage(str(error)) from error


def save_given_label(site: Site, fields: Mapping[str, str]) -> tuple[str, LabelSheet]:
    """Keeps the label that a form gives; returns where its annotator goes on, and the answer as it is now.

    Raises:
        UsageError: no such draw, answer, part or value, or a name that is none.
    """
    given_label = LabelInput(*(fields.get(name, "") for name in ("key", "part", "value", "annotator")))
    sheet = save_label(parse_number(fields, "draw", 1, 0), given_label, store=site.store)
    return SheetPage(site, sheet).link_next(), sheet


@dataclass(frozen=True, slots=True)
class LabelQuestion:
    """What people are asked."""

    question: str  #: such as support.
    choices: Sequence[tuple[str, str]]  #: (value, words) of what can be said, in the order of keys.
    guideline: str  #: hash of the instructions, which every label carries.
    instructions: str  #: as they are shown.


def format_task_lines(tasks: Sequence[LabelTask], asking: LabelQuestion) -> str:
    """The tasks as JSON lines, for tools of other makers; whoever gives back key, part and value is imported."""
    return "".join(
        json.dumps(
            {"key": task.key, "question": asking.question, "guideline": asking.guideline, **_build_task_view(task)}
        )
        + "\n"
        for task in tasks
    )


def _build_task_view(task: LabelTask) -> dict[str, object]:
    """What is seen of a task; accepted answers where its question sees them, earlier turns where there are some."""
    more = {"references": task.references, "history": task.history}
    visible: dict[str, object] = {
        "query": task.query,
        "passages": task.passages,
        "answer": task.answer,
        "parts": task.parts,
    }
    return visible | {name: texts for name, texts in more.items() if texts}


def render_label_page(tasks: Sequence[LabelTask], asking: LabelQuestion, *, adjudicating: bool = False) -> str:
    """The whole page. Texts come as JSON that cannot end its element, and the script shows them as text only.

    Args:
        tasks: in the order in which they are shown.
        asking: what is asked of each, and what can be said.
        adjudicating: labels settle what people differ on.
    """
    from markupsafe import Markup

    from ragauge.evaluation.scorecard.html import get_environment

    environment_made = get_environment()
    script = environment_made.get_template("label/page.js").render()
    style = environment_made.get_template("label/page.css").render()
    page_data = {
        "page": hash_json(
            [
                asking.question,
                asking.guideline,
                adjudicating,
                [[task.key, list(map(format_part, task.parts))] for task in tasks],
            ]
        )[:16],
        "question": asking.question,
        "guideline": asking.guideline,
        "instructions": asking.instructions,
        "annotator": ADJUDICATOR if adjudicating else "",
        "values": list(asking.choices),
        "tasks": [{"key": task.key, **_build_task_view(task)} for task in tasks],
    }
    escaped_json = json.dumps(page_data).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return environment_made.get_template("label/page.html").render(
        script=Markup(script),  # noqa: S704 - our own file
        style=Markup(style),  # noqa: S704 - our own file
        data=Markup(escaped_json),  # noqa: S704 - our own files; JSON without markup
        script_hash=_hash_source(script),
        style_hash=_hash_source(style),
    )


def _hash_source(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


ADDRESSES = (
    Address("/label", build_page, "The draws to label, or one answer of a draw for one annotator."),
    Address("/label/agreement", build_agreement_page, "Agreement of judges with human labels."),
)
