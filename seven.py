import json, warnings, sys, traceback
import ragauge as rg
warnings.simplefilter("ignore") if 0 else None
P=["The tower is 330 metres tall.","It was opened in 1889."]
def t(name, f):
    import tempfile, os
    try:
        with warnings.catch_warnings(record=True) as w:
            warnings.simplefilter("always")
            r=f()
        print("==",name,"->",r, "| warn:", [str(x.message)[:150] for x in w])
    except Exception as e: print("==",name,"-> ERROR",type(e).__name__,str(e)[:300])
def scores(src, *m, **k):
    k.setdefault("judge","none")
    c=rg.evaluate(src,metrics=list(m),store="/tmp/rd/s.db",**k)
    return {x.metric:(x.mean if hasattr(x,'mean') else x, ) for x in c.card.summaries} and [(r["query_id"][:6],r["metric"],r["status"],r["value"],r["reason"]) for r in c.to_polars().iter_rows(named=True)]
t("1 citations", lambda: scores([{"query":"How tall?","answer":"It is 330 metres tall [1]. It opened in 1889 [2, 3][^1].","passages":P}],"citation_presence","invented_citations"))
t("2 chunks", lambda: scores([{"query":"q","passages":[{"doc_id":"d","chunk_id":"d-1","text":"a"},{"doc_id":"d","chunk_id":"d-2","text":"b"},{"doc_id":"e","chunk_id":"e-1","text":"c"}],"relevant_chunks":["d-1","d-2"]}],"precision@3","recall@3"))
t("3 dict of columns", lambda: scores({"question":["a?","b?"],"answer":["x","y"],"contexts":[P,P],"ground_truth":["x","z"]},"exact_match"))
t("4 categories", lambda: rg.read_set({"simple":[{"query":"a?"}],"unanswerable":["b?","c?"]}).examples)
t("5 ids", lambda: scores([{"query":"q","retrieved_doc_ids":["a","b"],"relevant_doc_ids":["b"]}],"recall@5"))
t("6 unanswerable", lambda: rg.read_set([{"query":"q","type":"unanswerable"}]).examples)
open("d.csv","w").write("input,actual_output,expected_output,retrieval_context,context\nHow tall?,330,330 m,The tower is 330 metres tall.|It was opened in 1889.,The tower is 330 metres tall.\n")
t("7 deepeval", lambda: scores("d.csv","recall@5","precision@5"))
t("aliases", lambda: scores([{"query":"q","answer":"a","passages":P}],"answer_relevancy"))
t("judge callable", lambda: scores([{"query":"q","answer":"a","passages":P}],"faithfulness",judge=lambda p:"x"))
