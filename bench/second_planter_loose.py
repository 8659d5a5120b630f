"""Other words around a planted edit, so that the sentence is no longer a copy but for the edit."""

from __future__ import annotations

import re
from random import Random

from second_planter_values import respelled

MOST = 3  # rewordings of a sentence
ALIKE = (
    "approximately/about",
    "began/started",
    "started/began",
    "such as/like",
    "because/since",
    "located/situated",
    "many/a lot of",
    "several/a number of",
    "often/frequently",
    "large/big",
    "important/key",
    "received/got",
    "obtained/got",
    "purchased/bought",
    "while/whereas",
    "whereas/while",
    "created/made",
    "around/about",
    "movie/film",
    "film/movie",
    "shows/demonstrates",
    "showed/demonstrated",
    "needed/required",
    "performed/carried out",
    "conducted/carried out",
    "evaluated/assessed",
    "assessed/evaluated",
    "examined/studied",
    "investigated/studied",
    "difficult/hard",
    "almost/nearly",
    "nearly/almost",
    "whole/entire",
    "entire/whole",
    "usually/generally",
    "primarily/mainly",
    "mainly/primarily",
    "mostly/largely",
    "due to/because of",
    "in order to/to",
    "as well as/and",
    "prior to/before",
    "children/kids",
    "constructed/built",
    "released/put out",
    "got/received",
    "helped/assisted",
    "become/turn into",
    "famous/well known",
    "throughout/all over",
    "currently/at present",
    "today/nowadays",
    "subsequently/later",
    "later/afterwards",
    "primary/main",
    "main/principal",
    "increase/rise",
    "decrease/drop",
    "illness/disease",
    "physician/doctor",
    "methods/approaches",
)
OPENING = re.compile(
    r"^(?:In|On|At|During|After|Since|By|For|Under|Following|However|Moreover|Furthermore|Additionally"
    r"|Also|Thus|Therefore|Finally|Today|Currently)\b[^,;()]{0,60}, (?=[a-z])"
)
ENDING = re.compile(r"(?<=\w),? ?, (?:which|who|where|whose|including|such as|with|as well as)\b[^.;()]*(?= ?\.$)")
BRACKETS = re.compile(r" \([^()]{1,80}\)")
FEWEST = 30  # characters that stay


def reworded(text: str, start: int, end: int, random: Random) -> str:
    """Up to three things around characters [start, end) said otherwise or left out, as true as before."""
    left, kept, right = text[:start], text[start:end], text[end:]
    done = 0
    for pattern in (OPENING, BRACKETS):
        cut = pattern.sub("", left, count=1)
        if cut != left and len(cut) + len(right) >= FEWEST and done < MOST:
            left, done = cut, done + 1
    for pattern in (ENDING, BRACKETS):
        cut = pattern.sub("", right, count=1)
        if cut != right and len(cut) + len(left) >= FEWEST and done < MOST:
            right, done = cut, done + 1
    pairs = list(ALIKE)
    random.shuffle(pairs)
    for pair in pairs:
        if done == MOST:
            break
        old, new = pair.split("/")
        here = re.compile(rf"(?<![\w-]){old}(?![\w-])")
        made = here.sub(new, left, count=1), here.sub(new, right, count=1)
        if made != (left, right):
            left, right, done = *made, done + 1
    if done < MOST and len(right) > FEWEST:
        right = respelled(right, random)
    made_of = left + kept + right
    return made_of[:1].upper() + made_of[1:]
