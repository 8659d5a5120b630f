"""A gate's verdict as JUnit XML, which every continuous-integration service shows.

A gate's verdict for GitHub: annotations, which the runner reads from the output, and the summary of a step.
"""

from __future__ import annotations

from xml.etree import ElementTree as ET

from ragauge.gating.result import Check, Gated
from ragauge.gating.tables import gate_failures as failures
from ragauge.gating.tables import gate_figures as figures
from ragauge.gating.tables import gate_texts as words
from ragauge.rendering.words import make_safe


def build_junit_xml(outcome: Gated) -> str:
    """One test case a rule and segment.

    A check that fails is a failure; one without enough data, as of an example that is unclear, not judged or not read,
    is skipped with its reason, whether it stops the gate or not. A failure that only warns is said in system-out.
    Elements and attributes are those of the strictest reader in use, the schema of Jenkins' xUnit plugin, which knows
    no file and line: they stand in the text.
    """
    checks = outcome.checks
    counts = {
        "tests": len(checks),
        "failures": sum(_choose_tag(check) == "failure" for check in checks),
        "errors": 0,
        "skipped": sum(_choose_tag(check) == "skipped" for check in checks),
    }
    numbers = {name: str(count) for name, count in counts.items()}
    of_all = {name: count for name, count in numbers.items() if name != "skipped"}
    suites = ET.Element("testsuites", {"name": "ragauge", **of_all})
    suite = ET.SubElement(suites, "testsuite", {"name": "ragauge gate", **numbers})
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
    name = f"{check.asks}, {words.format_scope(check)}" if check.kind in figures.LIMITS else check.asks
    group = check.metric or (f"tag {check.tag}" if check.tag else "failed calls")
    case = ET.SubElement(suite, "testcase", {"classname": f"ragauge gate.{make_safe(group)}", "name": make_safe(name)})
    tag = _choose_tag(check)
    detail = words.explain_verdict(check) + (f"\nrule: {source} line {check.line}" if check.line is not None else "")
    if check.examples and check.kind != "must_pass":
        detail += f"\nworst: {words.format_examples(check.examples)}"
    if tag:
        about = (
            {"message": make_safe(words.explain_verdict(check)), "type": check.verdict}
            if tag != "skipped"
            else {"message": make_safe(words.explain_verdict(check))}
        )
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
    lines = [
        format_command("error", sentence, {"title": "every call failed"}) for sentence in failures.build_lead(outcome)
    ]
    stopping = words.list_stopping(outcome)[: MAX_ANNOTATIONS - len(lines)]
    lines += [
        format_command("error", words.describe_check(check), _build_location(outcome, check)) for check in stopping
    ]
    lines += [
        format_command("warning", words.describe_check(check), _build_location(outcome, check))
        for check in words.list_warnings(outcome)[:MAX_ANNOTATIONS]
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
    about = check.metric or "failed calls"
    title = f"tag {check.tag}" if check.kind == "must_pass" else f"{about}: {words.format_scope(check)}"
    location = {"file": outcome.source, "line": str(check.line)} if check.line is not None else {}
    return {**location, "title": title}


def _escape_message(text: str) -> str:
    clean_text = make_safe("\n".join(text.splitlines()))
    return clean_text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
