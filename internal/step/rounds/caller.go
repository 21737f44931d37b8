package rounds

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/internal/toolcall"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/transcript"
)

// Caller makes the calls of tools in a step.
type Caller struct {
	Set    toolcall.Set
	Names  []string        // of the tools that the actor may call
	Limits toolcall.Limits // Calls is the number of calls in the whole step

	made     int                 // calls of the step
	pending  []tool.Record       // the calls of a round that is stored without results
	decided  map[string]Decision // what people have decided about them, by ID
	attempts int                 // attempts of rounds that are stored
}

// ContinueFrom notes the calls that a step of t has made before.
func (r *Caller) ContinueFrom(t *Rounds, o *Step) {
	for i := range o.rounds {
		ev := &o.rounds[i]
		if IsOpen(ev) {
			r.pending = slices.Clone(ev.Calls)
			continue
		}
		r.made += len(ev.Calls)
		if i >= o.Counted {
			r.attempts += len(ev.Attempts)
		}
	}
	r.decided = maps.Clone(t.decided)
}

// Pending returns the calls of a round that was stored without results, and forgets them. It returns nil if there is none.
func (r *Caller) Pending() (calls []tool.Record) {
	calls = r.pending
	r.pending = nil
	return calls
}

// New returns the calls that a model has asked for in a round of a step, with the names that reveal returns in place of
// pseudonyms. Those that cannot run have their answers. read has a function read the rounds of the debate.
func (r *Caller) New(
	debate string, k transcript.Key, c *step.Calls, reveal func(string) string, read func(func(*Rounds)),
) (calls []tool.Record) {
	for _, p := range c.Parts {
		if p.ToolCall == nil {
			continue
		}
		arguments := revealArguments(p.ToolCall.Arguments, reveal)
		if !json.Valid(arguments) {
			arguments, _ = json.Marshal(string(arguments)) // a text always encodes
		}
		calls = append(calls, tool.Record{
			ID:        callID(debate, k, c.Number, len(calls)),
			Name:      p.ToolCall.Name,
			Arguments: arguments,
		})
	}
	limits := r.Limits
	limits.Calls = max(limits.Calls-r.made, 0)
	read(func(t *Rounds) {
		r.Set.Prepare(calls, r.Names, limits, t.Result)
	})
	return calls
}

// Attempt notes the attempts of a round, and returns the number of the one that asked for its calls.
func (r *Caller) Attempt(c *step.Calls) int {
	r.attempts += len(c.Attempts)
	return r.attempts
}

// Run runs the calls of a round, and fits their results into its room. tokens counts those of a result.
func (r *Caller) Run(
	ctx context.Context, calls []tool.Record, c *step.Calls, tokens func(*tool.Record) int, hook toolcall.Hook,
) error {
	limits := r.Limits
	limits.Total = c.Time
	if err := r.Set.Run(ctx, calls, limits, hook); err != nil {
		return err
	}
	toolcall.Fit(calls, c.Room, tokens)
	r.made += len(calls)
	return nil
}

// Decide applies what people have decided about calls. It reports whether one of the calls still waits for a person.
func (r *Caller) Decide(calls []tool.Record) (waits bool) {
	for i := range calls {
		c := &calls[i]
		t := r.Set[c.Name]
		if c.Done || t == nil || !t.Spec.Approval {
			continue
		}
		c.Waits = true
		switch d, ok := r.decided[c.ID]; {
		case !ok:
			waits = true
		case d.Refused:
			toolcall.Refuse(c, d.Reason)
		}
	}
	return waits
}

// BeginOnce notes the calls that must not run twice. It reports whether there is one that begins now. One that had begun
// before is not repeated.
func (r *Caller) BeginOnce(calls []tool.Record) (begins bool) {
	for i := range calls {
		c := &calls[i]
		switch t := r.Set[c.Name]; {
		case c.Done || t == nil || !t.Spec.Once:
		case c.Begun:
			toolcall.Interrupt(c)
		default:
			c.Begun = true
			begins = true
		}
	}
	return begins
}

// callID returns the ID of a call. It is the same in each process.
func callID(debate string, k transcript.Key, round, call int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d\n%d", debate, k, round, call))
	return hex.EncodeToString(sum[:16])
}

// revealArguments returns the arguments of a call with the names of the participants in place of pseudonyms.
func revealArguments(arguments json.RawMessage, reveal func(string) string) json.RawMessage {
	var v any
	d := json.NewDecoder(strings.NewReader(string(arguments)))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return arguments
	}
	changed := false
	v = mapTexts(v, func(s string) string {
		named := reveal(s)
		changed = changed || named != s
		return named
	})
	if !changed {
		return arguments
	}
	named, _ := json.Marshal(v) // it was decoded from JSON
	return named
}

// mapTexts changes all texts in a JSON value, but not the names of fields.
func mapTexts(v any, f func(string) string) any {
	switch v := v.(type) {
	case string:
		return f(v)
	case []any:
		for i := range v {
			v[i] = mapTexts(v[i], f)
		}
	case map[string]any:
		for name := range v {
			v[name] = mapTexts(v[name], f)
		}
	}
	return v
}

// maxRound limits, in bytes, an entry of the journal with a round of tool calls.
const maxRound = 64 << 10

// FitSources removes the texts of sources for which an entry of the journal has no room. Their sizes and hashes stay.
func FitSources(parts []providers.Part, calls []tool.Record) {
	raw, _ := json.Marshal(parts)
	left := maxRound - len(raw)
	for _, c := range calls {
		left -= len(c.Arguments) + len(c.Text)
	}
	for i := range calls {
		for j := range calls[i].Sources {
			s := &calls[i].Sources[j]
			left -= len(s.URI) + len(s.Title)
			if len(s.Text) <= left {
				left -= len(s.Text)
			} else if s.Text != "" {
				s.Size = len(s.Text)
				s.SHA256 = toolcall.Digest(s.Text)
				s.Text = ""
			}
		}
	}
}

// Hide returns a call of a private step without what may quote the document: its size stands for the result.
func Hide(c *tool.Record) tool.Record {
	return tool.Record{
		ID:       c.ID,
		Name:     c.Name,
		Begun:    c.Begun,
		Done:     c.Done,
		Error:    c.Error,
		Shared:   c.Shared,
		Size:     max(c.Size, len(c.Text)),
		Began:    c.Began,
		Duration: c.Duration,
	}
}
