package turns

import (
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// Status holds what a debate.ParticipantStatus does, which documents its fields.
type Status struct {
	Name     string
	State    string
	Attempts int
	Errors   []string
}

// StatusOf returns the status of a participant after its turns.
func StatusOf(name string, turns []transcript.Turn) Status {
	s := Status{Name: name, State: "active"}
	for i := range turns {
		if t := &turns[i]; t.Actor == name {
			s.State = "active"
			s.Add(t.Attempts)
			if t.Window != nil && t.Window.Omitted > 0 {
				s.State = "context_exceeded"
			}
		}
	}
	return s
}

// Add adds attempts at a step.
func (s *Status) Add(list []transcript.Attempt) {
	for _, a := range list {
		s.Attempts++
		if a.ErrorKind != "" {
			s.Errors = append(s.Errors, a.ErrorMessage)
		}
		switch a.ErrorKind {
		case string(providers.RateLimit):
			s.State = "rate_limited"
		case string(providers.ContextOverflow):
			s.State = "context_exceeded"
		}
	}
}
