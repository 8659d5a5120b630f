"""Questions beside texts that answer them, that only are on their topic, and that belong to another question.

Nobody labelled these: the level of a pair follows from where its text comes from. Read from the folder beside the
repository.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from judge_data import DATA, Bm25, accepted_answers, lines
from language_data import LANGUAGES, paragraphs

from ragauge.judges.local.address import is_brief
from ragauge.judges.local.answer_type import Slot, find_slot
from ragauge.judges.local.relevance import PreparedQuestion
from ragauge.judges.local.statements import find_statements
from ragauge.text.sentences import split_sentences

Level = Literal["own", "topic", "near", "far"]

SEED = 20_240_601
SAYING = ("chatgpt", "gpt35", "gpt4", "newbing")  # systems of EVOUNA that answer in sentences
NEAREST = 4  # questions most like a question, of which one lends its answer
QUESTIONS = 60  # of each other language
AMONG = 60  # … in other languages, of so many
FAR = 7  # places to a question of any topic
LONGEST_RUN = 3  # neighbouring sentences that make a text on the topic
SHORTEST = 30  # characters of such a text
MOST = 700  # questions of one source that have more
CONCLUDING = ("RESULT", "FIND", "CONCL", "DISC")  # sections of an abstract that may answer
EXACT: frozenset[Slot] = frozenset(("number", "time"))
NAMED: frozenset[Slot] = frozenset(("name", "place"))


class Placed(NamedTuple):
    """A question beside a text: its own answer, a text on the topic, the answer to a like question, or to any other."""

    source: str
    level: Level
    query: str
    answer: str
    language: str = "en"


def long_answers() -> list[Placed]:
    """Answers in sentences of four sets: CLAPNQ, PubMedQA, XQuAD, EVOUNA, and of AttributionBench."""
    draw = random.Random(SEED)
    found: list[Placed] = []
    for read in (_clapnq, _pubmed, _xquad, _evouna, _attribution):
        found += read(draw)
    return [one for one in found if (said := find_statements(one.answer)).claims and not is_brief(said.shown, "words")]


def other_languages() -> list[Placed]:
    """XQuAD outside English: the sentence with the answer; on the topic, another of its paragraph; and of others."""
    draw, found = random.Random(SEED), []
    for language in LANGUAGES[1:]:
        source, every = f"XQuAD {language}", paragraphs(language, "trained")
        for own in draw.sample(every, QUESTIONS):
            asked = PreparedQuestion(own.query, "grams")
            others = [other for other in draw.sample(every, AMONG) if other.article != own.article]
            like = max(others, key=lambda other: asked.compute_features(other.query, None)[0])
            found.append(Placed(source, "own", own.query, own.answering, language))
            found.append(Placed(source, "near", own.query, like.answering, language))
            found.append(Placed(source, "far", own.query, others[0].answering, language))
            free = [text for text in own.beside if len(text) >= SHORTEST]
            if free:
                found.append(Placed(source, "topic", own.query, draw.choice(free), language))
    return [one for one in found if (said := find_statements(one.answer)).claims and not is_brief(said.shown, "grams")]


def short_answers() -> list[Placed]:
    """Answers of a few words of XQuAD, EVOUNA and TAT-QA, beside those of other questions.

    The other's answer is of another kind (an amount where a name is asked for), or, where the question does not plainly
    ask for a kind, of another topic: any name answers "who", rightly or not.
    """
    draw = random.Random(SEED)
    asked: dict[str, list[tuple[str, str]]] = {
        "XQuAD": [(query, text) for _, query, text, _ in _spans()],
        "EVOUNA": [(one.query, one.answers["fid"]) for one in accepted_answers()],
        "TAT-QA": [(row["query"], _said(row)) for row in lines("tatqa", "questions.jsonl")],
    }
    found = []
    for source, pairs in asked.items():
        few = [
            (query, text)
            for query, text in pairs
            if (parsed := find_statements(text)).claims and is_brief(parsed.shown, "words")
        ]
        for n, (query, own) in enumerate(draw.sample(few, min(MOST, len(few)))):
            found.append(Placed(source, "own", query, own))
            others = [few[draw.randrange(len(few))] for _ in range(20)]
            fit = [
                text for other, text in others if text != own and _of_another_kind(find_slot(query), find_slot(other))
            ]
            if fit and n % 2 == 0:
                found.append(Placed(source, "near", query, fit[0]))
    return found


def _of_another_kind(wanted: Slot | None, given: Slot | None) -> bool:
    if wanted in EXACT:
        return given in NAMED
    return given in EXACT if wanted in NAMED else wanted is None


def _said(row: dict[str, Any]) -> str:
    answer = row["answer"] if isinstance(row["answer"], list) else [row["answer"]]
    return f"{', '.join(map(str, answer))} {row['scale']}".strip()


def _clapnq(draw: random.Random) -> Iterator[Placed]:
    """Human answers; on the topic: sentences of the gold passage that nobody marked, and of passages without answer."""
    pairs = []
    for row in lines("clapnq", "clapnq_dev_answerable.jsonl"):
        query, answer, sentences = row["input"], row["output"][0]["answer"], row["passages"][0]["sentences"]
        if answer == "NA":  # CLAPNQ's mark for no answer
            continue
        pairs.append((query, answer))
        marked = {text.strip() for output in row["output"] for text in output["selected_sentences"]}
        free = [n for n, text in enumerate(sentences) if text.strip() not in marked]
        for _ in range(2):
            yield from _topic(draw, "CLAPNQ", query, sentences, free)
    for row in lines("clapnq", "clapnq_dev_unanswerable.jsonl"):
        sentences = row["passages"][0]["sentences"]
        yield from _topic(draw, "CLAPNQ", row["input"], sentences, list(range(len(sentences))))
    yield from _beside_others(draw, "CLAPNQ", pairs)


def _pubmed(draw: random.Random) -> Iterator[Placed]:
    """The authors' conclusions; on the topic: what the abstract says of background and methods."""
    pairs = []
    rows = json.loads(DATA.joinpath("pubmedqa", "ori_pqal.json").read_text(encoding="utf-8"))
    for row in draw.sample(list(rows.values()), MOST):
        pairs.append((row["QUESTION"], row["LONG_ANSWER"]))
        sections = zip(row["CONTEXTS"], row["LABELS"], strict=True)
        before = [text for text, name in sections if not any(word in name.upper() for word in CONCLUDING)]
        sentences = [one.text for one in split_sentences(" ".join(before))]
        yield from _topic(draw, "PubMedQA", row["QUESTION"], sentences, list(range(len(sentences))))
    yield from _beside_others(draw, "PubMedQA", pairs)


def _xquad(draw: random.Random) -> Iterator[Placed]:
    """The sentence with the answer; on the topic: another sentence of the paragraph, without it."""
    pairs = []
    for paragraph, query, span, start in draw.sample(_spans(), MOST):
        sentences = list(split_sentences(paragraph))
        holding = [one.text for one in sentences if one.start <= start < one.end]
        pairs += [(query, text) for text in holding]
        free = [n for n, one in enumerate(sentences) if span.lower() not in one.text.lower()]
        yield from _topic(draw, "XQuAD", query, [one.text for one in sentences], free, longest=1)
    yield from _beside_others(draw, "XQuAD", pairs)


def _evouna(draw: random.Random) -> Iterator[Placed]:
    """Answers of four systems, right or wrong, beside the answers to other questions."""
    rows = draw.sample(accepted_answers(), MOST)
    pairs = [(one.query, one.answers[draw.choice(SAYING)]) for one in rows]
    yield from _beside_others(draw, "EVOUNA", [pair for pair in pairs if not find_statements(pair[1]).refuses])


def _attribution(draw: random.Random) -> Iterator[Placed]:
    """Whole answers of answer engines, beside the answers to other questions of the same source."""
    asked: dict[str, dict[str, str]] = {}
    for row in lines("attributionbench", "dev_all_subset_balanced.jsonl"):
        if row.get("response") and not find_statements(row["response"]).refuses:
            asked.setdefault(row["src_dataset"], {})[row["question"]] = row["response"]
    for _, answers in sorted(asked.items()):
        if len(answers) > FAR:
            yield from _beside_others(draw, "AttributionBench", list(answers.items()))


def _spans() -> list[tuple[str, str, str, int]]:
    """Paragraph, question, answer, and where the answer starts, of XQuAD."""
    articles = json.loads(DATA.joinpath("xquad", "xquad.en.json").read_text(encoding="utf-8"))["data"]
    return [
        (paragraph["context"], asked["question"], asked["answers"][0]["text"], asked["answers"][0]["answer_start"])
        for article in articles
        for paragraph in article["paragraphs"]
        for asked in paragraph["qas"]
    ]


def _topic(
    draw: random.Random, source: str, query: str, sentences: Sequence[str], free: Sequence[int], *, longest: int = 0
) -> Iterator[Placed]:
    """A run of neighbouring sentences, all of them free to take; nothing where there is none."""
    if not free:
        return
    start = end = draw.choice(free)
    wanted = longest or draw.randint(1, LONGEST_RUN)
    while end + 1 - start < wanted and end + 1 in free:
        end += 1
    text = " ".join(sentences[start : end + 1])
    if len(text) >= SHORTEST:
        yield Placed(source, "topic", query, text)


def _beside_others(draw: random.Random, source: str, pairs: Sequence[tuple[str, str]]) -> Iterator[Placed]:
    """Each question beside its own answer, that of one of the questions most like it, and any."""
    index = Bm25([query for query, _ in pairs])
    for n, (query, answer) in enumerate(pairs):
        yield Placed(source, "own", query, answer)
        like = [pairs[k] for k in index.ranked(query)[: NEAREST + 3] if pairs[k][0] != query and pairs[k][1] != answer]
        if like:
            yield Placed(source, "near", query, draw.choice(like[:NEAREST])[1])
        far = pairs[(n + FAR) % len(pairs)]
        if far[0] != query:
            yield Placed(source, "far", query, far[1])
