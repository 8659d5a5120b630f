"""The page on which people label, opened as a file: keys, what it keeps, what it saves, what it must never do."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import pytest
from playwright.sync_api import Browser, Page
from tests.browser.conftest import PATIENCE

from ragauge.core.label import LabelTask, build_label_key
from ragauge.engine.label_questions import build_scale, list_choices
from ragauge.labels.label.page import LabelQuestion, render_label_page
from ragauge.readers.labels import LabelSource, read_labels
from ragauge.text.sentences import split_sentences

pytestmark = pytest.mark.browser
HOSTILE = (
    "</script><script>document.title='ran'</script><img src=x onerror=\"document.title='ran'\"><!-- ]]> \u2028 "
    "<svg onload=alert(1)> {{7*7}} 😀 javascript:alert(2)"
)
SHOWN = {
    "a",
    "body",
    "button",
    "details",
    "h2",
    "head",
    "header",
    "html",
    "input",
    "label",
    "li",
    "main",
    "meta",
    "ol",
    "p",
    "script",
    "section",
    "span",
    "style",
    "summary",
    "title",
    "div",
    "ul",
}
SEEN: WeakKeyDictionary[Page, list[str]] = WeakKeyDictionary()  # page -> what was asked for and said on it


def tasks(n: int, text: str = "") -> list[LabelTask]:
    """Answers of two sentences."""
    found = []
    for i in range(n):
        query, passages = f"{text}How tall {i}?", (f"It is {i} m.{text}", text or "b")
        answer = f"😀 It is {i} metres tall. {text} Yes, it is."
        parts = tuple((one.start, one.end) for one in split_sentences(answer))
        found.append(LabelTask(build_label_key("support", query, passages, answer), query, passages, answer, parts))
    return found


@pytest.fixture
def page(browser: Browser) -> Any:
    """A page of a context that keeps its storage, with everything asked for and said written down."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    context.set_default_timeout(PATIENCE)
    found = context.new_page()
    seen: list[str] = []
    context.on("request", lambda request: seen.append(request.url))
    context.on("console", lambda message: seen.append(message.text))
    context.on("weberror", lambda error: seen.append(str(error.error)))
    SEEN[found] = seen
    yield found
    context.close()


def opened(
    page: Page, folder: Path, made: list[LabelTask], *, adjudicating: bool = False, question: str = "support"
) -> Path:
    """Writes the page and opens it as a file."""
    path = folder / "page.html"
    asking = LabelQuestion(question, list_choices(question), "abc", "Read it.")
    path.write_text(render_label_page(made, asking, adjudicating=adjudicating), encoding="utf-8")
    page.goto(path.as_uri())
    return path


def saved(page: Page, folder: Path) -> list[dict[str, Any]]:
    """What the button saves."""
    with page.expect_download() as found:
        page.click("#save")
    found.value.save_as(folder / "labels.jsonl")
    assert found.value.suggested_filename == "labels.jsonl"
    return [json.loads(line) for line in (folder / "labels.jsonl").read_text().splitlines()]


def test_hundred_answers_by_keys(page: Page, tmp_path: Path) -> None:
    """100 answers are labelled by keys alone, without a request, and what is saved is read with the places of parts."""
    made = tasks(100)
    path = opened(page, tmp_path, made)
    assert page.locator("[aria-pressed=true]").count() == 0
    parts = sum(len(one.parts) for one in made)
    page.fill("#annotator", "ann")
    page.locator("#annotator").blur()
    for n in range(parts):
        page.keyboard.press("1" if n % 3 else "2")
    assert f"{parts} of {parts} labeled" in (page.text_content("#progress") or "")
    saved(page, tmp_path)
    labels = list(read_labels(tmp_path / "labels.jsonl"))
    assert [(one.key, one.part) for one in labels] == [(one.key, part) for one in made for part in one.parts]
    assert [one.value for one in labels] == ["supported" if n % 3 else "contradicted" for n in range(parts)]
    assert {(one.annotator, one.guideline) for one in labels} == {("ann", "abc")}
    assert [one for one in SEEN[page] if not one.startswith("blob:")] == [path.as_uri()]


def test_progress_survives_closing(page: Page, tmp_path: Path) -> None:
    """Closed and opened again, labels, name and place are there; a label can be mended and taken back by keys."""
    path = opened(page, tmp_path, tasks(5))
    page.fill("#annotator", "bo")
    page.locator("#annotator").blur()
    for key in ("1", "3", "2"):
        page.keyboard.press(key)
    page.goto("about:blank")
    page.goto(path.as_uri())
    assert page.input_value("#annotator") == "bo"
    assert "answer 2 of 5" in (page.text_content("#progress") or "")
    page.keyboard.press("0")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("5")
    assert [one["value"] for one in saved(page, tmp_path)] == ["unsure", "not_in_context"]


def test_hostile_texts_stay_texts(page: Page, tmp_path: Path) -> None:
    """Markup, ends of scripts and separators in every text make no element, run nothing and ask for nothing."""
    path = opened(page, tmp_path, tasks(2, HOSTILE))
    page.wait_for_timeout(100)
    assert page.title() == "Labels"
    tags = page.evaluate("() => [...document.querySelectorAll('*')].map((node) => node.localName)")
    assert set(tags) <= SHOWN
    assert tags.count("script") == 2
    assert HOSTILE.strip() in (page.text_content("#passages") or "")
    assert SEEN[page] == [path.as_uri()]


def test_adjudicator_is_named(page: Page, tmp_path: Path) -> None:
    """A page of disagreements saves labels of the adjudicator, whoever opens it, and nothing on it names a system."""
    path = opened(page, tmp_path, tasks(1), adjudicating=True)
    page.keyboard.press("2")
    assert [one["annotator"] for one in saved(page, tmp_path)] == ["adjudicator"]
    assert "judge" not in path.read_text().lower().replace("adjudicat", "")


def test_score_of_an_answer_by_keys(page: Page, tmp_path: Path) -> None:
    """A score is asked of the answer as a whole, beside accepted answers where they are seen; no passages, no list."""
    question, accepted = "score:token_f1", (f"330 m {HOSTILE}", "330 metres")
    made = [
        LabelTask(build_label_key(question, "How tall?", (), str(n)), "How tall?", (), str(n), (None,), accepted)
        for n in range(3)
    ]
    path = opened(page, tmp_path, made, question=question)
    assert page.locator("#references li").all_text_contents() == list(accepted)
    assert page.is_hidden("#retrieved")
    assert page.locator("#choices button").all_text_contents()[0].startswith("1  not at all (0)")
    for key in ("5", "2", "1"):
        page.keyboard.press(key)
    saved(page, tmp_path)
    labels = list(read_labels(tmp_path / "labels.jsonl", LabelSource(scale=build_scale)))
    assert [(one.key, one.part, one.value) for one in labels] == [
        (task.key, None, value) for task, value in zip(made, ("1", "0.25", "0"), strict=True)
    ]
    assert [one for one in SEEN[page] if not one.startswith("blob:")] == [path.as_uri()]


def test_accepted_answers_are_not_shown_without_any(page: Page, tmp_path: Path) -> None:
    """A question that sees no accepted answers shows no list of them, and passages stand where it sees them."""
    opened(page, tmp_path, tasks(1))
    assert page.is_hidden("#accepted")
    assert page.is_visible("#retrieved")


def test_earlier_turns_are_shown_where_there_are_some(page: Page, tmp_path: Path) -> None:
    """Who labels a turn of a conversation sees what was said before; a lone question shows no list of it."""
    first, second = tasks(2)
    turns = ("user: How tall is it?", f"assistant: {HOSTILE}")
    opened(page, tmp_path, [replace(first, history=turns), second])
    assert page.locator("#history li").all_text_contents() == list(turns)
    page.keyboard.press("ArrowRight")
    assert page.is_hidden("#earlier")
    assert page.title() != "ran"
