"""Whether an answer addresses the question: how likely fully, partly, or not at all.

One line of evidence (shared words, cosine, the asked-for slot) is turned into three probabilities by two calibrated
cuts: one between answers and what only is on the topic, one between what is on the topic and what is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ragauge.core.facts import Address
from ragauge.judges.local.answer_type import Slot, holds, lacks_instruction, slot, wanted_kind
from ragauge.judges.local.index import Mode, carries_content, indexed, units_of
from ragauge.judges.local.relevance import LEXICAL as RELEVANCE
from ragauge.judges.local.relevance import PreparedQuestion
from ragauge.judges.local.signs import sign_of
from ragauge.judges.local.statements import Statements, bare
from ragauge.judges.local.weights import Leveller, leveller
from ragauge.text.specifics import NAME, find
from ragauge.text.tokens import words
from ragauge.text.word_files import read_patterns

Levels = tuple[float, float, float]  # P(fully), P(partly), P(no)

SHORT = 5  # words: too few to share any with the question
SHORT_SENTENCE = 2  # … of what ends as a sentence does, where a word may be what is a phrase in English
BEGINNING = 200  # characters within which more words than that show
LOOKED_AT = 20_000  # characters of an answer; what it is about shows by then
LONGEST_QUERY = 2_000
MOST_PARTS = 6
PLAIN: frozenset[Slot | None] = frozenset(("number", "time", "name", "place", "reason"))  # by which a part is read
# What stays of P(fully), and becomes "partly" and "no", where something asked for is not there: unclear, since what is
# not seen may be there. On public sets people's own answers lack it in 3 to 15 %, texts on the topic in 8 to 60 %.
OPEN = (0.25, 0.375, 0.375)
NOTHING = 0.75  # share of P(fully) that becomes "no" where the answer says nothing
CUTS = (0.25, 0.75)  # expected values that part "no" from "partly" and "partly" from "fully": nearest of 0, 0.5 and 1

LEXICAL = (
    "coverage",
    "first",
    "bigrams",
    "grams",
    "beside_names",
    "new",
    "query_length",
    "lacks_exact",
    "lacks_name",
    "lacks_manner",
    "lacks_choice",
    "holds_manner",
    "yes_no",
    "not_yes_no",
)
LACKS = {
    "number": "lacks_exact",
    "time": "lacks_exact",
    "name": "lacks_name",
    "place": "lacks_name",
    "reason": "lacks_manner",
    "manner": "lacks_manner",
    "comparison": "lacks_choice",
    "choice": "lacks_choice",
}

FORMS = read_patterns(__file__, "address")


class Addressed(NamedTuple):
    """Whether an answer addresses the question; `p` sums to 1."""

    label: Address
    p: Levels


def address(query: str, stated: Statements, answer: str, cosine: float | None, mode: Mode) -> Addressed:
    """Whether the answer addresses the question fully, partly, or not.

    The label is the level nearest to the expected value P(fully) + P(partly) / 2. A refusal, and an answer that states
    nothing, do not address it, surely; to a question without a word of content anything does.

    `cosine` is that of question and answer, as `similarity.standard_table` has it; None where there is none.
    """
    if stated.refuses:
        return Addressed("no", (0.0, 0.0, 1.0))
    if not stated.claims:
        says = wanted_kind(query) in ("yes or no", None) and FORMS["yes_no"].match(bare(answer)) is not None
        if sign_of(answer):
            says = says or answer.strip()[:1] in "`'\"" or FORMS["sign"].search(query) is not None
        return Addressed("fully", (1.0, 0.0, 0.0)) if says else Addressed("no", (0.0, 0.0, 1.0))
    query, shown = query[:LONGEST_QUERY], stated.shown[:LOOKED_AT]
    if FORMS["task"].match(query):
        return Addressed("fully", (1.0, 0.0, 0.0))
    if not any(carries_content(unit, mode) for unit in units_of(query, mode)):
        return Addressed("fully", (1.0, 0.0, 0.0))
    scorer = chosen(shown, cosine is not None, mode)
    evidence_found = evidence(query, shown, answer, mode)
    evidence_found["cosine"] = 0.0 if cosine is None else cosine
    levels = scorer.levels([evidence_found[name] for name in scorer.names])
    if mode == "words" and _says_nothing(query, shown, evidence_found):  # most likely none
        stays = round((1 - NOTHING) * levels[0], 6)
        levels = stays, 0.0, round(1 - stays, 6)
    elif stated.declined or (mode == "words" and _is_open(query, shown, evidence_found)):
        stays, half, none = (round(share * levels[0], 6) for share in OPEN)  # maybe a partial one, or none
        levels = stays, round(levels[1] + half, 6), round(levels[2] + none, 6)
    return Addressed(label(levels), levels)


def chosen(shown: str, vectors: bool, mode: Mode) -> Leveller:
    """The scorer for an answer, by its length, whether there are vectors, and how texts are compared."""
    return leveller("_".join(("brief" if brief(shown, mode) else "long", mode, *(() if vectors else ("lexical",)))))


def brief(shown: str, mode: Mode) -> bool:
    """Whether an answer is of a few words ("Paris"), that need share none with the question.

    >>> brief("Sie wurde 1871 eröffnet.", "grams"), brief("1871 eröffnet", "grams"), brief("It opened.", "words")
    (False, True, True)
    """
    count = len(words(shown[:BEGINNING]))
    return count <= (SHORT_SENTENCE if mode == "grams" and FORMS["ends"].search(shown[-BEGINNING:]) else SHORT)


def label(levels: Levels) -> Address:
    """The level nearest to the expected value."""
    expected = levels[0] + levels[1] / 2
    return "no" if expected < CUTS[0] else "partly" if expected < CUTS[1] else "fully"


def evidence(query: str, shown: str, answer: str, mode: Mode) -> dict[str, float]:
    """What speaks for and against the answer, by name: shares in [0, 1], marks of 0 or 1, and a logarithm."""
    asked = PreparedQuestion(query, mode)
    shared = dict(zip(RELEVANCE, asked.features(shown, None), strict=True))
    held = indexed(shown, mode)
    first = frozenset(held.segments[0].units) if held.segments else frozenset()
    content = [unit for unit in held.places if carries_content(unit, mode)]
    marks = find(query, NAME) if mode == "words" else ()
    named = {unit for mark in marks for unit in units_of(mark.text, "words")}
    beside = [unit for unit in asked.distinct if unit not in named]
    shares = dict.fromkeys(LEXICAL, 0.0) | {
        "coverage": shared["coverage"],
        "first": sum(unit in first for unit in asked.distinct) / (len(asked.distinct) or 1),
        "bigrams": shared["bigrams"],
        "grams": shared["grams"],
        "beside_names": sum(unit in held.places for unit in beside) / len(beside) if beside else 1.0,
        "new": len(set(content).difference(asked.distinct)) / (len(content) or 1),
        "query_length": shared["query_length"],
    }
    return shares | (_slot(query, shown, answer) if mode == "words" else {})


def _slot(query: str, shown: str, answer: str) -> dict[str, float]:
    asked = slot(query)
    if asked is None:
        return {}
    if asked == "yes or no":
        return {"yes_no" if FORMS["yes_no"].match(bare(answer[:200])) else "not_yes_no": 1.0}
    if not holds(asked, query, shown, few=brief(shown, "words")):
        return {LACKS[asked]: 1.0}
    return {"holds_manner": 1.0} if asked in ("reason", "manner", "comparison") else {}


def _lacks(shares: Mapping[str, float]) -> bool:
    return any(shares[name] for name in ("lacks_exact", "lacks_name", "lacks_choice"))


def _is_open(query: str, shown: str, shares: Mapping[str, float]) -> bool:
    """Whether something asked for is not seen: a kind of thing, one of several, or what to do."""
    if _lacks(shares) or not _every_part(query, shown):
        return True
    return not brief(shown, "words") and lacks_instruction(query, shown)


def _says_nothing(query: str, shown: str, shares: Mapping[str, float]) -> bool:
    """A few words without the thing asked for, or only words of the question."""
    if brief(shown, "words") and _lacks(shares):
        return True
    return not shares["new"] and slot(query) not in ("yes or no", "choice")


def _every_part(query: str, answer: str) -> bool:
    """Whether each of several questions in one is answered.

    By the kind of thing that it asks for, where that is plain and no other part asks for the same, else by a word of
    its own.
    """
    parts = FORMS["part"].split(query)[:MOST_PARTS]
    parts = [part for part in parts if part and FORMS["asks"].match(part)]  # "…? I heard so."
    if len(parts) < 2:
        return True
    units = [{unit for unit in units_of(part, "words") if carries_content(unit, "words")} for part in parts]
    there, kinds = set(units_of(answer, "words")), [slot(part) for part in parts]
    for n, kind in enumerate(kinds):
        own = units[n].difference(*units[:n], *units[n + 1 :])
        if kind is not None and kind in PLAIN and not holds(kind, query, answer):
            return False
        alone = kind in PLAIN and kinds.count(kind) == 1
        if own and not alone and own.isdisjoint(there) and not (kind == "yes or no" and FORMS["yes_no"].match(answer)):
            return False
    return True
