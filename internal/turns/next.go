package turns

import (
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/transcript"
)

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
