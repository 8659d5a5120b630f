"""Commands that a reader may copy: quoted for a shell, and on the store that the text is about."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

PASSWORD = re.compile(r"(postgres\w*(?:\+\w+)?://[^:/@\s]*):\S*@")     # up to the last @: it may hold anything
_STORE: ContextVar[str] = ContextVar("store of commands", default="")


def command(*words: str) -> str:
    """A command line of ragauge.

    Args:
        words: what follows `ragauge`; each is quoted where a shell would read it otherwise.

    >>> command("show", "k = 8")
    "ragauge show 'k = 8'"
    """
    url = _STORE.get()
    more = ("--store", without_password(url)) if url else ()
    return shlex.join(("ragauge", *words, *more))


def without_password(url: str) -> str:
    """A text that may be shown: passwords in URLs of stores are left out.

    >>> without_password("postgresql://me:secret@host/db"), without_password("sqlite:///here.db")
    ('postgresql://me:***@host/db', 'sqlite:///here.db')
    """
    return PASSWORD.sub(r"\1:***@", url)


def speak_of(store: str) -> None:
    """Every command from now on names this store; "" = none, since it is the one that commands take by themselves."""
    _STORE.set(store)


@contextmanager
def speaking_of(store: str) -> Iterator[None]:
    """Commands within name this store; "" = as without."""
    token = _STORE.set(store or _STORE.get())
    try:
        yield
    finally:
        _STORE.reset(token)
