"""Names, acronyms, codes and identifiers, and how an answer names its passages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache

from ragauge.core.response import Passage
from ragauge.text.characters import (
    HANGUL,
    UNSPACED,
    Mark,
    build_capital_ranges,
    build_mark_ranges,
    normalize_characters,
)
from ragauge.text.dates import MONTHS
from ragauge.text.language import list_frequent_words
from ragauge.text.numerals import SHORT_SCALES, UNITS
from ragauge.text.sentences import SOURCE
from ragauge.text.tokens import ENGLISH, OPENERS, PARTICLES, TITLES, WEEKDAYS
from ragauge.text.word_files import read_patterns

FORMS = read_patterns(__file__, "names")
INSIDE = re.compile(f"[^\\W{UNSPACED}{HANGUL}]")
GAP = r"[ \u00a0]"
MAX_TEXT_CHARS = 20_000  # characters of a text that is searched for an identifier
MAX_CODE_CHARS = 200  # characters of an identifier
MAX_SHORT_FLAG_CHARS = 3  # characters up to which a flag's capitals tell: -v and -V
MAX_SHOUT_WORDS = 3  # words; a longer run of capitals is emphasis
LINE_REACH_CHARS = 80  # characters either side that tell whether a line is written in capitals
NON_NAMES = ENGLISH | OPENERS | WEEKDAYS | MONTHS.keys()


@cache
def _compile_name_pattern(*, ascii_only: bool, linked: bool) -> re.Pattern[str]:
    """Capitalised words that stand together; with capitals of every script only where the text needs it."""
    capital, inside = ("[A-Z]", r"\w") if ascii_only else (f"[{build_capital_ranges()}]", INSIDE.pattern)
    word = rf"{capital}{inside}*(?:(?:['’]|[&\-‑](?![a-zà-ÿ])|\.(?=[a-z])){inside}+)*"
    title = r"(?:Mrs?|Ms|Dr|Prof|St|Jr|Sr|Gen|Sen|Rep|Gov|Lt|Col|Capt)\."
    part = rf"(?:{title}(?={GAP}{capital})|(?:{capital}\.){{2,}}|{capital}\.(?={GAP}?{capital})|{word})"
    of = rf"(?:(?:{'|'.join(sorted(PARTICLES))}|of(?:{GAP}the)?){GAP}){{0,2}}"
    link = rf"(?<!['’]s){GAP}{of if linked else ''}|{GAP}&{GAP}|(?<=\.)"
    return re.compile(rf"{part}(?:(?:{link})(?={capital}){part}){{0,12}}")


def find_addresses(text: str) -> Iterator[Mark]:
    """Web and mail addresses, and titles in 《》; each kind in order."""
    spans: list[tuple[int, int]] = []
    if "://" in text or "www." in text or "@" in text:
        matches = FORMS["address"].finditer(text)
        spans = [(match.start(), match.start() + len(match[0].rstrip(".,;:!?)'*]"))) for match in matches]
    spans += [match.span(1) for match in FORMS["cjk_title"].finditer(text)]
    yield from (Mark("name", *span, normal) for span in spans if (normal := normalize_name(text[slice(*span)])))


def find_names(text: str, language: str = "en") -> Iterator[Mark]:
    """The names in a text, in order.

    In German a single capitalised word is no name.
    """
    pattern = _compile_name_pattern(ascii_only=text.isascii(), linked=language != "de")
    common = list_frequent_words(language) if language != "en" else ENGLISH
    waiting: list[Mark] = []  # a sentence begins with them: names only if capitalised elsewhere
    sure: list[Mark] = []
    inside: set[str] = set()
    for match in pattern.finditer(text):
        body = match[0]
        if body.lower() in NON_NAMES and (len(body) < 2 or not body.isupper()):
            continue
        mark, doubtful = _read_name(text, match.start(), match.end(), language, common)
        if mark is None:
            continue
        if doubtful:
            waiting.append(mark)
        else:
            sure.append(mark)
            inside.update(mark.normal.split())
    for mark in waiting:
        alone = len(text) < mark.end - mark.start + 8 and len(split_name(text)) == len(mark.normal.split())
        if mark.normal in inside or alone:
            sure.append(mark)
    yield from sorted(sure)


def _read_name(text: str, start: int, end: int, language: str, common: frozenset[str]) -> tuple[Mark | None, bool]:
    """The name in a run of capitalised words, and whether only its place may ask for the capital."""
    is_inside = start >= 2 and text[start - 1] == " " and (text[start - 2].isalnum() or text[start - 2] == ",")
    first = not is_inside and (not start or FORMS["opening"].search(text, max(0, start - 12), start) is not None)
    while start and INSIDE.match(text, start - 1):  # iPhone, 5G
        start -= 1
    start, end, first = _trim_name(text, start, end, common, first=first)
    body = text[start:end]
    normal = normalize_name(body)
    if len(normal) < 2:
        return None, False
    if " " in body or "\u00a0" in body:
        shout = FORMS["small"].search(body) is None and body.count(" ") >= MAX_SHOUT_WORDS
        return (None if shout else Mark("name", start, end, normal)), False
    if any(map(str.isdigit, body)) or body[1:].lower() != body[1:]:
        begin = max(text.rfind("\n", max(0, start - LINE_REACH_CHARS), start) + 1, start - LINE_REACH_CHARS, 0)
        around = [char for char in text[begin : end + LINE_REACH_CHARS].partition("\n")[0] if char.isalpha()]
        shouted = body.isupper() and len(around) > 20 and all(map(str.isupper, around))
        odd = shouted or _is_measure(text, start, body)
        return (None if odd else Mark("name", start, end, normal)), False
    if language == "de" or normal in NON_NAMES or _is_measure(text, start, body):
        return None, False
    return Mark("name", start, end, normal), first


def _trim_name(text: str, start: int, end: int, common: frozenset[str], *, first: bool) -> tuple[int, int, bool]:
    """Without titles, words that only open a sentence, and the possessive at the end."""
    owner = FORMS["possessive"].search(text, start, end)
    if owner:
        end = owner.start()
    body = text[start:end]
    if " " not in body:
        return start, end, first
    words, leading = body.split(" "), first
    for n in range(1, len(words)):
        if words[n - 1].endswith(".") and words[n].lower() in ENGLISH:  # "in the U.S. The next"
            end -= len(" ".join(words[n:])) + 1
            words = words[:n]
            break
    while len(words) > 1 and (
        _is_only_lead(words[0], common, first=first, leading=leading) or _is_measure(text, start, words[0])
    ):
        start += len(words.pop(0)) + 1
        first, leading = False, True
    return start, end, first


def _is_only_lead(word: str, common: frozenset[str], *, first: bool, leading: bool) -> bool:
    """Whether a word before a name is no part of it: Dr, However, In, a month."""
    bare = word.lower().rstrip(".")
    if bare in TITLES or word.islower() or word == "&":
        return True
    if word.isupper() and len(word) > 1:
        return False
    if bare in ENGLISH or (leading and (bare in WEEKDAYS or bare in MONTHS)):
        return True
    return first and (bare in OPENERS or bare in common)


def _is_measure(text: str, start: int, body: str) -> bool:
    """Whether this is the unit of a number or a number with its unit: GB in "3 GB", 5GB, 10K."""
    glued = body.lstrip("0123456789")
    if len(glued) < len(body):
        return glued != "G" and (glued.lower() in UNITS or glued.lower() in SHORT_SCALES or glued[:1] in "-'&")
    return text[max(0, start - 2) : start].rstrip()[-1:].isdigit() and body.lower() in UNITS


@lru_cache(maxsize=4_096)
def normalize_name(name: str) -> str:
    """A name for comparing: words in small letters without accents, a space between; dots of acronyms left out.

    >>> normalize_name("ACME Corp."), normalize_name("U.S."), normalize_name("São  Paulo"), normalize_name("X-200")
    ('acme corp', 'us', 'sao paulo', 'x 200')
    """
    return " ".join(split_name(name))


def split_name(text: str) -> list[str]:
    """The folded words that names are compared by."""
    return [fold_case(word) for word in list_written_words(text)]


@cache
def _compile_word_pattern() -> re.Pattern[str]:
    """Words of every script, with the vowel signs of their letters; built when a text first needs it."""
    return re.compile(f"(?:[^\\W_{UNSPACED}{HANGUL}]|[{build_mark_ranges()}])+|[{HANGUL}]+|[{UNSPACED}]")


def list_written_words(text: str) -> list[str]:
    """The words that names are looked for among, as written."""
    undotted = FORMS["acronym"].sub(lambda match: match[0].replace(".", "") + " ", text)
    if text.isascii():
        return FORMS["ascii_piece"].findall(undotted)
    return _compile_word_pattern().findall(FORMS["accent"].sub("", unicodedata.normalize("NFKD", undotted)))


def fold_case(word: str) -> str:
    """Small letters: of a word as `list_written_words` gives it."""
    return word.lower() if word.isascii() else word.casefold()


def find_codes(text: str) -> tuple[str, ...]:
    """The identifiers of a text, in order, each once; brackets of a call and the v of a version left out.

    >>> find_codes("Run `close_all()` with --no-cache and/or -v, then read ~/app/a.toml in v2.1.3 e.g. at 3.11 km/h.")
    ('close_all', '--no-cache', '-v', '~/app/a.toml', '2.1.3')
    """
    spans: dict[str, None] = {}
    masked = FORMS["address"].sub(" ", _normalize_markdown(text))  # web addresses are names
    for run in FORMS["run"].finditer(masked):
        character_before = masked[run.start() - 1 : run.start()]
        code = _read_code(run[0], glued=character_before.isalnum()) if len(run[0]) <= MAX_CODE_CHARS else ""
        if code:
            spans[code] = None
    return tuple(spans)


def _read_code(run: str, *, glued: bool) -> str:
    """A run of characters as an identifier; "" where it is a word, a number or an abbreviation."""
    if run.endswith("()"):
        return run[:-2].strip(".:/")
    run = run.rstrip(".:-\\").removesuffix("/")
    if FORMS["flag"].fullmatch(run):
        return "" if glued or run.lstrip("-").lower() in ENGLISH else run
    run = run.lstrip("-:")
    if version := FORMS["version"].fullmatch(run):
        return "" if FORMS["day"].fullmatch(run) else version[1] or version[2]
    shape = FORMS["shape"].fullmatch(run) if any(map(str.isalpha, run)) else None
    prose = shape is not None and shape["dotted"] and run.rpartition(".")[2] in ENGLISH  # "the end.the next"
    return run if shape is not None and not prose else ""


def has_code(code: str, text: str) -> bool:
    """Whether a text has an identifier as it is written, alone or as a part of a longer path.

    Capitals tell in short flags only.

    >>> has_code("--no-cache", "run --no-cache-dir"), has_code("a.toml", "see ~/app/a.toml"), has_code("2.1", "v2.1.3")
    (False, True, False)
    """
    return _compile_code_pattern(code).search(_normalize_markdown(text[:MAX_TEXT_CHARS])) is not None


@lru_cache(maxsize=1_024)
def _compile_code_pattern(code: str) -> re.Pattern[str]:
    exact = code.startswith("-") and len(code) <= MAX_SHORT_FLAG_CHARS
    if code[0] == "-":
        before, more = r"(?<![\w-])", ""
    elif code[0].isdigit():
        before, more = r"(?<![\d.])(?:(?<!\w)|(?<=\bv))", ""
    else:
        before, more = r"(?<!\w)(?<!\w-)", "s?"
    return re.compile(rf"{before}{re.escape(code)}{more}(?!\w)(?!-\w)(?!\.\d)", 0 if exact else re.IGNORECASE)


def _normalize_markdown(text: str) -> str:
    """With plain dashes, and without the backslashes that Markdown puts before signs."""
    return FORMS["escaped"].sub(r"\1", normalize_characters(text)) if "\\" in text else normalize_characters(text)


# "Source: ", "doc #", "passage no. "
SOURCE_WORD = re.compile(rf"{SOURCE}\s*(?:no\.?\s|nr\.?\s|ids?\b)?(?:\s*[:#=]\s*|\s+|(?=\d))", re.IGNORECASE)
OPENING, CLOSING = " \t\r\n[({【（<#*", ("]", ")", "}", "】", "）", ">", ":", "：", "|", "\n")
HEAD_CHARS = 300  # within which the label at the head of a text stands
HEAD_NUMBER = re.compile(r"(\d{1,3})\s*(?:[\])】）>|](?!\w)|[:：]\s)")
RECORD = re.compile(r"\S*\d\S*")
NUMBER, LETTER, TEXT_ID = re.compile(r"\d+"), re.compile(r"[^\W\d_]"), "text:"
ANCHOR = re.compile(r"[#?]")  # parts a file from a page or place in it


class PassageNames:
    """Finds the passage that a name or number means.

    Args:
        passages: of one answer, in their order.
        first: number of the first passage where they are counted: 1 or 0.
        by_label: whether labels in the texts count; not where the passages were numbered when they were handed on.
    """

    def __init__(self, passages: Sequence[Passage], first: int = 1, *, by_label: bool = True) -> None:
        self._passages, self._first, self._by_label = passages, first, by_label
        self._defined: Mapping[int, str] = {}

    def set_source_list(self, numbers: Mapping[int, str]) -> None:
        """Takes what numbers mean by the answer's own list of sources; number -> id."""
        self._defined = numbers

    def find_by_name(self, name: str, *, by_id: bool = False) -> str | None:
        """The id that a name means, by id or file alone or by label too; None where it names nothing."""
        folded = name.strip().casefold()
        for form in dict.fromkeys((folded, ANCHOR.split(folded, maxsplit=1)[0].strip())):
            passage_id = self._ids_by_name.get(form) or (None if by_id else self._find_by_label(form))
            if passage_id is not None:
                return passage_id
        return self._find_by_record_key(name.strip()) if not by_id and RECORD.fullmatch(name.strip()) else None

    def is_like_id(self, name: str) -> bool:
        """Whether a name differs from an id in its digits alone, such as doc-9 where there is a doc-3."""
        return NUMBER.sub("0", name.casefold()) in self._id_shapes

    def number(self, n: int) -> str:
        """The id that a number means: by the list of sources or label, else by place, id or key; else as written."""
        labeled = self._defined.get(n) or self._head_numbers.get(n)
        if labeled is not None:
            return labeled
        index = n - self._first
        if 0 <= index < len(self._passages):
            return self._passages[index].passage_id
        return self._ids_by_name.get(str(n)) or self._find_by_record_key(str(n)) or f"[{n}]"

    @cached_property
    def _ids_by_name(self) -> Mapping[str, str]:
        """Id in lower case -> the id; a document's file name too, where one document has it."""
        by_name: dict[str, str] = {}
        for passage in reversed(self._passages):
            by_name |= {name.casefold(): name for name in (passage.doc_id, passage.passage_id)}
        files: dict[str, set[str]] = {}
        for doc_id in {passage.doc_id for passage in self._passages}:
            files.setdefault(re.split(r"[/\\]", doc_id)[-1].casefold(), set()).add(doc_id)
        return {
            **{name: next(iter(doc_ids)) for name, doc_ids in files.items() if name and len(doc_ids) == 1},
            **by_name,
        }

    @cached_property
    def _id_shapes(self) -> frozenset[str]:
        """Ids of letters and digits, each number in them as 0."""
        shapes = {NUMBER.sub("0", name) for name in self._ids_by_name if not name.startswith(TEXT_ID)}
        return frozenset(shape for shape in shapes if "0" in shape and LETTER.search(shape))

    @cached_property
    def _text_heads(self) -> list[tuple[str, str]]:
        """(head of the text in lower case, passage_id) of every passage that has a text."""
        if not self._by_label:
            return []
        return [
            (passage.text[:HEAD_CHARS].lstrip(OPENING).casefold(), passage.passage_id)
            for passage in self._passages
            if passage.text
        ]

    @cached_property
    def _head_numbers(self) -> Mapping[int, str]:
        """Number -> passage_id where all passages are headed by one, each by another; else nothing."""
        numbers: dict[int, str] = {}
        for head, passage_id in self._text_heads:
            match = HEAD_NUMBER.match(head, _find_name_start(head))
            if match is None:
                return {}
            numbers[int(match[1])] = passage_id
        return numbers if len(numbers) == len(self._passages) else {}

    def _find_by_label(self, name: str) -> str | None:
        """The passage whose text is headed by a name."""
        for head, passage_id in self._text_heads:
            for start in (0, _find_name_start(head)):
                if name and head.startswith(name, start) and head[start + len(name) :].lstrip(" ").startswith(CLOSING):
                    return passage_id
        return None

    def _find_by_record_key(self, name: str) -> str | None:
        """The passage whose text holds a name as the key of a record, as an id, or at the start of a line."""
        if not self._by_label:
            return None
        matching = [passage for passage in self._passages if passage.text and name in passage.text]
        if not matching:
            return None
        escaped = re.escape(name)
        value = "" if name.isdigit() else r"\s*[\[{]"
        pattern = re.compile(
            rf"""["']{escaped}["']\s*:{value}                      # "34": …
            |(?:\b|_)ids?["']?\s*[:=]\s*["']?{escaped}(?![\w.])    # id: 34
            |^\s*[\[({{【（<\#]*(?:{SOURCE}\s*[:\#]?\s*)?{escaped}[\])}}】）>:：]    # [34] …
            """,
            re.VERBOSE | re.IGNORECASE | re.MULTILINE,
        )
        return next((passage.passage_id for passage in matching if pattern.search(passage.text or "")), None)


def _find_name_start(head: str) -> int:
    """Where the name or number at the head of a text begins, behind a word for a source."""
    match = SOURCE_WORD.match(head)
    return 0 if match is None else match.end()
