// Package actor names the actors of a debate and the fields of the configuration that hold them.
package actor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/elenchus-go/debate/protocol"
)

// Human is the name of the provider that stands for people.
const Human = "human"

// MinReply limits, in tokens, how far the limit of a reply may be lowered to fit it into a window.
const MinReply = 256

// CheckName returns what is wrong with the name of a participant or a judge, or the empty string.
func CheckName(name string) string {
	switch {
	case strings.TrimSpace(name) != name || name == "":
		return fmt.Sprintf("%q is not valid, use a name without leading or trailing blanks", name)
	case len(name) > 64:
		return fmt.Sprintf("%d bytes is too long, use at most 64", len(name))
	case strings.ContainsFunc(name, func(r rune) bool { return r == '/' || r == ':' || !unicode.IsPrint(r) }):
		return fmt.Sprintf("%q is not valid, remove '/', ':' and control characters", name)
	}
	return ""
}

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
