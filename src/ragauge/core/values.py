"""Single values: what is accepted and what is said about the rest; previews that a log cut off."""

from __future__ import annotations

import ast
import io
import json
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from math import isfinite
from typing import Any

from ragauge.core.messages import format_count

ELLIPSES = ("…", "...", "[…]", "[...]", "[truncated]", "(truncated)")
MIN_DIFFERENT_TEXTS = 5  # different texts that look cut; fewer may end so by themselves
MAX_LENGTH_GAP_CHARS = 5  # characters between the lengths of texts that were cut at one length
MIN_CUT_SHARE = 0.9  # share of the cut texts that have nearly one length, or of all texts where lengths differ
MIN_ALIKE_SHARE = 0.5  # share of all texts, where they were cut at one length and none is longer


@dataclass(slots=True)
class Previews:
    """Counts texts that look cut off.

    They are previews where at least five different ones end in an ellipsis, and either those are at least 90 % of all,
    or at least half of all, nearly all of one length, and no text is longer.

    >>> seen = Previews()
    >>> seen.count_texts(f"{n} is a number that …" for n in range(6))
    >>> seen.describe_cut().partition(":")[0]
    '6 of 6 passages look truncated, like previews in logs'
    """

    count: int = 0
    longest: int = 0
    lengths: dict[int, int] = field(default_factory=dict)  # of those that look cut -> how many
    different: set[str] = field(default_factory=set)  # as many as are needed to be sure

    def count_texts(self, texts: Iterable[str | None]) -> None:
        """Counts texts; what was not recorded is none."""
        for text in texts:
            if not text:
                continue
            self.count += 1
            length = len(text)
            self.longest = max(self.longest, length)
            if text[-20:].rstrip().endswith(ELLIPSES):
                self.lengths[length] = self.lengths.get(length, 0) + 1
                if len(self.different) < MIN_DIFFERENT_TEXTS:
                    self.different.add(text)

    def describe_cut(self, source: str = "") -> str:
        """What to say of them; "" where the texts look whole.

        Args:
            source: what they are passages of, such as " of the first 100 responses"; "" = of all.
        """
        cut = sum(self.lengths.values())
        if len(self.different) < MIN_DIFFERENT_TEXTS:
            return ""
        longest = max(self.lengths)
        near = {length: n for length, n in self.lengths.items() if length >= longest - MAX_LENGTH_GAP_CHARS}
        is_one_length = sum(near.values()) >= MIN_CUT_SHARE * cut
        if not (
            cut >= MIN_CUT_SHARE * self.count
            or (is_one_length and cut >= MIN_ALIKE_SHARE * self.count and self.longest <= longest)
        ):
            return ""
        shortest = min(near if is_one_length else self.lengths)
        lengths_text = f"{longest:,}" if shortest == longest else f"{shortest:,} to {longest:,}"
        return (
            f"{cut:,} of {self.count:,} passages{source} look truncated, like previews in logs: they end in an "
            f"ellipsis after {lengths_text} characters. Support cannot be judged from them: claims from the rest "
            "count as unsupported. Record full texts."
        )


# tuples, since a union is built anew at every check; dict first, since Mapping is an abstract class and slow to ask
NUMBER_TYPES, SCALAR_TYPES, LIST_TYPES, OBJECT_TYPES = (int, float), (str, int, float), (list, tuple), (dict, Mapping)
BOOLEAN_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class BadValue(ValueError):  # noqa: N818 - what was found
    """A value that a field cannot hold; the reader adds where it stands."""

    def __init__(self, name: str, expected: str, value: object, hint: str = "") -> None:
        self.hint = hint
        super().__init__(f"{name} must be {expected}, got {describe_value(value)}.")


@dataclass(slots=True)
class Notes:
    """What a reader noticed on the way, for the warnings at the end."""

    cells: bool = False  #: texts may hold JSON or a Python list, as the cells of CSV and Parquet files do.
    replaced: int = 0  #: texts in which characters that no store keeps were replaced.
    passage_keys: dict[str, int] = field(default_factory=dict)  #: keys of passages that nothing reads.
    turns: int = 0  #: earlier turns left out because they are a tool's.
    unasked: int = 0  #: chats in which nobody asks.
    #: role -> messages with what a tool returned of which no passage is read.
    tools: dict[str, int] = field(default_factory=dict)
    #: where the doc_ids of passages came from -> how many: a key such as doc_id or metadata.source; "text", a hash of
    #: the text; "place", the place in the list of a passage without text.
    id_rules: dict[str, int] = field(default_factory=dict)
    #: column -> texts joined by a mark that they hold themselves.
    unclear: dict[str, int] = field(default_factory=dict)
    #: column -> texts in brackets that may be lists whose texts lost their quotes.
    unquoted: dict[str, int] = field(default_factory=dict)
    declining: int = 0  #: examples taken as unanswerable because their references decline.
    declined: str = ""  #: the first such reference, or its beginning.
    previews: Previews = field(default_factory=Previews)  #: whether the texts of passages look cut off.

    def warnings(self) -> Iterator[str]:
        """What the user should know of chats, lists without quotes, and references that decline."""
        if self.unasked:
            yield f"{format_count(self.unasked, 'chat')} skipped: no question in them."
        if self.tools:
            yield (
                f"{format_count(sum(self.tools.values()), 'message')} from tools not read as "
                f"passages (role {', '.join(self.tools)}): they contain no recognized text, or there are other "
                "passages. Name the column to read: --map passages=COLUMN."
            )
        for column, n in self.unquoted.items():
            texts_read = f"{format_count(n, 'text')} in {column} in brackets read as one passage each"
            yield f"{texts_read}. Save lists as JSON, with quotes."
        if self.turns:
            yield f"{self.turns} tool turns omitted from the history."
        if self.declining:
            yield (
                f"{format_count(self.declining, 'question')} treated as unanswerable because the reference answer "
                f"declines or is a placeholder, such as {self.declined!r}. Add a field answerable to override this."
            )

    def count_id_rule(self, rule: str, n: int = 1) -> None:
        """Counts passages whose doc_id came by a rule."""
        self.id_rules[rule] = self.id_rules.get(rule, 0) + n


def describe_value(value: object) -> str:
    """A value in words, short enough for an error.

    >>> (describe_value("abc"), describe_value([1, 2]), describe_value({"a": 1}), describe_value(None),
    ...     describe_value(True))
    ("text 'abc'", 'a list of 2', 'an object with a', 'null', 'true')
    """
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return f"text {value!r}" if len(value) <= 40 else f"text {value[:40]!r}…"
        case int():
            return f"number {value}" if abs(value) < 10**20 else "a number of more than 20 digits"
        case float():
            return f"number {value!r}" if isfinite(value) else "NaN" if value != value else "infinity"
        case Mapping():
            keys = ", ".join(str(key) for key in list(value)[:5])
            return f"an object with {keys or 'nothing'}"
        case list() | tuple():
            return f"a list of {len(value)}"
    return f"a {type(value).__name__}"


def is_null(value: object) -> bool:
    """Whether a field holds nothing: null, or NaN, which pandas writes for it."""
    return value is None or (type(value) is float and value != value)


def parse_text(value: Any, name: str, notes: Notes) -> str:
    """A text, with characters that no store keeps (lone surrogates, NUL) replaced by U+FFFD and counted."""
    if not isinstance(value, str):
        raise BadValue(name, "text", value)
    if is_storable(value):
        return value
    notes.replaced += 1
    # through UTF-16: halves of one character that were escaped apart come together, lone ones are replaced
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "\ufffd")


def is_storable(value: str) -> bool:
    """Whether every store can keep the text: it is UTF-8 without NUL."""
    if "\0" in value:
        return False
    try:
        return value.isascii() or bool(value.encode())
    except UnicodeEncodeError:
        return False


def parse_identifier(value: Any, name: str, notes: Notes) -> str:
    """An id: text that is not blank, or a whole number."""
    if isinstance(value, str) and value.strip():
        return parse_text(value, name, notes)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float) and value.is_integer():  # a column of whole numbers with gaps becomes one of floats
        return str(int(value))
    raise BadValue(name, "an id (text or whole number)", value)


def parse_answer(value: Any, name: str, notes: Notes) -> str:
    """A text; a number stands for its digits, since the answer to a question may be one."""
    if isinstance(value, NUMBER_TYPES) and not isinstance(value, bool) and isfinite(value):
        return str(int(value)) if float(value).is_integer() else repr(value)
    return parse_text(value, name, notes)


def parse_number(value: Any, name: str) -> float:
    """A finite number, or text that reads as one."""
    if type(value) is float and isfinite(value):
        return value
    if isinstance(value, (*SCALAR_TYPES, Decimal)) and not isinstance(value, bool):
        try:
            converted = float(value)
        except (ValueError, OverflowError):
            converted = float("nan")
        if isfinite(converted):
            return converted
    raise BadValue(name, "a finite number", value)


def parse_non_negative(value: Any, name: str) -> float:
    """A finite number of at least 0."""
    parsed = parse_number(value, name)
    if parsed < 0:
        raise BadValue(name, "a number of at least 0", value)
    return parsed


def parse_whole_number(value: Any, name: str) -> int:
    """A whole number of at least 0, or text that reads as one."""
    if type(value) is int and value >= 0:
        return value
    try:
        parsed = parse_number(value, name)
    except BadValue:
        parsed = -1.0
    if parsed < 0 or not parsed.is_integer():
        raise BadValue(name, "a whole number of at least 0", value)
    return int(parsed)


def parse_boolean(value: Any, name: str) -> bool:
    """A truth value: true, false, and the usual words and digits for them."""
    flag = BOOLEAN_WORDS.get(str(value).strip().lower().removesuffix(".0"))
    if flag is None or not isinstance(value, bool | int | float | str):
        raise BadValue(name, "true or false (or yes, no, 1, 0)", value)
    return flag


def parse_scalar(value: Any, name: str, notes: Notes) -> str:
    """A single value as text: what a segment is named by."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, SCALAR_TYPES):
        return parse_answer(value, name, notes)
    raise BadValue(name, "a single value", value)


def decode_cell(value: Any, name: str, notes: Notes) -> Any:
    """The list or object that a cell holds as text; anything else as it is."""
    if not notes.cells or not isinstance(value, str):
        return value
    start = value.lstrip()[:1]
    if start not in ("[", "{", "("):
        return value
    try:
        return json.loads(value, strict=False)
    except (ValueError, RecursionError):
        pass
    try:
        literal = ast.literal_eval(value.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return value
    if not isinstance(literal, (*LIST_TYPES, dict)):
        return value
    if _has_missing_comma(value):
        raise BadValue(name, "a JSON list", value, "It looks like a NumPy array printed as text: save lists as JSON.")
    return literal


def _has_missing_comma(source: str) -> bool:
    """Whether two quoted texts stand side by side without a comma: Python would read them as one."""
    previous_type = None
    for token in tokenize.generate_tokens(io.StringIO(source.strip()).readline):
        if token.type in (tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT):
            continue
        if previous_type == token.type == tokenize.STRING:
            return True
        previous_type = token.type
    return False


def parse_list(value: Any, name: str, expected: str) -> list[Any]:
    """A list."""
    if not isinstance(value, LIST_TYPES):
        raise BadValue(name, expected, value)
    return list(value)


def parse_entries(value: Any, name: str, expected: str) -> Iterator[tuple[str, Any]]:
    """The entries of an object; those that are null count as absent."""
    if not isinstance(value, OBJECT_TYPES):
        raise BadValue(name, expected, value)
    for key, item in value.items():
        if item is not None:
            yield str(key), item


def parse_texts(value: Any, name: str, notes: Notes) -> tuple[str, ...]:
    """A list of texts; one text is a list of one."""
    value = decode_cell(value, name, notes)
    if isinstance(value, SCALAR_TYPES) and not isinstance(value, bool):
        return (parse_answer(value, name, notes),)
    return tuple(
        parse_answer(item, f"{name}[{n}]", notes)
        for n, item in enumerate(parse_list(value, name, "text or a list of texts"))
    )


def get_nested_value(row: Mapping[str, Any], name: str) -> Any:
    """What a dotted name reaches inside the row's objects; None where a column has that very name."""
    if name in row:
        return None
    value: Any = row
    for key in name.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
