"""The second planter's negations: a clause that says the contrary."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from second_planter_types import Change, Copied, Token, cased_like, tokens

AUXILIARIES = {
    "is": "isn't",
    "are": "aren't",
    "was": "wasn't",
    "were": "weren't",
    "had": "hadn't",
    "has": "hasn't",
    "have": "haven't",
    "will": "won't",
    "would": "wouldn't",
    "can": "cannot",
    "could": "couldn't",
    "should": "shouldn't",
    "must": "must not",
    "does": "doesn't",
    "did": "didn't",
    "do": "don't",
}
IRREGULAR = {
    "became": "become",
    "began": "begin",
    "wrote": "write",
    "gave": "give",
    "took": "take",
    "went": "go",
    "came": "come",
    "rose": "rise",
    "grew": "grow",
    "knew": "know",
    "saw": "see",
    "chose": "choose",
    "fell": "fall",
    "won": "win",
    "lost": "lose",
    "met": "meet",
    "made": "make",
    "led": "lead",
    "held": "hold",
    "kept": "keep",
    "left": "leave",
    "said": "say",
    "sold": "sell",
    "spent": "spend",
    "told": "tell",
    "thought": "think",
    "brought": "bring",
    "found": "find",
    "built": "build",
    "felt": "feel",
    "fought": "fight",
    "ran": "run",
    "drew": "draw",
    "spoke": "speak",
    "sang": "sing",
}
_REGULAR = """
show include provide require allow contain remain consist produce receive create develop increase decrease use
play move start follow believe happen appear continue serve die open close offer return support report improve
reduce affect cause occur announce release publish direct design accept join pass reach add change establish
invent discover introduce adopt replace live visit demonstrate reveal identify enjoy carry marry study
"""
REGULAR = _REGULAR.split()
PAST = IRREGULAR | {
    (
        base + "d"
        if base.endswith("e")
        else base[:-1] + "ied"
        if base.endswith("y") and base[-2] not in "aeo"
        else "occurred"
        if base == "occur"
        else base + "ed"
    ): base
    for base in REGULAR
}
_MORE = "make take give become hold know mean belong depend need want refer lie"
_AS_NOUNS = """
support report offer play change start visit design cause release study use return increase decrease
"""  # whose form with s is a plural as often


def _present(base: str) -> str:
    """Third person: "carries", "reaches", "takes"."""
    if base.endswith("y") and base[-2] not in "aeo":
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(("ch", "s", "sh")) else "s")


PRESENT = {_present(base): base for base in [*REGULAR, *_MORE.split()] if base not in _AS_NOUNS.split()}
FINITE = {  # past forms that are no participles
    "became",
    "began",
    "wrote",
    "gave",
    "took",
    "went",
    "came",
    "rose",
    "grew",
    "knew",
    "saw",
    "chose",
    "fell",
    "ran",
    "drew",
    "spoke",
    "sang",
}
SUBJECTS = {"he", "she", "it", "they", "we", "who", "which", "i"}
SOME = {  # "some are" and "some are not" are both true
    "some",
    "many",
    "several",
    "certain",
    "few",
    "often",
    "sometimes",
    "occasionally",
    "may",
    "might",
    "any",
    "either",
    "partly",
    "if",
    "whether",
    "unless",
    "usually",
    "generally",
    "typically",
    "mainly",
    "or",
    "much",
    "other",
    "others",
    "but",
    "?",
    "(",
    "“",
    '"',
}
DENIED = {
    "not",
    "never",
    "no",
    "none",
    "nobody",
    "nothing",
    "neither",
    "nor",
    "without",
    "hardly",
    "cannot",
    "little",
    "few",
    "fail",
    "failed",
    "fails",
    "lack",
    "lacks",
    "lacked",
    "barely",
    "rarely",
    "nowhere",
    "longer",
}
SOFT = {  # what no clean denial can stand before
    "also",
    "still",
    "even",
    "only",
    "just",
    "not",
    "never",
    "mainly",
    "largely",
    "often",
    "to",
    "sometimes",
    "usually",
    "generally",
    "primarily",
    "mostly",
    "then",
    "now",
    "a",
    "one",
    "some",
    "partly",
    "more",
    "less",
    "almost",
    "about",
    "likely",
    "later",
    "subsequently",
    "several",
    "many",
    "probably",
    "because",
    "since",
    "either",
    "both",
    "all",
    ",",
    "and",
    "or",
    "(",
    ".",
    ";",
    "too",
    "there",
    "approximately",
    "widely",
    "commonly",
    "sufficient",
}
PLURAL = {"we", "they", "these", "those", "i", "you"}


def negations(copied: Copied, random: Random) -> Iterator[Change]:
    """Denials put in and taken out, at any verb of the sentence."""
    words = tokens(copied.sentence)
    yield from _taken_out(copied.sentence)
    for n, word in enumerate(words):
        if n == 0 or n + 1 >= len(words) or not _plain(words, n):
            continue
        new = _denied(words, n, random)
        if new:
            yield Change(word.start, word.end, new)
    yield from _particles(copied.sentence, words, random)


def _plain(words: list[Token], n: int) -> bool:
    """No denial and no partial quantifier in the clause, so that its denial is the contrary."""
    clause = {word.low for word in words[_clause_start(words, n) : n + 7]}
    return not clause & (DENIED | SOME) and not any(word.endswith("n't") for word in clause)


def _clause_start(words: list[Token], n: int) -> int:
    back = n - 1
    while back > 0 and words[back].text not in ";:" and n - back < 14:
        back -= 1
    return max(0, back)


def _denied(words: list[Token], n: int, random: Random) -> str | None:
    word, before, after = words[n], words[n - 1], words[n + 1]
    if word.low in AUXILIARIES and word.text.islower():
        return _auxiliary(word.low, before, after, random)
    if after.low in ("by", "as") or before.low in AUXILIARIES or not word.text.islower():
        return None
    told = before.low in SUBJECTS or (before.text[:1].isupper() and n > 1)
    if word.low in FINITE or (word.low in PAST and told):
        base = PAST[word.low]
        return random.choice(
            (f"did not {base}", f"didn't {base}", f"never {word.text}", f"failed to {base}", f"did not {base}")
        )
    if (
        word.low in PRESENT
        and (told or after.low in ("the", "an", "that", "of", "its", "their"))
        and before.low not in ("the", "a", "an", "of", "and", ",")
    ):
        base = PRESENT[word.low]
        return random.choice(
            (f"does not {base}", f"doesn't {base}", f"never {word.text}", f"fails to {base}", f"does not {base}")
        )
    return None


def _auxiliary(low: str, before: Token, after: Token, random: Random) -> str | None:
    if after.low in SOFT or before.low in ("there", "what", "and", "as", "than", "or", "it", "so", "neither", ","):
        return None
    if low in ("has", "have", "had") and not re.search(
        r"(?:ed|en|wn|one|ome|ade)$|^(?:been|won|had|found|led)$", after.low
    ):
        return None  # to own, not to have done
    if low in ("do", "does", "did") and not after.text.islower():
        return None
    full = "cannot" if low == "can" else f"{low} not"
    ways = [full, full, full, AUXILIARIES[low]]
    if low in ("is", "are", "was", "were", "has", "had", "could", "can"):
        ways.append(f"{low} never")
    if low in ("is", "was", "could", "can", "were", "are") and after.low.endswith("ed"):
        ways.append(f"{low} hardly")
    return random.choice(ways)


HELP = "is|are|was|were|has|had|have|could|would|should"
GONE = (
    (rf"\b({HELP}|will|must) not(?! (?:only|just|necessarily|until|yet|always|all|every))\b", r"\1"),
    (rf"\b({HELP})n['’]t(?! (?:only|just|necessarily|until|yet|always))\b", r"\1"),
    (r"\bcannot\b", "can"),
    (r"\bcan['’]t\b", "can"),
    (r"\bwon['’]t\b", "will"),
    (r"\b(?:do|does|did) not (?=[a-z]{3,})(?!(?:only|just|necessarily|always|even|yet)\b)", ""),
    (r"\bdid(?: not|n['’]t) (?!(?:only|just|necessarily|always|even|yet|do)\b)", "did "),
    (r"\bnever (?=[a-z]{3,}(?:ed|en)\b)", ""),
    (r"\bno (?=significant|statistically|difference|relationship|correlation)", "a "),
    (r"\bno (?=effect|association|impact|increase|improvement|indication)", "an "),
    (r"\bno (?=evidence)", ""),
    (r"\bwithout (?=(?:a|an|the|any)\b)", "with "),
    (r"\bfailed to (?=[a-z])", "managed to "),
    (r"\bfails to (?=[a-z])", "manages to "),
    (r"\bneither (.{3,50}?) nor\b", r"both \1 and"),
    (r"\bno longer\b", "still"),
    (r"\bthere (is|was) no (?=[bcdfghj-np-tv-z])", r"there \1 a "),
)


def _taken_out(text: str) -> Iterator[Change]:
    for pattern, new in GONE:
        for found in re.finditer(pattern, text):
            if re.search(r"\b(?:if|whether|unless|not|but|or)\b[^,;]{0,40}$", text[: found.start()], re.I):
                continue
            if new == "" and found[0].startswith("do"):
                made = _inflected(found[0], text, found.end())
                if made:
                    yield made._replace(start=found.start())
                continue
            yield Change(*found.span(), cased_like(found.expand(new), found[0]))


def _inflected(said: str, text: str, end: int) -> Change | None:
    verb = re.match(r"[a-z]+", text[end:])
    if verb is None:
        return None
    base = verb[0]
    backwards = {b: form for form, b in (PAST if said.startswith("did") else PRESENT).items()}
    form = base if said.startswith("do ") else backwards.get(base)
    return Change(end, end + len(base), form) if form else None


def _particles(text: str, words: list[Token], random: Random) -> Iterator[Change]:
    for found in re.finditer(r"\bwith (?=(?:a|an|the) [a-z]+)", text):
        if not re.search(
            r"\b(?:associated|compared|along|together|comply|deal\w*|consistent|agree\w*|begin\w*"
            r"|began|start\w*|end\w*|accordance|equipped) $",
            text[: found.start()],
        ):
            yield Change(*found.span(), "without ")
    for found in re.finditer(r"\bboth ((?:[a-z]+ ){0,3}[A-Za-z]+) and (?=[a-zA-Z]+ ?[\w]*)", text):
        if not re.search(r"\b(?:not|n't|never|between|of|for|to|in|on|from|by|with|against) ?$", text[: found.start()]):
            yield Change(*found.span(), f"neither {found[1]} nor ")
    for found in re.finditer(r"\b(?:has|had|have|was|were|is|there (?:is|was)) (a|an|any) (?=[a-z])", text):
        at = next(n for n, word in enumerate(words) if word.end >= found.end(1))
        if _plain(words, at) and not re.match(
            r"(?:lot|few|number|variety|little|bit|new|single|list|type|kind|form|part|series|member|further|total)\b",
            text[found.end() :],
        ):
            yield Change(
                *found.span(1), random.choice(("no", "not " + found[1])) if found[0][:2] in ("wa", "we", "is") else "no"
            )
