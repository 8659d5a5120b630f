"""The exceptions of ragauge.

RagaugeError                    everything below; its text is one sentence and what to do next
├── UsageError                  a wrong argument, name or option             (exit 2)
│   └── UnknownName             a name that is not among the known ones, with the nearest
├── DataError                   a file or table that cannot be read as it is (exit 2)
│   └── ConfigError             a configuration file, with all its mistakes   (exit 2)
├── StoreError                  the store cannot be opened, read or written  (exit 1)
├── MissingExtra                an optional package is needed                (exit 1)
├── MissingFile                 a file of the package is not there       (exit 1)
├── JudgeError                  a judge cannot be built or does not answer   (exit 1)
├── SystemFailed                the system under test did not answer         (kept per example)
├── GateFailed                  a run does not meet the rules of a gate      (exit 3)
├── NotEnoughData               a gate can say neither pass nor fail         (exit 4)
└── Interrupted                 stopped by the user; what is done is kept    (exit 130; 143 by SIGTERM)
"""

import re
from collections.abc import Iterable
from difflib import get_close_matches

from ragauge.core.origin import build_install_command


def find_nearest(name: str, valid_names: Iterable[str], n: int = 3, min_similarity: float = 0.5) -> list[str]:
    """The known names most like a name, in any case; of dotted names the last part counts by itself too.

    Args:
        name: as it was given.
        valid_names: what it may have meant.
        n: at most so many.
        min_similarity: how like they must be, from 0 to 1 (alike).

    >>> find_nearest("type", ["segments.type", "tags"]), find_nearest("LOCAL", ["local", "none"])
    (['segments.type'], ['local'])
    """
    spelled: dict[str, list[str]] = {}
    for candidate in valid_names:
        for part in dict.fromkeys((candidate, candidate.rpartition(".")[2])):
            spelled.setdefault(part.casefold(), []).append(candidate)
    spellings = dict.fromkeys((name.casefold(), name.casefold().rpartition(".")[2]))
    close = [part for text in spellings if text for part in get_close_matches(text, spelled, n, min_similarity)]
    return list(dict.fromkeys(name for part in close for name in spelled[part]))[:n]


# who logs in at an address, up to the last @ of a word that begins no other address: a password may hold anything
USERINFO = re.compile(r"([A-Za-z][\w+.-]*:/{2,3})([^\s/?#:@'\"<>]*)(:[^\s'\"<>]*)?@(?![\w+.-]+:/)")
SECRET_PARAMETER = re.compile(
    r"(?i)([?&;](?:amp;)?[^=&;#\s]*(?:pass|pwd|secret|token|key|sig|auth|credential)[^=&;#\s]*=)[^&;#\s'\"<>]+"
)


def mask_secrets(text: str) -> str:
    """A text that may be shown: passwords in URLs of any scheme are masked, and parameters that are named as secrets.

    A user without a password is one in addresses of the web, where it is a token; elsewhere it is a name and stays.

    >>> mask_secrets("postgresql://me:secret@host/db"), mask_secrets("sqlite:///here.db")
    ('postgresql://me:***@host/db', 'sqlite:///here.db')
    >>> mask_secrets("see https://token@host/x?api_key=s3&page=2")
    'see https://***@host/x?api_key=***&page=2'
    """
    if "://" not in text:
        return text
    return SECRET_PARAMETER.sub(r"\1***", USERINFO.sub(_mask_user, text))


def _mask_user(address: re.Match[str]) -> str:
    scheme, user, password = address.groups()
    if password:
        return f"{scheme}{user}:***@"
    return f"{scheme}***@" if user and "http" in scheme.lower() else address[0]


class RagaugeError(Exception):
    """Base of every exception that ragauge raises on purpose. Its text shows no password of a URL."""

    exit_code = 1

    def __str__(self) -> str:
        return mask_secrets(super().__str__())


class UsageError(RagaugeError):
    """A wrong argument, name or option."""

    exit_code = 2


class UnknownName(UsageError):  # noqa: N818 - reads as a sentence in "except UnknownName"
    """A name that is not among the known ones.

    Args:
        kind: of what.
        name: as it was given.
        known: the names there are.
        hint: what to do.
        meant: the nearest, where more than the name says which; None = those that look most like it.

    >>> str(UnknownName("metric", "recal", ["recall", "mrr"]))
    "no metric 'recal'; nearest: recall. Known: mrr, recall."
    """

    def __init__(
        self, kind: str, name: str, known: Iterable[str], hint: str = "", meant: Iterable[str] | None = None
    ) -> None:
        self.name, self.known = name, sorted(known)
        self.nearest = find_nearest(name, self.known) if meant is None else list(meant)
        near = f"; nearest: {', '.join(self.nearest)}" if self.nearest else ""
        known_text = f" Known: {', '.join(self.known)}." if 0 < len(self.known) <= 30 else ""
        super().__init__(f"no {kind} {name!r}{near}.{known_text}{' ' + hint if hint else ''}")


class DataError(RagaugeError):
    """A file or table that cannot be read as it is.

    The message names the place, what was expected, what was found and what to do:
    ``answers.jsonl line 12: no field 'query' (found: question, docs; nearest: question). Use --map query=question.``
    """

    exit_code = 2

    def __init__(
        self, problem: str, *, source: str = "", line: int | None = None, hint: str = "", unit: str = "line"
    ) -> None:
        self.source, self.line, self.problem, self.hint = source, line, problem, hint
        where = " ".join(part for part in (source, f"{unit} {line}" if line is not None else "") if part)
        super().__init__(f"{where}: {problem}{' ' + hint if hint else ''}" if where else f"{problem} {hint}".strip())


class ConfigError(DataError):
    """A configuration file that cannot be used as it is: every mistake on a line of its own.

    ``ragauge.yaml line 4: gate.rules[1].max_drp: no such key; nearest: max_drop.``

    Attributes:
        problems: the mistakes, in the order of the file.
    """

    def __init__(self, problems: Iterable[DataError]) -> None:
        self.problems = tuple(sorted(problems, key=lambda problem: problem.line or 0))
        super().__init__("\n".join(map(str, self.problems)))


class StoreError(RagaugeError):
    """The store cannot be opened, read or written."""


class MissingExtra(RagaugeError):  # noqa: N818 - reads as a sentence in "except MissingExtra"
    """An optional package is needed.

    >>> print(str(MissingExtra("The PostgreSQL store", "psycopg", "postgres")).split(":")[0])
    The PostgreSQL store needs psycopg. Install it with
    """

    def __init__(self, feature: str, package: str, extra: str) -> None:
        super().__init__(f"{feature} needs {package}. Install it with: {build_install_command(extra)}")


class MissingFile(RagaugeError):  # noqa: N818 - reads as a sentence in "except MissingFile"
    """A file that the package comes with is not there, or is not what it must be."""


class JudgeError(RagaugeError):
    """A judge cannot be built or does not answer."""


class SystemFailed(RagaugeError):  # noqa: N818 - what happened, not a kind of programming error
    """The system under test did not answer."""


class GateFailed(RagaugeError):  # noqa: N818 - what happened
    """A run does not meet the rules of a gate."""

    exit_code = 3


class NotEnoughData(RagaugeError):  # noqa: N818 - what happened
    """A gate can say neither that a run passes nor that it fails."""

    exit_code = 4


class Interrupted(RagaugeError):  # noqa: N818 - what happened
    """Stopped by the user; everything finished before is kept.

    Args:
        message: what is kept.
        resume: the command that goes on; "" for none.
        exit_code: of the command: 128 and the number of the signal.
    """

    def __init__(self, message: str, resume: str = "", exit_code: int = 130) -> None:
        self.resume, self.exit_code = resume, exit_code
        super().__init__(message)
