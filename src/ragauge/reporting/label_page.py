"""The page on which people label: one file without a server, with its script and its texts inside."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence

from ragauge.data.identity import digest
from ragauge.data.label import ADJUDICATOR, VALUES, LabelTask, part_text


def task_lines(tasks: Sequence[LabelTask], question: str, guideline: str) -> str:
    """The tasks as JSON lines, for tools of other makers; whoever gives back key, part and value is imported."""
    return "".join(
        json.dumps({"key": one.key, "question": question, "guideline": guideline, "query": one.query,
                    "passages": one.passages, "answer": one.answer, "parts": one.parts}) + "\n"
        for one in tasks
    )     # fmt: skip


def label_page(
    tasks: Sequence[LabelTask], question: str, guideline: str, instructions: str, *, adjudicating: bool = False
) -> str:
    """The whole page. Texts come as JSON that cannot end its element, and the script shows them as text only.

    Args:
        tasks: in the order in which they are shown.
        question: a key of VALUES: what can be said.
        guideline: hash of the instructions, which every label carries.
        instructions: as they are shown.
        adjudicating: labels settle what people differ on.
    """
    from markupsafe import Markup

    from ragauge.reporting.html import environment

    made = environment()
    script = made.get_template("label/page.js").render()
    style = made.get_template("label/page.css").render()
    given = {
        "page": digest([question, guideline, adjudicating, [[one.key, list(map(part_text, one.parts))]
                        for one in tasks]])[:16],
        "question": question, "guideline": guideline, "instructions": instructions,
        "annotator": ADJUDICATOR if adjudicating else "", "values": list(VALUES[question].items()),
        "tasks": [{"key": one.key, "query": one.query, "passages": one.passages, "answer": one.answer,
                   "parts": one.parts} for one in tasks],
    }     # fmt: skip
    held = json.dumps(given).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return made.get_template("label/page.html").render(
        script=Markup(script), style=Markup(style), data=Markup(held),  # noqa: S704 - our own files; JSON without markup
        script_hash=_hash(script), style_hash=_hash(style),
    )     # fmt: skip


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
