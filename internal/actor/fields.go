package actor

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/transcript"
)

// All yields every actor that calls a model, with the field of the configuration that holds it, such as "judges[0]".
type All = iter.Seq2[string, Settings]

// System holds the names of the actors that are neither participants nor judges.
var System = []string{protocol.PersonaAssigner, protocol.Summarizer, protocol.Retriever, protocol.Embedder}

// MakesNoText reports whether an actor returns documents or vectors instead of generated text.
func MakesNoText(name string) bool { return name == protocol.Retriever || name == protocol.Embedder }

// firstFields holds the paths of the first elements of each list of actors, because each check needs them.
var firstFields = map[string][4]string{
	"participants": {"participants[0]", "participants[1]", "participants[2]", "participants[3]"},
	"judges":       {"judges[0]", "judges[1]", "judges[2]", "judges[3]"},
	"substitutes":  {"substitutes[0]", "substitutes[1]", "substitutes[2]", "substitutes[3]"},
}

// Field returns the path of an element of a list of actors.
func Field(list string, i int) string {
	if first := firstFields[list]; i < len(first) {
		return first[i]
	}
	return fmt.Sprintf("%s[%d]", list, i)
}

// NameIn returns the name under which the actor in a field takes its steps. All substitutes take the steps of judges.
func NameIn(field, name string) string {
	switch field {
	case "persona_assigner":
		return protocol.PersonaAssigner
	case "summarizer":
		return protocol.Summarizer
	case "retriever":
		return protocol.Retriever
	case "embedder":
		return protocol.Embedder
	}
	if strings.HasPrefix(field, "substitutes") {
		return "substitutes"
	}
	return name
}

// Inherits reports whether the actor in a field may have the provider and model of another one.
func Inherits(field string) bool { return field == "persona_assigner" || field == "summarizer" }

// Seat names the actor in a field in an error.
func (s *Settings) Seat(field string) string { return cmp.Or(s.Name, field) }

// Request returns a request to the actor's model, without a prompt.
func (s *Settings) Request() providers.Request {
	return providers.Request{
		Model: s.Model, Temperature: s.Temperature, TopP: s.TopP, Seed: s.Seed, Stop: s.Stop, Reasoning: s.Reasoning, MaxTokens: s.MaxTokens,
	}
}

// Profile returns the profile that prompts use.
func (s *Settings) Profile() transcript.Profile {
	return transcript.Profile{
		Name: s.Name, Role: s.Role, Side: s.Side, Position: s.Position, Persona: s.Persona, Instructions: s.Instructions, Human: s.Human,
	}
}

// Edit changes a profile where the settings differ from those before.
func (s *Settings) Edit(p *transcript.Profile, was *Settings) {
	for _, x := range []struct {
		field   *string
		old, is string
	}{{&p.Role, was.Role, s.Role}, {&p.Position, was.Position, s.Position}, {&p.Instructions, was.Instructions, s.Instructions}} {
		if x.old != x.is {
			*x.field = x.is
		}
	}
	if was.Persona != s.Persona { // the arguments belong to the persona that was assigned
		p.Persona, p.KeyArguments = s.Persona, nil
	}
}

// KnownName reports whether a name is one of a list or that of a system actor, ignoring case.
func KnownName(name string, list []string) bool {
	return slices.ContainsFunc(slices.Concat(list, System), func(known string) bool { return strings.EqualFold(known, name) })
}

// CheckNames returns a problem for each name that a participant or a judge cannot have.
func CheckNames(all All) (list []protocol.Problem) {
	seen := map[string]string{}
	for _, name := range System {
		seen[name] = "a system actor"
	}
	for field, s := range all {
		if !strings.HasPrefix(field, "participants") && !strings.HasPrefix(field, "judges") {
			continue
		}
		if reason := CheckName(s.Name); reason != "" {
			list = append(list, protocol.Problemf(field+".name", "%s", reason))
		}
		if other, dup := seen[strings.ToLower(s.Name)]; dup {
			list = append(list, protocol.Problemf(field+".name", "%q is taken by %s", s.Name, other))
		}
		seen[strings.ToLower(s.Name)] = field
	}
	return list
}

// modelOf returns how a problem names a model.
func modelOf(name string) string {
	if name == "" {
		return "the default model of the provider"
	}
	return strconv.Quote(name)
}

// CheckPriced returns a problem for each model without a price, once for the actors that have the model of a participant.
func CheckPriced(all All, prices price.Prices) (list []protocol.Problem) {
	unpriced := map[string]bool{}
	for field, s := range all {
		own := strings.Contains(field, "[") // the others have the model of a participant, unless they are configured
		if _, known := prices.Lookup(s.Model); !known && (own || !unpriced[s.Model]) && !s.Human && (s.Model != "" || field != "retriever" && field != "embedder") {
			list = append(list, protocol.Problemf(field+".model", "%s has no price in prices, and limits.cost or ask_above_cost needs one", modelOf(s.Model)))
			unpriced[s.Model] = true
		}
	}
	return list
}
