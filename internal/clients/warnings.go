package clients

import (
	"fmt"
	"iter"
	"strings"

	"github.com/elenchus-go/debate/internal/actor"
	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/judge/measured"
)

// A Warning is about the actor in a field of the configuration.
type Warning struct {
	Name  string // of the actor
	Field string
	Text  string
}

// AuditedField names the field of a judge, below its path, in warnings about biased judges.
const AuditedField = ".model"

// WarnOfReplyLimits returns a warning for each actor whose replies get a lower token limit than its settings give them. limits holds
// these limits by field.
func WarnOfReplyLimits(all iter.Seq2[string, journal.Participant], limits map[string]int) (list []Warning) {
	if len(limits) == 0 {
		return nil
	}
	for field, s := range all {
		if n, ok := limits[field]; ok {
			list = append(list, Warning{s.Name, field, fmt.Sprintf(
				"replies of %s are limited to %d tokens instead of %d, because the prompt and some history "+
					"must fit into the window of %d",
				actor.Seat(field, s.Name), n, s.MaxTokens, s.Window)})
		}
	}
	return list
}

// WarnOfWindows returns a warning for each actor whose configured window is larger than the one that its provider knows. known holds
// the windows that are known, by field.
func WarnOfWindows(all iter.Seq2[string, journal.Participant], known map[string]int) (list []Warning) {
	if len(known) == 0 {
		return nil
	}
	for field, s := range all {
		if n := known[field]; n > 0 && n < s.Window && (list == nil || !actor.Inherits(field)) {
			list = append(list, Warning{s.Name, field, fmt.Sprintf(
				"the window of %s is %d tokens, but its provider has only %d for the model: "+
					"longer prompts fail or are cut; leave out window, or enlarge that of the server",
				actor.Seat(field, s.Name), s.Window, n)})
		}
	}
	return list
}

// WarnOfPreferences returns a warning for each judge and each substitute that uses the same model as a participant: models tend to
// prefer their own output. named resolves the name of a provider, and reports whether its replies come from a person.
func WarnOfPreferences(
	all iter.Seq2[string, journal.Participant], named func(provider string) (name string, person bool),
) (list []Warning) {
	for field, s := range all {
		who := judgeIn(field, &s)
		if who == "" {
			continue
		}
		judge, person := named(s.Provider)
		if person {
			continue
		}
		var kin []string
		model := s.Model // the settings are large, and stay on the stack if no other loop uses them
		for at, p := range all {
			if strings.HasPrefix(at, "participants") && p.Model == model {
				if name, _ := named(p.Provider); name == judge {
					kin = append(kin, p.Name)
				}
			}
		}
		if kin != nil {
			text := fmt.Sprintf("%s uses the same model as %s and may favor them", who, naming.Enumerate(kin, len(kin)))
			list = append(list, Warning{s.Name, field, text})
		}
	}
	return list
}

// WarnOfBiases returns a warning for each judge and each substitute whose model was found biased by an audit. templates is the version
// of the templates of the debate's prompts.
func WarnOfBiases(all iter.Seq2[string, journal.Participant], templates string, audits []measured.Record) (list []Warning) {
	for field, s := range all {
		who := judgeIn(field, &s)
		if who == "" || s.Human || s.Model == "" {
			continue
		}
		for _, a := range audits {
			found := a.Biased()
			if a.Model != s.Model || found == "" {
				continue
			}
			text := fmt.Sprintf("%s: an audit found its model %s biased: %s", who, s.Model, found)
			if a.Prompts != measured.PromptsHash(templates, s.Persona, s.Instructions) {
				text += "; it was measured with other prompts"
			}
			list = append(list, Warning{s.Name, field + AuditedField, text})
		}
	}
	return list
}

// judgeIn names the judge or the substitute in a field. It returns the empty string for any other actor.
func judgeIn(field string, s *journal.Participant) string {
	switch {
	case strings.HasPrefix(field, "judges"):
		return "judge " + s.Name
	case strings.HasPrefix(field, "substitutes"):
		return field
	}
	return ""
}
