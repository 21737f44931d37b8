// Package reasoning has what the engine and the providers share about the reasoning of models: how much a model may
// reason, and reasoning that a model writes into its text.
package reasoning

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// The levels. Any other setting that is not empty is a budget in tokens, such as "2048".
const (
	None   = "none"
	Low    = "low"
	Medium = "medium"
	High   = "high"
)

// The tokens of each level: the reasoning that a reply has room for, and the budget for services that know only budgets.
const (
	LowTokens    = 2048
	MediumTokens = 8192
	HighTokens   = 16384
)

// maxBudget limits a budget, in tokens.
const maxBudget = 1_000_000

// Tokens returns the tokens that a setting allows for reasoning. It is 0 if the model does not reason, if the service
// chooses, or if the setting is not valid.
func Tokens(setting string) int {
	switch setting {
	case Low:
		return LowTokens
	case Medium:
		return MediumTokens
	case High:
		return HighTokens
	}
	return Budget(setting)
}

// Budget returns the budget that a setting sets in tokens, or 0 if the setting is empty, a level or not valid.
func Budget(setting string) int {
	if setting == "" || setting[0] < '1' || setting[0] > '9' {
		return 0
	}
	n, err := strconv.Atoi(setting)
	if err != nil || n < 1 || n > maxBudget || strconv.Itoa(n) != setting {
		return 0
	}
	return n
}

// Check returns what is wrong with a setting, or the empty string.
func Check(setting string) string {
	switch setting {
	case "", None, Low, Medium, High:
		return ""
	}
	if Budget(setting) == 0 {
		return fmt.Sprintf("%q is not valid, use %q, %q, %q, %q, or a budget of 1 to %d tokens, such as \"2048\"", setting, None, Low, Medium, High, maxBudget)
	}
	return ""
}

// Less returns advice about the model of an actor that only reasons.
func Less(name string) string {
	return fmt.Sprintf(`set "reasoning": "none" for %s, or raise its token limit`, name)
}

// Split separates the reply in a text from the reasoning that a model wrote into it, between <think> and </think>, or
// between <thinking> and </thinking>, in any letter case:
//
//   - A block without an end lasts to the end of the text.
//   - If an end has no beginning, everything before it is reasoning. Some servers put the beginning into the prompt.
//   - Tags in a fenced code block, and tags directly between backquotes, are part of the reply, because a reply may be
//     about them. Within reasoning, code fences have no meaning.
//   - White space between a block and the reply that begins after it is removed.
func Split(text string) (reply, reasoning string) {
	if strings.IndexByte(text, '<') < 0 {
		return text, ""
	}
	var f Filter
	var said, thought strings.Builder
	f.scan(text, true, func(k kind, piece string) {
		switch k {
		case reset:
			before := said.String()
			said.Reset()
			thought.WriteString(before)
		case inline:
			thought.WriteString(piece)
		case visible:
			said.WriteString(piece)
		}
	})
	return said.String(), thought.String()
}

// Filter removes reasoning from a text that arrives in pieces. The zero Filter is ready to use. What it returns, taken
// together, is the reply that [Split] returns for the whole text. If an end has no beginning, it has also returned the text
// before it.
type Filter struct {
	held   string // what may be the beginning of a tag
	before byte   // the byte before held
	inside bool   // within reasoning
	trim   bool   // white space is removed: the reply has not begun since the last block
	begun  bool   // the reply has begun

	fences Fences
}

// Fences follows the fenced code blocks of a Markdown text, byte by byte. The zero Fences is at its beginning.
type Fences struct {
	fence byte // the character of the open code fence; 0 if none is open
	lead  int8 // spaces at the beginning of the line; -1 after another character
	run   int8 // fence characters at the beginning of the line
	mark  byte // which character they are
}

// Open reports whether the next byte is within a code block, or ends it.
func (f *Fences) Open() bool { return f.fence != 0 }

// BeginLine notes that a line begins, because what stands before it is not part of the text.
func (f *Fences) BeginLine() { f.lead, f.run = 0, 0 }

// Add notes the next byte of the text.
func (f *Fences) Add(c byte) {
	switch {
	case c == '\n':
		f.BeginLine()
	case f.lead < 0:
	case c == ' ' && f.run == 0 && f.lead < 3:
		f.lead++
	case (c == '`' || c == '~') && (f.run == 0 || c == f.mark):
		f.mark = c
		f.run++
		if f.run < 3 {
			return
		}
		f.lead = -1
		switch f.fence {
		case 0:
			f.fence = c
		case c:
			f.fence = 0
		}
	default:
		f.lead = -1
	}
}

// Add returns the reply in the next piece of the text. The reply may be in a later result, as long as a piece may end
// inside of a tag.
func (f *Filter) Add(piece string) string {
	if !f.inside && !f.trim && f.held == "" && f.pass(piece) {
		return piece
	}
	return f.text(piece, false)
}

// Pending reports whether End may return text.
func (f *Filter) Pending() bool { return f.held != "" }

// End returns the rest of the reply.
func (f *Filter) End() string { return f.text("", true) }

// text returns the reply in a piece.
func (f *Filter) text(piece string, end bool) string {
	var said strings.Builder
	f.scan(piece, end, func(k kind, piece string) {
		if k == visible {
			said.WriteString(piece)
		}
	})
	return said.String()
}

// A kind says whether a part of a text is shown.
type kind int

const (
	visible kind = iota
	inline
	reset // all earlier text was reasoning
)

// scan passes the parts of a piece to emit. end means that no piece follows.
func (f *Filter) scan(piece string, end bool, emit func(kind, string)) {
	buf := f.held + piece
	f.held = ""
	from := 0 // buf[:from] was emitted
	flush := func(to int) {
		text := buf[from:to]
		from = to
		if f.inside && text != "" {
			emit(inline, text)
			return
		}
		text = f.trimmed(text)
		if text != "" {
			emit(visible, text)
		}
	}
	for i := 0; i < len(buf); {
		closes, n, unsure := f.tagAt(buf[i:], end)
		switch {
		case unsure:
			flush(i)
			f.held = buf[i:]
			return
		case n == 0:
			f.advance(buf[i])
			i++
			continue
		case closes && !f.inside:
			flush(i)
			emit(reset, "")
			f.begun = false
		case !closes && f.inside: // a block has one beginning
			f.before = '>'
			i += n
			continue
		default:
			flush(i)
		}
		f.inside = !closes
		f.trim = !f.begun
		f.before = '>'
		f.fences.BeginLine()
		i += n
		from = i
	}
	flush(len(buf))
}

// trimmed returns a text of the reply, without white space that precedes the reply.
func (f *Filter) trimmed(text string) string {
	if f.trim {
		text = strings.TrimLeft(text, " \t\r\n")
	}
	if text != "" {
		f.trim, f.begun = false, f.begun || strings.TrimSpace(text) != ""
	}
	return text
}

var tags = []string{"<think>", "</think>", "<thinking>", "</thinking>"}

// tagAt reports whether text begins with a tag, whether that tag ends a block, and the length of the tag. unsure means
// that the next piece tells.
func (f *Filter) tagAt(text string, end bool) (closes bool, length int, unsure bool) {
	if text[0] != '<' || f.fences.Open() && !f.inside {
		return false, 0, false
	}
	for _, tag := range tags {
		n := min(len(tag), len(text))
		switch {
		case !strings.EqualFold(text[:n], tag[:n]):
		case n < len(tag):
			unsure = unsure || !end
		case f.before != '`':
			return tag[1] == '/', n, false
		case len(text) == n && !end: // a backquote may follow
			return false, 0, true
		case len(text) == n || text[n] != '`':
			return tag[1] == '/', n, false
		}
	}
	return false, 0, unsure
}

// advance notes that the next byte of the text is c, which begins no tag.
func (f *Filter) advance(c byte) {
	f.before = c
	if !f.inside {
		f.fences.Add(c)
	}
}

// pass notes a piece of the reply, unless it has the first character of a tag or a fence. Most pieces have none.
func (f *Filter) pass(piece string) bool {
	line := 0 // where the last line begins
	for i := range len(piece) {
		switch c := piece[i]; {
		case !special[c]:
		case c == '\n':
			line = i + 1
		default:
			return false
		}
	}
	if piece == "" {
		return true
	}
	f.begun = f.begun || strings.TrimSpace(piece) != ""
	if line > 0 {
		f.fences.BeginLine()
	}
	for i := line; i < len(piece) && f.fences.lead >= 0; i++ {
		f.fences.Add(piece[i])
	}
	f.before = piece[len(piece)-1]
	return true
}

// special has the bytes that matter to a filter that passes on text.
var special = [256]bool{'<': true, '`': true, '~': true, '\n': true}

// Opaque is reasoning that only the service of a model can read, as a turn stores it.
type Opaque struct {
	Provider string `json:"provider"` // its name in the options
	Model    string `json:"model,omitempty"`
	Tokens   int    `json:"tokens"` // estimated, in a prompt
	Parts    []Part `json:"parts"`
}

// Part is one part of opaque reasoning.
type Part struct {
	Service string          `json:"service"`
	Data    json.RawMessage `json:"data"`
}

// ParseOpaque decodes what a turn stores. It returns nil if there is nothing, or if it has another form, which a later
// version of the library may write.
func ParseOpaque(raw json.RawMessage) *Opaque {
	var o Opaque
	if len(raw) == 0 || json.Unmarshal(raw, &o) != nil || len(o.Parts) == 0 || o.Tokens < 0 {
		return nil
	}
	return &o
}
