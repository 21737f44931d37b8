package fault

import (
	"strconv"
	"strings"
)

// tooLarge reports whether one request exceeds a limit on tokens per minute. Waiting does not help then.
func (f *Fault) tooLarge() bool {
	m := limitPattern.compiled().FindStringSubmatch(f.words)
	if m == nil {
		return false
	}
	limit, requested := number(m[1]), number(m[2])
	return limit > 0 && requested > limit
}

var limitPattern = pattern{text: `Limit:? ([\d,]+),(?: Used:? [\d,]+,)? Requested:? ([\d,]+)`}

// number returns a number that may have separators.
func number(text string) int {
	n, _ := strconv.Atoi(strings.NewReplacer(",", "", "_", "").Replace(text))
	return n
}

// largeRequest is the size in bytes from which a request may be too long for a model: about a thousand tokens. Models with
// smaller windows hold no debate.
const largeRequest = 4_000

// seemsTooLong reports whether a refusal in words that no row has seems to say that the prompt is too long: the request is
// large, and the words speak of a length and of a limit, say that something is too long, or have two numbers, of which one is
// about the size of the request and the other is less. A language that the rule does not know counts too. A wrong guess costs
// one retry with a shorter prompt.
func (f *Fault) seemsTooLong() bool {
	if f.Sent < largeRequest || elsewhere.compiled().MatchString(f.words) {
		return false
	}
	if aboutPrompt.compiled().MatchString(noise.compiled().ReplaceAllString(f.words, "")) {
		return true
	}
	if aboutSetting.compiled().MatchString(f.words) {
		return false
	}
	return tooLong.compiled().MatchString(f.words) || aboutLength.compiled().MatchString(f.words) || foreign.compiled().MatchString(f.words) || f.exceedsNumber()
}

// Words of length and of limit.
const (
	promptWords = `prompt|input|context|conversation|chat\b|history|dialog|sequence|window|n_ctx|` +
		`eingabe|kontext|anfrage|invite|contexte|entrada?|contexto|richiesta|contesto`
	lengthWords = `tokens?|length|text|content|messages?|payload|body|characters?|size|` +
		`longueur|taille|jetons?|longitud|comprimento|tamanho|texto|lunghezza`
	limitWords = `exceed|overflow|longer|larger|limit|max|too (?:long|large|big|many|much)|\bover\b|greater than|bigger|at most|up to|more than|no more|beyond|\bpast\b|\bfit\b|\bfull\b|surpass|capacity|truncat|reduce|shorten|\bcap\b|ceiling|\babove\b|` +
		`zu (?:lang|viel)|maximal|\btrop\b|excede|supera|demasiad|muito|troppo|eccede|massim`
)

// Patterns of the rule.
var (
	aboutPrompt = pattern{text: promptWords, near: limitWords}
	aboutLength = pattern{text: lengthWords, near: limitWords}
	tooLong     = pattern{text: `(?i)too[ _-]?(long|large|big)|demasiado (larg|grand)|trop (long|grand)|zu (lang|groß)|te lang|troppo lung|muito long|terlalu panjang`}
	// aboutSetting matches words about a limit of something other than the prompt.
	aboutSetting = pattern{text: `(?i)max_?(new_|completion_|output_)?tokens|(output|completion) tokens|temperature|top_p|stop (sequence|text)|schema|nesting|\btools?\b|function|header|\bname\b|\buser\b|metadata|image (size|width|height)|\bfile`}
	// noise matches words that are not about the prompt, although they sound like it.
	noise = pattern{text: "(?i)max_?(new_|completion_|output_)?tokens|(input|prompt) validation|invalid (input|prompt)|limited access|access .{0,30}limited"}
	// elsewhere matches words about a limit of something that a shorter prompt does not change.
	elsewhere = pattern{text: `(?i)per (second|minute|hour|day|month)|\brate\b|requests? (limit|count|quota)|concurren|queue|retries|time ?out|time limit|expired?|access token|\bauth|too many images|stop sequences|nesting depth|temperature`}
	// foreign matches a letter that English does not have.
	foreign    = pattern{text: `[^\P{L}\x00-\x7F]`}
	numberWord = pattern{text: `\d+(?:[,_]\d{3})*`}
)

// exceedsNumber reports whether the words have a number that is about the size of the request, in tokens or in bytes, and
// a smaller one, which may be the limit.
func (f *Fault) exceedsNumber() bool {
	const leastLimit = 500
	var size, least int
	for _, word := range numberWord.compiled().FindAllString(f.words, -1) {
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
