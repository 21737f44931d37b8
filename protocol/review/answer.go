package review

import (
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Answer returns what the review comes to. It is zero before the debate ends.
func (Protocol) Answer(r *protocol.Record) (a protocol.Answer) {
	end := r.Ending.Outcome
	if end == "" || end == transcript.Canceled {
		return a
	}
	ruled := r.Said(transcript.Conclusion, phaseRule)
	if r.Cursor.Stage == transcript.Conclusion && protocol.Next(Protocol{}, r) != nil {
		return a // a judge has not decided yet
	}
	found := examine(r)
	if len(r.Said(transcript.Speech, phaseFind)) == 0 {
		return a
	}
	res := Result{Findings: []Finding{}, Dropped: found.dropped, Silent: silent(r), Summaries: summaries(ruled)}
	decide(&res, found.list, opinionsIn(r, ruled))
	res.Verdict = verdictOf(&res, r)
	return outcome.Answer(res.text(), res, res.warnings(found.list, ruled)...)
}

// verdictOf returns the verdict that follows from the findings.
func verdictOf(res *Result, r *protocol.Record) Verdict {
	isError := func(f Finding) bool { return f.Severity == Error }
	switch {
	case slices.ContainsFunc(res.Findings, isError):
		return RequestChanges
	case len(res.Findings) > 0:
		return Comment
	case len(res.Silent) >= len(r.Participants)+len(r.Dropped):
		return ""
	}
	return Approve
}

// silent returns the reviewers without a valid reply, in order, those who dropped out last.
func silent(r *protocol.Record) (names []string) {
	turns := r.Said(transcript.Speech, phaseFind)
	for _, name := range slices.Concat(r.ParticipantNames(), r.Dropped) {
		at := slices.IndexFunc(turns, func(t transcript.Turn) bool { return t.Actor == name })
		if at < 0 || slices.Contains(turns[at].Flags, transcript.Defaulted) {
			names = append(names, name)
		}
	}
	return names
}

// summaries returns what the judges say of the review.
func summaries(ruled []transcript.Turn) (list []string) {
	for _, o := range judge.Opinions[Rulings](ruled...) {
		if !o.Failed {
			list = append(list, o.Judge+": "+o.Value.Summary)
		}
	}
	return list
}

// warnings says what a reader should know.
func (res *Result) warnings(found []claimed, ruled []transcript.Turn) (list []string) {
	for _, name := range res.Silent {
		list = append(list, name+" gave no valid reply.")
	}
	valid := 0
	for i := range ruled {
		if slices.Contains(ruled[i].Flags, transcript.Defaulted) {
			list = append(list, "The rulings of "+ruled[i].Actor+" could not be read and do not count.")
			continue
		}
		valid++
	}
	if len(found) > 0 && valid == 0 {
		list = append(list, "No judge decided. The votes of the reviewers did.")
	}
	if n := res.Dropped.NotChecked; n > 0 {
		list = append(list, fmt.Sprintf("%s dropped because the texts that they quote are not known, so that the quotes could not be checked.", were(n)))
	}
	return list
}
