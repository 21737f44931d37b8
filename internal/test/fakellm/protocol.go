package fakellm

import (
	"cmp"
	"encoding/json"
	"maps"
	"strings"
	"unicode/utf8"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// Protocol is the API protocol of a service.
type Protocol string

// The protocols.
const (
	OpenAI    Protocol = "openai"    // chat completions
	Mistral   Protocol = "mistral"   // chat completions of Mistral
	DeepSeek  Protocol = "deepseek"  // chat completions of DeepSeek
	Responses Protocol = "responses" // OpenAI's Responses API
	Anthropic Protocol = "anthropic"
	Ollama    Protocol = "ollama"
	Google    Protocol = "google"
)

// Reply describes how a service responds to one call.
type Reply struct {
	Chunks       []string // the text; a call that does not stream gets all chunks at once
	FinishReason string   // the protocol's own value; defaults to the value for a complete reply
	Usage        transcript.Usage

	RawChunks []string             // further text, as the contents of JSON strings
	Reasoning string               // precedes the text
	ToolCalls []providers.ToolCall // follow the text
	NoUsage   bool                 // report no usage
	Padding   int                  // the number of bytes that are added to the first chunk's event
	Trickle   bool                 // send each byte by itself
	Gzip      bool                 // compress the stream
	Whole     bool                 // reply at once, although the call asked for a stream
	Arrived   func()               // called before anything is sent

	// The first of these fields that is set replaces the normal end of a stream.
	Error     string   // send an error event with this message
	ErrorCode string   // the code of the error event, in the protocol's form; optional
	RawLines  []string // send these lines unchanged, without a line break after the last
	Reset     bool     // reset the connection
	EndEarly  bool     // end the stream without its final events
	Hang      bool     // send nothing more until the client disconnects, also after RawLines

	Status int               // if set, refuse the call with this HTTP status
	Header map[string]string // the headers of a refusal or a stream
	Body   string            // the body of a refusal; defaults to an error in the protocol's form
}

// object is a JSON object.
type object map[string]any

func (o object) String() string {
	raw, _ := json.Marshal(map[string]any(o)) // the package's values always encode
	return string(raw)
}

// rawByte is the first of 256 characters that stand for bytes that are not UTF-8, which JSON would replace.
const rawByte = 0xf0000

// hideBytes replaces bytes that are not UTF-8 with characters.
func hideBytes(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && n == 1 {
			r = rawByte + rune(text[0])
		}
		b.WriteRune(r)
		text = text[n:]
	}
	return b.String()
}

// showBytes undoes hideBytes.
func showBytes(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r >= rawByte && r < rawByte+256 {
			b.WriteByte(byte(r - rawByte))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// merge returns an object with the fields of o and more.
func (o object) merge(more object) object {
	both := maps.Clone(o)
	maps.Copy(both, more)
	return both
}

// finishReason returns the finish reason of a reply, in the protocol's form.
func (p Protocol) finishReason(r Reply) string {
	if p == Anthropic {
		return cmp.Or(r.FinishReason, "end_turn")
	}
	if p == Google {
		return cmp.Or(r.FinishReason, "STOP")
	}
	return cmp.Or(r.FinishReason, "stop")
}

// usage returns the usage of a reply, in the protocol's form. It omits counts that the protocol cannot express.
func (p Protocol) usage(r Reply) object {
	if r.NoUsage {
		return object{}
	}
	switch p {
	case Anthropic: // input_tokens excludes tokens that were read from or written to the cache
		return object{
			"input_tokens": r.Usage.Input - r.Usage.Cached - r.Usage.Written, "output_tokens": r.Usage.Output,
			"cache_read_input_tokens": r.Usage.Cached, "cache_creation_input_tokens": r.Usage.Written,
		}
	case Ollama:
		return object{"prompt_eval_count": r.Usage.Input, "eval_count": r.Usage.Output}
	case Google: // candidatesTokenCount excludes reasoning
		return object{
			"promptTokenCount": r.Usage.Input, "cachedContentTokenCount": r.Usage.Cached,
			"candidatesTokenCount": r.Usage.Output - r.Usage.Reasoning, "totalTokenCount": r.Usage.Input + r.Usage.Output,
		}
	case Responses:
		return object{
			"input_tokens": r.Usage.Input, "output_tokens": r.Usage.Output, "total_tokens": r.Usage.Input + r.Usage.Output,
			"input_tokens_details":  object{"cached_tokens": r.Usage.Cached},
			"output_tokens_details": object{"reasoning_tokens": r.Usage.Reasoning},
		}
	default:
		return object{
			"prompt_tokens": r.Usage.Input, "completion_tokens": r.Usage.Output, "total_tokens": r.Usage.Input + r.Usage.Output,
			"prompt_tokens_details":     object{"cached_tokens": r.Usage.Cached},
			"completion_tokens_details": object{"reasoning_tokens": r.Usage.Reasoning},
		}
	}
}
