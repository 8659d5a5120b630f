"""What is not known of failed examples, in sentences: open questions, what would answer them, and why they are open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from ragauge.core.messages import format_count

QUESTION_STARTS = ("whether ", "which ", "where ", "what ")  # how an open question begins
STATEMENT_SIGNS = (" not ", " cannot ", " no ", " failed", " missing")  # in what is a sentence of its own
NO_COUNTS: Mapping[str, int] = MappingProxyType({})


def describe_missing(facts: Iterable[str], counts: Mapping[str, int] = NO_COUNTS, max_n: int = 3) -> str:
    """The facts that would have told more, in sentences; "" for none.

    Args:
        facts: in words, the most important first.
        counts: fact -> examples that lack it; without any, of one example.
        max_n: facts of each kind that are named.

    >>> describe_missing(["whether it can be answered", "no reference answer", "dates not recorded"])
    'It is unclear whether it can be answered. This would help: a reference answer. Dates not recorded.'
    """
    questions: list[str] = []
    facts_named: list[str] = []
    statements: list[str] = []
    for fact in facts:
        words = "a reference answer" if fact == "no reference answer" else fact.removeprefix("no ")
        words = f"judge question {words}" if words.endswith(" was not asked") else words
        kind = (
            questions
            if fact.startswith(QUESTION_STARTS)
            else statements
            if any(sign in words for sign in STATEMENT_SIGNS)
            else facts_named
        )
        words += f" ({format_count(counts[fact], 'example')})" if fact in counts else ""
        if words not in kind and len(kind) < max_n:
            kind.append(words)
    sentences = [f"It is unclear {_join_clauses(questions)}."] if questions else []
    sentences += [f"This would help: {'; '.join(facts_named)}."] if facts_named else []
    return " ".join([*sentences, *(f"{fact[:1].upper()}{fact[1:]}." for fact in statements)])


def _join_clauses(clauses: list[str]) -> str:
    return " or ".join(filter(None, (", ".join(clauses[:-1]), clauses[-1])))
