package fault

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// tooLarge reports whether one request exceeds a limit on tokens per minute. Waiting does not help then.
func (f *Fault) tooLarge() bool {
	m := limitPattern.FindStringSubmatch(f.words)
	if m == nil {
		return false
	}
	limit, requested := number(m[1]), number(m[2])
	return limit > 0 && requested > limit
}

var limitPattern = regexp.MustCompile(`Limit:? ([\d,]+),(?: Used:? [\d,]+,)? Requested:? ([\d,]+)`)

// number returns a number that may have separators.
func number(text string) int {
	n, _ := strconv.Atoi(strings.NewReplacer(",", "", "_", "").Replace(text))
	return n
}

// largeRequest is the size in bytes from which a request may be too long for a model: about a thousand tokens. Models with
// smaller windows hold no debate.
const largeRequest = 4_000

// seemsTooLong reports whether a refusal in words that no row has seems to say that the prompt is too long: the request is
// large, and the words speak of a length and of a limit, or of two numbers, of which one is about the size of the request
// and the other is less.
func (f *Fault) seemsTooLong() bool {
	if f.Sent < largeRequest || elsewhere().MatchString(f.words) {
		return false
	}
	if aboutPrompt().MatchString(noise().ReplaceAllString(f.words, "")) {
		return true
	}
	return !aboutSetting().MatchString(f.words) && (aboutLength().MatchString(f.words) || f.exceedsNumber())
}

// Words of length and of limit.
const (
	promptWords = `prompt|input|context|conversation|history|dialog|sequence|window|n_ctx|` +
		`输入|提示|上下文|对话|入力|コンテキスト|プロンプト|입력|컨텍스트|프롬프트|запрос|контекст|eingabe|kontext|anfrage|invite|contexte|requ[eê]te|entr[aeé]d?a|contexto|prompts?|richiesta|contesto`
	lengthWords = `tokens?|length|text|content|messages?|payload|body|characters?|size|` +
		`字数|长度|文字|トークン|長さ|文字数|토큰|길이|длин|токен|länge|longueur|taille|jetons?|longitud|tamaño|comprimento|tamanho|texto|lunghezza`
	limitWords = `exceed|longer|larger|limit|max|too (?:long|large|big|many|much)|over|greater than|bigger|at most|up to|more than|no more|beyond|fit\b|surpass|capacity|truncat|reduce|shorten|cap\b|ceiling|above|` +
		`超|过长|太长|最大|上限|限制|長すぎ|초과|최대|제한|너무|превы|слишком|максим|лимит|überschr|zu (?:lang|groß|viel)|höchst|maximal|dépass|trop|limite|excede|supera|demasiad|límite|máxim|muito|troppo|eccede|massim`
)

// Patterns of the rule.
var (
	aboutPrompt = near(promptWords, limitWords)
	aboutLength = near(lengthWords, limitWords)
	// aboutSetting matches words about a limit of something other than the prompt.
	aboutSetting = compiled(`(?i)max_?(new_|completion_|output_)?tokens|(output|completion) tokens|temperature|top_p|stop (sequence|text)|schema|nesting|\btools?\b|function|header|\bname\b|\buser\b|metadata|image (size|width|height)|\bfile`)
	// noise matches words that are not about the prompt, although they sound like it.
	noise = compiled("(?i)max_?(new_|completion_|output_)?tokens|(input|prompt) validation|invalid input")
	// elsewhere matches words about a limit of something that a shorter prompt does not change.
	elsewhere  = compiled(`(?i)per (second|minute|hour|day|month)|\brate\b|requests? (limit|count|quota)|concurren|queue|retries|time ?out|time limit|expired?|access token|\bauth|too many images|stop sequences|nesting depth|temperature`)
	numberWord = regexp.MustCompile(`\d+(?:[,_]\d{3})*`)
)

// near returns a pattern that matches words of both lists within a sentence, in either order.
func near(a, b string) func() *regexp.Regexp {
	return compiled(`(?is)(?:` + a + `).{0,80}(?:` + b + `)|(?:` + b + `).{0,80}(?:` + a + `)`)
}

// compiled returns a pattern that is compiled when it is needed, because most programs see no failure.
func compiled(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// exceedsNumber reports whether the words have a number that is about the size of the request, in tokens or in bytes, and
// a smaller one, which may be the limit.
func (f *Fault) exceedsNumber() bool {
	const leastLimit = 500
	var size, least int
	for _, word := range numberWord.FindAllString(f.words, -1) {
		n := number(word)
		if n >= f.Sent/10 && n <= f.Sent+f.Sent/3 {
			size = max(size, n)
		}
		if n >= leastLimit && (least == 0 || n < least) {
			least = n
		}
	}
	return least > 0 && least < size
}
