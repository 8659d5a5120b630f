"""The page on which people label: one file without a server, with its script and its texts inside."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from ragauge.core.identity import hash_json
from ragauge.core.label import ADJUDICATOR, LabelTask, format_part


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
