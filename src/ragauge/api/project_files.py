"""The files that `ragauge init` writes, as text."""

from __future__ import annotations

from collections.abc import Collection
from shlex import quote

SYSTEM = '''"""What `ragauge run` asks. Found by `ragauge init`; change the import to name another.

It takes the question and returns text, or a dict such as {{"answer": …, "passages": [{{"doc_id": …, "text": …}}]}}.
docs/systems.md lists all that may be returned. Without passages, only the answer can be judged.
"""
{path}
from {module} import {name} as system
'''
CALLED = '''"""What `ragauge run` asks: the function behind a route, called without its server. Found by `ragauge init`.

To ask the running service instead: ragauge run http://localhost:8000/PATH SET (docs/systems.md).
"""
{path}
import {module}


def system(query):
    """The answer to a question."""
    return {call}
'''
SOURCES = '''
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "{root}"))
'''
CONFIG = """# yaml-language-server: $schema=.ragauge/ragauge.schema.json
# What a change must not break. Drops are held against a baseline, with intervals: docs/gates.md explains every word.
gate:
  max_failed: 2%                    # of the examples may lack a verdict because calls failed
  rules:
{rules}
    # Levels depend on judge, corpus and questions. Write them when you know yours; these are starting points only:
    # - {{metric: faithfulness, min: 0.85}}
    # - {{metric: answer_relevance, min: 0.75}}
    # Once examples carry the tag "regression":
    # - {{tag: regression, must_pass: true}}
"""
WORKFLOW = """name: ragauge
on: pull_request
jobs:
  evaluate:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
        with: {{fetch-depth: 0}}
      - uses: actions/setup-python@v5
        with: {{python-version: "3.12"}}
      - run: pip install ragauge{requirements}
      - name: Evaluate the base branch
        run: |
          git checkout -q ${{{{ github.event.pull_request.base.sha }}}}
          if [ -f ragauge.yaml ]; then ragauge run {command} --name base --evaluate -q; fi
      - name: Evaluate this change
        run: |
          git checkout -q ${{{{ github.event.pull_request.head.sha }}}}
          ragauge run {command} --name change --evaluate -q
      - name: Gate
        run: |
          if ragauge show base > /dev/null 2>&1; then ragauge gate change --baseline base; fi
      - run: ragauge report change -o report.html
        if: always()
      - uses: actions/upload-artifact@v4
        if: always()
        with: {{name: ragauge-report, path: report.html}}
"""
OPENERS = [     # what any system can be asked before its users' questions are there
    {"query_id": "s1", "query": "What can you help me with?", "tags": ["starter"]},
    {"query_id": "s2", "query": "Which topics do your documents cover?", "tags": ["starter"]},
    {"query_id": "s3", "query": "What should a new user know first?", "tags": ["starter"]},
]
DOCUMENTS = {     # of an example for a folder in which there is nothing yet
    "returns": "# Returns\n\nA kettle can be returned within 30 days of delivery. The refund arrives within a week.\n",
    "delivery": "# Delivery\n\nParcels leave the warehouse within two working days. Islands wait for a week.\n",
    "care": "# Care\n\nDescale the kettle every three months. Never put it into the dishwasher.\n",
}
EXAMPLES = [
    {"query_id": "q1", "query": "Within how many days can a kettle be returned?", "relevant": {"returns": 1},
     "reference_answer": "Within 30 days of delivery.", "answerable": True, "tags": ["starter"]},
    {"query_id": "q2", "query": "When do parcels leave the warehouse?", "relevant": {"delivery": 1},
     "reference_answer": "Within two working days.", "answerable": True, "tags": ["starter"]},
    {"query_id": "q3", "query": "How often should the kettle be descaled?", "relevant": {"care": 1},
     "reference_answer": "Every three months.", "answerable": True, "tags": ["starter"]},
    {"query_id": "q4", "query": "Which colours does the kettle come in?", "relevant": {}, "answerable": False,
     "tags": ["starter"]},
]     # fmt: skip
DROPS = {     # what a rule needs -> the rule
    "relevant": "{metric: recall@5, max_drop: 3 points}",
    "answers": "{metric: faithfulness, max_drop: 3 points}",
    "references": "{metric: answer_correctness, max_drop: 3 points, on_fail: warn}",
    "answerable": "{metric: refusal_correctness, max_drop: 5 points, on_fail: warn}",
}


def system(target: str, root: str, call: str = "") -> str:
    """The adapter of something that was found.

    Args:
        target: module:name.
        root: folder that has to be importable; "" = the project's own.
        call: how it is called with `query`, where that is not by the question alone.
    """
    module, _, name = target.partition(":")
    if call:
        return CALLED.format(module=module, call=call, path=SOURCES.format(root=root) if root else "")
    return SYSTEM.format(module=module, name=name, path=SOURCES.format(root=root) if root else "")


def config(known: Collection[str]) -> str:
    """ragauge.yaml with the rules that can be decided.

    Args:
        known: keys of DROPS: what the eval set and the system give.
    """
    return CONFIG.format(rules="\n".join(f"    - {rule}" for key, rule in DROPS.items() if key in known))


def workflow(target: str, eval_set: str, requirements: str) -> str:
    """The workflow of a pull request.

    Args:
        target: the system, as `ragauge run` takes it.
        eval_set: its questions.
        requirements: a file of the project's own packages; "" = none, "." = the project is one.
    """
    wanted = f" -r {requirements}" if requirements and requirements != "." else " ." if requirements else ""
    return WORKFLOW.format(requirements=wanted, command=f"{quote(target)} {quote(eval_set)}")
