package readmodel

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/transcript"
)

// A Teller says what the events of one debate are, in words for a terminal. Its zero value is ready. Texts of models in what it says
// are unescaped.
type Teller struct {
	// HideTexts leaves out texts and scores, for a reader who takes part in the debate and may not read everything.
	HideTexts bool

	Title    string   // the round or, outside of the rounds, the stage; empty before the first phase
	Parallel bool     // several actors speak at the same time
	Cast     []string // participants and judges, in order; then others in the order in which they were placed

	sides    map[string]string
	seq      int64             // of the last durable event
	waitsFor string            // message of the last failed attempt if it made its step wait
	calls    map[string]string // what was said of each call of a tool, by its ID
}

// IsNew reports whether an event was not seen before. Live events are always new.
func (s *Teller) IsNew(ev debate.Event) bool {
	m := ev.Meta()
	if m.Live {
		return true
	}
	if m.Seq <= s.seq {
		return false
	}
	s.seq = m.Seq
	return true
}

// Record keeps what later events need of an event.
func (s *Teller) Record(ev debate.Event) {
	switch ev := ev.(type) {
	case debate.ConfigChanged:
		s.setCast(ev.Config)
	case debate.PhaseStarted:
		s.Parallel = ev.Parallel
		switch {
		case ev.Stage == transcript.Setup || ev.Stage == transcript.Conclusion:
			s.Title = string(ev.Stage)
		case ev.Rounds == 0:
			s.Title = fmt.Sprintf("round %d", ev.Round)
		default:
			s.Title = fmt.Sprintf("round %d of %d", ev.Round, ev.Rounds)
		}
	case debate.StateChanged:
		if ev.On == fsm.Reset {
			s.Title = ""
		}
	}
}

// setCast reads the names and sides of a configuration. Of one that cannot be read, names appear without their sides.
func (s *Teller) setCast(config json.RawMessage) {
	var c struct {
		Participants, Judges []struct{ Name, Side string }
	}
	if json.Unmarshal(config, &c) != nil {
		return
	}
	s.sides = map[string]string{}
	for _, p := range append(c.Participants, c.Judges...) {
		s.Place(p.Name)
		s.sides[p.Name] = p.Side
	}
}

// Place returns the place of a speaker in the cast. Somebody new gets the last place.
func (s *Teller) Place(name string) int {
	at := slices.Index(s.Cast, name)
	if at < 0 {
		at = len(s.Cast)
		s.Cast = append(s.Cast, name)
	}
	return at
}

// About returns the side of an actor, its phase and its target.
func (s *Teller) About(k transcript.Key) string {
	about := k.Phase
	if k.Target != "" {
		about += ", " + k.Target
	}
	side := s.sides[k.Actor]
	if side != "" && side != k.Actor {
		about = side + " · " + about
	}
	return about
}

// A Kind says what something told is.
type Kind int

// The kinds of what is told.
const (
	Note Kind = iota
	Warning
	Retry // a warning that may be cut to one line, because the step goes on at once
	End   // of the debate
	Turn
)

// Told is something that is said of an event.
type Told struct {
	Kind   Kind
	Text   string  // of a note, or of the turn
	Scores []Score // that the turn gives
	// Of a turn: its key, how long it took, and its flags.
	Key            transcript.Key
	Details, Flags string
}

// Tell says what an event is, in parts. Most events say nothing.
func (s *Teller) Tell(ev debate.Event) []Told {
	switch ev := ev.(type) {
	case debate.TurnDone:
		return s.turn(&ev.Turn)
	case debate.ToolsCalled:
		return s.called(ev)
	case debate.TurnFailed:
		return []Told{s.failed(ev)}
	case debate.Dropped:
		return []Told{{Kind: Warning, Text: fmt.Sprintf("%s dropped out: %v", ev.Name, ev.Failure)}}
	case debate.Warning:
		return []Told{{Kind: Warning, Text: "warning: " + ev.Text}}
	case debate.StateChanged:
		switch {
		case ev.Ending.Outcome != "":
			text := "the debate ends: " + Words(ev.Ending.Outcome)
			if !s.HideTexts && ev.Ending.Evidence != "" { // it may quote a judge
				text += ": " + ev.Ending.Evidence
			}
			return []Told{{Kind: End, Text: text}}
		case ev.To == fsm.Paused:
			return []Told{{Text: "paused"}}
		}
	}
	return nil
}

// turn tells a turn, what its model has read, and what the check of its citations has found.
func (s *Teller) turn(t *transcript.Turn) []Told {
	said := Told{Kind: Turn, Key: t.Key}
	var details []string
	if t.Usage.Output > 0 { // a model replied
		details = append(details, fmt.Sprintf("%d tokens", t.Usage.Output))
	}
	details = append(details, fmt.Sprintf("%.1fs", t.Ended.Sub(t.Started).Seconds()))
	var flags []string
	for _, f := range t.Flags {
		flags = append(flags, string(f))
	}
	said.Flags = strings.Join(flags, ", ")
	said.Details = strings.Join(append(details, flags...), ", ")
	if t.Kind == transcript.Silence {
		said.Details = Silent
	}
	if s.HideTexts {
		return []Told{said}
	}
	text, scores := t.Text, []Score(nil)
	list, why, ok := Scores(t)
	if ok {
		text, scores = why, list
	}
	said.Text = sources.Readable(text)
	said.Scores = scores
	all := []Told{said}
	for _, line := range append(sources.Read(t), sources.Describe(t.Citations, nil)...) {
		all = append(all, Told{Text: t.Actor + ": " + line})
	}
	return all
}

// called tells each call of a tool of which something is new.
func (s *Teller) called(ev debate.ToolsCalled) (all []Told) {
	if s.calls == nil {
		s.calls = map[string]string{}
	}
	for _, c := range ev.Calls {
		text := c.String()
		if s.HideTexts {
			text = c.Name
		}
		if s.calls[c.ID] != text {
			s.calls[c.ID] = text
			all = append(all, Told{Text: ev.Key.Actor + " calls " + text})
		}
	}
	return all
}

// failed tells of a failed attempt, with its cause unless that is the one for which the step has waited before. A reply that
// contradicts itself is no failure: the message says what the contradiction is.
func (s *Teller) failed(e debate.TurnFailed) Told {
	text := e.Key.Phase + ": " + Label(e.Key)
	before := s.waitsFor
	s.waitsFor = ""
	if e.Doubtful {
		return Told{Kind: Warning, Text: text + ": " + e.Message}
	}
	text += " failed"
	switch {
	case e.RetryIn == 0:
		return Told{Kind: Retry, Text: text + ", retrying: " + e.Message}
	case e.RetryIn < 0:
		return Told{Kind: Warning, Text: text + ": " + e.Message}
	}
	s.waitsFor = e.Message
	wait := fmt.Sprintf(", retrying in %v", max(e.RetryIn.Round(time.Second), time.Second))
	if e.Message == before {
		return Told{Kind: Warning, Text: text + " in the same way" + wait}
	}
	return Told{Kind: Warning, Text: text + wait + ": " + e.Message}
}

// Score is the score of a participant, from 0 to 10.
type Score struct {
	Name  string
	Value float64
}

// Scores returns the scores in a judge's turn and the text that explains them. It returns false if the turn has none, or only
// those of a default.
func Scores(t *transcript.Turn) (list []Score, why string, ok bool) {
	var said struct {
		Participants []struct {
			Name  string
			Score *float64
		}
		Reasoning, Summary, Winner string
		Recommendations            []string
	}
	if t.Contract == "" || slices.Contains(t.Flags, transcript.Defaulted) || json.Unmarshal(t.Data, &said) != nil {
		return nil, "", false
	}
	for _, p := range said.Participants {
		if p.Score != nil {
			list = append(list, Score{p.Name, *p.Score})
		}
	}
	why = cmp.Or(said.Reasoning, said.Summary)
	if len(said.Recommendations) > 0 {
		why += "\nNext: " + strings.Join(said.Recommendations, " ")
	}
	if said.Winner != "" {
		why += "\nWinner: " + said.Winner
	}
	return list, why, len(list) > 0
}
