package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/review"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/report"
)

// hasGate reports whether the exit code depends on the decision.
func (o *options) hasGate() bool { return len(o.pass) > 0 || o.minConfidence > 0 }

// checkPass returns an error for a decision of --pass that a debate between options cannot come to.
func (o *options) checkPass(of protocol.Protocol) error {
	known := optionsOf(of)
	if known == nil {
		return nil
	}
	for _, wanted := range o.pass {
		if !slices.ContainsFunc(known, func(option string) bool { return sameDecision(option, wanted) }) {
			return exitErrorf(exitInput, "read arguments: --pass %q is no option of the debate, use one of %q", wanted, known)
		}
	}
	return nil
}

// optionsOf returns the options between which a protocol of the library decides, and nil if there are none.
func optionsOf(of protocol.Protocol) []string {
	switch own := of.(type) {
	case panel.Protocol:
		return own.Decision.Options
	case procon.Protocol:
		return own.Decision.Options
	case vote.Protocol:
		return own.Options
	case review.Protocol:
		return []string{string(review.Approve), string(review.RequestChanges), string(review.Comment)}
	}
	return nil
}

// sameDecision reports whether two texts name one decision.
func sameDecision(a, b string) bool {
	return strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b))
}

// judge returns the error of a gate that a decision does not pass.
func (o *options) judge(a *report.Answer) error {
	passes := len(o.pass) == 0 || slices.ContainsFunc(o.pass, func(wanted string) bool { return sameDecision(a.Decision, wanted) })
	switch {
	case !o.hasGate():
		return nil
	case a.Decision == "":
		return exitErrorf(exitUndecided, "the debate has decided nothing%s", o.wants())
	case !passes:
		return exitErrorf(exitAnother, "the decision is %q%s", a.Decision, o.wants())
	case o.minConfidence > 0 && a.Confidence == nil:
		return exitErrorf(exitUndecided, "the decision is %q, but nobody has said how sure it is%s", a.Decision, o.wants())
	case o.minConfidence > 0 && *a.Confidence < o.minConfidence:
		return exitErrorf(exitUndecided, "the decision is %q with a confidence of %.0f %%, which is too low to count%s", a.Decision,
			*a.Confidence, o.wants())
	}
	return nil
}

// wants says what the gate lets pass, for errors.
func (o *options) wants() string {
	var list []string
	for _, wanted := range o.pass {
		list = append(list, fmt.Sprintf("%q", wanted))
	}
	text := "; want "
	if list == nil {
		text += "a decision"
	}
	text += strings.Join(list, " or ")
	if o.minConfidence > 0 {
		text += fmt.Sprintf(" with a confidence of at least %v %%", o.minConfidence)
	}
	return text
}
