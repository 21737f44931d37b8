package adapter

import (
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// Add adds a chunk to the reply. It returns an error if the call has ended; return it then.
type Add func(Chunk) error

// Chunk is what arrived of a reply. Every field may be empty.
type Chunk struct {
	Text         string               // a piece of the text; it may end inside a character
	Reasoning    string               // a piece of what the model thought
	ToolCalls    []providers.ToolCall // calls of tools; an error if the reply has no text and the model may call none
	FinishReason string               // in the service's words, such as "stop", "MAX_TOKENS" or "end_turn"; the last one counts, and an unknown one is an error
	Usage        transcript.Usage     // of the reply so far; the last one that is not zero counts
	Total        int                  // all tokens so far, if reported: those that Usage lacks are reasoning
	Model        string               // the model that replied
	Warning      string               // what was noticed about the service
	Read         []transcript.Access  // what the model has looked at by itself; added to what came before
}
