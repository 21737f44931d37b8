package adapter

import (
	"strings"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// Add adds a chunk to the reply. It returns an error if the call has ended; return it then.
type Add func(Chunk) error

// Chunk is what arrived of a reply. Every field may be empty.
type Chunk struct {
	Text         string               // a piece of the text; it may end inside a character
	Reasoning    string               // a piece of what the model thought
	ToolCalls    []providers.ToolCall // calls of tools that the model was not given, which are an error
	FinishReason string               // in the service's words, such as "stop", "MAX_TOKENS" or "end_turn"; the last one counts
	Usage        transcript.Usage     // of the reply so far; the last one that is not zero counts
	Total        int                  // all tokens so far, if reported: those that Usage lacks are reasoning
	Model        string               // the model that replied
}

// finishReason returns the finish reason for a service's word, or "" if the word is not known.
func finishReason(word string) providers.FinishReason {
	return finishReasons[strings.NewReplacer("_", "", "-", "", "finishreason", "").Replace(strings.ToLower(word))]
}

// finishReasons maps the services' finish reasons, in lower case and without underscores, to those of package providers.
var finishReasons = map[string]providers.FinishReason{
	"stop": providers.Stop, "endturn": providers.Stop, "stopsequence": providers.Stop, "complete": providers.Stop,
	"completed": providers.Stop, "eos": providers.Stop, "eostoken": providers.Stop, "finish": providers.Stop, "endoftext": providers.Stop,
	"length": providers.Length, "maxtokens": providers.Length,
	"modellength": providers.WindowFull, "modelcontextwindowexceeded": providers.WindowFull,
	"toolcalls": providers.ToolCalls, "tooluse": providers.ToolCalls, "functioncall": providers.ToolCalls,
	"contentfilter": providers.ContentFilter, "contentfiltered": providers.ContentFilter,
	"refusal": providers.ContentFilter, "safety": providers.ContentFilter, "recitation": providers.ContentFilter,
	"blocklist": providers.ContentFilter, "prohibitedcontent": providers.ContentFilter, "spii": providers.ContentFilter,
	"guardrailintervened": providers.ContentFilter,
}
