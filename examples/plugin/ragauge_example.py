"""What a package can add to ragauge: a metric, a judge and a reader of files."""

from ragauge.core.facts import Rating, RelevanceFacts


def courteous(answer: str) -> bool:
    """Whether the answer asks or thanks."""
    return any(word in answer.lower() for word in ("please", "thank"))


class WordJudge:
    """Takes a passage as relevant that holds a long word of the question; --judge words:4 says how long."""

    def __init__(self, least: str = "5"):
        self.least, self.judge_id = int(least), f"words@1:{least}"

    def version(self, question):
        return 1

    def answers(self, question):
        return question == "rate_passages"

    def ask(self, inputs, judge_repeat=0):
        yield from ()  # it asks no model
        words = {word for word in inputs.query.lower().strip("?").split() if len(word) >= self.least}
        relevant = [not words.isdisjoint(text.lower().split()) for text in inputs.passages]
        return RelevanceFacts(tuple(Rating(n, found) for n, found in enumerate(relevant, 1)))


def read_qa(path):
    """The rows of a .qa file: lines Q: question, P: passage and A: answer; a blank line between rows."""
    fields = {"Q": "query", "P": "passages", "A": "answer"}
    for block in path.read_text(encoding="utf-8").strip().split("\n\n"):
        yield {fields[line[0]]: line[3:] for line in block.splitlines()}
