package wire

import (
	"fmt"
	"strings"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/fault"
)

// FinishWord ends the reply for a finish reason in the service's words, such as "stop", "MAX_TOKENS" or "end_turn". It
// returns an error if the reason is a failure, or unknown: what has arrived is then no reply. An empty reason is none.
func (r *Reply) FinishWord(word string) error {
	if word == "" || word == "null" {
		return nil
	}
	plain := strings.TrimPrefix(strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(word)), "finishreason")
	if reason, ok := finishReasons[plain]; ok {
		if reason != unspecified {
			r.Finish(reason)
		}
		return nil
	}
	err := fmt.Errorf("read reply: the service ended it with finish reason %q", word)
	if plain == errorText {
		return r.failWithText(err)
	}
	for _, f := range failedReasons {
		if strings.Contains(plain, f.part) {
			return &providers.Error{Kind: f.kind, Err: err}
		}
	}
	return &providers.Error{Kind: providers.InvalidResponse, Err: err}
}

// errorText is a finish reason of gateways after which the text of the reply is that of an error.
// Sources: ranxianglei/billion-context-pi#169, NousResearch/hermes-agent#92161
const errorText = "errorfinish"

// failWithText fails a reply whose text is an error. It removes the text, so that no caller takes it for a part of a reply.
func (r *Reply) failWithText(err error) error {
	const longest = 1_000
	r.fill()
	text := r.res.Text
	r.segments = nil
	r.partRune = nil
	r.res.Text = ""
	r.res.Parts = nil
	if text == "" || len(text) > longest {
		return &providers.Error{Kind: providers.ServerError, Err: err}
	}
	failed := fault.InReply([]byte(text)).Error(r.secrets)
	failed.Err = fmt.Errorf("%w: %s", err, fault.Excerpt(text, r.secrets))
	return failed
}

// unspecified is the finish reason of Google's events before the last.
const unspecified = providers.FinishReason("unspecified")

// finishReasons maps the services' finish reasons, in lower case and without underscores, to those of package providers.
// Sources: the documentation of OpenAI, Anthropic, Google (https://ai.google.dev/api/generate-content#FinishReason), Mistral,
// Ollama and Cohere; "sensitive" is Z.ai's (langgenius/dify#7559).
var finishReasons = map[string]providers.FinishReason{
	"stop": providers.Stop, "endturn": providers.Stop, "stopsequence": providers.Stop, "complete": providers.Stop, "end": providers.Stop, "done": providers.Stop,
	"completed": providers.Stop, "eos": providers.Stop, "eostoken": providers.Stop, "finish": providers.Stop, "finished": providers.Stop,
	"endoftext": providers.Stop, "stopped": providers.Stop, "success": providers.Stop, "normal": providers.Stop, "load": "", "unload": "",
	"length": providers.Length, "maxtokens": providers.Length, "maxoutputtokens": providers.Length, "maxlength": providers.Length, "tokenlimit": providers.Length,
	"modellength": providers.WindowFull, "modelcontextwindowexceeded": providers.WindowFull, "contextlength": providers.WindowFull,
	"toolcalls": providers.ToolCalls, "tooluse": providers.ToolCalls, "toolcall": providers.ToolCalls, "functioncall": providers.ToolCalls,
	"contentfilter": providers.ContentFilter, "contentfiltered": providers.ContentFilter, "sensitive": providers.ContentFilter,
	"refusal": providers.ContentFilter, "safety": providers.ContentFilter, "recitation": providers.ContentFilter, "language": providers.ContentFilter,
	"blocklist": providers.ContentFilter, "prohibitedcontent": providers.ContentFilter, "spii": providers.ContentFilter,
	"imagesafety": providers.ContentFilter, "guardrailintervened": providers.ContentFilter, "errortoxic": providers.ContentFilter,
	"unspecified": unspecified, "notfinished": unspecified,
}

// failedReasons maps parts of the finish reasons of failed replies to kinds. The first that matches decides.
// Sources: OpenRouter, DeepSeek, vLLM; Z.ai (promptfoo/promptfoo#9905); Gemini (NousResearch/hermes-agent#83886)
var failedReasons = []struct {
	part string
	kind providers.ErrorKind
}{
	{"networkerror", providers.Network},
	{"abort", providers.Network},
	{"cancel", providers.Network},
	{"timeout", providers.Timeout},
	{"timelimit", providers.Timeout},
	{"malformed", providers.InvalidResponse},
	{"error", providers.ServerError},
	{"fail", providers.ServerError},
	{"insufficientsystemresource", providers.ServerError},
	{"overload", providers.ServerError},
	{"pauseturn", providers.ServerError}, // the service used its own tools
}
