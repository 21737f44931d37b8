package turns

import (
	"errors"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/transcript"
)

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
	transcript.Setup, transcript.Speech, transcript.Assessment, transcript.Conclusion, transcript.Remark, transcript.Summary, transcript.Embeddings,
	transcript.Silence,
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
