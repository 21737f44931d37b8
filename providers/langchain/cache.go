package langchain

import (
	"bytes"
	"strings"

	"github.com/elenchus-go/debate/providers"
)

// lookback is how many blocks Anthropic looks at for what its cache has: the marked one, then those before it.
// Source: https://platform.claude.com/docs/en/build-with-claude/prompt-caching
const lookback = 20

// maxBreakpoints is how many blocks of the dialog are marked at most. With the system's mark that leaves one of Anthropic's
// four, for a cache_control in Transport.Extra.
const maxBreakpoints = 2

// cacheControl is the field that marks a block.
const cacheControl = "cache_control"

// block is a text in Anthropic's form.
type block struct {
	Type         string             `json:"type"`
	Text         string             `json:"text"`
	CacheControl *cacheControlValue `json:"cache_control,omitempty"`
}

// cacheControlValue asks Anthropic to keep the prompt up to here for five minutes.
type cacheControlValue struct {
	Type string `json:"type"`
}

var ephemeral = &cacheControlValue{Type: "ephemeral"}

// anthropicMessage is what one role says in a row.
type anthropicMessage struct {
	Role    providers.Role `json:"role"`
	Content []*block       `json:"content"`
}

// writeWithBreakpoints writes the prompt into a body of Anthropic's with marks for its cache: at the end of the system prompt, and
// before the last text, which asks for the reply and does not come again. A second writeWithBreakpoints in the dialog finds what the
// prompt before left there even if up to 39 texts have come since. Each text is a block, so that one that follows does
// not change those before it.
func (p prompt) writeWithBreakpoints(body object) {
	if len(p.system.texts) > 0 {
		_ = body.set("system", []block{{"text", strings.Join(p.system.texts, blankLine), ephemeral}}) // strings always encode
	}
	messages := make([]anthropicMessage, len(p.dialog))
	var blocks []*block
	for i, s := range p.dialog {
		messages[i] = anthropicMessage{s.role, s.blocks()}
		blocks = append(blocks, messages[i].Content...)
	}
	for n, i := 0, len(blocks)-2; n < maxBreakpoints && i >= 0; n, i = n+1, i-lookback {
		blocks[i].CacheControl = ephemeral
	}
	_ = body.set("messages", messages)
}

// blocks are the texts of a speech, which together read as its content does.
func (s messageGroup) blocks() []*block {
	blocks := make([]*block, len(s.texts))
	for i, text := range s.texts {
		if i > 0 {
			text = blankLine + text
		}
		blocks[i] = &block{Type: "text", Text: text}
	}
	return blocks
}

// hasBreakpoints says whether a body bears marks.
func hasBreakpoints(body object) bool {
	field := []byte(`"` + cacheControl + `":`)
	return bytes.Contains(body["system"], field) || bytes.Contains(body["messages"], field)
}
