"""What is not known of failed examples, in sentences: open questions, what would answer them, and why they are open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from ragauge.core.messages import plural

ASKING = ("whether ", "which ", "where ", "what ")  # how an open question begins
STATING = (" not ", " cannot ", " no ", " failed", " missing")  # in what is a sentence of its own
NO_COUNTS: Mapping[str, int] = MappingProxyType({})


def describe_missing(facts: Iterable[str], counts: Mapping[str, int] = NO_COUNTS, most: int = 3) -> str:
    """The facts that would have told more, in sentences; "" for none.

    Args:
        facts: in words, the most important first.
        counts: fact -> examples that lack it; without any, of one example.
        most: facts of each kind that are named.

    >>> describe_missing(["whether it can be answered", "no reference answer", "dates not recorded"])
    'It is not known whether it can be answered. This would show more: a reference answer. Dates not recorded.'
    """
    asking: list[str] = []
    naming: list[str] = []
    stating: list[str] = []
    for fact in facts:
        words = "a reference answer" if fact == "no reference answer" else fact.removeprefix("no ")
        words = f"judge question {words}" if words.endswith(" was not asked") else words
        kind = asking if fact.startswith(ASKING) else stating if any(sign in words for sign in STATING) else naming
        words += f" ({plural(counts[fact], 'example')})" if fact in counts else ""
        if words not in kind and len(kind) < most:
            kind.append(words)
    sentences = [f"It is not known {_join(asking)}."] if asking else []
    sentences += [f"This would show more: {'; '.join(naming)}."] if naming else []
    return " ".join([*sentences, *(f"{fact[:1].upper()}{fact[1:]}." for fact in stating)])


def _join(clauses: list[str]) -> str:
    return " or ".join(filter(None, (", ".join(clauses[:-1]), clauses[-1])))
