"""How a clause invented inside a copied sentence lowers the local judge's probability, and how cutting hurts a copy.

    python bench/planted_clauses.py                # all sets
    python bench/planted_clauses.py --sample 40    # so many items a kind and set (100 else)
    python bench/planted_clauses.py --misses relative   # also prints what kept p at 0.9 or more, or `clean`

A sentence of a passage is copied and one clause is put into it: behind its subject, behind a name, before it or at its
end. What the clause says is unrelated (a list of this file) or plausible: words of another passage of the same set.
The figures are the shares of examples in which the claim that holds most of the clause has p below 0.9, 0.7 and 0.5;
of clean copies, the shares in which any claim does. `whole` is the same for the whole sentence as one claim.

Floors: 80 % of planted clauses below 0.9; at most 2 % of clean copies below 0.5.

The places are found by patterns of this file, not by those of the cutter that is measured with them.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from planted_edits import PLAIN, WORDS, Taken, contexts

from ragauge.core.ask import Reply
from ragauge.core.facts import AnswerFacts, Claim
from ragauge.judges.inputs import VerifyAnswer
from ragauge.judges.judge import answer_asks
from ragauge.judges.local.support import PreparedPassages
from ragauge.judges.local.verify_answer import verify_answer
from ragauge.text.tokens import ENGLISH, split_words

SETS = ("XQuAD", "CLAPNQ", "PubMedQA")
FLOOR, CEILING, FEWEST = 0.8, 0.02, 20
SEED = 20240602
LIMITS = (0.9, 0.7, 0.5)  # the figure that is asked for, where "likely supported" begins, the label
COLUMNS = [f"{what}below {limit}" for what in ("", "whole ") for limit in LIMITS]

VERB_PHRASES = """
won the regional baking contest in Tromso|was painted bright orange by local pupils|owns a vineyard near Mendoza
is said to glow on winter nights|employs forty retired sailors|was sold at auction to a dentist from Ghent
attracts kite makers from Sumatra|has been translated into Basque verse|keeps a herd of miniature goats
was once struck by a falling piano|sponsors a chess league in Nairobi|hides a recipe for plum brandy
"""
PARTICIPLES = """
earning the nickname of the silver otter|leaving several umbrellas unclaimed|inspiring a ballet about lighthouse keepers
doubling the price of roasted chestnuts|known to beekeepers as the copper gate|funded by a lottery in Montevideo
carved from a single block of soapstone|prompting a strike among accordion tuners|named after a parrot of the governor
drawing complaints from the harbour choir
"""
NOUN_PHRASES = """
a favourite of Danish acrobats|the largest exporter of glass marbles|a former champion of indoor rowing
a subject of three puppet operas|the only one with a marble sauna|an early sponsor of camel racing
a rival of the Lisbon tram museum|the birthplace of modern yodelling
"""
STATEMENTS = """
the mayor had lost a bet|a comet had frightened the orchard owners|ferries carried only violins that week
volcanic dust covered the cricket field|the king collected clockwork swans|two cooks had quarrelled over saffron
the carnival had run out of lanterns|pirates controlled the trade in nutmeg
"""

AUX = r"(?:is|are|was|were|has|have|had|can|could|will|would|may|must)"
SUBJECT_END = re.compile(rf"^[^,;:()\"“]{{3,70}}?[a-z\d)](?= {AUX} )")
BEHIND_NAME = rf"(?= (?:in|on|at|of|for|from|to|with|by|{AUX})\b)"
NAME_END = re.compile(rf"(?<=[a-z] )(?:[A-Z][a-z]{{2,}}(?: (?=[A-Z]))?){{1,4}}{BEHIND_NAME}")
PRONOUN = re.compile(r"(?:he|she|it|they|we|i|you|this|that|these|those|there|what|who|which)$", re.IGNORECASE)
OTHER_PHRASE = re.compile(r"(?<=[a-z] )(?:was|were|is|has|had) (?:[\w'’-]+ ){3,9}[\w'’-]+(?= ?[,.;])")
OTHER_GERUND = re.compile(r"(?<=, )[a-z]{3,}ing (?:[\w'’-]+ ){2,8}[\w'’-]+(?= ?[,.;])")
OTHER_NOUN = re.compile(r"(?:(?<= is )|(?<= was ))(?:an?|the) (?:[\w'’-]+ ){1,7}[\w'’-]+(?= ?[,.;])")
OTHER_STATEMENT = re.compile(
    rf"(?:^|(?<=[.] ))(?:The|A|An|His|Her|Its|Their) (?:[\w'’-]+ ){{1,4}}{AUX} (?:[\w'’-]+ ){{1,7}}[\w'’-]+(?= ?[,.;])"
)


class Planted(NamedTuple):
    """A sentence with a clause put into it, and that clause."""

    text: str
    clause: str


def listed(phrases: str) -> list[str]:
    """The entries of a list of this file."""
    return [entry.strip() for entry in phrases.replace("\n", "|").split("|") if entry.strip()]


OWN = {
    "relative": listed(VERB_PHRASES),
    "coordinated": listed(VERB_PHRASES),
    "participial": listed(PARTICIPLES),
    "apposition": listed(NOUN_PHRASES),
    "adverbial": listed(STATEMENTS),
}
OTHERS = {
    "relative": OTHER_PHRASE,
    "coordinated": OTHER_PHRASE,
    "participial": OTHER_GERUND,
    "apposition": OTHER_NOUN,
    "adverbial": OTHER_STATEMENT,
}


def content_of(kind: str, other: str, draw: Random, *, plausible: bool) -> str | None:
    """What a clause of a kind is to say; None where the other passage has nothing fit."""
    if not plausible:
        return draw.choice(OWN[kind])
    found = OTHERS[kind].findall(other)
    said = draw.choice(found) if found else None
    return said[0].lower() + said[1:] if said and kind == "adverbial" else said


def places(sentence: str) -> tuple[list[int], int]:
    """Where an aside may stand: behind the subject and behind names; and where the sentence ends."""
    inside = []
    subject = SUBJECT_END.match(sentence)
    if subject is not None and not PRONOUN.search(subject[0]):
        inside.append(subject.end())
    inside += [found.end() for found in NAME_END.finditer(sentence) if sentence[found.end() + 1 :][:4] != "and "]
    return inside, len(sentence.rstrip(" ."))


def plant(kind: str, sentence: str, said: str, draw: Random) -> Planted | None:
    """The sentence with a clause of a kind that says this; None where it has no place for it."""
    inside, end = places(sentence)
    if not sentence[:end][-1:].isalnum():
        return None
    if kind in ("coordinated", "adverbial"):
        word = draw.choice(
            ("and", ", and", "but") if kind == "coordinated" else ("because", "after", "while", ", although", "early")
        )
        if word == "early":  # before the sentence
            opening = draw.choice(("Although", "After", "While", "Because"))
            rest = sentence[0].lower() + sentence[1:] if re.match(r"(?:The|A|An|It|This|In) ", sentence) else sentence
            return Planted(f"{opening} {said}, {rest}", said)
        put, at = f"{' ' if word[0] != ',' else ''}{word} {said}", end
        return Planted(sentence[:at] + put + sentence[at:], said)
    at = draw.choice([*inside, end])
    pronoun = draw.choice(("which", "who")) + " " if kind == "relative" else ""
    return Planted(sentence[:at] + f", {pronoun}{said}" + ("," if at < end else "") + sentence[at:], said)


def judged(answer: str, passages: Sequence[str]) -> list[Claim]:
    """The claims of an answer with their probabilities."""
    asked = VerifyAnswer("", tuple(passages), answer)
    facts = answer_asks(verify_answer(asked), lambda asks: [Reply("failed", reason="no vectors") for _ in asks])
    return list(facts.claims) if isinstance(facts, AnswerFacts) else []


def carrier(claims: Sequence[Claim], clause: str) -> Claim:
    """The claim that holds most of a clause, the shortest of equals."""
    wanted = {*split_words(clause)} - ENGLISH
    return max(claims, key=lambda c: (len(wanted & {*split_words(c.text or "")}), -len(c.text or "")))


def tallied(sample: int, misses: str) -> dict[tuple[str, str], list[tuple[float, float]]]:
    """Per kind and set, of each item the lowest p that counts and p of the whole sentence."""
    out: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    draw = Random(SEED)
    taken = [one for one in contexts() if one.group.startswith(SETS) and one.group != "CLAPNQ unanswerable"]
    draw.shuffle(taken)
    by_set = {name: [one for one in taken if one.group.startswith(name)] for name in SETS}
    for one in taken:
        group = one.group.removesuffix(" a").removesuffix(" b")
        other = draw.choice([t for t in draw.sample(by_set[group], 2) if t.passages != one.passages] or by_set[group])
        pool = [s for s in dict.fromkeys(one.sentences) if PLAIN.fullmatch(s) and len(s.split()) in WORDS]
        if not pool:
            continue
        for kind, text, clause in [*_clean(pool, draw), *_planted(pool, other, draw)]:
            row = out[kind, group]
            if len(row) >= (sample if kind != "clean" else 3 * sample):
                continue
            claims = judged(text, one.passages)
            if not claims:
                continue
            whole = PreparedPassages(one.passages, [text]).weigh_claim(text).p
            worst = carrier(claims, clause) if clause else min(claims, key=lambda c: c.p or 0.0)
            row.append((worst.p or 0.0, whole))
            if misses == kind.split(",")[0] and (row[-1][0] >= 0.9 if clause else row[-1][0] < 0.5):
                print(f"{group} | {kind} | {worst.p:.2f} | {worst.text} | {text}")
    return out


def _clean(pool: Sequence[str], draw: Random) -> Iterator[tuple[str, str, str]]:
    yield "clean", draw.choice(pool), ""


def _planted(pool: Sequence[str], other: Taken, draw: Random) -> Iterator[tuple[str, str, str]]:
    for kind in OWN:
        for plausible in (False, True):
            said = content_of(kind, " ".join(other.passages), draw, plausible=plausible)
            edited = plant(kind, draw.choice(pool), said, draw) if said else None
            if edited is not None:
                yield f"{kind}, {'plausible' if plausible else 'unrelated'}", edited.text, edited.clause


def table(found: dict[tuple[str, str], list[tuple[float, float]]]) -> str:
    """The figures in Markdown."""
    out = [f"kind | set | n | {' | '.join(COLUMNS)}", f"---|---|---:{'|---:' * len(COLUMNS)}"]
    total: list[tuple[float, float]] = []
    for (kind, group), row in sorted(found.items()):
        out.append(f"{kind} | {group} | {_shares(row)}")
        total += row if kind != "clean" else []
    out.append(f"**all planted** | | {_shares(total)}")
    return "\n".join(out)


def failures(found: dict[tuple[str, str], list[tuple[float, float]]]) -> list[str]:
    """The floors that do not hold."""
    out = []
    for (kind, group), row in found.items():
        limit = 0.5 if kind == "clean" else 0.9
        share = sum(pair[0] < limit for pair in row) / (len(row) or 1)
        if share > CEILING if kind == "clean" else len(row) >= FEWEST and share < FLOOR:
            out.append(f"{kind} in {group}: {share:.1%} below {limit}")
    return out


def _shares(row: Sequence[tuple[float, float]]) -> str:
    n = len(row) or 1
    shares = [sum(pair[k] < limit for pair in row) / n for k in (0, 1) for limit in LIMITS]
    return f"{len(row)} | " + " | ".join(f"{share:.1%}" for share in shares)


def main() -> None:
    """Plants, judges, prints."""
    given = argparse.ArgumentParser()
    given.add_argument("--sample", type=int, default=100)
    given.add_argument("--misses", default="", choices=["", "clean", *OWN])
    chosen = given.parse_args()
    found = tallied(chosen.sample, chosen.misses)
    print(table(found))
    if wrong := failures(found):
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
