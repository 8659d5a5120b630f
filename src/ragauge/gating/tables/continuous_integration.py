"""A gate's verdict as JUnit XML, which every continuous-integration service shows.

A gate's verdict for GitHub: annotations, which the runner reads from the output, and the summary of a step.
"""

from __future__ import annotations

from xml.etree import ElementTree as ET

from ragauge.gating.result import Check, Gated
from ragauge.gating.tables import gate_failures as failures
from ragauge.gating.tables import gate_texts as words
from ragauge.rendering.words import safe


def junit(gated: Gated) -> str:
    """One test case a rule and segment.

    A check that fails is a failure; one without enough data, as of an example that is unclear, not judged or not read,
    is skipped with its reason, whether it stops the gate or not. A failure that only warns is said in system-out.
    Elements and attributes are those of the strictest reader in use, the schema of Jenkins' xUnit plugin, which knows
    no file and line: they stand in the text.
    """
    checks = gated.checks
    counts = {
        "tests": len(checks),
        "failures": sum(_tag(check) == "failure" for check in checks),
        "errors": 0,
        "skipped": sum(_tag(check) == "skipped" for check in checks),
    }
    numbers = {name: str(count) for name, count in counts.items()}
    of_all = {name: count for name, count in numbers.items() if name != "skipped"}
    suites = ET.Element("testsuites", {"name": "ragauge", **of_all})
    suite = ET.SubElement(suites, "testsuite", {"name": "ragauge gate", **numbers})
    properties = ET.SubElement(suite, "properties")
    facts = {
        "verdict": gated.verdict,
        "run": gated.run.name,
        "run_id": gated.run.run_id,
        "baseline": "" if gated.base is None else gated.base.name,
        "judge": gated.judge_id,
        "rules": gated.source,
    }
    for name, value in facts.items():
        ET.SubElement(properties, "property", {"name": name, "value": safe(value)})
    for check in checks:
        _case(suite, check, gated.source)
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _case(suite: ET.Element, check: Check, source: str) -> None:
    name = f"{check.asks}, {words.where(check)}" if check.kind in words.LIMITS else check.asks
    group = check.metric or (f"tag {check.tag}" if check.tag else "failed calls")
    case = ET.SubElement(suite, "testcase", {"classname": f"ragauge gate.{safe(group)}", "name": safe(name)})
    tag = _tag(check)
    detail = words.reason(check) + (f"\nrule: {source} line {check.line}" if check.line is not None else "")
    if check.examples and check.kind != "must_pass":
        detail += f"\nlost most: {words.listed(check.examples)}"
    if tag:
        about = (
            {"message": safe(words.reason(check)), "type": check.verdict}
            if tag != "skipped"
            else {"message": safe(words.reason(check))}
        )
        ET.SubElement(case, tag, about).text = safe(detail)
    elif check.verdict == "fail":
        ET.SubElement(case, "system-out").text = safe(f"warning: {detail}")


def _tag(check: Check) -> str:
    """The element that says how the case ended; "" where it passed."""
    if check.verdict == "pass" or (check.verdict == "fail" and not check.stops):
        return ""
    return "failure" if check.verdict == "fail" else "skipped"


MOST = 10  # annotations of one kind and step that GitHub shows; the summary has all


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
