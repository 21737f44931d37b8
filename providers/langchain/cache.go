package langchain

import (
	"bytes"
	"strings"

	"github.com/elenchus-go/debate/providers"
)

// lookback is the number of blocks that Anthropic checks for a cache entry: the block with the breakpoint, and those
// before it.
// Source: https://platform.claude.com/docs/en/build-with-claude/prompt-caching
const lookback = 20

// maxBreakpoints is the maximum number of breakpoints in the dialog. Anthropic allows four. One is in the system prompt,
// and one remains for a cache_control in Transport.Extra.
const maxBreakpoints = 2

// cacheControl is the field that sets a breakpoint in a block.
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

// anthropicMessage holds consecutive texts of one role.
type anthropicMessage struct {
	Role    providers.Role `json:"role"`
	Content []*block       `json:"content"`
}

// writeWithBreakpoints writes the prompt into the body of a request to Anthropic, with cache breakpoints at the end of
// the system prompt and before the last text. The last text requests the reply and does not occur again. A second
// breakpoint in the dialog finds the cache entry of the previous prompt even if up to 39 texts were added since. Each
// text is its own block, so that a new text does not change the blocks before it.
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

// blocks returns one block for each text. Joined, they equal the text of content.
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

// hasBreakpoints reports whether a body has cache breakpoints.
func hasBreakpoints(body object) bool {
	field := []byte(`"` + cacheControl + `":`)
	return bytes.Contains(body["system"], field) || bytes.Contains(body["messages"], field)
}
