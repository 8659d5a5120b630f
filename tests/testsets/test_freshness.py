"""Evidence is found again after its corpus was edited, and not where it was deleted."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from ragauge.data.curation import Anchor, Curation
from ragauge.data.example import Example, Relevant, Span
from ragauge.data.set_file import SetFile, new_line, read_set_file
from ragauge.errors import DataError
from ragauge.testsets.freshness import SetFreshness, freshness, mended
from ragauge.testsets.lock import frozen, lock_path, read_lock

WORDS = [f"{a}{b}" for a in "bcdfghjklmnprstvz" for b in ("a", "en", "ir", "ol", "ut", "ade", "ine", "osk", "um")]


def _text(rng: random.Random, n: int) -> str:
    return " ".join(f"{' '.join(rng.choices(WORDS, k=12)).capitalize()}." for _ in range(n))


def _corpus(n: int = 100, seed: int = 3) -> dict[str, str]:
    rng = random.Random(seed)
    return {f"d{k}": _text(rng, 20) for k in range(n)}


def _set(texts: dict[str, str], *, quoted: bool) -> SetFile:
    """An example a document: its evidence is the third sentence, or a longer stretch."""
    lines = []
    for n, (doc_id, text) in enumerate(texts.items()):
        ends = [k + 1 for k, sign in enumerate(text) if sign == "."]
        start, end = ends[1] + 1, ends[2 + n % 3]
        anchors = (Anchor(doc_id, start, end, text[start:end]),) if quoted else ()
        spans = (Span(doc_id, start, end),)
        example = Example(f"q{n}", f"{doc_id}?", relevant=(Relevant((doc_id,)),), gold_spans=spans)
        lines.append(new_line(example, Curation(anchors=anchors)))
    return SetFile("set", tuple(lines))


def _check(found: SetFile, texts: dict[str, str], then: dict[str, str] | None, *, quoted: bool) -> SetFreshness:
    return freshness(found, texts, None if quoted or then is None else frozen(found, then, "c"))


@pytest.mark.parametrize("quoted", [True, False])
def test_moved_text_is_anchored_again_exactly(*, quoted: bool) -> None:
    """Text put before evidence, another document around it, another name of it: each offset is right again."""
    then = _corpus()
    rng = random.Random(5)
    now: dict[str, str] = {}
    for n, (doc_id, text) in enumerate(then.items()):
        if n % 3 == 0:
            now[doc_id] = f"{_text(rng, 1 + n % 7)} {text}"
        elif n % 3 == 1:
            now[f"new/{doc_id}"] = text
        else:
            now[f"e{n}"], now[doc_id] = f"{_text(rng, 4)}\n\n{text}", _text(rng, 20)
    found = _set(then, quoted=quoted)
    fresh = _check(found, now, then, quoted=quoted)
    assert fresh.counts == {"moved": 100}
    assert fresh.gold_alive[0] == 1
    fixed = mended(found, fresh)
    for before, after in zip(found.lines, fixed.lines, strict=True):
        (old,), (new,) = before.example.gold_spans or (), after.example.gold_spans or ()
        assert now[new.doc_id][new.start : new.end] == then[old.doc_id][old.start : old.end]
        assert after.example.relevant == (Relevant((new.doc_id,)),)
    assert freshness(fixed, now, frozen(fixed, now, "c")).counts == {"intact": 100}


@pytest.mark.parametrize("quoted", [True, False])
def test_changed_words_do_no_harm(*, quoted: bool) -> None:
    """With 12 % of all words changed, 95 % of the evidence or more is found with an IoU of 0.8 or more."""
    then, rng = _corpus(200, 11), random.Random(6)
    now, moved = {}, {}
    found = _set(then, quoted=quoted)
    for line, (doc_id, text) in zip(found.lines, then.items(), strict=True):
        (span,) = line.example.gold_spans or ()
        parts, ends = text.split(" "), [0, 0]
        before = len(text[: span.start].split())
        inside = len(text[span.start : span.end].split())
        changed = [f"zz{rng.randrange(999)}" if rng.random() < 0.12 else word for word in parts]
        now[doc_id] = f"{_text(rng, 2)} {' '.join(changed)}"
        head = now[doc_id][: len(now[doc_id]) - len(" ".join(changed))]
        ends[0] = len(head) + len(" ".join(changed[:before])) + 1
        ends[1] = len(head) + len(" ".join(changed[: before + inside]))
        moved[doc_id] = tuple(ends)
    fresh = _check(found, now, then, quoted=quoted)
    good = 0
    for one in fresh.examples:
        (stretch,) = one.evidence
        if stretch.now is not None and stretch.now.doc_id == stretch.was.doc_id:
            start, end = moved[stretch.was.doc_id]
            both = min(end, stretch.now.end) - max(start, stretch.now.start)
            good += both / (max(end, stretch.now.end) - min(start, stretch.now.start)) >= 0.8
    assert good >= 190
    assert fresh.counts.get("changed", 0) >= 130     # few keep every word


@pytest.mark.parametrize("quoted", [True, False])
def test_deleted_text_is_gone(*, quoted: bool) -> None:
    """Evidence that was cut out is gone, its document alive; where the document went too, nothing can win."""
    then, now = _corpus(), {}
    found = _set(then, quoted=quoted)
    for n, (line, (doc_id, text)) in enumerate(zip(found.lines, then.items(), strict=True)):
        (span,) = line.example.gold_spans or ()
        if n % 2:
            now[doc_id] = text[: span.start] + text[span.end :]
    fresh = _check(found, now, then, quoted=quoted)
    assert fresh.counts == {"gone": 50, "unwinnable": 50}
    assert fresh.gold_alive[0] == 0.5
    assert not fresh.passed
    fixed = mended(found, fresh)
    assert {line.curation.state for line in fixed.lines} == {"draft"}
    assert {line.curation.note for line in fixed.lines} == {"evidence gone", "evidence unwinnable"}


def test_whole_documents_are_told_by_the_lock(tmp_path: Path) -> None:
    """Of labels without spans the lock tells what changed, and finds a renamed document, slightly edited too."""
    then = _corpus(4)
    examples = [Example(f"q{n}", f"{name}?", relevant=(Relevant((name,)),)) for n, name in enumerate(then)]
    found = SetFile("set", tuple(new_line(example, Curation()) for example in examples))
    frozen(found, then, "c").write(lock_path(tmp_path / "set.jsonl"))
    lock = read_lock(tmp_path / "set.lock.json")
    words = then["d2"].split(" ")
    now = {"d0": then["d0"], "d1": f"{then['d1']} More.", "other": then["d2"].replace(words[40], "other")}
    fresh = freshness(found, now, lock)
    assert [one.state for one in fresh.examples] == ["intact", "changed", "moved", "unwinnable"]
    assert fresh.gold_alive[0] == 0.75
    assert fresh.gold_intact[0] == 0.25
    assert fresh.same_version is True
    assert mended(found, fresh).lines[2].example.relevant == (Relevant(("other",)),)


def test_lines_that_nothing_changes_keep_their_bytes(tmp_path: Path) -> None:
    """Curation writes only lines that it changes; keys of the user's stay; the version does not change by review."""
    path = tmp_path / "set.jsonl"
    first = '{"question":  "One?", "ground_truth": "x",  "relevant": {"a": 1}}'
    meta = {"team": "x", "state": "golden"}
    second = json.dumps({"query_id": "b", "query": "Two?", "relevant": {"gone": 1}, "meta": meta})
    path.write_text(f"{first}\n\n{second}\n", encoding="utf-8")
    found = read_set_file(path)
    fixed = mended(found, freshness(found, {"a": "A text."}))
    fixed.write(path)
    written = path.read_text(encoding="utf-8").splitlines()
    assert written[0] == first
    assert json.loads(written[1])["meta"] == {"state": "draft", "note": "evidence unwinnable", "team": "x"}
    assert read_set_file(path).eval_set.version == found.eval_set.version


def test_a_lock_that_cannot_be_made_or_read_is_refused(tmp_path: Path) -> None:
    """A gold document that is missing, a span outside its document and a damaged lock are errors with their place."""
    missing = SetFile("set", (new_line(Example("q", "Q?", relevant=(Relevant(("x",)),)), Curation()),))
    with pytest.raises(DataError, match="'x' is not in the corpus"):
        frozen(missing, {"a": "A."}, "c")
    outside = SetFile("set", (new_line(Example("q", "Q?", gold_spans=(Span("a", 0, 99),)), Curation()),))
    with pytest.raises(DataError, match="lies outside 'a', 2 characters"):
        frozen(outside, {"a": "A."}, "c")
    (tmp_path / "a.lock.json").write_text('{"format": 1}', encoding="utf-8")
    with pytest.raises(DataError, match=r"a\.lock\.json: is no lock of a set"):
        read_lock(tmp_path / "a.lock.json")
