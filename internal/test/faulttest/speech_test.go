package faulttest

import (
	"context"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/report/archive"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

const refusal = "I'm sorry, but I can't help with that request."

// straying is a model that plays all actors of a debate on a server, and strays from the task of a speech. It does not see what
// asks it again, so that it says what it would have said at first.
type straying struct {
	*spoiling

	stray func(name, text string, again bool) string // what it says as a participant

	mu      sync.Mutex
	heard   []string // the prompts of others
	strayed bool     // a speech was asked for
}

// systemName matches who a prompt is for.
var systemName = regexp.MustCompile(`^You are ([^,.]+)[,.]`)

// Generate has the server reply.
func (s *straying) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	asked := r
	again := false
	for n := len(asked.Messages); n > 0 && strings.Contains(asked.Messages[n-1].Text, "so it was not used"); n-- {
		asked.Messages = asked.Messages[:n-1]
		again = true
	}
	text := filler.ReplaceAllStringFunc(enginetest.PresetReply(s.cfg, asked), func(zeros string) string { return argument(4 * len(zeros)) })
	who := ""
	if m := systemName.FindStringSubmatch(r.Messages[0].Text); m != nil {
		who = m[1]
	}
	isSeat := slices.ContainsFunc(s.cfg.Participants, func(p debate.Participant) bool { return p.Name == who })
	switch {
	case isSeat && r.Schema == nil && text[0] != '{':
		text = s.stray(who, text, again)
		s.mu.Lock()
		s.strayed = true
		s.mu.Unlock()
	case !isSeat:
		s.mu.Lock()
		for _, m := range r.Messages {
			s.heard = append(s.heard, m.Text)
		}
		s.mu.Unlock()
	}
	return s.Provider.Generate(context.WithValue(ctx, sentKey{}, inPieces(text)), r)
}

// otherThan returns another name than a participant's.
func otherThan(cfg debate.Config, name string) string {
	for _, p := range cfg.Participants {
		if p.Name != name {
			return p.Name
		}
	}
	return "B"
}

// dialogueOf returns a reply that begins with a speech and has lines for another.
func dialogueOf(name, other, text string) string {
	return name + ": " + text + "\n\n" + other + ": I disagree.\n\n" + name + ": You would."
}

// strayings are what models write in place of a speech, and whether the debate is still the one that they would have had.
var strayings = map[string]struct {
	stray   func(cfg debate.Config, name, text string, again bool) string
	same    bool              // the debate says what it would have said
	flags   []transcript.Flag // of each speech
	policy  debate.FailurePolicy
	attempt int // how often a speech was asked for
}{
	"a label": {
		stray: func(_ debate.Config, name, text string, _ bool) string { return "**" + name + " (round 1):** " + text },
		same:  true, attempt: 1,
	},
	"a dialogue": {
		stray: func(cfg debate.Config, name, text string, again bool) string {
			if again {
				return text
			}
			return dialogueOf(name, otherThan(cfg, name), text)
		},
		same: true, flags: []transcript.Flag{transcript.Reasked}, attempt: 2,
	},
	"dialogues": {
		stray: func(cfg debate.Config, name, text string, _ bool) string {
			return dialogueOf(name, otherThan(cfg, name), text)
		},
		same: true, flags: []transcript.Flag{transcript.Reasked, transcript.SpokeForOthers}, attempt: 2,
	},
	"a refusal": {
		stray: func(_ debate.Config, _, text string, again bool) string {
			if again {
				return text
			}
			return refusal
		},
		same: true, flags: []transcript.Flag{transcript.Reasked}, attempt: 2,
	},
	"refusals": {
		stray: func(debate.Config, string, string, bool) string { return refusal },
		flags: []transcript.Flag{transcript.Reasked, transcript.Refused}, attempt: 2,
	},
	"refusals that fail": {
		stray:  func(debate.Config, string, string, bool) string { return refusal },
		policy: debate.Degrade, attempt: 2,
	},
	"an answer to others": {
		stray: func(cfg debate.Config, name, text string, _ bool) string {
			return "- " + otherThan(cfg, name) + ": you said that it is simple. It is not.\n- " + name + ": " + text
		},
		attempt: 1,
	},
}

// strayedDebate holds a debate with a model that strays, and returns it with the model. keep says whether attempts keep all replies.
func strayedDebate(t *testing.T, cfg debate.Config, keep bool, stray func(name, text string, again bool) string) (*debate.Debate,
	*straying,
) {
	t.Helper()
	m, _ := newSpoiling(t, cfg, nil, func(string) string { return "" })
	model := &straying{spoiling: m, stray: stray}
	d := debatetest.New(t, cfg, debate.Options{Providers: map[string]providers.Provider{"m": uncheckable{model}}, KeepReplies: keep})
	_, err := debatetest.Run(t, d)
	if cfg.OnRefusal == "" {
		require.NoError(t, err)
	}
	return d, model
}

// requireDerivedSpeeches requires that the turns of a debate, and the requests of its speeches, follow from its journal.
func requireDerivedSpeeches(t *testing.T, d *debate.Debate, speeches []transcript.Turn) {
	t.Helper()
	for check, err := range d.VerifyEntries(t.Context()) {
		require.NoError(t, err)
		require.NotEqual(t, debate.EntryWrong, check.Verdict, check.Reason)
	}
	for i := range speeches {
		p, err := d.PromptOf(t.Context(), speeches[i].Key)
		require.NoError(t, err)
		require.Empty(t, p.Missing)
		require.Equal(t, "equal", p.Match)
	}
}

// A debate of each preset with models that stray is the debate that it would have been, or says what is wrong.
func TestDebatesWithModelsThatStray(t *testing.T) {
	sample := enginetest.NewSample(t, 8)
	configs := enginetest.PresetConfigs()
	for _, preset := range slices.Sorted(maps.Keys(configs)) {
		cfg := configs[preset]
		if cfg.Embedder.Provider != "" {
			continue // vectors are no text of a chat model
		}
		t.Run(preset, func(t *testing.T) {
			want := ""
			synctest.Test(t, func(t *testing.T) {
				d, _ := strayedDebate(t, cfg, true, func(_, text string, _ bool) string { return text })
				want = outcomeOf(t, d)
			})
			for name, s := range strayings {
				if !sample.Tries(name) {
					continue
				}
				t.Run(name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						tried := cfg
						tried.OnRefusal = s.policy
						d, model := strayedDebate(t, tried, false,
							func(name, text string, again bool) string { return s.stray(cfg, name, text, again) })
						r := debatetest.Result(t, d)
						if s.same {
							require.Equal(t, want, outcomeOf(t, d))
						}
						var speeches []transcript.Turn
						for _, turn := range r.Turns {
							if turn.Contract == "" &&
								slices.ContainsFunc(cfg.Participants, func(p debate.Participant) bool { return p.Name == turn.Actor }) {
								require.Equal(t, s.flags, turn.Flags, turn.Key)
								require.Len(t, turn.Attempts, s.attempt)
								speeches = append(speeches, turn)
							}
						}
						requireDerivedSpeeches(t, d, speeches)
						if s.policy == debate.Degrade {
							require.Empty(t, speeches)
							requireRefused(t, d, model)
						}
						if len(speeches) > 0 && slices.Contains(s.flags, transcript.Refused) {
							require.Contains(t, strings.Join(r.Warnings, "\n"), "declined to speak")
							requireTold(t, model)
						}
					})
				})
			}
		})
	}
}

// requireRefused requires that a debate in which all speeches are refusals says so, unless nobody was asked for a speech.
func requireRefused(t *testing.T, d *debate.Debate, model *straying) {
	t.Helper()
	n := 0
	for at, err := range d.Replay(t.Context()) {
		require.NoError(t, err)
		if dropped, ok := at.Event.(debate.Dropped); ok {
			require.Equal(t, providers.Refused, dropped.Failure.Kind)
			n++
		}
	}
	if f := debatetest.Result(t, d).Failure; f != nil {
		require.Equal(t, providers.Refused, f.Kind)
		require.Contains(t, f.Hint(), "declines to speak")
		n++
	}
	require.Equal(t, model.strayed, n > 0, "it fails if a speech was asked for")
}

// requireTold requires that the prompts of judges show refusals, and have a line below each of them.
func requireTold(t *testing.T, model *straying) {
	t.Helper()
	shown := 0
	for _, prompt := range model.heard {
		for _, after := range strings.Split(prompt, "\n"+refusal+"\n")[1:] {
			require.Regexp(t, `^<<<\d+ end>>>\n<<<\d+ refused: the speaker declined to speak, so this is no argument>>>`, after)
			shown++
		}
	}
	require.NotZero(t, shown)
}

// A person decides about a refusal if the configuration says so.
func TestAPersonDecidesAboutARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := debatetest.PairConfig(panel.Protocol{Mode: panel.Sequential})
		cfg.OnRefusal = debate.Degrade
		cfg.OnFailure = debate.Ask
		for i := range cfg.Judges {
			cfg.Judges[i].Provider = "m"
		}
		d, _ := strayedDebate(t, cfg, false, func(string, string, bool) string { return refusal })
		r := debatetest.Result(t, d)
		require.Equal(t, fsm.Paused, r.State)
		require.NotNil(t, r.Question)
		require.Equal(t, providers.Refused, r.Question.Failure.Kind)
		require.Equal(t, 2, r.Question.Failure.Attempts)
	})
}

// A speaker who knows the others only by pseudonyms does not speak for them, whatever it calls them. The turn has their names.
func TestABlindSpeakerSpeaksForItselfAlone(t *testing.T) {
	const errs = "The edge wins, and Debater A errs." // of two participants, the other one is Debater A
	twice := []transcript.Flag{transcript.Reasked, transcript.SpokeForOthers}
	for label, test := range map[string]struct {
		stray func(name, other string) string
		text  func(name, other string) string
		flags []transcript.Flag
	}{
		"a pseudonym": {
			stray: func(name, _ string) string { return dialogueOf(name, "Debater A", errs) },
			flags: twice,
		},
		"a pseudonym in bold": {
			stray: func(name, _ string) string { return dialogueOf(name, "**debater a** (round 1)", errs) },
			flags: twice,
		},
		"the name": {
			stray: func(name, other string) string { return dialogueOf(name, other, errs) },
			flags: twice,
		},
		"a label of its own": {
			stray: func(name, _ string) string { return "**" + name + ":** " + errs },
		},
		"an answer to a pseudonym": {
			stray: func(string, string) string { return "Debater A: you said that it is simple.\n\n" + errs },
			text: func(_, other string) string {
				return other + ": you said that it is simple.\n\nThe edge wins, and " + other + " errs."
			},
		},
	} {
		t.Run(label, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := blindConfig()
				d, _ := strayedDebate(t, cfg, false,
					func(name, _ string, _ bool) string { return test.stray(name, otherThan(cfg, name)) })
				r := debatetest.Result(t, d)
				require.Len(t, r.Turns, 4)
				for _, turn := range r.Turns {
					other := otherThan(cfg, turn.Actor)
					want := "The edge wins, and " + other + " errs."
					if test.text != nil {
						want = test.text(turn.Actor, other)
					}
					require.Equal(t, want, turn.Text)
					require.Equal(t, test.flags, turn.Flags)
				}
				requireDerivedSpeeches(t, d, r.Turns)
			})
		})
	}
}

// blindConfig returns a debate in which the speakers know one another only by pseudonyms.
func blindConfig() debate.Config {
	cfg := debate.Config{ID: "d", Topic: "Edge caches?", Limits: debate.Limits{MaxRounds: 2}}
	cfg.Protocol = protocol.Flow{
		Title:  "blind/1",
		Seats:  protocol.Seats{Participants: protocol.Range{Least: 2}},
		Stages: []protocol.Stage{{Kind: transcript.Speech, Name: "respond", Prompt: "free-form", Blind: true}},
	}
	for _, name := range []string{"Ada", "Bo"} {
		cfg.Participants = append(cfg.Participants, debate.Participant{Name: name, Position: "What " + name + " holds"})
	}
	return cfg
}

// A journal in which somebody hides that a turn is a refusal, or a part of a dialogue, or changes what the model replied, is wrong.
func TestForgedSpeeches(t *testing.T) {
	for name, test := range map[string]struct {
		straying string
		forge    func(turn map[string]any)
	}{
		"a refusal without its flag":  {"refusals", func(turn map[string]any) { turn["flags"] = []any{"reasked"} }},
		"a speech with the flag":      {"a label", func(turn map[string]any) { turn["flags"] = []any{"refused"} }},
		"a dialogue without its flag": {"dialogues", func(turn map[string]any) { turn["flags"] = []any{"reasked"} }},
		"another part of a dialogue":  {"dialogues", func(turn map[string]any) { turn["text"] = "You would." }},
		"a dialogue that was none": {"dialogues", func(turn map[string]any) {
			turn["attempts"].([]any)[0].(map[string]any)["reply"] = "The edge wins." //nolint:forcetypeassert // it is what the test has made
		}},
		"a refusal that was none": {"a refusal", func(turn map[string]any) {
			turn["attempts"].([]any)[0].(map[string]any)["reply"] = "The edge wins." //nolint:forcetypeassert // it is what the test has made
		}},
		"a refusal that was followed by a retry": {"a refusal", func(turn map[string]any) {
			turn["attempts"].([]any)[0].(map[string]any)["next"] = "retried" //nolint:forcetypeassert // it is what the test has made
		}},
		"a dialogue that was followed by a wait": {"dialogues", func(turn map[string]any) {
			turn["attempts"].([]any)[0].(map[string]any)["next"] = "waited" //nolint:forcetypeassert // it is what the test has made
		}},
		"a label that was none": {"a label", func(turn map[string]any) {
			turn["attempts"].([]any)[0].(map[string]any)["reply"] = "The edge wins." //nolint:forcetypeassert // it is what the test has made
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := debatetest.PairConfig(panel.Protocol{Mode: panel.Sequential})
				cfg.ID = "d"
				kept := store.Memory()
				m, _ := newSpoiling(t, cfg, nil, func(string) string { return "" })
				s := strayings[test.straying]
				model := &straying{
					spoiling: m,
					stray:    func(name, text string, again bool) string { return s.stray(cfg, name, text, again) },
				}
				options := debate.Options{
					Store: kept,
					Providers: map[string]providers.Provider{
						"m": uncheckable{model},
						"j": &debatetest.DigestModel{Names: []string{"A", "B"}},
					},
				}
				debatetest.Finish(t, debatetest.New(t, cfg, options))
				j, err := archive.Export(t.Context(), kept, "d")
				require.NoError(t, err)
				raw, err := json.Marshal(j)
				require.NoError(t, err)
				require.Zero(t, wrongEntries(t, raw, options))
				require.NotZero(t, wrongEntries(t, forged(t, raw, test.forge), options))
			})
		})
	}
}

// forged returns an export whose first speech is changed.
func forged(t *testing.T, raw []byte, change func(turn map[string]any)) []byte {
	t.Helper()
	var root map[string]any
	require.NoError(t, json.Unmarshal(raw, &root))
	for _, e := range root["entries"].([]any) { //nolint:forcetypeassert // an export has entries
		entry := e.(map[string]any)            //nolint:forcetypeassert // they are objects
		data := entry["data"].(map[string]any) //nolint:forcetypeassert // of objects
		if turn, ok := data["turn"].(map[string]any); ok && turn["actor"] == "A" {
			change(turn)
			break
		}
	}
	made, err := json.Marshal(root)
	require.NoError(t, err)
	return made
}

// wrongEntries returns the number of entries of an export that are wrong.
func wrongEntries(t *testing.T, raw []byte, options debate.Options) (n int) {
	t.Helper()
	var j archive.Journal
	require.NoError(t, json.Unmarshal(raw, &j))
	s := store.Memory()
	require.NoError(t, archive.Import(t.Context(), s, &j))
	options.Store = s
	e, err := debate.NewEngine(options)
	require.NoError(t, err)
	defer e.Close(t.Context())
	d, err := e.Open(t.Context(), "d")
	require.NoError(t, err)
	for check, err := range d.VerifyEntries(t.Context()) {
		require.NoError(t, err)
		if check.Verdict == debate.EntryWrong {
			n++
		}
	}
	return n
}
