"""Polish, Turkish, Chinese, Japanese, Korean: how an answer declines, in the notation of `wordings.py`."""

from __future__ import annotations

WORDS = {
    "LDOCS": """
        dokument\\w*|kontekś?c?\\w*|tekst\\w*|tekści\\w*|instrukcj\\w*|podręcznik\\w*|źród\\w*|fragment\\w*
        materiał\\w*|artykuł\\w*
        podan\\w+ informacj\\w+|dostarczon\\w+ \\w+
    """,
    "LSAY": """
        (?:zawiera|wspomina|podaj|określ|wymieni|mówi|precyz|wskaz|opisuj|odpowiada|dostarcza|pozwala|ma\\b|mają\\b
        omawia|ujawnia)\\w*
    """,
    "LINFO": "informacj\\w+|dan\\w+|szczegół\\w*|wzmian\\w+|odpowiedzi|wiadomości",
    "LKNOW": """
        odpowiedzieć|określić|ustalić|stwierdzić|powiedzieć|obliczyć|znaleźć|podać|pomóc|udzielić|wskazać
        potwierdzić|wywnioskować|spełnić|zrealizować
    """,
    "TDOCS": """
        belge\\w*|bağlam\\w*|metin\\w*|metn\\w*|kaynak\\w*|kaynağ\\w*|pasaj\\w*|doküman\\w*|parça\\w*|makale\\w*
        kılavuz\\w*
        verilen bilgi\\w*|sağlanan bilgi\\w*
    """,
    "TINFO": "bilgi\\w*|ayrıntı\\w*|veri\\w*|cevap|yanıt|detay\\w*",
    "TNOT": (
        "(?:söz edilm|sözü geçm|bahsi geçm|anılm|yazm|yazılm|söylenm"
        "|belirtilm|bahsedilm|değinilm|verilm|açıklanm|bulunm|yer alm|geçm|içerm|belirtm|bahsetm|sunm|sağlam"
        "|yer verm)"
        "[ei]?(?:mi|mı|mu|mü|yor|emekte|amakta|ekte|akta|ez|az|em|am|di|dı)?\\w*"
    ),
    "TCANT": (
        "(?:yanıtlay|cevaplay|cevap ver|yanıt ver|söyley|belirley|bul|sağlay|ver|yardımcı ol|yardım ed|bil|eriş"
        "|hesaplay|tespit ed"
        "|yerine getir|karşılay)(?:em|am)(?:iyor|ıyor|em|am|ez|az|e|a)?\\w*|bilmiyorum"
    ),
    "CDOCS": """
        文档|文檔|资料|資料|上下文|文中|文件|段落|材料|信息|資訊|文本|文章|内容|來源|来源|片段|原文
        手册|手冊|说明书|說明書
    """,
    "CNOT": "没有|沒有|未|并未|並未|不包含|不包括|无|未能|没|沒",
    "CSAY": "提|包含|说明|說明|找到|相关|相關|記載|记载|答案|信息|資訊|描述|涉及|给出|給出|明确|明確|说|指出|介绍|讨论",
    "CKNOW": """
        回答|找到|确定|確定|提供|确认|確認|回覆|得知|判断|判斷
        访问|訪問|获取|獲取|计算|計算|协助|協助|帮助|幫助|完成|满足|给出|推断|得出|知道|查询|查詢
    """,
    "JDOCS": """
        文書|資料|説明書|マニュアル|文脈|コンテキスト|情報|本文|ドキュメント|文章|記事|テキスト|パッセージ
        抜粋|記述|出典
    """,
    "JSAY": (
        "(?:書いて|載って|出て)(?:ありません|いません)|何もありません|ありません(?!でした)|ございません|(?:含まれ|記載され|書かれ|述べられ|言及され|示され|明記され|触れられ|説明され|記され|見つかり|提供され)"
        "(?:ていません|ておりません|ていない|ません)|見当たりません|記載がない|言及していません|触れていません|不足しています"
    ),
    "KDOCS": "문서|텍스트|본문|자료|문맥|맥락|컨텍스트|설명서|매뉴얼|지문|발췌|기사|제공된 정보|주어진 정보",
    "KMATTER": """
        언급|정보|내용|기재|명시|설명|답변|해답|나와|나오|다루|서술|적혀|쓰여|말하
        찾을 수|알 수|확인할 수|판단할 수|답할 수
    """,
    "KNEG": "없(?:습니다|어요|다|네요|음)|않(?:습니다|았습니다|아요|다|네요|음)|못(?:했습니다|합니다|했어요)",
    # what documents say is not so follows "according to"
    "KTOLD": "(?:(?!따르면|의하면|다고|라고).){0,40}?",
    "JNOT": (
        "見つかりません|見つけられません|お答えできません|回答できません|答えられません|お応えできません|お手伝いできません|判断できません"
        "|特定できません|確認できません|わかりかねます|お答えしかねます|アクセスできません|答えることができません|お答えすることはできません"
        "|提供できません|判断することはできません|特定することはできません|ご協力できません|対応できません|計算できません|断定できません"
    ),
    # reviews, emails, pages, tables ...: believed with verbs of saying only
    "LWIDE": """
        recenzj\\w*|opini\\w*|e-?mail\\w*|mail\\w*|wiadomoś\\w*|stron[aęiy]\\w*|tabel\\w*|raport\\w*|sprawozda\\w*
        czat\\w*|rozmow\\w*
        transkryp\\w*|notat\\w*|komentarz\\w*|opis\\w*|plik\\w*|rozdzia\\w*|protok\\w*|badani\\w*|zgłoszeni\\w*
        ogłoszeni\\w*
        wpis\\w*|umow\\w*|faktur\\w*|rejestr\\w*|wytyczn\\w*|wynik\\w* wyszukiwania|baz\\w wiedzy
    """,
    "LTELL": "(?:wspomina|podaj|określ|wymieni|mówi|precyz|wskaz|opisuj|ujawnia|omawia|informuj)\\w*",
    "LUNTOLD": "(?:(?!\\b(?:że|kto|gdy|jeśli)\\b).){0,60}?",
    "TWIDE": """
        yorum\\w*|değerlendirme\\w*|inceleme\\w*|e-?posta\\w*|mesaj\\w*|tablo\\w*|rapor\\w*|sayfa\\w*|site\\w*
        sohbet\\w*|konuşma\\w*
        kayıt\\w*|kayd\\w*|günlü[kğ]\\w*|notlar\\w*|bölüm\\w*|açıklama\\w*|dosya\\w*|sözleşme\\w*|ilan\\w*|fatura\\w*
        çalışma\\w*
    """,
    "TTELL": (
        "(?:söz edilm|sözü geçm|bahsi geçm|anılm|yazılm|söylenm|belirtilm|bahsedilm|değinilm|belirtm|bahsetm|değinm)"
        "[ei]?(?:mi|mı|mu|mü|yor|emekte|amakta|ekte|akta|ez|az|em|am)\\w*"
    ),
    "CWIDE": """
        评论|評論|评价|評價|邮件|郵件|消息|表格|表中|表里|报告|報告|网页|網頁|页面|頁面|网站|網站|对话|對話|聊天|记录|紀錄|工单|笔记|章节
        研究|论文|論文|合同|帖子|常见问题|指南|日志|简介|列表
    """,
    "CTELL": """
        提及|提到|说明|說明|写明|寫明|列出|指出|记载|記載|涉及|给出|給出|明确|明確|相关信息|相關資訊|相关内容|答案|描述|回答|关于.{0,12}的信息
    """,
    "JWIDE": """
        レビュー|口コミ|メール|メッセージ|表に|表で|報告書|レポート|ページ|サイト|会話|チャット|記録|ログ|議事録|契約書|論文|コメント|投稿|一覧|ガイド|手順書
    """,
    "JTELL": (
        "(?:書いて|載って|出て)(?:ありません|いません|いない)|(?:記載され|書かれ|述べられ|言及され|示され|明記され|触れられ|説明され|記され)"
        "(?:ていません|ておりません|ていない)|(?:記載|言及|説明|情報|記述)[はが](?:ありません|ない|見当たりません|見つかりません)"
        "|言及していません|触れていません"
    ),
    "KWIDE": """
        리뷰|후기|이메일|메일|메시지|표에|보고서|페이지|웹사이트|사이트|대화|채팅|기록|로그|댓글|게시물|계약서|논문|목록|회의록|지침|안내문
    """,
    "KTELL": "언급|기재|명시|설명|나와|나오|다루|서술|적혀|쓰여|(?:해당|그|관련|이) 내용|정보",
}

HINT = (
    r"\bnie\b|\bbrak|niestety|[mn][ea]di|miy|mıyor|amıyor|emiyor|m[ea]mekte|mamakta|memekte|m[eaıi]m|yok\b|değil"
    r"|\wam[ae]m\b|\w[ae]m[ae]z|edilm|[\u3040-\u30ff\u4e00-\u9fff]|[없않못모어]"
)

DECLINING = """
    nie (?:mogę|mogłem|mogłam|jestem w stanie|wiem(?!,? że)|znalazł\\w*|znajduję|posiadam|dysponuję|mam (?:dostęp
        |\\w*wystarczaj|informacj|dan|żadn)\\w*|potrafię|udało mi się|znam (?:tej )?odpowiedzi)
    {LDOCS}…nie (?:\\w+ )?{LSAY}
    {LDOCS}…nie (?:ma|został\\w*|jest|są|znajduj\\w+|znalazł\\w+|podano|wspomniano|określono)…(?:{LINFO}
        |wspomnian\\w+|określon\\w+|podan\\w+|wymienion\\w+|\\W*$)
    nie (?:ma|został\\w*|jest|są|podano|wspomniano|określono|znaleziono|znajduj\\w+)…{LINFO}…(?:{LDOCS}|o |na temat
        |dotycząc)\\w*
    nie (?:jest|są|został\\w*|podano|wspomniano|określono)…(?:w|we) (?:\\w+ )?(?:{LDOCS})
    (?:nie (?:da się|można)|niemożliwe jest|nie jest możliwe)…{LKNOW}…(?:{LDOCS}|pytanie|kto|co|kiedy|ile|gdzie|bez)
    {LDOCS}…(?:nie (?:da się|można)|niemożliwe jest|nie jest możliwe)…{LKNOW}
    (?:brak|brakuje) (?:\\w+ )?(?:{LINFO})…(?:{LDOCS}|o|na temat)
    {LDOCS}…(?:nic|ani słowa) (?:\\w+ ){0,2}?(?:nie (?:ma|mówi|wspomina|podaje|napisano|powiedziano)|o tym)
    (?:nic|nie ma|nie) (?:\\w+ ){0,3}?o tym (?:\\w+ ){0,3}?(?:w|we) (?:\\w+ )?(?:{LDOCS})
    o tym…nie (?:\\w+ )?(?:ma|mówi|wspomin|pisz|jest mowy)\\w*…(?:{LDOCS})
    (?:{LDOCS}) (?:\\w+ )?(?:tego|o tym) nie \\w+
    {LDOCS}…(?:{TNOT})
    {LDOCS}…(?:brak|brakuje)
    {TDOCS}…(?:{TNOT})
    {TDOCS}…(?:{TINFO}) (?:yok|bulunm|yer alm|mevcut değil|verilm|içerm)\\w*
    (?:{TINFO}) (?:bulunmamakta|bulunmuyor|yer almamakta|yer almıyor|mevcut değil|yok)\\w*
    {TDOCS}…(?:bir şey|hiçbir şey|tek kelime) (?:\\w+ )?(?:yok|söylem|yazm|denm|bulunm)\\w*
    (?:bundan|buna|bunun|bu konu\\w*|bununla|bu bilgi\\w*)…{TDOCS}…(?:{TNOT}|yok)
    (?:yeterli|yeterince) (?:{TINFO})…(?:yok|değil|bulunm|sahip değil)\\w*
    (?:{TCANT})
    erişimim (?:yok|bulunm)\\w*
    (?:bilgim|bilgiye sahip) (?:yok|değil)\\w*
    {TDOCS}…(?:mümkün değil|mümkün görünm)\\w*
    (?:无法|無法|不能|没法|沒法|难以|無從|无从)(?:从.{0,20}|根据.{0,20}|直接|准确|準確|为您|為您|对.{0,10}|协助您|给您|提供|进行)?(?:{CKNOW})
    (?:抱歉|对不起|對不起|很遗憾|很遺憾|不好意思).{0,30}(?:没有|沒有|无法|無法|不能|未能|不知道|未|不清楚|不可以|不会)
    (?:{CDOCS}).{0,12}(?:{CNOT}).{0,16}(?:{CSAY})
    (?:{CNOT}).{0,4}(?:提及|提到|说明|說明|记载|記載|包含|找到|关于.{0,20}的信息|關於.{0,20}的資訊).{0,20}(?:{CDOCS})
    (?:{CDOCS}).{0,8}(?:不足以|不足)
    (?:没有找到|沒有找到|未找到|找不到|我不知道(?!.{0,14}但)|我不清楚|不得而知)
    (?:{CDOCS})(?:中|里|裡|内).{0,20}(?:没有|沒有|未).{0,20}
    作为.{0,12}(?:人工智能|AI|语言模型|助手).{0,20}(?:无法|不能|没有)
    (?:{JNOT}|回答することはできません)
    (?:わかりません|分かりません)。?\\W*$
    (?:{JDOCS}).{0,40}(?:{JSAY})
    (?:{JDOCS}).{0,20}(?:だけ|のみ|から)(?:では|で)?は?.{0,40}(?:わかりません|分かりません|できません|不明)
    (?:不明です|不明である)。?$
    (?:{KDOCS}){KTOLD}(?:{KMATTER}).{0,12}(?:{KNEG})
    (?:대한|관한|관련된?|해당|그런|이러한|그러한) ?(?:\\S+ )?(?:정보|언급|내용|답변|답|설명|기록).{0,10}(?:없
        |찾을 수 없|찾지 못|부족)
    (?:질문|물음|이에 대해|그에 대해|그것에 대해).{0,30}(?:답변|대답|답|응답).{0,8}(?:수 없|수가 없|어렵|못)
    (?:알려|말씀|대답|답변|답)(?:해 ?)? ?드릴 수(?:가)? 없
    (?:{KDOCS}).{0,20}(?:만으로는|으로는|에서는|로는).{0,30}(?:알|판단할|확인할|답할|답변할) 수(?:가)? 없
    (?:잘 )?모르겠(?:습니다|어요)\\W*$
    접근(?:할|해) 수 없|접근 권한이 없
    (?:{LWIDE}){LUNTOLD}nie (?:\\w+ )?{LTELL}
    (?:{LWIDE}){LUNTOLD}(?:nic|ani słowa) (?:\\w+ ){0,2}?(?:o tym|nie (?:mówi|wspomina|podaje|napisano|powiedziano))
    (?:{LWIDE}){LUNTOLD}nie (?:zawiera\\w*|ma|mają|podano) (?:\\w+ )?(?:{LINFO})
    (?:{LWIDE}) (?:\\w+ )?(?:tego|o tym) nie {LTELL}
    nie (?:\\w+ )?(?:wspomnian\\w+|podan\\w+|określon\\w+|wymienion\\w+|wspomniano|podano|określono) (?:w|we
        |na) (?:\\w+ )?(?:{LWIDE})
    (?:{TWIDE})…(?:{TTELL})
    (?:{TWIDE})…(?:bundan|buna|bunun|bu konu\\w*|bununla|bu bilgi\\w*)…(?:{TTELL}|yok|yer alm\\w+|verilm\\w+)
    (?:{CWIDE})[中里裡上内]?.{0,6}(?:没有|沒有|未|并未|並未|没|沒)(?:有|明确|具体|任何|直接){0,2}(?:{CTELL})
    (?:{JWIDE}).{0,40}(?:{JTELL})
    (?:{KWIDE}){KTOLD}(?:{KTELL}).{0,12}(?:{KNEG})
"""

CONDUCT = """
    nie (?:mogę|jestem w stanie)…(?:pomóc|spełnić|zrealizować)
    yardımcı olam\\w*
    (?:无法|無法|不能)(?:为您|為您|协助|協助|帮助|幫助|满足|滿足|提供.{0,10}(?:帮助|协助))
    (?:ご依頼|ご要望|リクエスト).{0,12}(?:お応え|対応|応じる|お答え).{0,12}(?:できません|ません)
    お手伝い(?:は|する.{0,6})?できません
    (?:도와|도움을) ?(?:드릴|줄) 수(?:가)? 없
"""

WRAPPING = """
    ^\\W*(?:proszę|zalecam|polecam|sugeruję|radzę|możesz|może pan\\w*|warto|jeśli (?:masz|chcesz|potrzebujesz|możesz
        |podasz)|aby (?:uzyskać|dowiedzieć|odpowiedzieć)|w celu|skontaktuj|sprawdź|zapoznaj|więcej informacji)
    ^\\W*(?:niestety|przepraszam|przykro mi|bardzo przepraszam)\\W*$
    ^\\W*(?:(?:jednak|natomiast),? )?(?:{LDOCS}|one|on|ono)(?: \\w+)? (?:dotycz|opisuj|mówi|omawia|wspomina|skupia
        |zawiera|koncentruj)\\w*
    ^\\W*(?:lütfen|daha fazla|isterseniz|eğer|size|öneririm|tavsiye ederim)
    ^.{0,80}(?:öneririm|tavsiye ederim|edebilirsiniz|bakabilirsiniz|olabilirsiniz|iletişime geç\\w*|başvurun\\w*
        |danışın\\w*)\\W*$
    ^\\W*(?:üzgünüm|maalesef|özür dilerim|ne yazık ki)\\W*$
    ^\\W*(?:ancak,? )?(?:{TDOCS}).{0,80}(?:bahset|hakkında|ele al|anlat|değin|içer)\\w*
    ^\\W*(?:申し訳|すみません|恐れ入り|抱歉|对不起|對不起|很遗憾|很抱歉|不好意思|残念ながら).{0,20}$
    ^\\W*(?:请|請|如需|如果您|如果你|如有|建议|建議|您可以|你可以|我建议|我建議|欢迎|歡迎|推荐).{0,120}
    ^\\W*(?:不过|但|然而|只|它们|它|这些|該|该)?.{0,3}(?:{CDOCS})(?:只|仅|主要|中?提到了|讨论了|描述了|介绍了|涉及).{0,100}
    ^\\W*(?:죄송합니다|미안합니다|유감입니다|안타깝습니다|죄송하지만|안타깝게도)\\W*$
    ^.{0,60}(?:문의(?:해|하)|확인(?:해|하)|참고(?:해|하)|알려) ?(?:주세요|주십시오|주시기|시기 바랍니다|시면).{0,20}$
    ^\\W*(?:만약|더 자세한|자세한).{0,80}$
    ^\\W*(?:이|해당|제공된|주어진)? ?(?:{KDOCS})(?:은|는|에는|에서는).{0,40}(?:만|대해|관해|관한|대한).{0,30}$
    ^\\W*(?:ご了承|お問い合わせ|詳しくは|詳細は|公式|もし|より詳し|ご不明).{0,80}
    ^.{0,60}(?:ご確認ください|お問い合わせください|ご覧ください|お勧めします|おすすめします|ご相談ください|参照してください|教えてください|ご提供ください)。?$
    ^\\W*(?:ただし|しかし|なお)?、?.{0,4}(?:{JDOCS}).{0,60}(?:について|に関して|のみ|だけ).{0,30}(?:述べ|書か|記載|触れ|説明|言及|扱).{0,20}$
"""
WRAP_WORDS: dict[str, str] = {}
