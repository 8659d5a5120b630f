"""What a reply says, read without trust: the last structured value, our numbers only, known words only."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ragauge.core.ask import Reply
from ragauge.judges.judge import plain

THOUGHT, THOUGHT_END = re.compile(r"<think(?:ing)?>"), re.compile(r"</think(?:ing)?>")
OBJECT = re.compile(r'\{\s*(?:\}|"(?:[^"\\]|\\.){0,200}"\s*:)')  # how one begins
CURLY = re.compile("[\u201c\u201d\u201e\u201f]")
# as Python prints a dict: a key in single quotes, no escape that Python would warn of
PYTHON = re.compile(r"\{\s*'(?!(?:[^\\]|\\.)*\\[^\\'\"abfnrtvxuUN0-7\n])", re.DOTALL)
TRAILING = re.compile(r",(\s*[\]}])")
DIGITS = re.compile(r"\d+(?:\.\d+)*")
WORDS = re.compile(r"[^\W\d_]+")
DASHES = "\u2010\u2011\u2012\u2013\u2014\u2212-"  # "-" last, as sets of characters want it
TO = re.compile(rf"[\s\])]*(?:[~…{DASHES}]|\.\.+)\s*[\[(]*[a-z]*\s*")  # between the ends of a range
BESIDE = frozenset({"p", "s", "passage", "passages", "sentence", "sentences", "and"})  # may stand beside a number
OF_SENTENCES = BESIDE - {"p", "passage", "passages", "and"}  # beside these, a number without a dot is no passage's
MOST = 400_000  # characters of a reply that are read
MOST_BROKEN = 1_000  # beginnings of objects that turn out to be none: each takes time in the length of the reply
LONGEST_NUMBER = 40  # characters
SHOWN = 80  # characters of a reply that could not be read
LEAST_QUOTED = 12  # characters of a quote that is part of a sentence
NUMBERED = re.compile(r"^\W*[A-Za-z]?\s*(\d{1,6}\.\d{1,6})\W+(?=\w)")  # "[2.1] " before a quote
WRAPS = 4  # objects and strings around what was asked for that are taken off, at most


def structured(reply: Reply, schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The last JSON object of a reply; None where there is none, or the call failed.

    Code fences, a preamble, reasoning marks and trailing commas are passed over, and an object in Python's or in a word
    processor's quotes is read where it is the only one. Nothing is read from prose or from an
    object before the last: it may be quoted from what is judged. What a model wrapped in one more object,
    {"reply": {…}}, or in a JSON string is taken out where it fits the schema.
    """
    if reply.status != "ok":
        return None
    text = reply.text[:MOST].strip()
    parsed = _json(text)  # first as it is: a claim may speak of <think>
    if parsed is None:
        rest = _thoughtless(text)
        last = _last_object(rest)
        parsed = _in_other_quotes(rest) if last is None else last
    return _unwrapped(parsed, schema)


def unread(reply: Reply, schema: Mapping[str, Any]) -> str:
    """What came in place of the structure that was asked for; "" where it came, or where the call failed.

    >>> unread(Reply("ok", "I think that it is fine."), {"properties": {}})
    'the judge answered in prose: "I think that it is fine."'
    """
    if reply.status != "ok" or structured(reply, schema) is not None:
        return ""
    text = " ".join(reply.text.split())
    if not text:
        return "the judge answered with an empty text"
    kind = "in JSON that cannot be read" if text.startswith(("{", "[", "```")) else "in prose"
    return f'the judge answered {kind}: "{text[:SHOWN]}{"…" if len(text) > SHOWN else ""}"'


def _json(text: str) -> Any:
    """An object, or a text that may hold one; None for anything else."""
    if text.startswith(("{", '"')):
        for form in (text, TRAILING.sub(r"\1", text)):
            with suppress(ValueError, RecursionError):
                return json.loads(form)
    return None


def _unwrapped(value: Any, schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What fits the schema inside of objects of one key and of strings; else the object as it came."""
    inner = value
    for _ in range(WRAPS + 1):
        if isinstance(inner, dict) and _fits(inner, schema):
            return inner
        if isinstance(inner, dict) and len(inner) == 1:
            (inner,) = inner.values()
        elif isinstance(inner, str):
            inner = _json(inner.strip())
        else:
            break
    return value if isinstance(value, dict) else None


def _fits(value: Mapping[str, Any], schema: Mapping[str, Any]) -> bool:
    """Whether an object has every field, lists where lists are asked for; how well each is filled is for its reader."""
    fields = schema["properties"]
    lists = {name for name, field in fields.items() if field["type"] == "array"}
    given = {name for name in fields if name in value and not isinstance(value[name], dict)}
    return given == set(fields) and lists == {name for name in given if isinstance(value[name], list)}


def _last_object(text: str) -> Mapping[str, Any] | None:
    """The last object that stands at the top level of a text."""
    decoder, last, at, broken = json.JSONDecoder(), None, 0, 0
    tidy = TRAILING.sub(r"\1", text)
    while (start := OBJECT.search(tidy, at)) is not None:
        try:
            last, at = decoder.raw_decode(tidy, start.start())
        except (ValueError, RecursionError):
            at, broken = start.start() + 1, broken + 1
            if broken > MOST_BROKEN:
                return None
    return last


def _in_other_quotes(text: str) -> Any:
    """The one object of a text that is no JSON: in curly quotes without any straight one, or as Python prints it."""
    body = text[text.find("{") : text.rfind("}") + 1]
    if CURLY.search(body) and '"' not in body:
        with suppress(ValueError, RecursionError):
            return json.loads(TRAILING.sub(r"\1", CURLY.sub('"', body)))
    if body and PYTHON.match(body):
        with suppress(ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            return json.loads(json.dumps(ast.literal_eval(body)))  # no sets, bytes and the like
    return None


def _thoughtless(text: str) -> str:
    """A text without what stands between marks of reasoning; one that is never closed stays."""
    parts, at = [], 0
    while (start := THOUGHT.search(text, at)) and (end := THOUGHT_END.search(text, start.end())):
        parts.append(text[at : start.start()])
        at = end.end()
    return "".join([*parts, text[at:]])


def objects(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list; anything else is passed over."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def written(value: Any) -> str:
    r"""A text that the model wrote, without blanks around it; "" for anything else.

    Half a character, such as a lone "\ud800", can be in JSON and in no file: it counts as a question mark.
    """
    return value.encode("utf-8", "replace").decode("utf-8").strip() if isinstance(value, str) else ""


def texts(value: Any) -> list[str]:
    """The texts of a list that are not blank."""
    return [text for entry in value if (text := written(entry))] if isinstance(value, list) else []


def word(value: Any, known: Collection[str]) -> str | None:
    """A word of those known, whatever its case, spaces and punctuation; None for any other.

    >>> word(" Supported.", ("supported", "absent")), word("maybe", ("supported", "absent"))
    ('supported', None)
    """
    if not isinstance(value, str):
        return None
    normal = re.sub(r"[\s_-]+", "_", value.strip().strip(".!\"'`*").strip()).lower()
    return normal if normal in known else None


def yes(value: Any) -> bool | None:
    """True or false, also as words; None for anything else."""
    if isinstance(value, bool):
        return value
    return {"true": True, "yes": True, "false": False, "no": False}.get(
        word(value, ("true", "yes", "false", "no")) or ""
    )


def whole_number(value: Any) -> int | None:
    """A number of ours: 3, 3.0, "3", "S3", "[3]"; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if not isinstance(value, str) or len(value) > LONGEST_NUMBER:
        return None
    match = re.fullmatch(rf"[^\w{DASHES}]*[A-Za-z]?\s*(\d{{1,6}})\W*", value)
    return int(match[1]) if match else None


def sentence_number(value: Any) -> str:
    """The number of one sentence of a passage: 2.1, "2.1", "[S2.1]"; "" for anything else.

    >>> sentence_number("[2.10]"), sentence_number(2.5), sentence_number("2"), sentence_number("2.1 and 2.2")
    ('2.10', '2.5', '', '')
    """
    if isinstance(value, bool) or not isinstance(value, str | float) or len(str(value)) > LONGEST_NUMBER:
        return ""
    match = re.fullmatch(rf"[^\w{DASHES}]*[A-Za-z]?\s*(\d{{1,6}}\.\d{{1,6}})\W*", str(value))
    return match[1] if match else ""


def places(value: Any, sent: Mapping[str, Any]) -> tuple[str, ...]:
    """The sentence numbers of a list that were sent, such as "2.1"; a bare passage number stands for its first one.

    Numbers that were never sent are dropped, and so are those that stand in prose or below zero, those of a sentence of
    the answer, such as "S1", and a range that does not begin and end with what was sent.

    >>> places(["2.1", "[P3]", 9, "one of 2 towers", "[S1]"], {"1.1": 1, "2.1": 1, "2.2": 1, "3.1": 1})
    ('2.1', '3.1')
    >>> places(["1.1-2.1"], {"1.1": 1, "1.2": 1, "2.1": 1}), places(["1.1-2.9"], {"1.1": 1, "1.2": 1, "2.1": 1})
    (('1.1', '1.2', '2.1'), ())
    """
    items = value if isinstance(value, list) else [value]
    known = [item for item in items if isinstance(item, str | int | float) and not isinstance(item, bool)]
    return tuple(dict.fromkeys(number for item in known for number in _places_of(str(item).lower(), [*sent])))


def _places_of(text: str, sent: Sequence[str]) -> list[str]:
    """The sentence numbers that one text names."""
    words = {*WORDS.findall(text)}
    if not words <= BESIDE:
        return []
    firsts = {} if words & OF_SENTENCES else {number.partition(".")[0]: number for number in reversed(sent)}
    named = {**firsts, **dict(zip(sent, sent, strict=True))}
    found: list[str] = []
    last, at = None, 0
    for match in DIGITS.finditer(text):
        between, number = text[at : match.start()], named.get(match[0])
        if at and TO.fullmatch(between):
            if last is None or number is None:
                return []
            found += sent[sent.index(last) : sent.index(number) + 1]
        elif between.endswith(tuple(DASHES)):  # below zero
            return []
        elif number is not None:
            found.append(number)
        last, at = number, match.end()
    return found


def quoted(value: Any, sent: Mapping[str, str]) -> tuple[str, ...]:
    """The numbers of the sentences that the texts of a list are quotes of: of one sentence, whole or in part.

    Case, white space, quotes and dots around a quote do not matter. A part of two different sentences names neither.

    >>> quoted(['"… lasts 30 days"', "it is free", "Unknown."], {"1.1": "It lasts 30 days.", "1.2": "It is free."})
    ('1.1', '1.2')
    """
    numbers: dict[str, None] = {}
    texts = {number: plain(text).strip(" .") for number, text in sent.items()}
    for item in value if isinstance(value, list) else [value]:
        if not isinstance(item, str) or BESIDE.issuperset(WORDS.findall(item.lower())):
            continue  # a number, see `places`
        said = NUMBERED.match(item)
        quote = plain(item[said.end() :] if said else item).strip(" .")
        found = {number: text for number, text in texts.items() if text == quote}
        if not found and len(quote) >= LEAST_QUOTED:
            found = {number: text for number, text in texts.items() if quote in text}
        if len({*found.values()}) == 1 and (said is None or said[1] in found):
            numbers |= dict.fromkeys([said[1]] if said else found)
    return tuple(numbers)
