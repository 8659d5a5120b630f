"""Write the generated parts of docs/causes.md: the list of causes, and how often the local judge names the right one.

python tools/cause_matrix.py            writes both again; about 10 s
python tools/cause_matrix.py --list     writes the list alone; nothing is judged
python tools/cause_matrix.py --check    exit 1 when the list would change, or a figure has moved beyond the tolerance
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from inspect import cleandoc
from pathlib import Path

from ragauge.core.facts import Evidence, JudgeFacts
from ragauge.diagnosis.causes.attribution import ROWS, UNCLEAR, attribute_failure, judge_example
from ragauge.diagnosis.causes.cause_rule import CauseRow
from ragauge.engine.judges import build_judge
from ragauge.engine.local_embeddings import EmbedAnswers
from ragauge.judges.inputs import build_inputs
from ragauge.judges.judge import Judge, answer_asks
from ragauge.metrics.facts import Facts

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # tests/ is in no wheel

from tests.planted.cases import Case, planted_cases

PAGE = Path(__file__).resolve().parents[1] / "docs/causes.md"
MARKS = "<!-- {name}, written by tools/cause_matrix.py: begin -->", "<!-- {name}: end -->"
QUESTIONS = ("verify_answer", "verify_reference", "rate_passages", "agree")
OPEN, PASSED = "in doubt", "passed"  # the verdict is unclear, or the fault was overlooked
FIRST_JUDGED = 11  # causes before it are decided by labels and the run's record, but for a few cases
LEAST = 0.75  # right of those that it calls failed: what the local judge has to reach
MOST_PASSED = 0.15  # of the planted faults
TOLERANCE = 0.03  # how far the share of right causes may move before the page is stale
MOST_MOVED = 6  # cases of one cause
Matrix = Mapping[tuple[str, str], int]


def listed(cases: Sequence[Case]) -> str:
    """Every cause in the order of decision."""
    return "\n".join(line for n, row in enumerate(ROWS, 1) for line in _row(n, row, cases)).strip()


def _row(n: int, row: CauseRow, cases: Sequence[Case]) -> Iterator[str]:
    what, _, when = cleandoc(row.decide.__doc__ or "").partition("\n\n")
    case = next((case for case in cases if case.cause == row.name), None)  # unclear is never planted
    yield from (f"### {n}. {row.name}", "", f"{what} {' '.join(when.split())}", "")
    where = row.component if case is not None else "retrieval or generation"
    yield f"- where: {where}" + (f"; {row.other.component} where {row.other.when}" if row.other is not None else "")
    if case is not None:
        cause = attribute_failure(Facts(case.example, case.response, case.evidence), indexed=case.listing)
        yield f"- example: “{cause.decided_by if cause else ''}”"
    yield f"- fix: {row.fix}" + (f" Otherwise: {row.other.fix}" if row.other is not None else "")
    yield ""


def named(cases: Sequence[Case], judge: Judge) -> Matrix:
    """(planted, named by the judge's verdicts) -> cases."""
    answering = EmbedAnswers()
    return Counter((case.cause, _named(case, judge, answering)) for case in cases)


def _named(case: Case, judge: Judge, answering: EmbedAnswers) -> str:
    found: dict[str, JudgeFacts] = {}
    for question in QUESTIONS:
        inputs = build_inputs(question, case.example, case.response, found)
        if inputs is not None:
            found[question] = answer_asks(judge.ask(inputs), answering)
    evidence = {name: Evidence(name, name, 1, judge.judge_id, "ok", facts) for name, facts in found.items()}
    verdict, cause = judge_example(Facts(case.example, case.response, evidence), indexed=case.listing)
    if cause is None:
        return PASSED if verdict.verdict == "passed" else OPEN
    return cause.name or UNCLEAR.name


def share(matrix: Matrix) -> float:
    """Share of the failed cases with the right cause."""
    failed = {key: n for key, n in matrix.items() if key[1] not in (OPEN, PASSED)}
    return sum(n for (planted, found), n in failed.items() if planted == found) / sum(failed.values())


def share_of(matrix: Matrix, end: str) -> float:
    """Share of all cases that passed or are in doubt."""
    return sum(n for (_, found), n in matrix.items() if found == end) / sum(matrix.values())


def printed(matrix: Matrix, judge: Judge) -> str:
    """The figures and the matrix."""
    names = [row.name for row in ROWS]
    columns = [*names, OPEN, PASSED]
    judged = {(planted, found): n for (planted, found), n in matrix.items() if planted in names[FIRST_JUDGED - 1 :]}
    heads = [*(str(n) for n in range(1, len(names) + 1)), OPEN, PASSED]
    lines = [
        f"Right cause: {_counted(matrix)}; of the causes from {FIRST_JUDGED} on, which its verdicts decide, "
        f"{_counted(judged)}. In doubt: {share_of(matrix, OPEN):.0%} of all, passed: {share_of(matrix, PASSED):.0%}. "
        f"Judge: `{judge.judge_id}`.",
        "",
        "Rows: what was planted. Columns: what was named, by the numbers of the list.",
        "",
        f"planted | right | {' | '.join(heads)}",
        "|".join(["---", *["---:"] * (len(heads) + 1)]),
    ]
    for n, planted in enumerate(names, 1):
        counts = [matrix.get((planted, column), 0) for column in columns]
        if not sum(counts):  # unclear is named and never planted
            continue
        cells = [f"**{count}**" if m == n and count else str(count or "·") for m, count in enumerate(counts, 1)]
        lines.append(f"{n} {planted} | {counts[n - 1] / sum(counts):.0%} | {' | '.join(cells)}")
    return "\n".join(lines)


def _counted(matrix: Matrix) -> str:
    total = sum(n for (_, found), n in matrix.items() if found not in (OPEN, PASSED))
    return f"{round(share(matrix) * total)} of {total} that it calls failed ({share(matrix):.0%})"


def read(text: str) -> Matrix:
    """The matrix that stands in the page."""
    found: dict[tuple[str, str], int] = {}
    columns = [*(row.name for row in ROWS), OPEN, PASSED]
    for line in text.splitlines():
        row = re.match(r"\d+ (\w+) \| \d+% \| (.*)", line)
        if row:
            counts = [int(cell.strip(" *").replace("·", "0")) for cell in row[2].split("|")]
            found |= {(row[1], column): n for column, n in zip(columns, counts, strict=True) if n}
    return found


def moved(old: Matrix, new: Matrix) -> list[str]:
    """What has moved beyond the tolerance, and whether the judge still reaches what it has to."""
    problems = []
    if share(new) < LEAST:
        problems.append(f"the right cause is named in {share(new):.1%} of the failed; it has to be {LEAST:.0%}")
    if share_of(new, PASSED) > MOST_PASSED:
        problems.append(f"{share_of(new, PASSED):.1%} of the faults pass; at most {MOST_PASSED:.0%} may")
    if not old:
        return [*problems, "the page holds no matrix"]
    if abs(share(new) - share(old)) > TOLERANCE:
        problems.append(f"right causes: the page says {share(old):.1%}, they are {share(new):.1%}")
    for row in ROWS:
        before, now = (matrix.get((row.name, row.name), 0) for matrix in (old, new))
        if abs(before - now) > MOST_MOVED:
            problems.append(f"{row.name}: the page says {before} right, they are {now}")
    return problems


def part(page: str, name: str) -> tuple[str, str, str]:
    """The page before a generated part, the part, and the page after it."""
    begin, end = (mark.format(name=name) for mark in MARKS)
    before, _, rest = page.partition(begin)
    inside, found, after = rest.partition(end)
    if not found:
        raise SystemExit(f"{PAGE.name} lacks the marks of the {name}.")
    return before + begin, inside.strip(), end + after


def placed(page: str, name: str, text: str) -> str:
    """The page with a generated part replaced."""
    before, _, after = part(page, name)
    return f"{before}\n\n{text}\n\n{after}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes or checks the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 when the page is stale")
    parser.add_argument("--list", action="store_true", help="the list alone; nothing is judged")
    asked = parser.parse_args(arguments)
    page, cases, problems = PAGE.read_text(encoding="utf-8"), planted_cases(), []
    new = placed(page, "list", listed(cases))
    if new != page and asked.check:
        problems.append("the list of causes has changed")
    if not asked.list:
        judge = build_judge("local")
        matrix = named(cases, judge)
        problems += moved(read(part(page, "matrix")[1]), matrix) if asked.check else []
        new = placed(new, "matrix", printed(matrix, judge))
    if not asked.check:
        PAGE.write_text(new, encoding="utf-8")
        return 0
    for problem in problems:
        print(f"docs/causes.md: {problem}.", file=sys.stderr)
    if problems:
        print("Write it again with: python tools/cause_matrix.py", file=sys.stderr)
    return int(bool(problems))


if __name__ == "__main__":
    raise SystemExit(main())
