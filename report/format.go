package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/elenchus-go/debate/internal/markup"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

const unknownCost = "unknown" // a cost without prices

// singleLine returns a text on one line, without control characters.
func singleLine(text string) string { return strings.Join(strings.Fields(markup.Clean(text)), " ") }

// humanize returns an identifier of the library with spaces instead of underscores.
func humanize[T ~string](name T) string { return strings.ReplaceAll(string(name), "_", " ") }

// formatCount formats an integer with thousands separators.
func formatCount(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// formatScore formats a number with at most two decimals.
func formatScore(f float64) string { return strconv.FormatFloat(math.Round(f*100)/100, 'f', -1, 64) }

// formatTokens formats a number of tokens, and marks it with ≈ if the usage is estimated.
func formatTokens(u transcript.Usage, n int) string {
	if u.Estimated {
		return "≈ " + formatCount(n)
	}
	return formatCount(n)
}

// formatCached formats the tokens that were read from a cache, and those that were written to it.
func formatCached(u transcript.Usage) string {
	if u.Written == 0 {
		return formatTokens(u, u.Cached)
	}
	return formatTokens(u, u.Cached) + ", " + formatCount(u.Written) + " written"
}

// formatCost formats the cost of a usage, and notes if some or all prices are unknown.
func (s shownConfig) formatCost(u transcript.Usage) string {
	paid := strconv.FormatFloat(math.Round(u.Cost*1e6)/1e6, 'f', -1, 64)
	switch {
	case u.Cost == 0 && (len(s.Prices) == 0 || u.Unpriced):
		return unknownCost
	case u.Unpriced:
		return "at least " + paid + "; some prices are unknown"
	}
	return paid
}

// formatDuration formats a duration, rounded to milliseconds.
func formatDuration(d time.Duration) string { return max(d, 0).Round(time.Millisecond).String() }

// formatDate formats the date of a time in UTC. It returns an empty string for the zero time.
func formatDate(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2 January 2006")
}

// formatTime formats a time in UTC. It returns an empty string for the zero time.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05.000 UTC")
}

// turnLabel returns the actor of a turn, its phase and its target.
func turnLabel(t *transcript.Turn) string {
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

// roundTitle returns the title of the part of the debate that contains a turn.
func roundTitle(t *transcript.Turn) string {
	switch {
	case t.Kind == transcript.Conclusion:
		return "Conclusion"
	case t.Round == 0:
		return "Before round 1"
	}
	return fmt.Sprintf("Round %d", t.Round)
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

// flagText describes a flag of a turn. It tells why a default stands in.
func flagText(t *transcript.Turn, f transcript.Flag) string {
	text, known := flagTexts[f]
	if !known {
		text = humanize(f)
	}
	if f == transcript.Defaulted {
		text = strings.TrimSuffix(text+": "+t.Refusal(), ": ")
	}
	return text
}

// turnNotes returns notes on a turn: the person who replied, its attempts and rounds of tool calls, its flags, and the number of
// turns that its prompt left out.
func turnNotes(t *transcript.Turn) (list []string) {
	if t.By != "" {
		list = append(list, "reply of "+t.By)
	}
	list = append(list, attemptNotes(t)...)
	for _, f := range t.Flags {
		list = append(list, flagText(t, f))
	}
	if w := t.Window; w != nil && w.Omitted > 0 {
		list = append(list, fmt.Sprintf("turns left out of the prompt: %d", w.Omitted))
	}
	return list
}

// plural returns a number with the singular or the plural of a word.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return formatCount(n) + " " + many
}

// attemptNotes returns the number of attempts of a turn if there were several, and the number of its rounds of tool calls, which
// are no attempts.
func attemptNotes(t *transcript.Turn) (list []string) {
	rounds := 0
	for _, a := range t.Attempts {
		if a.ErrorKind == "" && a.FinishReason == string(providers.ToolCalls) {
			rounds++
		}
	}
	if n := len(t.Attempts) - rounds; n > 1 {
		list = append(list, fmt.Sprintf("%d attempts", n))
	}
	if rounds > 0 {
		list = append(list, plural(rounds, "round of tool calls", "rounds of tool calls"))
	}
	return list
}

// roundLabel returns the round of a step, and its run unless it is the first.
func roundLabel(k transcript.Key) string {
	if k.Run > 1 {
		return fmt.Sprintf("%d of run %d", k.Round, k.Run)
	}
	return fmt.Sprint(k.Round)
}
