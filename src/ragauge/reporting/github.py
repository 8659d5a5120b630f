"""A gate's verdict for GitHub: annotations, which the runner reads from the output, and the summary of a step."""

from __future__ import annotations

from ragauge.gating.result import Check, Gated
from ragauge.reporting import gate_failures as failures
from ragauge.reporting import gate_words as words
from ragauge.reporting.words import safe

MOST = 10     # annotations of one kind and step that GitHub shows; the summary has all


def commands(gated: Gated) -> list[str]:
    """One workflow command a check that stops the gate or warns, after that every call failed; the verdict as a notice.

    >>> command("error", "a: b", {"title": "x,y"})
    '::error title=x%2Cy::a: b'
    """
    lines = [command("error", sentence, {"title": "every call failed"}) for sentence in failures.lead(gated)]
    stopping = words.stopping(gated)[: MOST - len(lines)]
    lines += [command("error", words.said(check), _place(gated, check)) for check in stopping]
    lines += [command("warning", words.said(check), _place(gated, check)) for check in words.warned(gated)[:MOST]]
    verdict = f"{words.title(gated)}: {words.about(gated)}. {words.tally(gated)}."
    return [*lines, command("notice", verdict, {"title": words.title(gated)})]


def command(name: str, message: str, properties: dict[str, str]) -> str:
    r"""A workflow command, escaped as the runner asks for.

    >>> command("error", "100 %\nsecond line", {"file": "a:b.yaml", "line": "3"})
    '::error file=a%3Ab.yaml,line=3::100 %25%0Asecond line'
    """
    given = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{name}{f' {given}' if given else ''}::{_data(message)}"


def _place(gated: Gated, check: Check) -> dict[str, str]:
    about = check.metric or "failed calls"
    title = f"tag {check.tag}" if check.kind == "must_pass" else f"{about}: {words.where(check)}"
    at = {"file": gated.source, "line": str(check.line)} if check.line is not None else {}
    return {**at, "title": title}


def _data(text: str) -> str:
    whole = safe("\n".join(text.splitlines()))
    return whole.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
