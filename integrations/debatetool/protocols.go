package debatetool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

type protocolNote struct{ name, note string }

// protocolNotes say what happens in each protocol of the library, when to use it and when not.
var protocolNotes = []protocolNote{
	{"panel", "arguments before a judge, who scores and decides. For a choice on which people differ. Not for facts."},
	{"skeptic", "one answers, the other attacks it until it holds. For a plan with hidden flaws. Not to compare options."},
	{"refine", "all propose, criticize and refine; a judge merges. For a design with many demands. Not for yes or no."},
	{"arbitration", "a review of the preset's scores. For doubts about them. Not for other topics."},
	{"procon", "for and against in turn, then a judgment. For a claim. Not for open questions."},
	{"vote", "all answer, read each other, revise and vote. For a short answer, such as a number. Not for open questions."},
	{"council", "all answer and rank each other; a chair answers. For open questions. Not to test one claim."},
	{"mad", "one answers, the other must disagree; a moderator decides. For a puzzle with a tempting answer. Not for open questions."},
}

// usual are the participants of protocols that do not take the preset's: two on opposite sides, or four.
var usual = [][]Participant{
	{{Name: "Ada", Side: "pro"}, {Name: "Bo", Side: "con"}},
	{{Name: "Ada"}, {Name: "Bo"}, {Name: "Cy"}, {Name: "Di"}},
}

// setProtocol sets the protocol and the participants of a configuration. A name that is empty, or that of the preset's
// protocol, keeps the preset's parameters and rounds. Another protocol has rounds of its own. If it does not take the
// preset's participants, and the call gives none, it gets the usual ones.
func (s *Toolset) setProtocol(c *debate.Config, name string, given []Participant) []protocol.Problem {
	if name == "" || name == c.Protocol.Name() || name == shortName(c.Protocol) {
		return setParticipants(c, given)
	}
	other, err := s.withProtocol(*c, name)
	if err != nil {
		return []protocol.Problem{protocol.Problemf("protocol", "%q is unknown, use one of %s", name, strings.Join(s.runnable(*c), ", "))}
	}
	preset := *c
	*c = other
	if len(given) > 0 {
		return setParticipants(c, given)
	}
	wrong := seat(c)
	if len(wrong) == 0 {
		return nil
	}
	hint := "use one of " + strings.Join(s.runnable(preset), ", ")
	if strings.HasPrefix(wrong[0].Field, "participants") {
		hint += ", or give participants"
	}
	return []protocol.Problem{protocol.Problemf("protocol", "%q does not suit the preset (%s); %s", name, wrong[0], hint)}
}

// withProtocol returns a configuration with another protocol. The numbers of rounds belong to the old protocol. The limits
// of time, tokens and cost stay: they say what a call may spend.
func (s *Toolset) withProtocol(c debate.Config, name string) (debate.Config, error) {
	raw, err := json.Marshal(map[string]any{"protocol": map[string]string{"name": name}})
	if err != nil {
		return c, err
	}
	made, err := s.engine.ParseConfig(raw)
	c.Protocol = made.Protocol
	c.Limits.MinRounds = 0
	c.Limits.MaxRounds = 0
	return c, err
}

// shortName returns the name of a protocol without its version.
func shortName(p protocol.Protocol) string {
	name, _, _ := strings.Cut(p.Name(), "/")
	return name
}

// seat gives a configuration the usual participants if its protocol does not take its own, and these are only names,
// sides and models. It returns the problems that remain.
func seat(c *debate.Config) []protocol.Problem {
	wrong := problemsOf(*c)
	special := func(p debate.Participant) bool {
		return p.Human || p.Disabled || p.Role+p.Position+p.Persona+p.Instructions != ""
	}
	if len(wrong) == 0 || slices.ContainsFunc(c.Participants, special) {
		return wrong
	}
	for _, list := range usual {
		other := *c
		if setParticipants(&other, list); len(problemsOf(other)) == 0 {
			*c = other
			return nil
		}
	}
	return wrong
}

// problemsOf returns the problems that any engine would find in a configuration, whatever its providers are. It tries the
// configuration in memory, so it needs no context.
//
//nolint:contextcheck // see above
func problemsOf(c debate.Config) []protocol.Problem {
	e, err := debate.NewEngine(debate.Options{})
	if err == nil {
		c.ID, c.Topic = "", "?"
		_, err = e.Create(context.Background(), c)
	}
	if wrong, ok := errors.AsType[*debate.Problems](err); ok {
		return wrong.List
	}
	return nil
}

// summary says what debates of a configuration are like, for presets without a description.
func summary(c debate.Config) string {
	names := func(list []debate.Participant) string {
		var names []string
		for _, p := range list {
			names = append(names, p.Name)
		}
		return strings.Join(names, ", ")
	}
	text := fmt.Sprintf("%s with %s", shortName(c.Protocol), names(c.Participants))
	if len(c.Judges) > 0 {
		text += " before " + names(c.Judges)
	}
	return text + "."
}

// runnable returns the names of the protocols that a preset can run: its own, and those of the library with which its
// configuration is valid.
func (s *Toolset) runnable(preset debate.Config) []string {
	names := []string{shortName(preset.Protocol)}
	for _, p := range protocolNotes {
		c, err := s.withProtocol(preset, p.name)
		if err == nil && p.name != names[0] && len(seat(&c)) == 0 {
			names = append(names, p.name)
		}
	}
	slices.Sort(names)
	return names
}

// offers are the protocols that presets can run.
type offers struct {
	all     []protocolNote      // those that any preset can run, with what they take there
	missing map[string][]string // those among them that a preset cannot run, by preset
}

// offers returns the protocols that the presets can run.
func (s *Toolset) offers() offers {
	o := offers{missing: map[string][]string{}}
	runs := map[string][]string{}
	for _, name := range s.presetNames() {
		c := s.presets[name].Config
		runs[name] = s.runnable(c)
		for _, p := range runs[name] {
			if !slices.ContainsFunc(o.all, func(n protocolNote) bool { return n.name == p }) {
				o.all = append(o.all, s.note(c, p))
			}
		}
	}
	for name, list := range runs {
		for _, p := range o.all {
			if !slices.Contains(list, p.name) {
				o.missing[name] = append(o.missing[name], p.name)
			}
		}
	}
	return o
}

// note returns the note on a protocol of a preset, with what it takes.
func (s *Toolset) note(preset debate.Config, name string) protocolNote {
	at := slices.IndexFunc(protocolNotes, func(p protocolNote) bool { return p.name == name })
	if at < 0 {
		return protocolNote{name: name}
	}
	n, c := protocolNotes[at], preset
	if name != shortName(c.Protocol) {
		c, _ = s.withProtocol(c, name) // it is runnable
		_ = seat(&c)
	}
	n.note += effort(c)
	return n
}

// maxEffort limits the rounds for which effort counts.
const maxEffort = 100

// effort says how many replies a debate of a protocol of the library takes at most, and how many of them are one after
// another. Replies that are asked for again, and summaries of long debates, are not counted.
func effort(c debate.Config) string {
	known := slices.ContainsFunc(protocolNotes, func(p protocolNote) bool { return p.name == shortName(c.Protocol) })
	if !known || maxRounds(c) > maxEffort {
		return ""
	}
	r := plannedRecord(c)
	replies, inRow := 0, 0
	play := func(r *protocol.Record, round int, stages ...transcript.Kind) {
		for _, stage := range stages {
			r.Cursor = transcript.Cursor{Run: 1, Round: round, Stage: stage}
			for steps := protocol.Next(c.Protocol, r); len(steps) > 0; steps = protocol.Next(c.Protocol, r) {
				byActor := map[string]int{} // an actor gives one reply at a time
				for _, s := range steps {
					r.Apply(transcript.Turn{Key: s.Key, Kind: s.Kind, Order: s.Order, Seq: r.Seq + 1})
					if s.Actor != protocol.Retriever && s.Actor != protocol.Embedder {
						byActor[s.Actor]++
						replies++
					}
				}
				inRow += slices.Max(append(slices.Collect(maps.Values(byActor)), 0))
			}
		}
	}
	play(r, 0, transcript.Setup)
	for round := range r.MaxRounds {
		play(r, round+1, transcript.Speech, transcript.Assessment)
	}
	play(plannedRecord(c), r.MaxRounds, transcript.Conclusion) // without turns, a protocol plans the longest conclusion
	return fmt.Sprintf(" Up to %d replies, %d in a row.", replies, inRow)
}

// plannedRecord returns the record of a debate that has not begun.
func plannedRecord(c debate.Config) *protocol.Record {
	r := &protocol.Record{ID: "?", Seed: "?", Topic: "?", MaxRounds: maxRounds(c), MinRounds: 1}
	for _, p := range c.Participants {
		if !p.Disabled {
			r.Participants = append(r.Participants, transcript.Profile{Name: p.Name, Role: p.Role, Side: p.Side, Position: p.Position})
		}
	}
	for _, j := range c.Judges {
		r.Judges = append(r.Judges, j.Name)
	}
	return r
}

// maxRounds returns the largest number of rounds of a configuration.
func maxRounds(c debate.Config) int {
	own := protocol.Defaults{}
	if p, ok := c.Protocol.(protocol.Defaulter); ok {
		own = p.Defaults()
	}
	return cmp.Or(c.Limits.MaxRounds, own.MaxRounds, max(5, c.Limits.MinRounds))
}
