"""What a set is made of is counted by hand; questions unlike real ones are told apart by what was changed."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from tests.testsets.test_known_items import SUBJECTS, _documents

from ragauge.core.curation import Anchor, Curation, Origin
from ragauge.core.document import Document
from ragauge.core.example import Example, Relevant
from ragauge.testsets.corpus_view import CorpusView
from ragauge.testsets.set_file import SetFile, SetLine, build_line
from ragauge.testsets.stats.set_profile import compare_with_real, compute_overlap, describe_set

TEXTS = {"t": "The Eiffel Tower in Paris was opened in 1889.", "h": "Hubs are grey."}


def _line(query_id: str, query: str, doc_id: str = "", **meta: Any) -> SetLine:
    relevant = (Relevant((doc_id,)),) if doc_id else None
    return build_line(Example(query_id, query, relevant=relevant), Curation(**meta))


def test_overlap_is_the_share_of_content_words_in_the_gold() -> None:
    """By hand: of opened, Eiffel, Tower, Rome three are in the gold; without documents, the quotes; else not known."""
    question = "When was the Eiffel Tower opened in Rome?"
    assert compute_overlap(_line("a", question, "t"), TEXTS) == pytest.approx(3 / 4)
    assert compute_overlap(_line("a", question, "t"), {}) is None
    quoted = _line("a", question, anchors=(Anchor("t", 0, 12, "The Eiffel tower"),))
    assert compute_overlap(quoted, {}) == pytest.approx(2 / 4)
    assert compute_overlap(_line("a", "Who was it?", "t"), TEXTS) is None


def test_questions_whose_gold_is_not_in_the_corpus_are_counted_apart() -> None:
    """A quote stands for a document only where no corpus was given; with one, what it lacks is counted as lost."""
    quoted = _line("a", "When was it opened?", "gone", anchors=(Anchor("gone", 0, 15, "It was opened."),))
    lines = SetFile("s", (quoted, _line("b", "Which Eiffel tower?", "t")))
    beside = [Document(doc_id, doc_id, text) for doc_id, text in TEXTS.items()]
    found = describe_set(lines, CorpusView(beside)).overlap
    assert (found.n, found.mean, found.lost, found.quotes) == (1, 1.0, 1, False)
    alone = describe_set(lines).overlap
    assert (alone.n, alone.mean, alone.lost, alone.quotes) == (1, 1.0, 0, True)


def test_counts_and_topics() -> None:
    """States count rejected examples too, types and origins do not; a subject that nobody asks about is named."""
    documents = _documents(30)
    lines = [_line(f"q{n}", "harbour and crane", f"0-{n}", origin=Origin("model", type="single")) for n in range(4)] + [
        _line("r", "violin sonata", "1-3", state="golden"),
        replace(_line("x", "harbour", "0-1", state="rejected", origin=Origin("run"))),
    ]
    found = describe_set(SetFile("s", tuple(lines)), CorpusView(documents))
    assert found.states == {"draft": 4, "golden": 1, "rejected": 1}
    assert found.types == {"single": 4, "not said": 1}
    assert found.origins == {"model": 4, "not said": 1}
    assert (found.examples, found.variations, found.topics is not None) == (6, {}, True)
    assert found.topics is not None
    assert (found.topics.documents, found.topics.asked) == (90, 5)
    assert any(set(one.words) <= set(SUBJECTS[2].split()) for one in found.topics.empty)


def _questions(count: int, seed: int, *, longer: int = 0) -> list[SetLine]:
    rng = random.Random(seed)
    names = [f"thing{n}" for n in range(40)]
    return [
        _line(
            f"{seed}-{n}",
            f"{rng.choice(['What', 'How', 'When'])} is {' '.join(rng.choices(names, k=rng.randint(3, 6) + longer))}?",
        )
        for n in range(count)
    ]


def test_what_was_changed_gives_questions_away() -> None:
    """Equal draws are not told apart; longer ones are, by their length first, in small letters by their writing."""
    real = _questions(120, 1)
    alike = compare_with_real(_questions(80, 2), real, {})
    assert (alike.n, alike.real, alike.apart, alike.without) == (80, 120, False, ("overlap with the gold",))
    longer = compare_with_real(_questions(80, 2, longer=2), real, {})
    told = {one.name: one for one in longer.tells}
    assert (longer.apart, told["length"].here, told["length"].real) == (True, "8.4 words", "6.6 words")
    assert told["length"].auroc > 0.8 > 0.65 > max(told["first word"].auroc, told["writing"].auroc)
    small = [replace(one, example=replace(one.example, query=one.example.query.lower())) for one in _questions(80, 2)]
    typed = compare_with_real(small, real, {})
    assert (typed.apart, typed.tells[0].name) == (True, "writing")
    assert "0% start with a capital" in typed.tells[0].here


def test_few_questions_are_not_judged() -> None:
    """Below 20 questions of either kind no classifier is asked."""
    assert compare_with_real(_questions(19, 1), _questions(50, 2), {}).auroc is None


def test_overlap_tells_questions_copied_from_their_gold() -> None:
    """Where gold is known, questions made of its words are given away by overlap alone, and those without stay out."""
    texts = {f"d{n}": " ".join(random.Random(n).sample([f"w{k}" for k in range(300)], 40)) for n in range(60)}
    view = [Document(name, "", text) for name, text in texts.items()]

    def asked(side: str, held: int) -> list[SetLine]:
        made = []
        for n, page in enumerate(view):
            rng = random.Random(f"{side}{n}")
            words = rng.sample(page.text.split(), held) + [f"x{rng.randrange(300)}" for _ in range(6 - held)]
            rng.shuffle(words)
            made.append(_line(f"{side}{n}", " ".join(words), page.doc_id))
        return made

    found = compare_with_real([*asked("a", 6), _line("none", "w1 w2")], asked("b", 3), texts)
    (told,) = (one for one in found.tells if one.name == "overlap with the gold")
    assert (found.left_out, found.without, told.auroc) == (1, (), 1.0)
    assert (told.here, told.real) == ("1.00 of words", "0.50 of words")
