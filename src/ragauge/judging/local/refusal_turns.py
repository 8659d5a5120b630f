"""Where an answer that declines turns, lists and concludes."""

from __future__ import annotations

# where a sentence turns: "it costs 49 euros, but ...", "although ..., it ..."
TURN = (
    r"\s?[,;:–—،]\s{0,3}(?:но|однако|хотя|зато|але|однак|проте|хоча|و?لكن\w*|إلا أن|लेकिन|परंतु|परन्तु|किंतु|मगर"
    r"|but|however|though|although|yet|while|whereas|aber|jedoch|doch|während|wobei|pero|aunque"
    r"|mientras que|sin embargo|mais|cependant|tandis que|alors que|ma|però|mentre|tuttavia|mas|porém|enquanto"
    r"|maar|echter"
    r"|terwijl|men|dock|medan|ale|jednak|lecz|natomiast|ancak|fakat)\b[,\s]{0,3}"
    r"|\s(?:ama|fakat|ancak|و?لكن\w*|लेकिन|परंतु|मगर)\s|(?<=지만),?\s|[,;，；、]\s?(?:但是|但|不过|不過|然而|而|ただし|しかし)[,，、]?|が、"
)
# after which a "but" goes on in the same sense
NOT_ONLY = r"\bnot (?:only|just|merely)\b"
LEAD = (
    r"^(\W*(?:although|though|even though|while|whereas|despite|obwohl|auch wenn|während|aunque|si bien|bien que"
    r"|même si"
    r"|sebbene|anche se|embora|hoewel|även om|choć|chociaż|mimo że|虽然|雖然|尽管|儘管)[^,，]{0,300})[,，]\s*"
)
# how a sentence goes on to answer after a refusal
BACK = (
    r"^\W*(?:however|but|nevertheless|nonetheless|that said|having said that|with that said|still|yet|jedoch"
    r"|allerdings|dennoch|aber|cependant|toutefois|néanmoins|mais|sin embargo|no obstante|pero"
    r"|tuttavia|però|ma|no entanto|porém"
    r"|contudo|mas|echter|maar|toch|men|dock|däremot|jednak|ale|ancak|fakat|yine de"
    r"|однако|но|тем не менее|всё же|але|однак|проте|و?لكن\w*|लेकिन|हालांकि|हालाँकि|परंतु|하지만|그러나|다만"
    r"|但是|但|不过|然而|ただし|しかし|でも)\b"
)
# the end of a line that a list of what would be needed, or how it is worked out, follows
NEEDING = (
    r"here's how|here is how|as follows|need|requir|necessary|steps?\b|formula|guide|how to|calculat|would be"
    r"|you (?:can|could|may|should)|typically"
    r"|benötig|brauch|nécessaire|besoin|necesit|servir|precis|potrzeb|nodig|behöv|gerek|需要|必要"
)
# an answer that ends so rests on what it said before
CONCLUSION = (
    r"^\W*(?:(?:however|nonetheless|nevertheless|but|yet|still|jedoch|allerdings|cependant|sin embargo|tuttavia"
    r"|no entanto),? )?"
    r"(?:therefore|thus|so|hence|as such|as a result|consequently|in conclusion|without|accordingly|daher|deshalb"
    r"|somit|folglich|ohne|donc|par conséquent|ainsi|sans|por lo tanto"
    r"|por tanto|sin|quindi|pertanto|dunque|senza|portanto|logo|sem|daarom|dus|zonder|därför|utan|dlatego|zatem"
    r"|więc|bez"
    r"|bu nedenle|dolayısıyla|因此|所以|したがって|そのため)\b"
)
# a conclusion that only declines to be exact
EXACT = (
    r"\b(?:exact|exactly|precise|precisely|definitive|definitively|certain|certainty|full|fully|complete picture"
    r"|inferr?e?d?|likely|suggests?|appears?|assume)\b"
)
# what is concluded is no advice and no mere remark
CONCLUDED = (
    r"(?:can be|could be|may be|might be) (?:inferred|concluded|assumed|estimated)|\b(?:we|i|one) can (?:infer"
    r"|conclude|see|estimate|assume)"
    r"|\bit (?:appears|seems|is (?:un)?likely|is reasonable)|\bsuggest(?:s|ing) that|se puede inferir"
    r"|se pueden inferir|on peut (?:en )?déduire"
    r"|(?:lässt sich|kann man) (?:\w+ )?(?:schließen|folgern|ableiten)|si può dedurre|pode-se inferir"
    r"|można wnioskować|可以推断|推測"
)
# what a refusal by a rule of conduct speaks of
CONDUCT = (
    r"legal|unlawful|\bethic|harm|appropriate|respect|privacy|private|confidential|\bsafe|guidelines|danger"
    r"|against the law"
    r"|violen|abus|consent|offensive|\bhat(?:e|red)|discriminat|moral|malicious|sensitive|responsib|mental health"
    r"|helpline"
    r"|\bprogram|polic(?:y|ies)|polite|\bcrim|gesetz|ethi|schädlich|gefähr|éthique|dangereu|nuisible|ilegal|ético"
    r"|dañin|peligros"
    r"|etic[oi]|dannos|pericol|prejudic|perigos|illegaal|schadelijk|gevaarlijk|olaglig|skadlig|farlig|nielegaln"
    r"|etyczn"
    r"|szkodliw|niebezpieczn|yasa dışı|zararlı|tehlikeli|违法|非法|道德|有害|危险|違法|倫理|危険"
    r"|незакон|опасн|этич|конфиденц|закон|незаконн|небезпечн|етичн|قانون|خطير|غير أخلاقي|कानून|अवैध|खतरनाक|불법|위험|윤리"
)
# characters of an answer in which it is looked for
CONDUCT_LOOKED_AT = 1_000
# an amount that can answer a question; a mere year, "2 of them" and "* 100" are none
VALUE = r"[$€£¥]\s?\d|\d\s?(?:%|percent|million|billion|thousand|euros?|dollars?)|\d{2,}"
NO_VALUE = r"\b(?:FY\s?|Q[1-4]\s?)?(?:19|20)\d\d\b|\bFY\s?\d\d\b|\b(?:100|365)\b ?%?"
# what was so in a year
PAST = r"\b(?:was|were|has|had|became|began|opened|born|founded|died|built)\b.{0,80}\b(?:1\d|20)\d\d\b"
EQUATION = r"\s[=≈÷×]\s|[)\]]\s?/\s|\s/\s?[(\[]"
# a sentence that says what would be needed
NEED = (
    r"\b(?:you|we|one|i)(?:'d| would| will|'ll)? (?:typically |also |still |then |first |likely )?(?:need|have to"
    r"|require)\b"
    r"|\b(?:required|necessary|needed) (?:to|for|in order)|\bif you (?:can|could) (?:provide|share|give)"
    r"|\byou (?:can|could|would|should|may|might) (?:typically |usually |also |then )?(?:find|look at|refer to"
    r"|calculate|determine)"
)
# a calculation with made-up amounts
SUPPOSING = (
    r"\b(?:let's (?:say|assume)|(?:for example|for instance),? (?:if|suppose|assuming)|hypothetical(?:ly)?,? "
    r"|suppose (?:that )?)\b"
)
# a condition at the start of a sentence
CONDITION = r"^\W*(?:(?:however|but|and),? )?(?:if|when|once|si|wenn|falls|se|als|om|jeśli|如果)\b"
