package step

import (
	"errors"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/internal/speech"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// A reply that is no speech, or more than one, is asked for again, once for each reason. The new request has a sentence that says what
// is wanted, and not the reply. If that does not help, a dialogue is cut to the speaker's part, and a refusal stands as the turn or, if
// the plan says so, is a failure. The attempt keeps each reply of which the turn lacks a part.

// The prompts that ask for a speech.
const (
	promptAlone  = "speak-alone"
	promptInsist = "insist"
)

// errRefused reports that a model declines to speak.
var errRefused = errors.New("the model declines to speak")

// spoken returns what a model said in a free speech, without reasoning.
func (r *Run) spoken(reply string) speech.Reading {
	said, _ := reasoning.Split(characters.Valid(reply))
	return r.Plan.Speech.Read(said)
}

// askForSpeech prepares a request for a speech if a reply is a dialogue or a refusal, and returns it with an error for the attempt. It
// does so once for each, and not if no further attempt is allowed.
func (r *Run) askForSpeech(resp *providers.Response) (next transcript.Next, err error) {
	if r.Plan.Speech == nil || r.isLast() {
		return "", nil
	}
	found := r.spoken(resp.Text)
	switch {
	case found.Dialogue && r.maxRetries(providers.InvalidResponse) > 0 && r.askAlone():
		r.attempts.whole = true
		err = fmt.Errorf("%w: the reply has lines for others", errAskedAgain)
		return transcript.NextAskedAlone, &providers.Error{
			Kind:    providers.InvalidResponse,
			Partial: *resp,
			Err:     err,
		}
	case speech.IsRefusal(found.Text) && r.maxRetries(providers.Refused) > 0 && r.insist():
		r.attempts.whole = true
		err = fmt.Errorf("%w: %w", errAskedAgain, errRefused)
		return transcript.NextInsisted, &providers.Error{
			Kind:    providers.Refused,
			Partial: *resp,
			Err:     err,
		}
	}
	return "", nil
}

// askAlone asks the model to speak only for itself. It returns false if it was asked already, or if there is no such prompt.
func (r *Run) askAlone() bool { return r.query.askForSpeech(promptAlone) }

// insist asks the model to speak although it has declined. It returns false as askAlone does.
func (r *Run) insist() bool { return r.query.askForSpeech(promptInsist) }

// acceptSpeech returns the speaker's part of a free speech, with the flags of the turn. text is the reply without reasoning.
func (r *Run) acceptSpeech(resp *providers.Response, text string) (string, error) {
	if r.Plan.Speech == nil {
		return text, nil
	}
	found := r.Plan.Speech.Read(text)
	r.attempts.whole = found.Text != text
	switch {
	case characters.IsBlank(found.Text):
		return "", &providers.Error{
			Kind:    providers.InvalidResponse,
			Partial: *resp,
			Err:     errors.New("the reply has nothing that the speaker says"),
		}
	case r.Plan.RefusalFails && speech.IsRefusal(found.Text):
		r.attempts.whole = true
		return "", &providers.Error{
			Kind:    providers.Refused,
			Partial: *resp,
			Err:     errRefused,
		}
	}
	for _, f := range speechFlags(found) {
		r.draft.flag(f)
	}
	return found.Text, nil
}

// speechFlags returns the flags of a turn with a speech.
func speechFlags(found speech.Reading) (list []transcript.Flag) {
	if found.Dialogue {
		list = append(list, transcript.SpokeForOthers)
	}
	if speech.IsRefusal(found.Text) {
		list = append(list, transcript.Refused)
	}
	return list
}

// partOf returns what a turn keeps of the beginning of a reply, with its flags. It is empty if nothing is kept.
func (r *Run) partOf(text string) (part string, flags []transcript.Flag) {
	if r.Plan.Speech == nil {
		return text, []transcript.Flag{transcript.Partial}
	}
	found := r.Plan.Speech.Read(text)
	flags = append([]transcript.Flag{transcript.Partial}, speechFlags(found)...)
	if r.Plan.RefusalFails && slices.Contains(flags, transcript.Refused) {
		return "", nil
	}
	return found.Text, flags
}

// speechAgain compares the flags of a turn whose reply is not known with its text.
func (r *Run) speechAgain(t *transcript.Turn) error {
	has := func(f transcript.Flag) bool {
		return slices.Contains(t.Flags, f)
	}
	switch isRefusal := speech.IsRefusal(t.Text); {
	case has(transcript.SpokeForOthers):
		return errors.New("its text is a part of its reply, which is not kept")
	case isRefusal && r.Plan.RefusalFails:
		return errors.New("its text is a refusal, which is a failure in this debate")
	case isRefusal != has(transcript.Refused):
		return fmt.Errorf("its flags are %v, but its text says otherwise", t.Flags)
	}
	return nil
}
