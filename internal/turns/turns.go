// Package turns reads and copies lists of turns.
package turns

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate/internal/deepcopy"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// Copy returns a copy of turns that shares no memory with them. All copies of a kind have one array, because a
// result has many turns.
func Copy(turns []transcript.Turn) []transcript.Turn {
	var data, flags, attempts, windows int
	for i := range turns {
		t := &turns[i]
		data += len(t.Data)
		flags += len(t.Flags)
		attempts += len(t.Attempts)
		if t.Window != nil {
			windows++
		}
	}
	list := append([]transcript.Turn{}, turns...) // never nil, because null is no list in JSON
	dataRoom, flagRoom := make([]byte, 0, data), make([]transcript.Flag, 0, flags)
	attemptRoom, windowRoom := make([]transcript.Attempt, 0, attempts), make([]transcript.Window, 0, windows)
	for i := range list {
		t := &list[i]
		t.Data, dataRoom = moveInto(dataRoom, t.Data)
		t.Flags, flagRoom = moveInto(flagRoom, t.Flags)
		t.Attempts, attemptRoom = moveInto(attemptRoom, t.Attempts)
		for j := range t.Attempts {
			t.Attempts[j].Warnings = slices.Clone(t.Attempts[j].Warnings) // rarely any
			t.Attempts[j].Violations = slices.Clone(t.Attempts[j].Violations)
			if t.Attempts[j].Read != nil {
				t.Attempts[j].Read = deepcopy.Of(t.Attempts[j].Read) // only of agents
			}
		}
		if t.Reasoning != nil {
			t.Reasoning = deepcopy.Of(t.Reasoning) // rarely any
		}
		t.Citations = slices.Clone(t.Citations) // only in a debate with sources
		if t.Extracted != nil {
			t.Extracted = new(*t.Extracted)
		}
		if t.Window != nil {
			windowRoom = append(windowRoom, *t.Window)
			t.Window = &windowRoom[len(windowRoom)-1]
		}
	}
	return list
}

// moveInto appends a list to room, which has the capacity for it, and returns the copy and the longer room.
func moveInto[L ~[]T, T any](room []T, list L) (moved L, longer []T) {
	if list == nil {
		return nil, room
	}
	from := len(room)
	room = append(room, list...)
	return room[from:len(room):len(room)], room
}

// Warnings returns what a user should know about a turn.
func Warnings(t *transcript.Turn) (list []string) {
	if w := t.Window; w != nil && w.Omitted > 0 {
		list = append(list, fmt.Sprintf("the prompt omits %d of %d turns to fit the window: %d of %d tokens are used", w.Omitted, w.Omitted+w.Kept, w.Used, w.Limit))
	} else if w != nil && w.Percent >= 80 {
		list = append(list, fmt.Sprintf("the history uses %d %% of its space in the window", w.Percent))
	}
	for _, a := range t.Attempts {
		list = append(list, a.Warnings...)
	}
	for _, f := range t.Flags {
		switch f {
		case transcript.Truncated:
			list = append(list, truncation(t))
		case transcript.Filtered:
			list = append(list, "the service filtered the rest of the reply")
		case transcript.Defaulted:
			list = append(list, strings.TrimSuffix("there was no valid reply, the default is used: "+t.Refusal(), ": "))
		case transcript.Partial:
			list = append(list, "the model failed, the reply is incomplete")
		case transcript.Substituted:
			list = append(list, "a substitute gave the reply because the judge's model failed")
		case transcript.Edited:
			list = append(list, "a person gave the reply in a fork")
		case transcript.SpecialToken:
			list = append(list, "the text has what looks like a special token of a model")
		case transcript.Refused:
			list = append(list, "the model declined to speak, the text is what it said instead")
		case transcript.SpokeForOthers:
			list = append(list, "the reply had lines for others, they are cut off")
		case transcript.Reasked, transcript.Repaired: // the turn is valid
		}
	}
	return append(list, misquotes(t)...)
}

// misquotes returns what is wrong with the citations of a turn, each sentence once.
func misquotes(t *transcript.Turn) (list []string) {
	for _, c := range t.Citations {
		text := ""
		switch {
		case c.Verdict == transcript.Altered:
			text = fmt.Sprintf("a quote of source [%d] is altered", c.Source)
		case c.Verdict == transcript.NotFound && c.Quote != "":
			text = fmt.Sprintf("a quote is not in source [%d]", c.Source)
		case c.Verdict == transcript.NotFound:
			text = fmt.Sprintf("there is no source [%d]", c.Source)
		}
		if text != "" && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// truncation describes why a reply was truncated.
func truncation(t *transcript.Turn) string {
	if n := len(t.Attempts); n > 0 && t.Attempts[n-1].FinishReason == string(providers.WindowFull) {
		return "the reply was truncated because the model's context window was full, or at a limit of the service"
	}
	return "the reply was truncated at its token limit"
}

// RateLimitWait returns the time from the start to the end of the attempts if any of them met a rate limit, otherwise 0.
func RateLimitWait(tried []transcript.Attempt, began, ended time.Time) time.Duration {
	if !slices.ContainsFunc(tried, func(a transcript.Attempt) bool { return a.ErrorKind == string(providers.RateLimit) }) {
		return 0
	}
	return ended.Round(0).Sub(began.Round(0)) // by the wall clock, as when read from the journal
}
