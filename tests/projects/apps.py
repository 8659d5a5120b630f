"""Four small projects with deterministic models: LangChain, LlamaIndex, Haystack, and a service with an odd reply.

Each is a shop that answers what its hubs cost: `search.py` ranks the documents by the words that they share with the
question, and `shop.py` builds the system with the framework, under any name. To break the retriever is to turn the
ranking round.
"""

from __future__ import annotations

import json
from pathlib import Path
from string import Template
from typing import Any

NAMES = ("pipe", "qa", "engine", "graph", "my_pipeline")
COLOURS = (
    "red",
    "blue",
    "green",
    "black",
    "white",
    "brown",
    "grey",
    "pink",
    "gold",
    "lime",
    "navy",
    "teal",
    "plum",
    "rust",
    "sand",
    "jade",
    "ruby",
    "mint",
    "rose",
    "aqua",
)
SEARCH = '''"""The documents, and which of them are nearest to a question."""

import re

K = 3
DOCUMENTS = {
    f"hub-{colour}": f"The {colour} hub costs {10 + n} euros and weighs {2 + n} pounds."
    for n, colour in enumerate(COLOURS_HERE)
}


def words(text):
    return set(re.findall(r"\\w+", text.lower()))


def rank(question):
    """Ids of the nearest documents with the share of the question's words in each."""
    asked = words(question)
    shares = {doc_id: len(asked & words(text)) / len(asked) for doc_id, text in DOCUMENTS.items()}
    return [(doc_id, shares[doc_id]) for doc_id in sorted(shares, key=lambda one: -shares[one])[:K]]


def extract(question, texts):
    """The text that shares most words with the question: what a model does that only copies."""
    return max(texts, key=lambda text: len(words(question) & words(text)), default="I do not know.")
'''
LANGCHAIN = '''"""Built with LangChain."""

from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.language_models import SimpleChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore

from search import DOCUMENTS, extract, rank


class Words(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        return [Document(id=doc_id, page_content=DOCUMENTS[doc_id]) for doc_id, _ in rank(query)]


class Copying(SimpleChatModel):
    @property
    def _llm_type(self):
        return "copying"

    def _call(self, messages, stop=None, run_manager=None, **more):
        *texts, question = messages[-1].content.splitlines()
        return extract(question, texts)


def joined(found):
    return "\\n".join(one.page_content for one in found)


chain = DeterministicFakeEmbedding(size=8)
rag = InMemoryVectorStore(chain)
pipeline = ChatPromptTemplate.from_template("{context}\\n{question}")
finder = Words()
$name = {"context": finder | joined, "question": RunnablePassthrough()} | pipeline | Copying() | StrOutputParser()
'''
LLAMA = '''"""Built with LlamaIndex."""

from llama_index.core import MockEmbedding, PromptTemplate
from llama_index.core.base.response.schema import Response
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, TextNode

from search import DOCUMENTS, extract, rank


class Words(BaseRetriever):
    def _retrieve(self, query_bundle):
        found = rank(query_bundle.query_str)
        return [NodeWithScore(node=TextNode(id_=one, text=DOCUMENTS[one]), score=share) for one, share in found]


class Copying(CustomLLM):
    @property
    def metadata(self):
        return LLMMetadata(num_output=64)

    def complete(self, prompt, formatted=False, **more):
        context, _, question = prompt.rpartition("Query: ")
        texts = [line for line in context.splitlines() if line in DOCUMENTS.values()]
        return CompletionResponse(text=extract(question, texts))

    def stream_complete(self, prompt, formatted=False, **more):
        yield self.complete(prompt)


query_engine = MockEmbedding(embed_dim=8)
pipeline = SentenceSplitter()
chain = PromptTemplate("{context_str} {query_str}")
$name = RetrieverQueryEngine.from_args(Words(), llm=Copying())
'''
HAYSTACK = '''"""Built with Haystack."""

from haystack import Document, Pipeline, component
from haystack.components.preprocessors import DocumentCleaner
from haystack.components.writers import DocumentWriter
from haystack.document_stores.in_memory import InMemoryDocumentStore

from search import DOCUMENTS, extract, rank


@component
class Words:
    @component.output_types(documents=list[Document])
    def run(self, query: str):
        found = [Document(id=doc_id, content=DOCUMENTS[doc_id], score=share) for doc_id, share in rank(query)]
        return {"documents": found}


@component
class Copying:
    @component.output_types(replies=list[str])
    def run(self, query: str, documents: list[Document]):
        return {"replies": [extract(query, [one.content for one in documents])]}


rag = InMemoryDocumentStore()
chain = DocumentCleaner()
pipeline = Pipeline()
pipeline.add_component("cleaner", DocumentCleaner())
pipeline.add_component("writer", DocumentWriter(rag))
pipeline.connect("cleaner", "writer")
$name = Pipeline()
$name.add_component("words", Words())
$name.add_component("model", Copying())
$name.connect("words.documents", "model.documents")
'''
SERVICE = '''"""A service: the answer is nested, the contexts are texts, and their scores stand elsewhere."""

from dataclasses import dataclass

from search import DOCUMENTS, extract, rank
from web import App

$name = App()


@dataclass
class Body:
    question: str
    top_k: int = 3


def embed(text):
    return [float(len(text))]


@$name.get("/health")
def health():
    return {"status": "ok"}


@$name.post("/v1/complete")
def complete(body: Body):
    hits = rank(body.question)[: body.top_k]
    texts = [DOCUMENTS[doc_id] for doc_id, _ in hits]
    data = {"reply": {"text": extract(body.question, texts), "finish": "stop"}, "contexts": texts}
    return {"status": "ok", "data": data, "relevance": [share for _, share in hits]}


if __name__ == "__main__":
    $name.serve(Body)
'''
WEB = '''"""Routes by decorator over the standard library, as frameworks of the web have them."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class App:
    def __init__(self):
        self.routes = {}

    def post(self, path):
        return lambda function: self.routes.setdefault(path, function)

    get = post

    def serve(self, body):
        routes = self.routes

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
                reply = json.dumps(routes[self.path](body(**sent))).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

            def log_message(self, *words):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        print(server.server_address[1], flush=True)
        server.serve_forever()
'''
SHOPS = {"langchain": LANGCHAIN, "llamaindex": LLAMA, "haystack": HAYSTACK, "service": SERVICE}
PACKAGES = {"langchain": "langchain_core", "llamaindex": "llama_index.core", "haystack": "haystack"}
TURNED = ("lambda one: -shares[one]", "lambda one: shares[one]")  # the retriever as it is, and broken


def write_project(folder: Path, framework: str, name: str) -> None:
    """A project of a framework, its system under a name, with a set of twenty questions."""
    (folder / "search.py").write_text(SEARCH.replace("COLOURS_HERE", repr(COLOURS)))
    (folder / "shop.py").write_text(Template(SHOPS[framework]).substitute(name=name))
    (folder / ".gitignore").write_text("__pycache__/\n")
    if framework == "service":
        (folder / "web.py").write_text(WEB)
    rows = [_question(n, colour, by_text=framework == "service") for n, colour in enumerate(COLOURS)]
    (folder / "golden.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def _question(n: int, colour: str, *, by_text: bool) -> dict[str, Any]:
    text = f"The {colour} hub costs {10 + n} euros and weighs {2 + n} pounds."
    labels: dict[str, Any] = {"relevant_texts": [text]} if by_text else {"relevant": {f"hub-{colour}": 1}}
    return {
        "query_id": f"q{n:02}",
        "query": f"How much does the {colour} hub cost?",
        "reference_answer": f"It costs {10 + n} euros.",
        **labels,
    }


def asked_as(framework: str, name: str) -> str:
    """The system that `ragauge init` is to find."""
    return "shop:complete" if framework == "service" else f"shop:{name}"


def break_retriever(folder: Path) -> None:
    """The farthest documents instead of the nearest."""
    path = folder / "search.py"
    text = path.read_text()
    assert TURNED[0] in text
    path.write_text(text.replace(*TURNED))
