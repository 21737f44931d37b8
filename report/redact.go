package report

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/transcript"
)

// gone replaces redacted text.
const gone = "[redacted]"

// Redact returns a copy of the report without text that was used only in prompts. It removes:
//
//   - the background, personas and instructions, and the rest of the configuration except the participants with their
//     models, the limits, the prices and the name of the protocol
//   - turns before the first round: assigned personas and retrieved documents
//   - the sources of role prompts, which may be file names
//   - the text of errors and problems, which may quote a request; their kinds remain
//
// The topic and the positions remain, because the debate is about them. Replies remain too, even if a model quotes its
// prompt, and so do summaries, which are made from replies, and annotations. A redacted report is for readers. To move a
// debate to another store, use package archive, which always includes the prompts.
func (r *Report) Redact() *Report {
	c, quoted := *r, r.quoted()
	c.Redacted, c.Config = true, public(r.Config)
	res := &c.Result
	res.Background, res.Ending.Evidence = "", quoted.Replace(res.Ending.Evidence)
	res.Turns, res.Assessments = each(res.Turns, turn), each(res.Assessments, turn)
	res.Verdict, res.Failure = pointed(res.Verdict, turn), pointed(res.Failure, failure)
	question := func(q debate.Question) debate.Question {
		q.Cause, q.Failure = quoted.Replace(q.Cause), pointed(q.Failure, failure)
		return q
	}
	res.Question = pointed(res.Question, question)
	res.Answer.Data = answerData(res.Protocol, res.Answer.Data)
	res.Participants = each(res.Participants, func(s debate.Status) debate.Status {
		s.Errors = each(s.Errors, func(string) string { return gone })
		return s
	})
	c.Path = each(c.Path, func(s debate.StateChanged) debate.StateChanged {
		s.Ending.Evidence = quoted.Replace(s.Ending.Evidence)
		s.Failure, s.Lost, s.Question = pointed(s.Failure, failure), each(s.Lost, lost), pointed(s.Question, question)
		s.Problems = each(s.Problems, func(p protocol.Problem) protocol.Problem { return protocol.Problem{Field: p.Field, Reason: gone} })
		return s
	})
	c.Dropped = each(c.Dropped, func(d debate.Dropped) debate.Dropped {
		d.Failure, d.Lost = pointed(d.Failure, failure), each(d.Lost, lost)
		return d
	})
	return &c
}

// quoted returns a replacer that removes the messages of failures from texts that quote them, such as an ending's
// evidence.
func (r *Report) quoted() *strings.Replacer {
	failures := r.failures()
	slices.SortFunc(failures, func(a, b *debate.Failure) int { return len(b.Message) - len(a.Message) }) // one may be the prefix of another
	var pairs []string
	for _, f := range failures {
		if f.Message != "" {
			pairs = append(pairs, f.Message, gone)
		}
	}
	return strings.NewReplacer(pairs...)
}

// each returns a new list with f applied to each item, or nil for a nil list.
func each[T any](list []T, f func(T) T) []T {
	if list == nil {
		return nil
	}
	made := make([]T, len(list))
	for i, x := range list {
		made[i] = f(x)
	}
	return made
}

// pointed returns a pointer to f(*p), or nil if p is nil.
func pointed[T any](p *T, f func(T) T) *T {
	if p == nil {
		return nil
	}
	v := f(*p)
	return &v
}

func turn(t transcript.Turn) transcript.Turn {
	if t.Kind == transcript.Prelude {
		t.Text, t.Data = gone, nil
	}
	t.Attempts = each(t.Attempts, attempt)
	return t
}

func attempt(a transcript.Attempt) transcript.Attempt {
	if a.Message != "" {
		a.Message = gone
	}
	return a
}

func failure(f debate.Failure) debate.Failure {
	return debate.Failure{
		Key: f.Key, Kind: f.Kind, Provider: f.Provider, Model: f.Model, Attempts: f.Attempts, Tried: each(f.Tried, attempt),
		Began: f.Began, At: f.At, Message: gone, Recoverable: f.Recoverable,
	}
}

func lost(f *debate.Failure) *debate.Failure { return pointed(f, failure) }

// answerData returns an answer's data without the titles of retrieved documents and without the sources of role
// prompts.
func answerData(protocol string, data json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return data
	}
	roles := read[[]refine.Assignment](fields["roles"])
	switch {
	case fields["templates"] != nil:
		delete(fields, "templates")
	case protocol == (refine.Protocol{}).Name() && len(roles) > 0:
		fields["roles"], _ = json.Marshal(each(roles, assignment)) // plain data always encodes
	default:
		return data
	}
	data, _ = json.Marshal(fields) // what was decoded encodes
	return data
}

func assignment(a refine.Assignment) refine.Assignment {
	if a.Source != "built-in" && a.Source != "configuration" {
		a.Source = gone
	}
	return a
}

// allowed lists the fields of a configuration that may be published. Redact removes all other fields.
type allowed struct {
	ID       string `json:"id,omitempty"`
	Topic    string `json:"topic"`
	Protocol struct {
		Name  string          `json:"name"`
		Bench json.RawMessage `json:"bench,omitempty"`
	} `json:"protocol"`
	Participants []allowedSeat   `json:"participants"`
	Judges       []allowedSeat   `json:"judges,omitempty"`
	Substitutes  []allowedSeat   `json:"substitutes,omitempty"`
	Casting      allowedSeat     `json:"casting,omitzero"`
	Summarizer   allowedSeat     `json:"summarizer,omitzero"`
	Retriever    allowedSeat     `json:"retriever,omitzero"`
	Embedder     allowedSeat     `json:"embedder,omitzero"`
	Limits       json.RawMessage `json:"limits,omitempty"`
	Prices       json.RawMessage `json:"prices,omitempty"`
}

type allowedSeat struct {
	Name        string   `json:"name,omitempty"`
	Role        string   `json:"role,omitempty"`
	Side        string   `json:"side,omitempty"`
	Position    string   `json:"position,omitempty"`
	Disabled    bool     `json:"disabled,omitempty"`
	Provider    string   `json:"provider,omitempty"`
	Model       string   `json:"model,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	MaxTokens   int      `json:"max_tokens,omitempty"`
	Window      int      `json:"window,omitempty"`
}

// public returns a configuration with only the allowed fields, or nil if it cannot be read.
func public(config json.RawMessage) json.RawMessage {
	var a allowed
	if err := json.Unmarshal(config, &a); err != nil {
		return nil
	}
	raw, err := json.Marshal(a)
	if err != nil {
		return nil
	}
	return raw
}
