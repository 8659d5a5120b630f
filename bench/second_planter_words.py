"""The second planter's names, and its nouns, adjectives and verbs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

from second_planter_types import Change, Copied, cased_like
from second_planter_values import DAYS, MONTHS

PART = r"(?:[A-Z][a-z’']*[a-z](?:[A-Z][a-z]+)?(?:-[A-Z][a-z]+)?|[A-Z]\.)"
NAME = re.compile(
    rf"(?<![\w’'-])(?:[A-Z]\. )*[A-Z][a-z]+(?:[A-Z][a-z]+)?(?:-[A-Z][a-z]+)?(?: (?:of |de |van |von "
    rf"|the (?=[A-Z]))?{PART})*(?![\w-])"
)
ACRONYM = re.compile(r"(?<![\w-])[A-Z]{3,5}(?![\w-])")
NATION = re.compile(r"[A-Z][a-z]+(?:ish|ese|ian|ean|can)$|^(?:French|Dutch|Greek|Swiss|Welsh|Czech|German)$")
COMPANY = re.compile(
    r"\b(?:Inc|Corp|Company|University|College|School|Institute|Party|Church|Court|Museum|Committee"
    r"|Council|Army|League|Records|Society|Association|Agency|Bank|Group|Department|Office|Party"
    r"|Studios|Hospital|Club|Ministry|Times|News)\b"
)
SITE = re.compile(
    r"\b(?:County|City|River|Lake|Mount|Island|Islands|Street|Park|Bay|Valley|North|South|East|West"
    r"|Republic|Kingdom|Ocean|Sea|Bridge|Beach|Province|States?)\b"
)
TITLES = {
    "Mr",
    "Mrs",
    "Dr",
    "Sir",
    "President",
    "King",
    "Queen",
    "Professor",
    "Lord",
    "General",
    "Prince",
    "Pope",
    "Lady",
    "Saint",
}
_GIVEN = """
James John Robert Michael William David Richard Joseph Thomas Charles Christopher Daniel Matthew Anthony Mark
Donald Steven Stephen Paul Andrew Joshua Kenneth Kevin Brian George Edward Ronald Timothy Jason Jeffrey Ryan
Jacob Gary Eric Jonathan Larry Justin Scott Brandon Benjamin Samuel Gregory Frank Alexander Raymond Patrick Jack
Dennis Jerry Henry Tyler Aaron Jose Adam Nathan Peter Walter Martin Carl Karl Arthur Albert Fred Louis Philip
Simon Hugh Isaac Max Otto Mary Patricia Jennifer Linda Elizabeth Barbara Susan Jessica Sarah Karen Lisa Nancy
Betty Margaret Sandra Ashley Kate Kimberly Emily Donna Michelle Carol Amanda Dorothy Melissa Deborah Stephanie
Rebecca Sharon Laura Cynthia Amy Anna Anne Angela Emma Helen Jane Julia Julie Maria Marie Alice Grace Victoria
Diana Catherine Christine Rachel Taylor Steve Mike Bill Bob Jim Joe Tom Tim Dan Ben Sam Chris Nick Ken Ron Jeff
Greg Tony Jimmy Bobby Billy Johnny Luke Leo Ian Neil Alan
"""
GIVEN = frozenset(_GIVEN.split())
NO_NAMES = {
    *MONTHS,
    *DAYS,
    *(month[:3] for month in MONTHS),
    "Sept",
    "The",
    "This",
    "That",
    "These",
    "Those",
    "It",
    "He",
    "She",
    "They",
    "We",
    "In",
    "On",
    "At",
    "As",
    "For",
    "From",
    "Our",
    "A",
    "An",
    "And",
    "But",
    "However",
    "Although",
    "While",
    "When",
    "After",
    "Before",
    "During",
    "With",
    "By",
    "Title",
    "If",
    "There",
    "Its",
    "His",
    "Her",
    "Their",
    "Most",
    "Many",
    "Some",
    "All",
    "Both",
    "Note",
    "Table",
    "Internet",
    "Web",
    "God",
    "Earth",
    "Section",
    "Part",
    "Chapter",
    "Figure",
    "Phase",
    "Level",
    "Act",
    "Company",
    "Group",
    "Other",
    "One",
    "Two",
    "Three",
    "Notes",
    "Financial",
    "Statements",
    "Sir",
    "Mr",
    "Mrs",
    "Dr",
    "President",
    "King",
    "Queen",
    "University",
    "State",
    "Board",
}

SWAPS = {
    "adjective": (
        "large small",
        "larger smaller",
        "largest smallest",
        "high low",
        "higher lower",
        "highest lowest",
        "early late",
        "earlier later",
        "old young",
        "older younger",
        "oldest youngest",
        "long short",
        "strong weak",
        "northern southern",
        "eastern western",
        "public private",
        "rich poor",
        "hot cold",
        "wet dry",
        "male female",
        "positive negative",
        "major minor",
        "common rare",
        "safe dangerous",
        "red green",
        "black white",
        "blue yellow",
        "domestic foreign",
        "internal external",
        "upper lower",
        "modern ancient",
        "rural urban",
        "left right",
        "difficult easy",
        "permanent temporary",
        "primary secondary",
        "successful unsuccessful",
        "similar different",
        "active inactive",
    ),
    "verb": (
        "increased decreased",
        "rose fell",
        "won lost",
        "bought sold",
        "opened closed",
        "accepted rejected",
        "began ended",
        "started finished",
        "joined left",
        "improved worsened",
        "supported opposed",
        "gained lost",
        "born buried",
        "married divorced",
        "attacked defended",
        "increases decreases",
        "reduces raises",
        "allowed forbade",
        "built destroyed",
        "added removed",
        "written directed",
        "founded dissolved",
        "published suppressed",
        "praised criticized",
        "include exclude",
        "includes excludes",
        "lived died",
        "invented banned",
        "arrived departed",
    ),
    "noun": (
        "king bishop",
        "father mother",
        "son daughter",
        "brother sister",
        "husband wife",
        "winter summer",
        "spring autumn",
        "city village",
        "river mountain",
        "novel film",
        "album book",
        "song painting",
        "actor writer",
        "lawyer doctor",
        "war festival",
        "army navy",
        "teacher farmer",
        "church castle",
        "bridge tower",
        "increase decrease",
        "beginning end",
        "north south",
        "east west",
        "water oil",
        "gold silver",
        "iron copper",
        "heart lung",
        "brain liver",
        "men women",
        "children adults",
        "singer dancer",
        "ship train",
        "student professor",
        "profit loss",
        "income debt",
        "morning evening",
        "majority minority",
        "left right",
        "school hospital",
        "blood skin",
        "horses dogs",
        "music sculpture",
        "law medicine",
        "football tennis",
        "government opposition",
        "mice rabbits",
    ),
}


def swaps(kind: str, copied: Copied, _: Random) -> Iterator[Change]:
    """A word of that class for another that cannot stand for it."""
    for pair in SWAPS[kind]:
        one, other = pair.split()
        for old, new in ((one, other), (other, one)):
            for found in re.finditer(rf"(?<![\w-]){old}(?![\w-])", copied.sentence, re.I):
                if (
                    found[0].isupper()
                    or (found[0][0].isupper() and found.start() > 0)
                    or new in copied.sentence.lower()
                ):
                    continue
                if old in ("left", "right", "like") and not re.search(
                    r"\b(?:the|his|her|its|their) $", copied.sentence[: found.start()]
                ):
                    continue
                yield Change(*found.span(), cased_like(new, found[0]))


class Names:
    """The names of many passages, by kind, to swap one of a sentence for."""

    def __init__(self, passages: Sequence[str]) -> None:
        self.lower = Counter(word for text in passages for word in re.findall(r"(?<![\w])[a-z]{3,}", text))
        counted: Counter[tuple[str, str]] = Counter()  # names a writer could confuse are names that come back
        for text in passages:
            counted.update({(self.kind(one, text), one) for one, *_ in self.found(text)})
        self.pool: dict[str, list[str]] = {}
        for (kind, name), _ in counted.most_common():
            self.pool.setdefault(kind, []).append(name)
        self.pool = {
            kind: [name for name in names if " " in name or counted[kind, name] > 1][:300]
            for kind, names in self.pool.items()
        }

    def found(self, text: str) -> Iterator[tuple[str, int, int]]:
        """Names of a text: capitals amid a sentence that the corpus does not write small."""
        for found in [*NAME.finditer(text), *ACRONYM.finditer(text)]:
            start, name = found.start(), found[0].rstrip(".")
            while name.split()[0] in NO_NAMES | TITLES:
                first, _, rest = name.partition(" ")
                name, start = rest, start + len(first) + 1
                if not name:
                    break
            while name[:1].islower():
                first, _, rest = name.partition(" ")
                name, start = rest, start + len(first) + 1
            if not name or any(word in NO_NAMES for word in name.split()):
                continue
            if re.search(r"(?:^|[.!?:;\n\"“(•|])\s*$", text[:start]) and " " not in name:
                continue  # the first word of a sentence has a capital anyhow
            if all(self.lower[word.lower()] > 0 or len(word) < 3 for word in re.split(r"[ -]", name)):
                continue  # every word of it is written small elsewhere: no name
            if re.match(r" ?[-–&] ?\w| \d", text[start + len(name) :]) or re.search(r"\w ?[-–&] ?$", text[:start]):
                continue  # a piece of a compound, or a numbered code
            yield name, start, start + len(name)

    def kind(self, name: str, text: str) -> str:
        """What a name is of, by its form and the word before it.

        One of person, surname, place, nation, acronym, other, or the word that says it: "University", "River".
        """
        words = name.split()
        at = text.find(name)
        before = text[:at].split()[-1:] if at > 0 else []
        if ACRONYM.fullmatch(name):
            return "acronym"
        for pattern in (COMPANY, SITE):
            if (kept := pattern.search(name)) and len(words) > 1:
                return f"{kept[0]}"  # a university for a university, a river for a river
        if NATION.search(name) and len(words) == 1:
            return "nation"
        if before and before[0].rstrip(".") in TITLES:
            return "person" if len(words) > 1 else "surname"
        if before and before[0] in ("in", "from", "near", "across", "throughout") and len(words) < 3:
            return "place"
        if len(words) == 2 and words[0] in GIVEN:
            return "person"
        return "other" if len(words) > 1 else "surname"

    def changes(self, copied: Copied, random: Random) -> Iterator[Change]:
        """Whole names, and halves of a person's."""
        inside = list({name for name, *_ in self.found(copied.passage)})
        for name, start, end in self.found(copied.sentence):
            if re.search(r"(?:\(|\bor |called |known as |named )$", copied.sentence[:start]) or re.match(
                r" ?\(|['’]s\b.{0,3}$|,? or ", copied.sentence[end:]
            ):
                continue  # another name of the same thing may stand right there
            kind = self.kind(name, copied.passage)
            if kind == "acronym" and copied.source in ("pubmedqa", "tatqa"):
                continue  # here abbreviations name measures and methods, no person, place or body
            near = [one for one in inside if self.kind(one, copied.passage) == kind and self._fits(one, name, copied)]
            far = [
                one
                for one in random.sample(self.pool.get(kind, []), min(20, len(self.pool.get(kind, []))))
                if one not in copied.passage and self._fits(one, name, copied)
            ]
            pool = near if near and random.random() < 0.5 else far
            if not pool:
                continue
            new = random.choice(sorted(pool))
            words, others = name.split(), new.split()
            if kind == "person" and len(words) == len(others) == 2 and random.random() < 0.35:
                new = random.choice((f"{words[0]} {others[1]}", f"{others[0]} {words[1]}"))
                if new in copied.passage:
                    continue
            yield Change(start, end, new)

    @staticmethod
    def _fits(new: str, old: str, copied: Copied) -> bool:
        """Not another name of the same: no shared word, no initials of each other, not in the sentence already."""
        ours, theirs = {word.lower()[:5] for word in old.split()}, {word.lower()[:5] for word in new.split()}
        initials = {"".join(word[0] for word in name.split() if word[0].isupper()) for name in (old, new)}
        return (
            not ours & theirs
            and not initials & {old, new}
            and new not in copied.sentence
            and not (new in copied.passage and _same(old, new, copied.passage))
        )


def _same(old: str, new: str, passage: str) -> bool:
    """Whether the passage sets the two names side by side as one thing: "X (Y)", "X, also called Y"."""
    one, other = re.escape(old), re.escape(new)
    joined = r"[^.\n]{0,12}(?:\(|\bor\b|\baka\b|called|known as|formerly|now|born|,)[^.\n]{0,12}"
    return re.search(f"{one}{joined}{other}|{other}{joined}{one}", passage) is not None
