"""The page on which people label: one file without a server, with its script and its texts inside."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from ragauge.core.identity import digest
from ragauge.core.label import ADJUDICATOR, LabelTask, part_text


@dataclass(frozen=True, slots=True)
class LabelAsking:
    """What people are asked.

    Attributes:
        question: such as support.
        choices: (value, words) of what can be said, in the order of keys.
        guideline: hash of the instructions, which every label carries.
        instructions: as they are shown.
    """

    question: str
    choices: Sequence[tuple[str, str]]
    guideline: str
    instructions: str


def task_lines(tasks: Sequence[LabelTask], asking: LabelAsking) -> str:
    """The tasks as JSON lines, for tools of other makers; whoever gives back key, part and value is imported."""
    return "".join(
        json.dumps({"key": one.key, "question": asking.question, "guideline": asking.guideline, **_shown(one)}) + "\n"
        for one in tasks
    )


def _shown(task: LabelTask) -> dict[str, object]:
    """What is seen of a task; accepted answers where its question sees them, earlier turns where there are some."""
    more = {"references": task.references, "history": task.history}
    shown: dict[str, object] = {
        "query": task.query,
        "passages": task.passages,
        "answer": task.answer,
        "parts": task.parts,
    }
    return shown | {name: texts for name, texts in more.items() if texts}


def label_page(tasks: Sequence[LabelTask], asking: LabelAsking, *, adjudicating: bool = False) -> str:
    """The whole page. Texts come as JSON that cannot end its element, and the script shows them as text only.

    Args:
        tasks: in the order in which they are shown.
        asking: what is asked of each, and what can be said.
        adjudicating: labels settle what people differ on.
    """
    from markupsafe import Markup

    from ragauge.evaluation.scorecard.html import environment

    made = environment()
    script = made.get_template("label/page.js").render()
    style = made.get_template("label/page.css").render()
    given = {
        "page": digest(
            [
                asking.question,
                asking.guideline,
                adjudicating,
                [[one.key, list(map(part_text, one.parts))] for one in tasks],
            ]
        )[:16],
        "question": asking.question,
        "guideline": asking.guideline,
        "instructions": asking.instructions,
        "annotator": ADJUDICATOR if adjudicating else "",
        "values": list(asking.choices),
        "tasks": [{"key": one.key, **_shown(one)} for one in tasks],
    }
    held = json.dumps(given).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return made.get_template("label/page.html").render(
        script=Markup(script),  # noqa: S704 - our own file
        style=Markup(style),  # noqa: S704 - our own file
        data=Markup(held),  # noqa: S704 - our own files; JSON without markup
        script_hash=_hash(script),
        style_hash=_hash(style),
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
