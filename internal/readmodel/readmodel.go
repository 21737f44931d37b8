// Package readmodel says what readers see of a debate. Report, printer, inspector and the command's live view draw it, each in its
// own way.
//
// [Teller] says what each event is while a debate runs. [Of] says what a debate came to: the answer in one sentence, what to know
// before relying on it, and the reasons. [CastOf] gives each speaker a place and a color.
package readmodel

import (
	"fmt"
	"strings"

	"github.com/elenchus-go/debate/internal/markup"
	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/transcript"
)

// Silent stands in place of the text of a turn that a fork leaves out.
const Silent = "silent in this fork"

// Words returns an identifier of the library with spaces instead of underscores.
func Words[T ~string](name T) string { return strings.ReplaceAll(string(name), "_", " ") }

// Part returns the title of the part of a debate that contains a turn, and its id in a page.
func Part(t *transcript.Turn) (title, id string) {
	switch {
	case t.Kind == transcript.Conclusion:
		return "Conclusion", "conclusion"
	case t.Round == 0:
		return "Before round 1", "before-round-1"
	}
	return fmt.Sprintf("Round %d", t.Round), fmt.Sprintf("round-%d", t.Round)
}

// Label returns the actor of a step and its target, such as "Ann (Bo)".
func Label(k transcript.Key) string {
	if k.Target != "" {
		return k.Actor + " (" + k.Target + ")"
	}
	return k.Actor
}

// TurnLabel returns the actor of a turn, its phase and its target.
func TurnLabel(t *transcript.Turn) string {
	switch {
	case t.Kind == transcript.Remark, t.Actor == t.Phase: // the target of a remark is its id, which readers do not need
		return t.Actor
	case t.Target == judge.Swapped:
		return t.Actor + ", " + t.Phase + " in reversed order"
	case t.Target != "":
		return t.Actor + ", " + t.Phase + " (" + t.Target + ")"
	}
	return t.Actor + ", " + t.Phase
}

// flagTexts describes the flags of turns.
var flagTexts = map[transcript.Flag]string{
	transcript.Truncated:      "cut off at the token limit",
	transcript.Defaulted:      "default, because no valid reply was received",
	transcript.Reasked:        "asked again, because the first reply was invalid",
	transcript.Partial:        "incomplete, because the model failed",
	transcript.Substituted:    "by a substitute",
	transcript.Filtered:       "incomplete, because the service filtered the rest",
	transcript.Edited:         "given by a person in this fork",
	transcript.SpecialToken:   "with what looks like a special token of a model",
	transcript.Refused:        "a refusal: the model declined to speak",
	transcript.SpokeForOthers: "cut off before the lines that the model wrote for others",
}

// FlagText describes a flag of a turn. It tells why a default stands in.
func FlagText(t *transcript.Turn, f transcript.Flag) string {
	text, known := flagTexts[f]
	if !known {
		text = Words(f)
	}
	if f == transcript.Defaulted {
		text = strings.TrimSuffix(text+": "+t.Refusal(), ": ")
	}
	return text
}

// Line returns a text on one line, without control characters.
func Line(text string) string { return strings.Join(strings.Fields(markup.Clean(text)), " ") }

// Shorten returns a text on one line, without control characters, and shortened to at most n characters.
func Shorten(text string, n int) string { return outcome.Shorten(markup.Clean(text), n) }
