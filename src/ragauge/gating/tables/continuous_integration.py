"""A gate's verdict as JUnit XML, which every continuous-integration service shows.

A gate's verdict for GitHub: annotations, which the runner reads from the output, and the summary of a step.
"""

from __future__ import annotations

from collections import Counter
from xml.etree import ElementTree as ET

from ragauge.gating.kinds.rule import KINDS
from ragauge.gating.result import Check, Gated
from ragauge.gating.tables import phrases
from ragauge.gating.tables import texts as words
from ragauge.rendering.words import make_safe


def build_junit_xml(outcome: Gated) -> str:
    """One test case a rule and segment.

    A check that fails is a failure; one without enough data, as of an example that is unclear, not judged or not read,
    is skipped with its reason, whether it stops the gate or not. A failure that only warns is said in system-out.
    Elements and attributes are those of the strictest reader in use, the schema of Jenkins' xUnit plugin, which knows
    no file and line: they stand in the text.
    """
    checks = outcome.checks
    tags = Counter(map(_choose_tag, checks))
    counts = {"tests": str(len(checks)), "failures": str(tags["failure"]), "errors": "0"}
    suites = ET.Element("testsuites", {"name": "ragauge", **counts})
    suite = ET.SubElement(suites, "testsuite", {"name": "ragauge gate", **counts, "skipped": str(tags["skipped"])})
    properties = ET.SubElement(suite, "properties")
    facts = {
        "verdict": outcome.verdict,
        "run": outcome.run.name,
        "run_id": outcome.run.run_id,
        "baseline": "" if outcome.base is None else outcome.base.name,
        "judge": outcome.judge_id,
        "rules": outcome.source,
    }
    for name, value in facts.items():
        ET.SubElement(properties, "property", {"name": name, "value": make_safe(value)})
    for check in checks:
        _add_case(suite, check, outcome.source)
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _add_case(suite: ET.Element, check: Check, source: str) -> None:
    kind = KINDS[check.kind]
    name = f"{check.asks}, {words.format_scope(check)}" if kind.in_segments else check.asks
    group = kind.name_subject(check)
    case = ET.SubElement(suite, "testcase", {"classname": f"ragauge gate.{make_safe(group)}", "name": make_safe(name)})
    tag = _choose_tag(check)
    reason = kind.explain(check)
    detail = reason + (f"\nrule: {source} line {check.line}" if check.line is not None else "")
    if worst := words.format_worst(check):
        detail += f"\nworst: {worst}"
    if tag:
        about = {"message": make_safe(reason), **({"type": check.verdict} if tag != "skipped" else {})}
        ET.SubElement(case, tag, about).text = make_safe(detail)
    elif check.verdict == "fail":
        ET.SubElement(case, "system-out").text = make_safe(f"warning: {detail}")


def _choose_tag(check: Check) -> str:
    """The element that says how the case ended; "" where it passed."""
    if check.verdict == "pass" or (check.verdict == "fail" and not check.stops):
        return ""
    return "failure" if check.verdict == "fail" else "skipped"


MAX_ANNOTATIONS = 10  # annotations of one kind and step that GitHub shows; the summary has all


def build_commands(outcome: Gated) -> list[str]:
    """One workflow command a check that stops the gate or warns, after that every call failed; the verdict as a notice.

    >>> format_command("error", "a: b", {"title": "x,y"})
    '::error title=x%2Cy::a: b'
    """
    lead = phrases.build_lead(outcome)
    lines = [format_command("error", sentence, {"title": "every call failed"}) for sentence in lead]
    stopping = words.list_stopping(outcome)[: MAX_ANNOTATIONS - len(lines)]
    for name, checks in (("error", stopping), ("warning", words.list_warnings(outcome)[:MAX_ANNOTATIONS])):
        lines += [
            format_command(name, words.describe_check(check), _build_location(outcome, check)) for check in checks
        ]
    verdict = f"{words.format_title(outcome)}: {words.describe_runs(outcome)}. {words.format_tally(outcome)}."
    return [*lines, format_command("notice", verdict, {"title": words.format_title(outcome)})]


def format_command(name: str, message: str, properties: dict[str, str]) -> str:
    r"""A workflow command, escaped as the runner asks for.

    >>> format_command("error", "100 %\nsecond line", {"file": "a:b.yaml", "line": "3"})
    '::error file=a%3Ab.yaml,line=3::100 %25%0Asecond line'
    """
    property_text = ",".join(
        f"{key}={_escape_message(value).replace(':', '%3A').replace(',', '%2C')}" for key, value in properties.items()
    )
    return f"::{name}{f' {property_text}' if property_text else ''}::{_escape_message(message)}"


def _build_location(outcome: Gated, check: Check) -> dict[str, str]:
    location = {"file": outcome.source, "line": str(check.line)} if check.line is not None else {}
    kind = KINDS[check.kind]
    place = f"{kind.name_subject(check)}: {words.format_scope(check)}"
    return {**location, "title": f"tag {check.tag}" if kind.names_examples else place}


def _escape_message(text: str) -> str:
    clean_text = make_safe("\n".join(text.splitlines()))
    return clean_text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
