package step

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elenchus-go/debate/journal"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/speech"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

const (
	refuses = "I'm sorry, but I can't help with that request."
	talks   = "Ada: The edge wins.\n\nBo: The origin is simpler.\n\nAda: Still, latency counts."
)

// speaking changes a run to a speech of Ada, whose attempts keep only the replies of which the turn lacks a part.
func speaking(r *Run) {
	p := &r.Plan
	p.KeepReplies = false
	p.Step.Actor = "Ada"
	p.Speech = &speech.Seats{Own: "Ada", Others: []string{"Bo", "Judge"}}
	p.Prompt.Data = &prompts.Data{Topic: "Edge?", Me: transcript.Profile{Name: "Ada", Side: "edge"}, Nonce: "123"}
}

func TestSpeechesThatAreNone(t *testing.T) {
	const (
		alone   = "had lines for others"
		insists = "your side is assigned"
	)
	again := []string{"begin 1 p/m", "end: invalid_response", "failed: invalid_response, again", "begin 2 p/m", "end"}
	argued := []string{"begin 1 p/m", "end: refused", "failed: refused, again", "begin 2 p/m", "end"}
	for name, tt := range map[string]struct {
		replies []scripted.Reply
		change  func(r *Run)
		log     []string
		text    string
		flags   []transcript.Flag
		kept    []string // replies that the attempts have
		asked   []string // what the last request has
		kind    providers.ErrorKind
	}{
		"a speech": {
			replies: []scripted.Reply{{Text: "The edge wins."}},
			log:     []string{"begin 1 p/m", "end"}, text: "The edge wins.", kept: []string{""},
		},
		"a label": {
			replies: []scripted.Reply{{Text: "**Ada (round 2):** The edge wins."}},
			log:     []string{"begin 1 p/m", "end"}, text: "The edge wins.", kept: []string{"**Ada (round 2):** The edge wins."},
		},
		"a dialogue, then a speech": {
			replies: []scripted.Reply{{Text: talks}, {Text: "The edge wins."}},
			log:     again, text: "The edge wins.", flags: []transcript.Flag{transcript.Reasked}, kept: []string{talks, ""},
			asked: []string{alone},
		},
		"a dialogue twice": {
			replies: []scripted.Reply{{Text: talks}, {Text: talks}},
			log:     again, text: "The edge wins.", flags: []transcript.Flag{transcript.Reasked, transcript.SpokeForOthers},
			kept: []string{talks, talks}, asked: []string{alone},
		},
		"a dialogue, which is not asked again": {
			replies: []scripted.Reply{{Text: talks}},
			change:  func(r *Run) { r.Plan.Retries = map[providers.ErrorKind]int{providers.InvalidResponse: 0} },
			log: []string{
				"begin 1 p/m",
				"end",
			}, text: "The edge wins.", flags: []transcript.Flag{transcript.SpokeForOthers}, kept: []string{talks},
		},
		"a dialogue in the last attempt": {
			replies: []scripted.Reply{{Text: talks}},
			change:  func(r *Run) { r.Plan.Limits.Attempts = 1 },
			log:     []string{"begin 1 p/m", "end"}, text: "The edge wins.", flags: []transcript.Flag{transcript.SpokeForOthers},
			kept: []string{talks},
		},
		"a reply of others alone": {
			replies: []scripted.Reply{{Text: "Bo: I say that Ada is wrong."}, {Text: "Bo: I say that Ada is wrong."}},
			log: []string{
				"begin 1 p/m", "end: invalid_response", "failed: invalid_response, again", "begin 2 p/m",
				"end: invalid_response", "failed: invalid_response, no retry",
			},
			kind: providers.InvalidResponse, kept: []string{"Bo: I say that Ada is wrong.", "Bo: I say that Ada is wrong."},
		},
		"a refusal, then a speech": {
			replies: []scripted.Reply{{Text: refuses}, {Text: "The edge wins."}},
			log:     argued, text: "The edge wins.", flags: []transcript.Flag{transcript.Reasked}, kept: []string{refuses, ""},
			asked: []string{insists},
		},
		"a refusal twice": {
			replies: []scripted.Reply{{Text: refuses}, {Text: "I won't argue for this."}},
			log:     argued, text: "I won't argue for this.", flags: []transcript.Flag{transcript.Reasked, transcript.Refused},
			kept: []string{refuses, ""}, asked: []string{insists},
		},
		"a refusal twice that is a failure": {
			replies: []scripted.Reply{{Text: refuses}, {Text: refuses}},
			change:  func(r *Run) { r.Plan.RefusalFails = true; r.Plan.KeepPartial = true },
			log: []string{
				"begin 1 p/m", "end: refused", "failed: refused, again", "begin 2 p/m", "end: refused",
				"failed: refused, no retry",
			},
			kind: providers.Refused, kept: []string{refuses, refuses}, asked: []string{insists},
		},
		"a refusal twice, then a substitute": {
			replies: []scripted.Reply{{Text: refuses}, {Text: refuses}, {Text: "The edge wins."}},
			change: func(r *Run) {
				r.Plan.RefusalFails = true
				r.Plan.Substitutes = []Model{{
					Provider: "q", Client: r.Plan.Model.Client, Request: providers.Request{Model: "other"},
					Window: 10000, Room: 9000,
				}}
			},
			log: []string{
				"begin 1 p/m", "end: refused", "failed: refused, again", "begin 2 p/m", "end: refused",
				"failed: refused, again", "begin 3 q/other", "end",
			},
			text: "The edge wins.", flags: []transcript.Flag{transcript.Substituted}, kept: []string{refuses, refuses, ""},
		},
		"a dialogue, then a refusal, then a speech": {
			replies: []scripted.Reply{{Text: talks}, {Text: "Ada: " + refuses}, {Text: "The edge wins."}},
			log: []string{
				"begin 1 p/m", "end: invalid_response", "failed: invalid_response, again", "begin 2 p/m", "end: refused",
				"failed: refused, again", "begin 3 p/m", "end",
			},
			text: "The edge wins.", flags: []transcript.Flag{transcript.Reasked}, kept: []string{talks, "Ada: " + refuses, ""},
			asked: []string{alone, insists},
		},
		"a refusal, then an error of the service": {
			replies: []scripted.Reply{{Text: refuses}, failing(providers.ServerError), {Text: "The edge wins."}},
			log: []string{
				"begin 1 p/m", "end: refused", "failed: refused, again", "begin 2 p/m", "end: server_error",
				"failed: server_error, later", "begin 3 p/m", "end",
			},
			text: "The edge wins.", flags: []transcript.Flag{transcript.Reasked}, kept: []string{refuses, "", ""}, asked: []string{insists},
		},
		"reasoning before a refusal": {
			replies: []scripted.Reply{
				{Text: "<think>Bo: no. Ada: yes.</think>" + refuses},
				{Text: "<think>Ada: I can't help.</think>The edge wins."},
			},
			log: argued, text: "The edge wins.", flags: []transcript.Flag{transcript.Reasked},
			kept: []string{"<think>Bo: no. Ada: yes.</think>" + refuses, ""}, asked: []string{insists},
		},
		"a part of a dialogue": {
			replies: []scripted.Reply{{Text: talks, Err: &providers.Error{Kind: providers.ContentFiltered}}},
			change: func(r *Run) {
				r.Plan.KeepPartial, r.Plan.Retries = true, map[providers.ErrorKind]int{providers.ContentFiltered: 0}
			},
			log:  []string{"begin 1 p/m", "end: content_filtered", "failed: content_filtered, no retry"},
			text: "The edge wins.", flags: []transcript.Flag{transcript.Partial, transcript.SpokeForOthers}, kept: []string{talks},
		},
		"a part of a dialogue with pseudonyms": {
			replies: []scripted.Reply{{
				Text: "Debater A errs.\n\nDebater A: Not I.\n\nAda: You do.",
				Err:  &providers.Error{Kind: providers.ContentFiltered},
			}},
			change: func(r *Run) {
				r.Plan.KeepPartial, r.Plan.Retries = true, map[providers.ErrorKind]int{providers.ContentFiltered: 0}
				r.Plan.Pseudonyms = judge.NewPseudonyms([]string{"Bo"}, "seed", "Ada", false)
				r.Plan.Speech.Others = append(r.Plan.Speech.Others, "Debater A")
			},
			log:  []string{"begin 1 p/m", "end: content_filtered", "failed: content_filtered, no retry"},
			text: "Bo errs.", flags: []transcript.Flag{transcript.Partial, transcript.SpokeForOthers},
			kept: []string{"Debater A errs.\n\nDebater A: Not I.\n\nAda: You do."},
		},
		"a part with a special token": {
			replies: []scripted.Reply{{
				Text: "The edge wins. <|tool_sep|>",
				Err:  &providers.Error{Kind: providers.ContentFiltered},
			}},
			change: func(r *Run) {
				r.Plan.KeepPartial, r.Plan.Retries = true, map[providers.ErrorKind]int{providers.ContentFiltered: 0}
			},
			log:  []string{"begin 1 p/m", "end: content_filtered", "failed: content_filtered, no retry"},
			text: "The edge wins. <|tool_sep|>", flags: []transcript.Flag{transcript.SpecialToken, transcript.Partial},
			kept: []string{""},
		},
		"an answer to others": {
			replies: []scripted.Reply{{Text: "Bo: you said that it is simpler. It is not."}},
			log:     []string{"begin 1 p/m", "end"}, text: "Bo: you said that it is simpler. It is not.", kept: []string{""},
		},
		"a reply of a judge": {
			replies: []scripted.Reply{{Text: refuses}},
			change:  func(r *Run) { r.Plan.Speech = nil },
			log:     []string{"begin 1 p/m", "end"}, text: refuses, kept: []string{""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model, h := &scripted.Provider{Replies: tt.replies}, &recorder{}
				r := newRun(t, model)
				speaking(r)
				if tt.change != nil {
					tt.change(r)
				}
				plan := r.Plan
				turn, err := do(t, r, h)
				require.Equal(t, tt.log, h.log)
				var tried []transcript.Attempt
				if tt.kind != "" {
					var f *journal.Failure
					require.ErrorAs(t, err, &f)
					require.Equal(t, tt.kind, f.Kind)
					tried = f.AttemptDetails
				} else {
					require.NoError(t, err)
					require.Equal(t, tt.text, turn.Text)
					require.Equal(t, tt.flags, turn.Flags)
					tried = turn.Attempts
					requireDerived(t, &plan, turn)
				}
				var kept []string
				for _, a := range tried {
					kept = append(kept, a.Reply)
				}
				require.Equal(t, tt.kept, kept)
				last := r.query.model.Request.Messages
				for i, words := range tt.asked {
					require.Contains(t, last[len(last)-len(tt.asked)+i].Text, words)
				}
				for _, m := range last {
					require.NotContains(t, m.Text, refuses, "the model does not see its refusal")
				}
			})
		})
	}
}

// requireDerived requires that a turn is what its attempts say, and that a turn which was changed is not.
func requireDerived(t *testing.T, plan *Plan, turn *transcript.Turn) {
	t.Helper()
	reread := func(turn transcript.Turn) *Reread {
		again := &Run{Plan: *plan}
		data := *plan.Prompt.Data
		again.Plan.Prompt.Data = &data
		return RereadTurn(again, &turn, time.Time{})
	}
	found := reread(*turn)
	require.NoError(t, found.Wrong)
	require.Empty(t, found.Differs)
	require.Empty(t, found.Missing)
	if turn.Attempts[len(turn.Attempts)-1].Reply != "" {
		forged := *turn
		forged.Text += " Always."
		require.Error(t, reread(forged).Wrong, "another text")
	}
	for _, f := range []transcript.Flag{transcript.Refused, transcript.SpokeForOthers} {
		forged := *turn
		if slices.Contains(turn.Flags, f) {
			forged.Flags = slices.DeleteFunc(slices.Clone(turn.Flags), func(g transcript.Flag) bool { return g == f })
		} else {
			forged.Flags = append(slices.Clone(turn.Flags), f)
		}
		if plan.Speech != nil {
			require.Error(t, reread(forged).Wrong, "another flag: %s", f)
		}
	}
}

// The prompts that ask again know the names and the side of the speaker.
func TestWhatAsksForASpeech(t *testing.T) {
	set, err := prompts.Load(nil)
	require.NoError(t, err)
	d := prompts.Data{Topic: "Edge?", Me: transcript.Profile{Name: "Ada"}}
	words, err := set.User(promptInsist, d)
	require.NoError(t, err)
	require.NotContains(t, words, "your side is assigned")
	require.Contains(t, words, "an exercise")
	words, err = set.User(promptAlone, d)
	require.NoError(t, err)
	require.Contains(t, words, "as Ada")
	require.False(t, strings.Contains(words, "Bo"))
}
