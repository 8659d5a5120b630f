"""The verbs that explain and confirm; see `verbs/registry.py`."""

from ragauge.verbs.registry import Verb

PAGES = ("ragauge.diagnosis.examples.page",)
VERBS = (
    Verb(
        command="explain",
        help="Explain a number: the facts, formulas and cause of one example, or the means and findings of a run.",
        examples=("latest", "latest q1 -m faithfulness"),
        panel="Start",
        public=False,
        reads_only=True,
        run_as="ragauge.diagnosis.explain.command:explain",
    ),
    Verb(
        function="ragauge.diagnosis.confirm.verb:confirm",
        command="confirm",
        help="Test a run's causes: change the passages of failed examples and answer again. Makes extra calls.",
        examples=("first --system my_app:Rag", "first --system my_app:Rag --corpus corpus.jsonl"),
        panel="Compare and gate",
        text="ragauge.diagnosis.confirm.verb:render",
        progress="done",
        kept="All answers so far are saved.",
    ),
)
