"""Questions by people pass the filters that ask no model."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ragauge.core.curation import Anchor
from ragauge.core.document import Document
from ragauge.testsets.corpus_view import CorpusView
from ragauge.testsets.generate.draft import Draft, Quote, SourcePassage
from ragauge.testsets.generate.filters import DraftContext, find_fault

DATA = Path(__file__).parents[3] / "shared" / "data"
pytestmark = [pytest.mark.realdata, pytest.mark.skipif(not DATA.exists(), reason="no public data sets here")]
Asked = tuple[str, str, str, int, str]  # document, question, answer, place and text of its quotation


def xquad() -> Iterator[Asked]:
    for article in json.loads(DATA.joinpath("xquad", "xquad.en.json").read_text(encoding="utf-8"))["data"]:
        for one in article["paragraphs"]:
            for asked in one["qas"]:
                yield one["context"], asked["question"], asked["answers"][0]["text"], *_place(asked["answers"][0])


def _place(answer: dict[str, Any]) -> tuple[int, str]:
    return answer["answer_start"], answer["text"]


def clapnq() -> Iterator[Asked]:
    for line in DATA.joinpath("clapnq", "clapnq_dev_answerable.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        text, output = row["passages"][0]["text"], row["output"][0]
        yield text, row["input"], output["answer"], 0, text[:200]


def pubmedqa() -> Iterator[Asked]:
    for row in json.loads(DATA.joinpath("pubmedqa", "ori_pqal.json").read_text(encoding="utf-8")).values():
        text = "\n".join(row["CONTEXTS"])
        yield text, row["QUESTION"], row["LONG_ANSWER"], 0, text[:200]


@pytest.mark.parametrize("read", [xquad, clapnq, pubmedqa])
def test_questions_by_people_pass(
    read: Callable[[], Iterator[Asked]], record_property: Callable[[str, object], None]
) -> None:
    """Of the questions that people asked of real documents at most 4 % are rejected on each set."""
    rows = list(read())
    ids = {text: f"d{n}" for n, text in enumerate(dict.fromkeys(text for text, *_ in rows))}
    corpus = CorpusView([Document(doc_id, "", text) for text, doc_id in ids.items()])
    drafts = []
    for text, question, answer, start, quote in rows:
        anchor = Anchor(ids[text], start, start + len(quote), quote)
        source = SourcePassage(ids[text], 0, text)
        drafts.append(Draft("single", question, answer, (source,), (Quote(1, quote),), (anchor,)))
    ranks = corpus.ranks([one.question for one in drafts], [one.gold for one in drafts])
    known = DraftContext(corpus, {one.question: found for one, found in zip(drafts, ranks, strict=True)})
    faults: Counter[str] = Counter()
    for draft in drafts:
        fault = find_fault(draft, known)
        if fault is None:
            known.add(draft.question, draft.stretches)
        else:
            faults[fault[0]] += 1
    share = faults.total() / len(drafts)
    record_property("figure", f"{read.__name__}: {share:.1%} of {len(drafts)} questions by people rejected: {faults}")
    assert share <= 0.04
