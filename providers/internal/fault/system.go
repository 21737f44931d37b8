package fault

import "strings"

// systemRefusals match what services say about a message with the role system. A template that has none often says that the roles
// of user and assistant must alternate; the providers' prompts do so, apart from the system prompt.
// Sources: vllm-project/vllm#2964, huggingface/chat-ui#1386, sgl-project/sglang#892, abetlen/llama-cpp-python#1580,
// lmstudio-ai/lmstudio-bug-tracker#1054, nomic-ai/gpt4all#3291
var systemRefusals = pattern{text: `(?i)` + strings.Join([]string{
	systemThing + `.{0,20}\b(?:(?:is|are|was|were|be|can) ?)?(?:not|n't|un)(?: be)?[ -]?` + acceptedWords,
	`(?:not|n't|un)[ -]?` + acceptedWords + `\b.{0,50}?` + systemThing,
	`(?:unknown|invalid|unexpected|unsupported|bad|illegal|disallowed|wrong)\b.{0,20}\brole\b\W{0,4}(?:is |of |was )?\W{0,2}system\b`,
	`\b(?:no|without|lacks?|missing) (?:an? )?system (?:role|prompt|message)`,
	`roles? must alternate|must alternate (?:between )?user|must be alternating`,
	`only (?:the )?\W?user\W{0,2}(?:,|and|or|/)\W{0,3}(?:assistant|model)\W{0,2} (?:roles?|messages?|turns?)`,
	`(?:first|initial) (?:message|turn|role)\b.{0,40}(?:must|should|has to|needs to|expected).{0,30}\buser`,
	`(?:must|should|has to|needs to) (?:start|begin) with (?:an? )?(?:message (?:from|of) (?:the )?)?\W?user`,
	`(?:system|developer)[ _]instructions? (?:is|are) not`,
	`不支持.{0,10}(?:system|系统)|(?:system|系统).{0,3}(?:角色|消息|提示).{0,10}不(?:支持|允许)`,
}, "|")}

// acceptedWords say that something is accepted. systemThing is what they are about.
const (
	acceptedWords = `(?:support(?:ed|s|ing)?|allow(?:ed|s)?|accept(?:ed|s)?|permit(?:ted)?|enabled?|expect(?:ed)?|recogni[sz]ed?|implement(?:ed)?|handled?|valid)`
	systemThing   = `(?:["'` + "`" + `]system["'` + "`" + `]|\bsystem[ _-](?:role|message|prompt|instruction|turn)s?|\brole\W{1,4}system)\b?`
)

// acceptedRoles matches a list of the roles that a service accepts.
var acceptedRoles = pattern{text: `(?i)\brole.{0,80}?\b(?:be|of|expected|allowed|are)\b[^a-z]{0,6}(?:one of[^a-z]{0,6})?(?:literal)?[^a-z]{0,4}user\W.{0,40}`}

// RefusesSystem reports whether the words of a service say that it accepts no message with the role system.
func RefusesSystem(words string) bool {
	if systemRefusals.compiled().MatchString(words) {
		return true
	}
	roles := strings.ToLower(acceptedRoles.compiled().FindString(words))
	return strings.Contains(roles, assistantRole) && !strings.Contains(roles, "system")
}

// refusesSystem reports whether the service has no system role.
func (f *Fault) refusesSystem() bool { return RefusesSystem(f.words) }

const assistantRole = "assistant"
