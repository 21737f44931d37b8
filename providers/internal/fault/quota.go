package fault

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// A quota of a day, a week, a month or a plan that is used up does not come back while a debate waits. Services send it with the
// status of a limit of a minute, and some with the wait of one.
// Sources: QwenLM/qwen-code#1742, google-gemini/gemini-cli#8883, anomalyco/opencode#44099, anomalyco/opencode#38856

// Words about quotas.
const (
	quotaWords = `limit|quota|allowance|allocation|usage|credit|call|request|message|tokens?\b|neuron|counter|budget|cap\b|` +
		`kontingent|cuota|l[ií]mite|limite|额度|次数|限额|配额|上限|用量`
	periodWords = `\b(?:daily|weekly|monthly|yearly|annual)|\b(?:per|an?|each|every|this|next|last|current|of the|for the)[ -](?:calendar )?(?:day|week|month|year)s?\b|` +
		`(?:/ ?|per[-_ ]?|by ?)(?:day|week|month|year)\b|\b(?:24|48)[- ]?h(?:ours?)?\b|\b(?:7|30)[- ]?days?\b|\b[RT]PD\b|` +
		`\b(?:for|in|of|until) (?:january|february|march|april|june|july|august|september|october|november|december)\b|` +
		`\b(?:tages|wochen|monats)|diari[oa]|semanal|mensual|quotidien|hebdomadaire|mensuel|[今每本当][日天周月]|本周期|包月`
	planWords = `\b(?:free|trial|basic|starter|hobby|current|your|this|paid|\w+ly) (?:\w+ )?(?:plan|tier|subscription|allocation)\b|` +
		`\bfree (?:messages|requests|calls|usage|quota|trial|period|credits?)\b|\bplan(?:'s)? (?:limit|quota|allowance)|` +
		`\bsubscri(?:be|ption)|billing (?:cycle|period)|\btrial\b|usage credits|套餐`
	usedUpWords = `reach|exceed|exhaust|consum|deplet|\bhit\b|\bgone\b|used|left\b|\bno .{0,20}remain|out of|no more|ran out|run out|over your|required|were made|spent|expired|\bended|to continue|quota|` +
		`aufgebraucht|erreicht|agotad|superad|épuis|atteint|用完|用尽|已达|耗尽|超出|超过`
	// shortWords are about a limit of a short time.
	shortWords = `per[ _-]?(?:second|sec|minute|min|hour)|/ ?(?:s|sec|second|min|minute|m|h|hour)\b|\b(?:RPM|TPM|RPS|[IO]TPM)\b|concurren|parallel|` +
		`slow down|too (?:fast|frequent)|频繁|in an? (?:second|minute)|rate[ _-]?limit|requests? rate|throttl|burst`
)

var (
	quotaOfPeriod = pattern{text: periodWords, near: quotaWords}
	usedToday     = pattern{text: `\btoday\b`, near: usedUpWords}
	quotaOfPlan   = pattern{text: planWords + `|\bupgrade\b`, near: usedUpWords}
	usedUp        = pattern{text: `(?i)` + usedUpWords}
	shortLimit    = pattern{text: `(?i)` + shortWords}
	rateLimit     = pattern{text: `(?i)rate[ -]?limits?`}
	// rateLimitCode matches the code of any limit.
	rateLimitCode = pattern{text: `(?i)\brate_limit\w*`}
	// quotaID matches the names that Google gives to quotas.
	quotaID = pattern{text: `per(?:day|week|month)`}
)

// namesPeriod reports whether a fault is about a quota of a day or longer. Where a limit of a short time is named too, only the name
// of the quota tells.
func (f *Fault) namesPeriod() bool {
	if slices.ContainsFunc(f.codes, func(code string) bool { return quotaID.compiled().MatchString(code) }) {
		return true
	}
	text := f.quotaText()
	named := quotaOfPeriod.compiled().MatchString(text) || usedToday.compiled().MatchString(text)
	return named && !isShort(text)
}

// isShort reports whether a text names a limit of a short time. The words "rate limit" alone do not: services use them for any limit.
func isShort(text string) bool {
	return shortLimit.compiled().MatchString(rateLimit.compiled().ReplaceAllString(text, ""))
}

// isLasting reports whether a fault is not about a limit of a short time, for which services advertise their plans.
func (f *Fault) isLasting() bool {
	return f.Status != http.StatusTooManyRequests || !isShort(f.quotaText())
}

// quotaText returns the words of a fault with its codes as words, without the code that each limit has.
func (f *Fault) quotaText() string {
	return strings.ReplaceAll(rateLimitCode.compiled().ReplaceAllString(f.words, ""), "_", " ")
}

// namesPlan reports whether a fault says that what a plan includes is used up.
func (f *Fault) namesPlan() bool {
	text := f.quotaText()
	return quotaOfPlan.compiled().MatchString(text) && !shortLimit.compiled().MatchString(text)
}

// minWait is the least wait that can be right beside a quota of a day or longer.
const minWait = time.Minute

// isUsedUp reports whether a fault says that a quota is used up, without a wait after which there is more.
func (f *Fault) isUsedUp() bool {
	switch f.Status {
	case 0, http.StatusBadRequest, http.StatusForbidden:
		if !usedUp.compiled().MatchString(f.words) {
			return false
		}
	case http.StatusTooManyRequests:
	default:
		return false
	}
	wait := max(f.waits, f.resets)
	if f.namesPeriod() {
		return wait < minWait
	}
	return f.namesPlan() && wait == 0
}

// isQuota reports whether a fault is about a quota that comes back after a wait.
func (f *Fault) isQuota() bool {
	return f.Status == http.StatusTooManyRequests && max(f.waits, f.resets) >= minWait && f.namesPeriod()
}
