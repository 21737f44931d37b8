package report

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/internal/readmodel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

const unknownCost = "unknown" // a cost without prices

// formatTokens formats a number of tokens, and marks it with ≈ if the usage is estimated.
func formatTokens(u transcript.Usage, n int) string {
	if u.Estimated {
		return "≈ " + outcome.Thousands(n)
	}
	return outcome.Thousands(n)
}

// formatCached formats the tokens that were read from a cache, and those that were written to it.
func formatCached(u transcript.Usage) string {
	if u.Written == 0 {
		return formatTokens(u, u.Cached)
	}
	return formatTokens(u, u.Cached) + ", " + outcome.Thousands(u.Written) + " written"
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

// turnNotes returns notes on a turn: the person who replied, its attempts and rounds of tool calls, its flags, and the number of
// turns that its prompt left out.
func turnNotes(t *transcript.Turn) (list []string) {
	if t.By != "" {
		list = append(list, "reply of "+t.By)
	}
	list = append(list, attemptNotes(t)...)
	for _, f := range t.Flags {
		list = append(list, readmodel.FlagText(t, f))
	}
	if w := t.Window; w != nil && w.Omitted > 0 {
		list = append(list, fmt.Sprintf("turns left out of the prompt: %d", w.Omitted))
	}
	return list
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
		list = append(list, outcome.Count(rounds, "round of tool calls", "rounds of tool calls"))
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
