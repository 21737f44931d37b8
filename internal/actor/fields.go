package actor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/protocol"
)

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

// Seat names the actor in a field in an error. name may be empty.
func Seat(field, name string) string { return cmp.Or(name, field) }

// KnownName reports whether a name is one of a list or that of a system actor, ignoring case.
func KnownName(name string, list []string) bool {
	return slices.ContainsFunc(slices.Concat(list, System), func(known string) bool { return strings.EqualFold(known, name) })
}
