package fault

import (
	"net/http"

	"github.com/elenchus-go/debate/providers"
)

// A row of the table of failures says what an error means that has one of its statuses and one of its codes or its words.
type row struct {
	statuses span
	codes    string // separated by spaces, in lower case; a code also matches within a text
	words    string // a regular expression, in lower case
	when     func(*Fault) bool
	kind     providers.ErrorKind // empty for the rule for unknown words
	hint     string              // what the user can do, if the service's words do not say it
	source   string
}

// span is a range of HTTP statuses, 0 being an error within a reply. The zero span has all, and one without an end has one status.
type span struct{ from, to int }

// Spans of statuses.
var (
	inReply     = span{0, 99}
	notThrottle = span{0, http.StatusTooManyRequests - 1} // without 429 and the server's errors
	refused     = span{http.StatusBadRequest, http.StatusUnprocessableEntity}
	clientError = span{http.StatusBadRequest, 499}
	serverError = span{500, 599}
)

// rows are the table, in order: the first row that matches decides. What one service means for certain comes first, what
// the HTTP status says comes last, and the rule for unknown words between them. A test requires a case
// in testdata/errors.json of package servicetest for each row.
var rows = [][]row{limitRows, billingRows, memoryRows, filterRows, overflowRows, passingRows, refusalRows, unknownRows, generalRows, statusRows, wordRows}

// limitRows are about limits in a time, whose words are often those of a prompt that is too long.
var limitRows = []row{
	{when: (*Fault).tooLarge, kind: providers.ContextOverflow, source: "Groq, OpenAI: one request exceeds a limit on tokens per minute"},
	{codes: "throttlingexception throttling throttling.ratequota throttling.allocationquota", kind: providers.RateLimit, source: "Amazon, DashScope"},
	{words: `throttlingexception|too many tokens, please wait`, kind: providers.RateLimit, source: "Bedrock: RooCodeInc/Roo-Code#5050"},
}

// billingRows are about accounts that have no credit, or may not use the service.
var billingRows = []row{
	{codes: "insufficient_quota billing_hard_limit_reached billing_not_active billing_error exceeded_current_quota_error", kind: providers.Billing, source: "OpenAI, Anthropic, Moonshot"},
	{codes: "credit_balance_exhausted insufficient_balance insufficient_balance_error insufficient_credits", kind: providers.Billing, source: "roackb2/heddle#358, Wei-Shaw/sub2api#890, DeepSeek"},
	{codes: "unsupported_country_region_territory user_location_invalid account_deactivated access_terminated", kind: providers.Billing, source: "OpenAI"},
	{codes: "budget_exceeded", kind: providers.Billing, source: "LiteLLM: BerriAI/litellm#14144, #40002"},
	{codes: "arrearage allocationquota.freetieronly", kind: providers.Billing, source: "DashScope: hsliuping/TradingAgents-CN#170"},
	{codes: "accountoverdueerror", kind: providers.Billing, source: "Volcengine: RooCodeInc/Roo-Code#12309"},
	{codes: "billing_disabled failed_precondition", kind: providers.Billing, source: "Google: https://ai.google.dev/gemini-api/docs/troubleshooting"},
	{codes: "1113", kind: providers.Billing, source: "Zhipu: https://docs.bigmodel.cn/cn/api/api-code"},
	{when: (*Fault).isQuota, kind: providers.RateLimit, source: "a rule: see quota.go"},
	{words: `exceeded your current quota, please check your plan and billing details\. for more information on this error, read the docs: https://platform\.openai`, kind: providers.Billing, source: "OpenAI"},
	{words: `quota exceeded for metric: \S+, limit: 0\b`, kind: providers.Billing, source: "Google: no free tier"},
	{words: `(credit|account|wallet|prepaid)\S* balance|balance (is )?(too low|not enough|exhausted|insufficient|depleted|negative)|insufficient[ _](account[ _])?(balance|credits?|funds?|money)`, kind: providers.Billing, source: "Anthropic, DeepSeek; MiniMax: MiniMax-AI/MiniMax-M2#62"},
	{words: `\bno credits|(needs?|requires?|buy|purchase|get) ((more|additional|some|usage) )?credits|(any|available|out of|more|enough|prepaid|\d) credits\b|credits? (have |has |is |are )?(run out|used up|depleted|exhausted)|key limit exceeded.{0,60}openrouter\.ai`, kind: providers.Billing, source: "xAI: continuedev/continue#12670, OpenRouter: MCPJam/inspector#1287"},
	{words: `(monthly|spend(ing)?|cost|hard) (limit|cap|budget)\b.{0,40}(reached|exceeded|hit)|(reached|reaching|exceeded|hit)\b.{0,40}(spend(ing)?|api usage|monthly|cost|billing) (limit|cap|budget)|budget (has been |was |is )?exceeded`, kind: providers.Billing, source: "Anthropic: anthropics/claude-code#38035; Fireworks: pollinations/pollinations#12136"},
	{words: `billing (is )?(disabled|not enabled|hard limit|not active)|enable billing|\bwallet\b|add (money|funds)|\boverdue|\brecharge|top[ -]?up|payment (is )?required|purchase (more )?credits|please pay`, kind: providers.Billing, source: "Google; Volcengine: RooCodeInc/Roo-Code#12309"},
	{when: (*Fault).isLasting, words: `(requires?|needs?|without|no|upgrade your) (an? )?(\w+ )?(subscription|paid plan)|subscription (has |is )?(expired|required|inactive)|out of call volume quota|upgrade your plan`, kind: providers.Billing, source: "Ollama: ollama/ollama#16773; Azure: MicrosoftDocs/azure-docs#16282"},
	{words: `(account|organization|team)\b.{0,40} (is |has been |was )(suspended|disabled)`, kind: providers.Billing, source: "Fireworks: pollinations/pollinations#12136; anthropics/claude-code#72457"},
	{statuses: notThrottle, words: `payment[ _](method|info|details)|valid payment|\bcard (was |is |has )?(been )?(declined|rejected|refused|expired)`, kind: providers.Billing, source: "in many words"},
	{words: `payment[ _]instrument`, kind: providers.Billing, source: "Bedrock: INVALID_PAYMENT_INSTRUMENT"},
	{words: `location is not supported|not available in your (region|country)`, kind: providers.Billing, source: "Google: gemini-api-php/client#32; OpenRouter: standardagents/dmux#43"},
	{words: `欠费|余额不足|余额已|недостаточно средств`, kind: providers.Billing, source: "Zhipu, in Chinese; in Russian"},
	{when: (*Fault).isUsedUp, kind: providers.Billing, source: "a rule: see quota.go"},
	{statuses: span{from: http.StatusPaymentRequired}, kind: providers.Billing, source: "RFC 9110"},
	{statuses: span{from: http.StatusUnavailableForLegalReasons}, kind: providers.Billing, source: "RFC 7725"},
}

// memoryRows are about servers with too little memory.
var memoryRows = []row{
	{words: `requires more system memory|out of memory|out_of_memory|outofmemory|cudamalloc failed|insufficient (system |gpu |video )?(memory|resources)|` +
		`unable to allocate \S+ (kv )?(cache|buffer)|failed to allocate|too large for available memory|exceeded (its |the )?(maximum )?memory`, kind: providers.OutOfMemory, source: "Ollama, CUDA; LM Studio: lmstudio-ai/lmstudio-bug-tracker#1202; oMLX: NousResearch/hermes-agent#52289"},
	{words: `llama runner process (has terminated|no longer running)`, kind: providers.OutOfMemory, source: "Ollama: ollama/ollama#8770"},
}

// filterRows are about content that a service refuses.
var filterRows = []row{
	{statuses: notThrottle, codes: "content_filter content_filtered content_policy_violation responsibleaipolicyviolation", kind: providers.ContentFiltered, source: "Azure, OpenAI"},
	{statuses: notThrottle, codes: "bio_policy misalignment_policy_violation", kind: providers.ContentFiltered, source: "OpenAI: ResponseErrorCode in openai/openai-go"},
	{statuses: notThrottle, codes: "data_inspection_failed datainspectionfailed sensitive_content 1301", kind: providers.ContentFiltered, source: "DashScope, Zhipu"},
	{statuses: span{0, 428}, words: `content[ _-]?(management|filter(ed|ing)?|policy)|requires moderation|flagged (as|for|by)|safety (system|filter)|content exists risk|inappropriate content|content violates`, kind: providers.ContentFiltered, source: "Azure, OpenRouter, DeepSeek, xAI"},
	{statuses: span{0, 428}, words: `(blocked|rejected|refused|denied|withheld|stopped) (by|due to|because of) .{0,30}(moderation|guardrail|safety|policy|harmful|content)|usage (policies|policy|guidelines)|harmful content|敏感内容|敏感信息|不安全`, kind: providers.ContentFiltered, source: "OpenAI; Zhipu: langchain4j/langchain4j#1079"},
	{statuses: span{0, 428}, words: `(for|due to|because of|by)( \S+){0,3} safety([.,;:!")\n]|$)|\bsafety (polic|guideline|reason|concern|check|system)|` +
		`(blocked|refused|rejected|denied|stopped)\b.{0,40}\bsafety\b|` +
		`(prohibited|disallowed|harmful) (content|material|use)([.,;:!"\n]|$| (was|is|in|detected|found)\b)`, kind: providers.ContentFiltered, source: "OpenAI: invalid_prompt, openai/codex#43165"},
	{statuses: notThrottle, when: (*Fault).namesPolicy, kind: providers.ContentFiltered, source: "OpenAI: cyber_policy"},
	{statuses: span{from: statusGuardrail}, kind: providers.ContentFiltered, source: "Portkey: https://portkey.ai/docs/product/guardrails"},
}

// overflowRows are about prompts that are too long.
var overflowRows = []row{
	{codes: "context_length_exceeded exceed_context_size_error model_max_prompt_tokens_exceeded request_too_large", kind: providers.ContextOverflow, source: "OpenAI, llama.cpp, Anthropic; Copilot: microsoft/copilot-intellij-feedback#94"},
	{codes: "1261 336103 336007 string_above_max_length", kind: providers.ContextOverflow, source: "Zhipu: zeroclaw-labs/zeroclaw#4124; Baidu; OpenAI"},
	{statuses: span{0, 428}, words: overflowWords, kind: providers.ContextOverflow, source: "OpenAI, Anthropic, xAI, LM Studio, Mistral, Bedrock"},
	{statuses: serverError, words: overflowWords, kind: providers.ContextOverflow, source: "llama.cpp: ggml-org/llama.cpp#19774; Xinference: langchain-ai/deepagents#468"},
	{statuses: span{from: http.StatusRequestEntityTooLarge}, kind: providers.ContextOverflow, source: "RFC 9110"},
}

// overflowWords are what known services say about a prompt that is too long.
const overflowWords = `max(imum)? context length|maximum prompt length|(prompt|inputs?|input token length|request|prompt tokens) (is |are )?too long|` +
	`exceed(s|ed|ing)? (\S+ ){0,4}context|input tokens? .{0,40}exceed|(greater|longer) than the (model's )?(maximum )?(context|model) length|` +
	`context (length|window|size) (of|is|exceeded|overflow|has been exceeded)|tokens to keep from the initial prompt|` +
	`inputs. (tokens .{0,30}must be <=|must have less than)|exceeded model token limit|input length .{0,40}exceed|prompt exceeds max|` +
	`range of input length|prompt token count of \d+ exceeds|input token count is \d+ but|too many tokens: (size|total)`

// passingRows are about failures that a retry may end, although the status says that the request is at fault.
var passingRows = []row{
	{codes: "json_validate_failed tool_use_failed", kind: providers.InvalidResponse, source: "Groq: thepersonalaicompany/amurex-backend#38, lucagrippa/obsidian-ai-tagger#34"},
	{words: `degraded function cannot be invoked`, kind: providers.ServerError, source: "NVIDIA: decolua/9router#2527"},
	{statuses: refused, words: crashWords, kind: providers.ServerError, source: "LM Studio: lmstudio-ai/lmstudio-bug-tracker#1347, #1492"},
	{statuses: serverError, words: `\b(roles?|user|assistant|messages)\b.{0,60}\balternat|\bjinja|(chat|prompt)[ _]template|render\w* (the )?prompt|template ?error|raise_exception`, kind: providers.InvalidRequest, source: "llama.cpp, vLLM, LM Studio: nomic-ai/gpt4all#3291"},
	{statuses: serverError, when: (*Fault).refusesSystem, kind: providers.InvalidRequest, source: "sgl-project/sglang#892"},
	{statuses: refused, words: `\boverloaded\b|try your request again|temporarily unavailable`, kind: providers.ServerError, source: "Bedrock: hydro-project/infinity#124"},
	{statuses: clientError, codes: "overloaded_error engine_overloaded_error server_is_overloaded capacity_exceeded", kind: providers.ServerError, source: "Anthropic, Moonshot, OpenAI, Groq"},
}

// crashWords are what servers say about a model that they must load again.
const crashWords = `\b(model|engine|runner|worker|backend|server|instance|process|core)\b.{0,40}(crashed|\bdied|terminated|aborted|\bkilled|unloaded|evicted|exited|\bis gone|stopped (responding|unexpectedly))|` +
	`lost connection to the (model|engine|runner)|` +
	`\bexited with (code|status)|channel error|\bsig(segv|abrt|kill|bus)\b`

// refusalRows are about limits in a time and about keys.
var refusalRows = []row{
	{codes: "rate_limit_exceeded rate_limit_error ratelimitexceeded resource_exhausted usage_limit_reached", kind: providers.RateLimit, source: "OpenAI, Anthropic, Google"},
	{statuses: span{from: http.StatusTooManyRequests}, kind: providers.RateLimit, source: "RFC 6585"},
	{statuses: span{from: 420}, kind: providers.RateLimit, source: "Enhance Your Calm"},
	{statuses: span{0, 499}, words: `rate.?limit (is |was |has been )?(exceeded|reached)|secondary rate limit|slow down|\d requests allowed|(tokens|requests) per (second|min|minute|hour|day|month)`, kind: providers.RateLimit, source: "GitHub: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api"},
	{statuses: span{from: http.StatusForbidden}, codes: "model_not_found", kind: providers.InvalidRequest, source: "OpenAI: a project without access to a model"},
	{statuses: span{from: http.StatusForbidden}, words: `\bmodel\b.{0,80}(not found|(does not|doesn't) exist)|no such model|(unknown|missing) model`, kind: providers.InvalidRequest, source: "in many words"},
	{codes: "invalid_api_key authentication_error unauthenticated api_key_invalid", kind: providers.Authentication, source: "OpenAI, Anthropic, Google"},
	{codes: "permission_error permission_denied api_key_service_blocked service_disabled", kind: providers.Authentication, source: "Anthropic, Google"},
	{statuses: span{http.StatusUnauthorized, http.StatusUnauthorized}, kind: providers.Authentication, source: "RFC 9110"},
	{statuses: span{from: http.StatusForbidden}, kind: providers.Authentication, source: "RFC 9110"},
	{statuses: span{from: http.StatusBadRequest}, words: keyWords, kind: providers.Authentication, source: "Google"},
}

const keyWords = `api.?key|unauthori[sz]ed|unauthenticated|authentication|(access|auth|bearer|session) token|(access|secret) key`

// unknownRows is the rule for words that nobody has seen. See [Fault.seemsTooLong].
var unknownRows = []row{
	{statuses: inReply, when: (*Fault).seemsTooLong, source: "a rule"},
	{statuses: span{http.StatusBadRequest, http.StatusBadRequest}, when: (*Fault).seemsTooLong, source: "a rule"},
	{statuses: span{http.StatusNotAcceptable, 499}, when: (*Fault).seemsTooLong, source: "a rule"},
	{statuses: span{from: http.StatusInternalServerError}, when: (*Fault).seemsTooLong, source: "a rule"},
}

// generalRows are codes that say little more than a status.
var generalRows = []row{
	{words: `unexpected endpoint or method`, kind: providers.InvalidRequest, hint: "check that Config.BaseURL ends with /v1", source: "LM Studio: lmstudio-ai/lmstudio-bug-tracker#618"},
	{codes: "timeout_error deadline_exceeded", kind: providers.Timeout, source: "Anthropic, Google"},
	{codes: "overloaded_error api_error server_error unavailable internal internal_server_error", kind: providers.ServerError, source: "Anthropic, OpenAI, Google"},
	{codes: "model_not_found not_found_error not_found invalid_request_error", statuses: span{0, 499}, kind: providers.InvalidRequest, source: "OpenAI, Anthropic, Google"},
}

// statusGuardrail is a status of Portkey, which no standard has.
const statusGuardrail = 446

// statusRows say what the HTTP statuses mean.
var statusRows = []row{
	{statuses: span{from: http.StatusRequestTimeout}, kind: providers.Timeout, source: "RFC 9110"},
	{statuses: span{from: http.StatusGatewayTimeout}, kind: providers.Timeout, source: "RFC 9110"},
	{statuses: span{300, 399}, kind: providers.InvalidRequest, source: "a redirect is not followed"},
	{statuses: span{http.StatusBadRequest, http.StatusNotAcceptable}, kind: providers.InvalidRequest, source: "RFC 9110"},
	{statuses: span{http.StatusGone, http.StatusLengthRequired}, kind: providers.InvalidRequest, source: "RFC 9110"},
	{statuses: span{http.StatusRequestURITooLong, http.StatusUnsupportedMediaType}, kind: providers.InvalidRequest, source: "RFC 9110"},
	{statuses: span{from: http.StatusUnprocessableEntity}, kind: providers.InvalidRequest, source: "RFC 9110"},
	{statuses: clientError, kind: providers.ServerError, source: "424 of Bedrock: can1357/oh-my-pi#12449; 499 of Google: google-gemini/gemini-cli#20309; 498 of Groq"},
	{statuses: serverError, kind: providers.ServerError, source: "RFC 9110"},
}

// wordRows are what words say about an error without a status.
var wordRows = []row{
	{words: `rate.?limit|too many (requests|tokens)|tokens per min|quota|resource.?exhausted|throttl`, kind: providers.RateLimit, source: "langchaingo"},
	{words: keyWords + `|permission`, kind: providers.Authentication, source: "langchaingo"},
	{words: `model .{0,200}(not found|not exist)|does not support`, kind: providers.InvalidRequest, source: "Ollama, through langchaingo"},
	{words: `time(d )?out|deadline.?exceeded`, kind: providers.Timeout, source: "langchaingo"},
	{words: `network error|cancell?ed|connection (refused|reset)|broken pipe|unexpected eof`, when: (*Fault).isLocal, kind: providers.Network, source: "langchaingo"},
	{words: `(no|empty) response|no content in|blocked`, kind: providers.InvalidResponse, source: "langchaingo"},
}
