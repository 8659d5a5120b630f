"""What a reply says, read without trust: the last structured value, our numbers only, known words only."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ragauge.core.ask import Reply
from ragauge.judges.judge import normalize_text

THOUGHT, THOUGHT_END = re.compile(r"<think(?:ing)?>"), re.compile(r"</think(?:ing)?>")
OBJECT_START = re.compile(r'\{\s*(?:\}|"(?:[^"\\]|\\.){0,200}"\s*:)')  # how one begins
CURLY = re.compile("[\u201c\u201d\u201e\u201f]")
# as Python prints a dict: a key in single quotes, no escape that Python would warn of
PYTHON_DICT = re.compile(r"\{\s*'(?!(?:[^\\]|\\.)*\\[^\\'\"abfnrtvxuUN0-7\n])", re.DOTALL)
TRAILING_COMMA = re.compile(r",(\s*[\]}])")
DIGITS = re.compile(r"\d+(?:\.\d+)*")
WORDS = re.compile(r"[^\W\d_]+")
DASHES = "\u2010\u2011\u2012\u2013\u2014\u2212-"  # "-" last, as sets of characters want it
RANGE_SEPARATOR = re.compile(rf"[\s\])]*(?:[~…{DASHES}]|\.\.+)\s*[\[(]*[a-z]*\s*")  # between the ends of a range
NUMBER_NEIGHBORS = frozenset(
    {"p", "s", "passage", "passages", "sentence", "sentences", "and"}
)  # may stand beside a number
SENTENCE_NEIGHBORS = NUMBER_NEIGHBORS - {
    "p",
    "passage",
    "passages",
    "and",
}  # beside these, a number without a dot is no passage's
MAX_REPLY_CHARS = 400_000  # characters of a reply that are read
MAX_BROKEN_OBJECTS = 1_000  # beginnings of objects that turn out to be none: each takes time in the length of the reply
MAX_NUMBER_CHARS = 40  # characters
MAX_SHOWN_CHARS = 80  # characters of a reply that could not be read
MIN_QUOTE_CHARS = 12  # characters of a quote that is part of a sentence
NUMBERED_QUOTE = re.compile(r"^\W*[A-Za-z]?\s*(\d{1,6}\.\d{1,6})\W+(?=\w)")  # "[2.1] " before a quote
MAX_WRAPS = 4  # objects and strings around what was asked for that are taken off, at most


def parse_structured(reply: Reply, schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The last JSON object of a reply; None where there is none, or the call failed.

    Code fences, a preamble, reasoning marks and trailing commas are passed over, and an object in Python's or in a word
    processor's quotes is read where it is the only one. Nothing is read from prose or from an
    object before the last: it may be quoted from what is judged. What a model wrapped in one more object,
    {"reply": {…}}, or in a JSON string is taken out where it fits the schema.
    """
    if reply.status != "ok":
        return None
    text = reply.text[:MAX_REPLY_CHARS].strip()
    parsed = _parse_json(text)  # first as it is: a claim may speak of <think>
    if parsed is None:
        remaining = _remove_thoughts(text)
        last = _find_last_object(remaining)
        parsed = _parse_other_quotes(remaining) if last is None else last
    return _unwrap_object(parsed, schema)


def describe_unread(reply: Reply, schema: Mapping[str, Any]) -> str:
    """What came in place of the structure that was asked for; "" where it came, or where the call failed.

    >>> describe_unread(Reply("ok", "I think that it is fine."), {"properties": {}})
    'the judge answered with prose: "I think that it is fine."'
    """
    if reply.status != "ok" or parse_structured(reply, schema) is not None:
        return ""
    text = " ".join(reply.text.split())
    if not text:
        return "the judge returned an empty reply"
    kind = "with JSON that cannot be read" if text.startswith(("{", "[", "```")) else "with prose"
    return f'the judge answered {kind}: "{text[:MAX_SHOWN_CHARS]}{"…" if len(text) > MAX_SHOWN_CHARS else ""}"'


def _parse_json(text: str) -> Any:
    """An object, or a text that may hold one; None for anything else."""
    if text.startswith(("{", '"')):
        for form in (text, TRAILING_COMMA.sub(r"\1", text)):
            with suppress(ValueError, RecursionError):
                return json.loads(form)
    return None


def _unwrap_object(value: Any, schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What fits the schema inside of objects of one key and of strings; else the object as it came."""
    inner = value
    for _ in range(MAX_WRAPS + 1):
        if isinstance(inner, dict) and _fits_schema(inner, schema):
            return inner
        if isinstance(inner, dict) and len(inner) == 1:
            (inner,) = inner.values()
        elif isinstance(inner, str):
            inner = _parse_json(inner.strip())
        else:
            break
    return value if isinstance(value, dict) else None


def _fits_schema(value: Mapping[str, Any], schema: Mapping[str, Any]) -> bool:
    """Whether an object has every field, lists where lists are asked for; how well each is filled is for its reader."""
    fields = schema["properties"]
    lists = {name for name, field in fields.items() if field["type"] == "array"}
    present = {name for name in fields if name in value and not isinstance(value[name], dict)}
    return present == set(fields) and lists == {name for name in present if isinstance(value[name], list)}


def _find_last_object(text: str) -> Mapping[str, Any] | None:
    """The last object that stands at the top level of a text."""
    decoder, last, position, broken = json.JSONDecoder(), None, 0, 0
    tidy = TRAILING_COMMA.sub(r"\1", text)
    while (start := OBJECT_START.search(tidy, position)) is not None:
        try:
            last, position = decoder.raw_decode(tidy, start.start())
        except (ValueError, RecursionError):
            position, broken = start.start() + 1, broken + 1
            if broken > MAX_BROKEN_OBJECTS:
                return None
    return last


def _parse_other_quotes(text: str) -> Any:
    """The one object of a text that is no JSON: in curly quotes without any straight one, or as Python prints it."""
    body = text[text.find("{") : text.rfind("}") + 1]
    if CURLY.search(body) and '"' not in body:
        with suppress(ValueError, RecursionError):
            return json.loads(TRAILING_COMMA.sub(r"\1", CURLY.sub('"', body)))
    if body and PYTHON_DICT.match(body):
        with suppress(ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            return json.loads(json.dumps(ast.literal_eval(body)))  # no sets, bytes and the like
    return None


def _remove_thoughts(text: str) -> str:
    """A text without what stands between marks of reasoning; one that is never closed stays."""
    outside_texts, position = [], 0
    while (start := THOUGHT.search(text, position)) and (end := THOUGHT_END.search(text, start.end())):
        outside_texts.append(text[position : start.start()])
        position = end.end()
    return "".join([*outside_texts, text[position:]])


def list_objects(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list; anything else is passed over."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def parse_text(value: Any) -> str:
    r"""A text that the model wrote, without blanks around it; "" for anything else.

    Half a character, such as a lone "\ud800", can be in JSON and in no file: it counts as a question mark.
    """
    return value.encode("utf-8", "replace").decode("utf-8").strip() if isinstance(value, str) else ""


def parse_texts(value: Any) -> list[str]:
    """The texts of a list that are not blank."""
    return [text for entry in value if (text := parse_text(entry))] if isinstance(value, list) else []


def parse_word(value: Any, known_words: Collection[str]) -> str | None:
    """A word of those known, whatever its case, spaces and punctuation; None for any other.

    >>> parse_word(" Supported.", ("supported", "absent")), parse_word("maybe", ("supported", "absent"))
    ('supported', None)
    """
    if not isinstance(value, str):
        return None
    normal = re.sub(r"[\s_-]+", "_", value.strip().strip(".!\"'`*").strip()).lower()
    return normal if normal in known_words else None


def parse_bool(value: Any) -> bool | None:
    """True or false, also as words; None for anything else."""
    if isinstance(value, bool):
        return value
    return {"true": True, "yes": True, "false": False, "no": False}.get(
        parse_word(value, ("true", "yes", "false", "no")) or ""
    )


def parse_whole_number(value: Any) -> int | None:
    """A number of ours: 3, 3.0, "3", "S3", "[3]"; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if not isinstance(value, str) or len(value) > MAX_NUMBER_CHARS:
        return None
    match = re.fullmatch(rf"[^\w{DASHES}]*[A-Za-z]?\s*(\d{{1,6}})\W*", value)
    return int(match[1]) if match else None


def parse_sentence_number(value: Any) -> str:
    """The number of one sentence of a passage: 2.1, "2.1", "[S2.1]"; "" for anything else.

    >>> (parse_sentence_number("[2.10]"), parse_sentence_number(2.5), parse_sentence_number("2"),
    ...     parse_sentence_number("2.1 and 2.2"))
    ('2.10', '2.5', '', '')
    """
    if isinstance(value, bool) or not isinstance(value, str | float) or len(str(value)) > MAX_NUMBER_CHARS:
        return ""
    match = re.fullmatch(rf"[^\w{DASHES}]*[A-Za-z]?\s*(\d{{1,6}}\.\d{{1,6}})\W*", str(value))
    return match[1] if match else ""


def find_sentence_numbers(value: Any, sent: Mapping[str, Any]) -> tuple[str, ...]:
    """The sentence numbers of a list that were sent, such as "2.1"; a bare passage number stands for its first one.

    Numbers that were never sent are dropped, and so are those that stand in prose or below zero, those of a sentence of
    the answer, such as "S1", and a range that does not begin and end with what was sent.

    >>> find_sentence_numbers(["2.1", "[P3]", 9, "one of 2 towers", "[S1]"], {"1.1": 1, "2.1": 1, "2.2": 1, "3.1": 1})
    ('2.1', '3.1')
    >>> (find_sentence_numbers(["1.1-2.1"], {"1.1": 1, "1.2": 1, "2.1": 1}),
    ...     find_sentence_numbers(["1.1-2.9"], {"1.1": 1, "1.2": 1, "2.1": 1}))
    (('1.1', '1.2', '2.1'), ())
    """
    items = value if isinstance(value, list) else [value]
    entries = [item for item in items if isinstance(item, str | int | float) and not isinstance(item, bool)]
    return tuple(
        dict.fromkeys(number for item in entries for number in _find_numbers_in_text(str(item).lower(), [*sent]))
    )


def _find_numbers_in_text(text: str, sent: Sequence[str]) -> list[str]:
    """The sentence numbers that one text names."""
    words = {*WORDS.findall(text)}
    if not words <= NUMBER_NEIGHBORS:
        return []
    firsts = {} if words & SENTENCE_NEIGHBORS else {number.partition(".")[0]: number for number in reversed(sent)}
    numbers_by_name = {**firsts, **dict(zip(sent, sent, strict=True))}
    numbers: list[str] = []
    last, position = None, 0
    for match in DIGITS.finditer(text):
        between, number = text[position : match.start()], numbers_by_name.get(match[0])
        if position and RANGE_SEPARATOR.fullmatch(between):
            if last is None or number is None:
                return []
            numbers += sent[sent.index(last) : sent.index(number) + 1]
        elif between.endswith(tuple(DASHES)):  # below zero
            return []
        elif number is not None:
            numbers.append(number)
        last, position = number, match.end()
    return numbers


def find_quoted_sentences(value: Any, sent: Mapping[str, str]) -> tuple[str, ...]:
    """The numbers of the sentences that the texts of a list are quotes of: of one sentence, whole or in part.

    Case, white space, quotes and dots around a quote do not matter. A part of two different sentences names neither.

    >>> find_quoted_sentences(['"… lasts 30 days"', "it is free", "Unknown."],
    ...     {"1.1": "It lasts 30 days.", "1.2": "It is free."})
    ('1.1', '1.2')
    """
    numbers: dict[str, None] = {}
    texts = {number: normalize_text(text).strip(" .") for number, text in sent.items()}
    for item in value if isinstance(value, list) else [value]:
        if not isinstance(item, str) or NUMBER_NEIGHBORS.issuperset(WORDS.findall(item.lower())):
            continue  # a number, see `find_sentence_numbers`
        number_match = NUMBERED_QUOTE.match(item)
        quote = normalize_text(item[number_match.end() :] if number_match else item).strip(" .")
        matches = {number: text for number, text in texts.items() if text == quote}
        if not matches and len(quote) >= MIN_QUOTE_CHARS:
            matches = {number: text for number, text in texts.items() if quote in text}
        if len({*matches.values()}) == 1 and (number_match is None or number_match[1] in matches):
            numbers |= dict.fromkeys([number_match[1]] if number_match else matches)
    return tuple(numbers)
