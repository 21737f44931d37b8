package report

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// redacted replaces redacted text.
const redacted = "[redacted]"

// Redact returns a copy of the report for readers, without text that was used only in prompts. It removes:
//
//   - the background, personas and instructions, and the rest of the configuration except the participants with their
//     models, the limits, the prices and the name of the protocol
//   - turns before the first round: assigned personas and retrieved documents
//   - the sources of role prompts, which may be file names
//   - the reasoning of models and the replies as they came, if Options.KeepReasoning and Options.KeepReplies have kept them
//   - the text of errors and problems, which may quote a request; their kinds remain
//
// The topic and the positions remain, because the debate is about them. Calls of tools and what they found remain, because
// statements rest on them, and so do sources and citations. Replies, summaries of replies, and annotations remain too, even if a model quotes its prompt. To
// move a debate to another store, use package archive, which always includes the prompts.
func (r *Report) Redact() *Report {
	c, quoted := *r, r.errorTextRemover()
	c.Redacted = true
	c.Config = redactConfig(r.Config)
	c.Attachments = nil
	res := &c.Result
	res.Background, res.Ending.Evidence = "", quoted.Replace(res.Ending.Evidence)
	res.Turns, res.Assessments = mapSlice(res.Turns, redactTurn), mapSlice(res.Assessments, redactTurn)
	res.Verdict, res.Failure = mapPointer(res.Verdict, redactTurn), mapPointer(res.Failure, redactFailure)
	question := func(q debate.Question) debate.Question {
		q.Cause, q.Failure = quoted.Replace(q.Cause), mapPointer(q.Failure, redactFailure)
		return q
	}
	res.Question, res.Problems = mapPointer(res.Question, question), mapSlice(res.Problems, redactProblem)
	res.Answer.Data = redactAnswerData(res.Answer.Data)
	res.Outcome = redactOutcome(res.Outcome)
	res.Participants = mapSlice(res.Participants, func(s debate.ParticipantStatus) debate.ParticipantStatus {
		s.Errors = mapSlice(s.Errors, func(string) string { return redacted })
		return s
	})
	ending := func(e transcript.Ending) transcript.Ending {
		e.Evidence = quoted.Replace(e.Evidence)
		return e
	}
	res.Rejudged = mapPointer(res.Rejudged, func(r debate.Rejudged) debate.Rejudged {
		r.Departures = mapSlice(r.Departures, func(d debate.Departure) debate.Departure {
			d.Kept, d.Instead = ending(d.Kept), ending(d.Instead)
			return d
		})
		return r
	})
	c.Transitions = mapSlice(c.Transitions, func(s debate.StateChanged) debate.StateChanged {
		s.Ending, s.Instead = ending(s.Ending), mapPointer(s.Instead, ending)
		s.Failure = mapPointer(s.Failure, redactFailure)
		s.OtherFailures = mapSlice(s.OtherFailures, redactLost)
		s.Question = mapPointer(s.Question, question)
		s.Problems = mapSlice(s.Problems, redactProblem)
		return s
	})
	c.Dropped = mapSlice(c.Dropped, func(d debate.Dropped) debate.Dropped {
		d.Failure, d.OtherFailures = mapPointer(d.Failure, redactFailure), mapSlice(d.OtherFailures, redactLost)
		return d
	})
	c.Summary = c.summarize()
	return &c
}

// errorTextRemover returns a replacer that removes the messages of failures from texts that quote them, such as the
// evidence of an ending.
func (r *Report) errorTextRemover() *strings.Replacer {
	failures := r.failures()
	slices.SortFunc(failures, func(a, b *debate.Failure) int { return len(b.Message) - len(a.Message) }) // one may be the prefix of another
	var pairs []string
	for _, f := range failures {
		if f.Message != "" {
			pairs = append(pairs, f.Message, redacted)
		}
	}
	return strings.NewReplacer(pairs...)
}

func redactTurn(t transcript.Turn) transcript.Turn {
	if t.Kind == transcript.Setup {
		t.Text, t.Data = redacted, nil
	}
	t.Reasoning, t.Attempts = nil, mapSlice(t.Attempts, redactAttempt)
	return t
}

func redactProblem(p protocol.Problem) protocol.Problem {
	return protocol.Problem{Field: p.Field, Reason: redacted}
}

func redactAttempt(a transcript.Attempt) transcript.Attempt {
	a.Reply = ""
	if a.ErrorMessage != "" {
		a.ErrorMessage = redacted
	}
	return a
}

func redactFailure(f debate.Failure) debate.Failure {
	return debate.Failure{
		Key: f.Key, Kind: f.Kind, Provider: f.Provider, Model: f.Model, Attempts: f.Attempts, AttemptDetails: mapSlice(f.AttemptDetails, redactAttempt),
		Started: f.Started, At: f.At, Message: redacted, Recoverable: f.Recoverable,
	}
}

func redactLost(f *debate.Failure) *debate.Failure { return mapPointer(f, redactFailure) }

// redactAnswerData returns an answer's data without the titles of retrieved documents and without the sources of role
// prompts.
func redactAnswerData(data json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return data
	}
	roles := decodeOrZero[[]map[string]json.RawMessage](fields["roles"])
	switch {
	case fields["templates"] != nil:
		delete(fields, "templates")
	case len(roles) > 0 && roles[0]["source"] != nil:
		fields["roles"], _ = json.Marshal(mapSlice(roles, redactRole)) // plain data always encodes
	default:
		return data
	}
	data, _ = json.Marshal(fields) // what was decoded encodes
	return data
}

// redactRole removes the source of a role's prompt if it may be the name of a file.
func redactRole(role map[string]json.RawMessage) map[string]json.RawMessage {
	source := decodeOrZero[string](role["source"])
	if source != "built-in" && source != "configuration" {
		role["source"], _ = json.Marshal(redacted)
	}
	return role
}

// redactOutcome returns an outcome without what only prompts use.
func redactOutcome(o protocol.Outcome) protocol.Outcome {
	o.Evidence = public(o.Evidence)
	o.Details = public(o.Details)
	return o
}

// public returns the exhibits that are not internal.
func public(all []protocol.Exhibit) (list []protocol.Exhibit) {
	for _, x := range all {
		if !x.Internal {
			list = append(list, x)
		}
	}
	return list
}

// publicConfig lists the fields of a configuration that a redacted report contains. Redact removes all other fields.
type publicConfig struct {
	ID       string `json:"id,omitempty"`
	Topic    string `json:"topic"`
	Protocol struct {
		Name string          `json:"name"`
		Jury json.RawMessage `json:"jury,omitempty"`
	} `json:"protocol"`
	Participants []publicActor   `json:"participants"`
	Judges       []publicActor   `json:"judges,omitempty"`
	Substitutes  []publicActor   `json:"substitutes,omitempty"`
	Casting      publicActor     `json:"persona_assigner,omitzero"`
	Summarizer   publicActor     `json:"summarizer,omitzero"`
	Retriever    publicActor     `json:"retriever,omitzero"`
	Embedder     publicActor     `json:"embedder,omitzero"`
	Limits       json.RawMessage `json:"limits,omitempty"`
	Prices       json.RawMessage `json:"prices,omitempty"`
}

type publicActor struct {
	Name        string   `json:"name,omitempty"`
	Role        string   `json:"role,omitempty"`
	Side        string   `json:"side,omitempty"`
	Position    string   `json:"position,omitempty"`
	Disabled    bool     `json:"disabled,omitempty"`
	Provider    string   `json:"provider,omitempty"`
	Model       string   `json:"model,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        float64  `json:"top_p,omitempty"`
	Seed        *int64   `json:"seed,omitempty"`
	Reasoning   string   `json:"reasoning,omitempty"`
	MaxTokens   int      `json:"max_tokens,omitempty"`
	Window      int      `json:"window,omitempty"`
}

// redactConfig returns a configuration with only the fields of publicConfig, or nil if it cannot be decoded.
func redactConfig(config json.RawMessage) json.RawMessage {
	var a publicConfig
	if err := json.Unmarshal(config, &a); err != nil {
		return nil
	}
	raw, err := json.Marshal(a)
	if err != nil {
		return nil
	}
	return raw
}
