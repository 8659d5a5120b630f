"""What of a project could be asked is read from types and calls, whatever the variables are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragauge.evaluation.init.project_scan import Candidate, scan_project

NAMES = ("pipe", "qa", "engine", "graph", "my_pipeline")
LANGCHAIN = """
from langchain_core.language_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_openai import OpenAIEmbeddings
from langchain_text_splitters import RecursiveCharacterTextSplitter

pipeline = RecursiveCharacterTextSplitter()
chain = OpenAIEmbeddings()
rag = InMemoryVectorStore(chain)
rag_chain = ChatPromptTemplate.from_template("{context} {question}")
llm = FakeListChatModel(responses=["x"])
"""
LLAMA = """
from llama_index.core import PromptTemplate, SimpleDirectoryReader, VectorStoreIndex
from llama_index.core.node_parser import SentenceSplitter
from llama_index.embeddings.openai import OpenAIEmbedding

query_engine = OpenAIEmbedding()
pipeline = SentenceSplitter()
chain = PromptTemplate("{context_str} {query_str}")
rag = VectorStoreIndex.from_documents(SimpleDirectoryReader("docs").load_data(), embed_model=query_engine)
"""
HAYSTACK = """
from haystack import Pipeline, component
from haystack.components.builders import PromptBuilder
from haystack.components.converters import TextFileToDocument
from haystack.components.embedders import SentenceTransformersTextEmbedder
from haystack.components.generators import OpenAIGenerator
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.components.writers import DocumentWriter
from haystack.document_stores.in_memory import InMemoryDocumentStore

rag = InMemoryDocumentStore()
query_engine = SentenceTransformersTextEmbedder()
pipeline = Pipeline()
pipeline.add_component("converter", TextFileToDocument())
pipeline.add_component("writer", DocumentWriter(rag))
pipeline.connect("converter", "writer")
"""
FUNCTIONS = """
from search import rank

def embed_query(query):
    return [0.0]

def search(query):
    return rank(query, embed_query(query))

def compose(question, hits):
    return hits[0].text

def {name}(question):
    hits = search(question)
    return {{"answer": compose(question, hits), "passages": hits}}
"""
FASTAPI = """
from fastapi import FastAPI
from pydantic import BaseModel
from sqlalchemy import create_engine

rag = create_engine("sqlite://")
{name} = FastAPI()

class Body(BaseModel):
    question: str
    top_k: int = 3

def embed(text):
    return [0.0]

@{name}.get("/health")
def health():
    return "ok"

@{name}.post("/v1/complete")
def complete(body: Body):
    hits = [("Two pounds.", 0.9)][:body.top_k]
    data = {{"reply": {{"text": hits[0][0]}}, "contexts": [text for text, _ in hits]}}
    return {{"status": "ok", "data": data, "relevance": [score for _, score in hits]}}
"""
PROJECTS = {
    "langchain": LANGCHAIN
    + """
retriever = rag.as_retriever()
context = retriever | (lambda found: found)
rewrite = ChatPromptTemplate.from_template("{q}") | llm | StrOutputParser()
{name} = {{"context": context, "question": RunnablePassthrough()}} | rag_chain | llm | StrOutputParser()
""".replace("{q}", "{{q}}"),
    "llamaindex": LLAMA + "retriever = rag.as_retriever()\n{name} = rag.as_query_engine(similarity_top_k=2)\n",
    "haystack": HAYSTACK
    + """
{name} = Pipeline()
{name}.add_component("retriever", InMemoryBM25Retriever(rag))
{name}.add_component("prompt", PromptBuilder(template="{{{{ documents }}}}"))
{name}.add_component("model", OpenAIGenerator())
{name}.connect("retriever", "prompt.documents")
""",
    "fastapi": FASTAPI,
    "functions": FUNCTIONS,
}
TEMPLATES = {
    LANGCHAIN: LANGCHAIN.replace("{", "{{").replace("}", "}}"),
    LLAMA: LLAMA.replace("{", "{{").replace("}", "}}"),
}


def source(framework: str, name: str) -> str:
    """The module of a project, with its system under a name."""
    text = PROJECTS[framework]
    for plain, doubled in TEMPLATES.items():
        text = text.replace(plain, doubled)
    return text.format(name=name)


def scan(folder: Path, **sources: str) -> list[Candidate]:
    """What is found in a project of these modules."""
    for name, text in sources.items():
        (folder / f"{name}.py").write_text(text)
    return list(scan_project(folder).candidates)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("framework", PROJECTS)
def test_the_system_is_found_under_any_name(framework: str, name: str, tmp_path: Path) -> None:
    """Five kinds of project, five names: the system comes first, and parts with telling names are never offered."""
    best, *others = scan(tmp_path, shop=source(framework, name))
    assert best.target == ("shop:complete" if framework == "fastapi" else f"shop:{name}")
    assert {other.target for other in others} <= {"shop:retriever", "shop:rewrite", "shop:context"}


SHAPES = {
    "from_chain_type": (
        "shop:it",
        LANGCHAIN + "from langchain.chains import RetrievalQA\n"
        "it = RetrievalQA.from_chain_type(llm, retriever=rag.as_retriever())\n",
    ),
    "create_retrieval_chain": (
        "shop:it",
        LANGCHAIN + "from langchain.chains import create_retrieval_chain\n"
        "from langchain.chains.combine_documents import create_stuff_documents_chain\n"
        "docs = create_stuff_documents_chain(llm, rag_chain)\n"
        "it = create_retrieval_chain(rag.as_retriever(), docs)\n",
    ),
    "langgraph": (
        "shop:it",
        LANGCHAIN + "from langgraph.graph import END, START, StateGraph\n"
        "builder = StateGraph(dict)\nbuilder.add_node('a', print)\nit = builder.compile()\n",
    ),
    "with_sources": (
        "shop:it",
        LANGCHAIN + "from langchain_core.runnables import RunnableParallel\n"
        "said = rag_chain | llm\n"
        "it = RunnableParallel({'context': rag.as_retriever()}).assign(answer=said)\n",
    ),
    "pipe_method": ("shop:it", LANGCHAIN + "it = rag_chain.pipe(llm).with_config(tags=['x'])\n"),
    "made_in_a_function": (
        "shop:build_it",
        LANGCHAIN + "def build_it(k=2):\n    found = rag.as_retriever()\n"
        "    return {'context': found} | rag_chain | llm\n"
        "if __name__ == '__main__':\n    it = build_it()\n    print(it.invoke('x'))\n",
    ),
    "made_by_a_function": (
        "shop:it",
        LANGCHAIN + "def build_it(k):\n    found = rag.as_retriever()\n"
        "    return {'context': found} | rag_chain | llm\nit = build_it(2)\n",
    ),
    "asked_by_a_function": (
        "shop:go",
        LANGCHAIN + "it = {'context': rag.as_retriever()} | rag_chain | llm\n"
        "def go(question):\n    docs = rag.as_retriever().invoke(question)\n"
        "    return {'answer': it.invoke(question), 'contexts': docs}\n",
    ),
    "own_class": (
        "shop:it",
        "class Shop:\n    def __init__(self, k): ...\n    def reply(self, question):\n"
        "        return {'answer': question}\nclass Splitter:\n    def run(self, text) -> list[float]: ...\n"
        "pipeline = Splitter()\nit = Shop(3)\n",
    ),
    "a_model_by_no_telling_name": (
        "shop:it",
        LANGCHAIN + "from langchain_huggingface import HuggingFacePipeline\n"
        "model = HuggingFacePipeline.from_model_id('x')\nit = rag_chain | model\n",
    ),
    "a_model_from_elsewhere": (
        "shop:it",
        LANGCHAIN + "from settings import get_model\nit = rag_chain | get_model().with_structured_output(dict)\n",
    ),
    "agent": (
        "shop:graph",
        LANGCHAIN + "from langgraph.prebuilt import create_react_agent\ngraph = create_react_agent(llm, tools=[])\n",
    ),
    "graph_in_one_piece": (
        "shop:it",
        LANGCHAIN + "from langgraph.graph import StateGraph\n"
        "it = (StateGraph(dict).add_node('a', print).add_edge('a', 'b').compile())\n",
    ),
    "wrapped_in_a_class": (
        "shop:it",
        LANGCHAIN + "class Service:\n    def __init__(self):\n"
        "        self.chain = rag_chain | llm\n    def run(self, q):\n"
        "        return self.chain.invoke(q)\nit = Service()\n",
    ),
    "haystack_by_keywords": (
        "shop:it",
        HAYSTACK + "it = Pipeline()\nit.add_component(name='model', instance=OpenAIGenerator())\n",
    ),
    "haystack_in_a_function": (
        "shop:build",
        HAYSTACK + "def build():\n    made = Pipeline()\n    made.add_component('found', InMemoryBM25Retriever(rag))\n"
        "    made.add_component('model', OpenAIGenerator())\n    return made\n",
    ),
    "parts_from_other_modules": (
        "shop:it",
        "from langchain_core.output_parsers import StrOutputParser\nfrom .parts import finder, llm, prompt\n"
        "it = {'context': finder} | prompt | llm | StrOutputParser()\n",
    ),
    "chat_engine": ("shop:it", LLAMA + "it = rag.as_chat_engine()\n"),
    "query_engine_class": (
        "shop:it",
        LLAMA + "from llama_index.core.query_engine import RetrieverQueryEngine\n"
        "it = RetrieverQueryEngine.from_args(rag.as_retriever())\n",
    ),
    "own_query_engine": (
        "shop:it",
        LLAMA + "from llama_index.core.query_engine import CustomQueryEngine\n"
        "class Mine(CustomQueryEngine):\n    def custom_query(self, query_str): ...\nit = Mine()\n",
    ),
    "retriever_alone": ("shop:it", LLAMA + "it = rag.as_retriever()\n"),
    "plain_function": (
        "shop:handle",
        "def find(query): ...\ndef compose(question, found): ...\n"
        "def handle(question):\n    return compose(question, find(question))\n",
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_way_to_make_a_system_is_read(shape: str, tmp_path: Path) -> None:
    """Class methods, chains of methods, functions that make it, classes of one's own: the system comes first."""
    target, text = SHAPES[shape]
    assert scan(tmp_path, shop=text)[0].target == target


@pytest.mark.parametrize(
    "text",
    [
        "import itertools\nfrom langchain_core.documents import Document\nchain = itertools.chain([1], [2])\n",
        "from sklearn.pipeline import Pipeline\nfrom haystack import Document\npipeline = Pipeline([])\n",
        "from langchain_core.runnables import Runnable\nchain = Runnable | None\nrag = {'a': 1} | {'b': 2}\n",
        "from langchain_openai import ChatOpenAI, OpenAIEmbeddings\nrag = OpenAIEmbeddings()\nchain = ChatOpenAI()\n",
        "def embed(query) -> list[float]: ...\ndef split(text): ...\ndef rewrite_query(q) -> list[float]: ...\n",
        "from openai import OpenAI\nclient = OpenAI()\ndef get_vector_of(text):\n"
        "    return client.embeddings.create(input=text).data[0].embedding\n"
        "def embed_query(query):\n    return client.embeddings.create(input=query)\n",
        "class Index:\n    def query(self, vector, k): ...\nindex = Index()\n",
        HAYSTACK,
    ],
)
def test_what_cannot_be_asked_is_not_offered(text: str, tmp_path: Path) -> None:
    """Embedding models, stores, prompts, splitters, indexing pipelines and namesakes of other libraries: nothing."""
    assert scan(tmp_path, shop=text) == []


MODELS = """
from pydantic import BaseModel
from fastapi import FastAPI
api = FastAPI()

class Asked(BaseModel):
    message: str

class Said(BaseModel):
    content: str

class Reply(BaseModel):
    said: Said
    sources: list[str]

@api.post("/v1/x")
async def handler(body: Asked) -> Reply:
    found = await find(body.message)
    return Reply(said=Said(content=await compose(body.message, found)), sources=[one.text for one in found])
"""


@pytest.mark.parametrize(
    ("text", "call", "reply"),
    [
        (
            MODELS,
            "shop.handler(body=shop.Asked(message=query))",
            '{"answer": reply.said.content, "passages": reply.sources}',
        ),
        (
            source("fastapi", "x"),
            "shop.complete(body=shop.Body(question=query))",
            '{"answer": reply["data"]["reply"]["text"], "passages": reply["data"]["contexts"]}',
        ),
        (
            "@app.post('/ask')\ndef ask(question: str):\n    return {'answer': f(question), 'contexts': g(question)}\n",
            "shop.ask(question=query)",
            "",
        ),
    ],
)
def test_answer_and_passages_of_a_reply_are_located(text: str, call: str, reply: str, tmp_path: Path) -> None:
    """The answer nested, passages under other names: read from what the route returns."""
    (candidate,) = scan(tmp_path, shop=text)
    assert (candidate.form.kind, candidate.form.call, candidate.form.reply) == ("route", call, reply)
    assert candidate.form.is_async is ("await" in text)
