package runs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/transcript"
)

// FailureOf says why a debate has no result. It returns "" if the debate has ended.
func FailureOf(r *debate.Result) string {
	switch {
	case r.State == fsm.Completed && r.Ending.Outcome == transcript.QuorumLost:
		return "too many participants failed"
	case r.State == fsm.Completed:
		return ""
	case r.Failure != nil:
		return fmt.Sprintf("%s: %s", r.Failure.Kind, r.Failure.Error())
	case r.State == fsm.Canceled:
		return "it was canceled"
	case r.Question != nil:
		return "it waits for a decision: " + r.Question.Cause
	}
	return "it is not complete: " + string(r.State)
}

// Spending says in words what everything has used.
func Spending(tokens int, cost float64) string {
	if cost > 0 {
		return fmt.Sprintf("%s tokens, cost %s", outcome.Thousands(tokens), Money(cost))
	}
	return outcome.Thousands(tokens) + " tokens"
}

// Plural returns a number with a noun.
func Plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}

// Count returns a number, or "" for 0.
func Count(n int) string {
	return strings.TrimPrefix(strconv.Itoa(n), map[bool]string{true: "0"}[n == 0])
}

// Money returns an amount with four significant digits, or "" for 0.
func Money(f float64) string {
	if f == 0 {
		return ""
	}
	return strconv.FormatFloat(f, 'g', 4, 64)
}

// Probability returns a probability with three decimals.
func Probability(p float64) string {
	if p < 0.001 {
		return "< 0.001"
	}
	return fmt.Sprintf("%.3f", p)
}

// Incomplete says why something is missing: because of a limit, or just that it is. It returns "" if nothing is.
func Incomplete(limit string, missing int, what string) string {
	text := Plural(missing, what) + " are missing"
	switch {
	case missing == 0:
		return ""
	case limit != "":
		return limit + ", and " + text
	}
	return text
}
