// Package turns reads, checks and copies lists of turns.
package turns

import (
	"errors"
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
		list = append(list, fmt.Sprintf("the prompt omits %d of %d turns to fit the window: %d of %d tokens are used",
			w.Omitted, w.Omitted+w.Kept, w.Used, w.Limit))
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

// The greatest values that a service can report. With these, no sum overflows.
const (
	MaxTokens = 2_000_000_000 // of a call
	maxSpent  = 1e15          // by a call
)

// LimitUsage returns the usage of some calls in which no value is negative, or so large that sums overflow.
func LimitUsage(u transcript.Usage, calls int) transcript.Usage {
	most := int64(MaxTokens) * int64(max(calls, 1))
	for _, n := range []*int{&u.Input, &u.Cached, &u.Written, &u.Output, &u.Reasoning} {
		*n = int(min(max(int64(*n), 0), most))
	}
	if !(u.Cost >= 0) {
		u.Cost = 0
	}
	u.Cost = min(u.Cost, maxSpent*float64(max(calls, 1)))
	return u
}

// Check returns an error if no version of the library commits such a turn when the debate is at the cursor.
func Check(t *transcript.Turn, at transcript.Cursor) error {
	if err := CheckKey(t.Key, at); err != nil {
		return err
	}
	if t.Run != at.Run {
		return fmt.Errorf("it belongs to run %d, but the debate is in run %d", t.Run, at.Run)
	}
	if !slices.Contains(kinds, t.Kind) {
		return fmt.Errorf("the kind of the turn is %q, want one of %q", t.Kind, kinds)
	}
	if t.Tokens < 0 || t.Tokens > MaxTokens {
		return fmt.Errorf("tokens are %d, want 0 to %d", t.Tokens, MaxTokens)
	}
	if t.Kind == transcript.Silence && (t.Text != "" || t.Data != nil || t.Attempts != nil) {
		return errors.New("the turn is silent, but has a reply")
	}
	if err := checkCitations(t); err != nil {
		return err
	}
	if err := CheckUsages(t.Usage, t.Attempts); err != nil {
		return err
	}
	return checkTurn(t)
}

var kinds = []transcript.Kind{
	transcript.Setup, transcript.Speech, transcript.Assessment, transcript.Conclusion, transcript.Remark, transcript.Summary,
	transcript.Embeddings, transcript.Silence,
}

// CheckUsages checks the usage of a turn, and that of its attempts.
func CheckUsages(all transcript.Usage, attempts []transcript.Attempt) error {
	if all != LimitUsage(all, len(attempts)) {
		return fmt.Errorf("the usage is not valid: %+v", all)
	}
	for i, a := range attempts {
		if a.Usage != LimitUsage(a.Usage, 1) || a.PromptTokens < 0 {
			return fmt.Errorf("the usage of attempt %d is not valid: %+v, with a prompt of %d tokens", i+1, a.Usage, a.PromptTokens)
		}
	}
	return nil
}

// CheckKey returns an error if the run or the round of a step has not begun at the cursor.
func CheckKey(k transcript.Key, at transcript.Cursor) error {
	if k.Run < 0 || k.Run > at.Run {
		return fmt.Errorf("it belongs to run %d, but the debate is in run %d", k.Run, at.Run)
	}
	if k.Round < 0 || k.Round > at.Round {
		return fmt.Errorf("it belongs to round %d, but the debate is in round %d", k.Round, at.Round)
	}
	return nil
}

// checkCitations returns an error if no version of the library stores such citations.
func checkCitations(t *transcript.Turn) error {
	for _, c := range t.Citations {
		if c.Source < 0 || c.Omitted < 0 || !slices.Contains(verdicts, c.Verdict) {
			return fmt.Errorf("the citation of source %d has the verdict %q and %d omitted words", c.Source, c.Verdict, c.Omitted)
		}
		placed := c.Verdict == transcript.Verified && c.File != "" && c.Line > 0 && c.EndLine >= c.Line
		if !placed && (c.File != "" || c.Line != 0 || c.EndLine != 0) {
			return fmt.Errorf("the citation of source %d has the lines %d to %d of %q", c.Source, c.Line, c.EndLine, c.File)
		}
	}
	return nil
}

var verdicts = []transcript.Verdict{"", transcript.Verified, transcript.Altered, transcript.NotFound, transcript.NotChecked}

// CheckTokens checks the tokens of replies or windows of actors, by field.
func CheckTokens(what string, tokens map[string]int) error {
	first := ""
	for field, n := range tokens {
		if (n < 1 || n > MaxTokens) && (first == "" || field < first) {
			first = field
		}
	}
	if first == "" {
		return nil
	}
	return fmt.Errorf("the %s of %s has %d tokens, want 1 to %d", what, first, tokens[first], MaxTokens)
}

// What may follow an attempt that has not failed, one that has failed, and one of them for a summary.
var (
	afterReply   = []transcript.Next{transcript.NextTools, transcript.NextWithoutTools}
	afterFailure = []transcript.Next{
		transcript.NextAskedAgain, transcript.NextReconsidered, transcript.NextAskedAlone, transcript.NextInsisted,
		transcript.NextCapRaised, transcript.NextCapRaisedMore, transcript.NextShortened, transcript.NextSummary,
		transcript.NextReasoningDropped, transcript.NextRetried, transcript.NextWaited, transcript.NextSubstitute,
	}
	afterSummary = []transcript.Next{
		transcript.NextSummarized, transcript.NextShortened, transcript.NextRetried, transcript.NextWaited, transcript.NextSubstitute,
	}
)

// CheckNext returns an error if attempts of a step that has failed say that something followed them that cannot have followed.
func CheckNext(attempts []transcript.Attempt) error {
	return checkNext(attempts, func(a *transcript.Attempt) bool {
		switch a.Next { // if the time was over, what is said to follow did not
		case "", transcript.NextTools, transcript.NextWithoutTools, transcript.NextSummarized, transcript.NextShortened:
			return a.ErrorKind == ""
		default:
			return a.ErrorKind != "" && a.Next == transcript.NextGivenUp
		}
	})
}

// checkTurn returns an error as CheckNext does, for the attempts of a turn.
func checkTurn(t *transcript.Turn) error {
	if slices.Contains(t.Flags, transcript.Partial) || slices.Contains(t.Flags, transcript.Defaulted) {
		return CheckNext(t.Attempts)
	}
	return checkNext(t.Attempts, func(a *transcript.Attempt) bool {
		if a.ErrorKind != "" { // an earlier reply, which is doubtful, stands
			return a.Next == transcript.NextGivenUp
		}
		return a.Next == ""
	})
}

// CheckRound returns an error as CheckNext does, for the attempts up to a round of tool calls.
func CheckRound(attempts []transcript.Attempt) error {
	return checkNext(attempts, func(a *transcript.Attempt) bool { return a.ErrorKind == "" && a.Next == transcript.NextTools })
}

// checkNext checks what attempts say of what followed them. ends reports whether the last one can end them.
func checkNext(attempts []transcript.Attempt, ends func(*transcript.Attempt) bool) error {
	for i := range attempts {
		a := &attempts[i]
		right := false
		switch {
		case i == len(attempts)-1:
			right = ends(a)
		case i > 0 && attempts[i-1].Next == transcript.NextSummary:
			right = slices.Contains(afterSummary, a.Next)
		case a.ErrorKind != "":
			right = slices.Contains(afterFailure, a.Next)
		default:
			right = slices.Contains(afterReply, a.Next)
		}
		if !right {
			return fmt.Errorf("%q cannot have followed attempt %d", a.Next, i+1)
		}
	}
	return nil
}
