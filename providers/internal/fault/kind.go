package fault

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/elenchus-go/debate/providers"
)

// Fault is an error that a service reports, with an HTTP status or within a reply.
type Fault struct {
	Status     int // 0 within a reply
	RetryAfter time.Duration
	RequestID  string
	Message    string
	Codes      []string // the codes, types and statuses of the error, in lower case, the most specific ones first
	Body       string
	Redirect   string // where the server redirects to
}

// Kind returns the kind of a fault: by what its codes say together with its numbers, then by its codes, then by the
// HTTP status, and by words only where a status has several meanings.
func (f *Fault) Kind(kinds map[string]providers.ErrorKind) providers.ErrorKind {
	if f.tooLarge() {
		return providers.ContextOverflow
	}
	for _, code := range f.Codes {
		if kind, ok := kinds[code]; ok {
			return f.refine(kind)
		}
		if kind, ok := commonKinds[code]; ok {
			return f.refine(kind)
		}
	}
	return f.refine(f.kindOfStatus())
}

// commonKinds maps the codes that several services use. Codes that say no more than the status are missing.
var commonKinds = map[string]providers.ErrorKind{
	"context_length_exceeded": providers.ContextOverflow, "exceed_context_size_error": providers.ContextOverflow,
	"insufficient_quota": providers.Billing, "billing_hard_limit_reached": providers.Billing, "billing_not_active": providers.Billing,
	"billing_error": providers.Billing, "unsupported_country_region_territory": providers.Billing,
	"content_filter": providers.ContentFiltered, "content_policy_violation": providers.ContentFiltered,
	"responsibleaipolicyviolation": providers.ContentFiltered,
	"invalid_api_key":              providers.Authentication, "authentication_error": providers.Authentication,
	"rate_limit_exceeded": providers.RateLimit, "rate_limit_error": providers.RateLimit,
	"model_not_found": providers.InvalidRequest,
}

// refine corrects a kind by words where services use one code or status for several failures.
func (f *Fault) refine(kind providers.ErrorKind) providers.ErrorKind {
	switch kind { //nolint:exhaustive // the other kinds are certain
	case providers.RateLimit, providers.InvalidRequest, providers.Authentication:
		switch {
		case f.Status < http.StatusInternalServerError && unpaidPattern.MatchString(f.Body):
			return providers.Billing
		case filterPattern.MatchString(f.Body) && f.Status != http.StatusTooManyRequests:
			return providers.ContentFiltered
		case kind == providers.InvalidRequest && overflowPattern.MatchString(f.Body):
			return providers.ContextOverflow
		case kind == providers.InvalidRequest && f.Status == http.StatusBadRequest && keyPattern.MatchString(f.Body):
			return providers.Authentication
		}
	case providers.ServerError:
		switch {
		case overflowPattern.MatchString(f.Body):
			return providers.ContextOverflow
		case memoryPattern.MatchString(f.Body):
			return providers.OutOfMemory
		}
	}
	return kind
}

// statusNoCapacity is Groq's status for a service tier without capacity.
const statusNoCapacity = 498

// kindOfStatus returns the kind for the HTTP status, or, within a reply, for the words.
func (f *Fault) kindOfStatus() providers.ErrorKind {
	switch f.Status {
	case 0:
		if kind := KindOfText(f.Body); kind != providers.Network { // the service reports its own network
			return kind
		}
		return providers.ServerError
	case http.StatusTooManyRequests:
		return providers.RateLimit
	case http.StatusPaymentRequired:
		return providers.Billing
	case http.StatusUnauthorized, http.StatusForbidden:
		return providers.Authentication
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return providers.Timeout
	case http.StatusConflict, http.StatusTooEarly, statusNoCapacity:
		return providers.ServerError
	case http.StatusRequestEntityTooLarge:
		return providers.ContextOverflow
	}
	if f.Status >= http.StatusInternalServerError {
		return providers.ServerError
	}
	return providers.InvalidRequest
}

// tooLarge reports whether one request exceeds a limit on tokens per minute. Waiting does not help then.
func (f *Fault) tooLarge() bool {
	m := limitPattern.FindStringSubmatch(f.Body)
	if m == nil {
		return false
	}
	limit, _ := strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
	requested, _ := strconv.Atoi(strings.ReplaceAll(m[2], ",", ""))
	return limit > 0 && requested > limit
}

// Patterns for the texts of errors.
var (
	limitPattern    = regexp.MustCompile(`Limit:? ([\d,]+),(?: Used:? [\d,]+,)? Requested:? ([\d,]+)`)
	overflowPattern = regexp.MustCompile(`(?i)context_length_exceeded|max(imum)? context length|maximum prompt length|(prompt|input|request) (is )?too long|` +
		`too many tokens|exceed(s|ed|ing)? (\S+ ){0,4}context|input tokens? .{0,40}exceed|greater than the context length|` +
		`context (length|window|size) (of|is|exceeded|overflow)|must be <= \d+|tokens to keep from the initial prompt`)
	memoryPattern = regexp.MustCompile(`(?i)requires more system memory|out of memory|out_of_memory|cudaMalloc failed|insufficient (system |gpu |video )?memory|` +
		`unable to allocate \S+ (kv )?(cache|buffer)|llama runner process (has terminated|no longer running)`)
	ratePattern   = regexp.MustCompile(`(?i)rate.?limit|too many requests|tokens per min|quota|resource.?exhausted|throttl`)
	keyPattern    = regexp.MustCompile(`(?i)api.?key|unauthori[sz]ed|unauthenticated|authentication`)
	unpaidPattern = regexp.MustCompile(`(?i)insufficient_quota|exceeded your current quota, please check your plan and billing details\. For more information on this error, read the docs: https://platform\.openai|` +
		`credit balance is (too low|exhausted)|insufficient (balance|credits|funds)|requires? (more|at least .{0,20}) credits|location is not supported|billing (is )?(disabled|not enabled|hard limit)|` +
		`no credits|(have any|all available|out of) credits|key limit exceeded.{0,60}openrouter\.ai|enable billing|quota exceeded for metric: \S+, limit: 0\b|` +
		`reached your specified api usage limits|organization has been disabled|not available in your (region|country)`)
	filterPattern = regexp.MustCompile(`(?i)content[ _-]?(management|filter(ed|ing)?|policy)|requires moderation|flagged (as|for|by)|safety (system|filter)|content exists risk|inappropriate content|content violates`)

	textPatterns = []struct {
		in   *regexp.Regexp
		kind providers.ErrorKind
	}{
		{unpaidPattern, providers.Billing},
		{overflowPattern, providers.ContextOverflow},
		{memoryPattern, providers.OutOfMemory},
		{filterPattern, providers.ContentFiltered},
		{ratePattern, providers.RateLimit},
		{keyPattern, providers.Authentication},
		{regexp.MustCompile(`(?i)permission`), providers.Authentication},
		{regexp.MustCompile(`(?i)model .{0,200}(not found|not exist)|not_found_error|invalid_request_error|does not support`), providers.InvalidRequest},
		{regexp.MustCompile(`(?i)time(d )?out|deadline.?exceeded`), providers.Timeout},
		{regexp.MustCompile(`(?i)network error|cancell?ed|connection (refused|reset)|broken pipe|unexpected EOF`), providers.Network},
		{regexp.MustCompile(`(?i)(no|empty) response|no content in|blocked`), providers.InvalidResponse},
	}
)

// KindOfStatus returns the kind of an error of which only the HTTP status and the text are known.
func KindOfStatus(status int, text string) providers.ErrorKind {
	f := &Fault{Status: status, Body: text}
	return f.Kind(nil)
}

// KindOfText returns the kind of an error of which only the text is known.
func KindOfText(text string) providers.ErrorKind {
	for _, p := range textPatterns {
		if p.in.MatchString(text) {
			return p.kind
		}
	}
	return providers.ServerError
}
