package review_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/review"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

var (
	_ protocol.Defaulter = review.Protocol{}
	_ protocol.Answerer  = review.Protocol{}
	_ protocol.Decider   = review.Protocol{}
)

const diff = "diff --git a/store.go b/store.go\n--- a/store.go\n+++ b/store.go\n@@ -10,4 +10,5 @@ func (s *Store) Close() error {\n" +
	" \tif s == nil {\n-\t\treturn nil\n+\t\treturn s.db.Close()\n \t}\n+\tlog.Printf(`closing %q`, s.name)\n+\tlog.Printf(`closed %q`, s.name)\n" +
	" \treturn s.db.Close()\n \n ```\n+see <b>below</b> for more\n ```\n"

// The findings of the tests.
var (
	nilStore = review.Claim{
		Source: 1, File: "store.go", Line: 11, Quote: "+\t\treturn s.db.Close()", Severity: review.Error,
		Title: "A nil store is dereferenced",
		Text:  "s is nil there.", Show: "Call Close on a nil *Store: it panics.",
	}
	logged   = claim("+\tlog.Printf(`closing %q`, s.name)", review.Warning)
	absent   = claim("if err := s.flush(ctx); err != nil { panic(Shutdown(err)) }", review.Error)
	altered  = claim("+\tlog.Printf(`closing %q`, s.name, s.path)", review.Error)
	stranger = review.Claim{Source: 7, File: "x.go", Quote: nilStore.Quote, Severity: review.Error, Title: "t", Text: "t", Show: "s"}
)

func claim(quote string, s review.Severity) review.Claim {
	return review.Claim{
		Source: 1, File: "store.go", Quote: quote, Severity: s, Title: "About " + quote, Text: "It is logged.",
		Show: "Run it.",
	}
}

// seats are the replies of reviewers and judges, by name and contract. A missing reply is an error of the provider.
type seats map[string]any

// ask is one request of a debate.
type ask struct{ who, contract, prompt string }

// hold holds a review, and returns its result and the requests.
func hold(t *testing.T, replies seats, change ...func(*debate.Config)) (*debate.Result, []ask) {
	t.Helper()
	var mu sync.Mutex
	var asked []ask
	cfg := debate.Config{
		ID: "d", Topic: "Merge it?", Protocol: review.Protocol{}, Judges: []debate.Participant{{Name: "Jo"}},
		Participants: []debate.Participant{{Name: "Ada"}, {Name: "Bo"}, {Name: "Cy"}},
		Retries:      map[providers.ErrorKind]int{providers.ServerError: 0},
		Documents:    []evidence.Document{evidence.Shared("change.diff", diff)},
	}
	for _, f := range change {
		f(&cfg)
	}
	models := map[string]providers.Provider{}
	seat := func(list []debate.Participant) {
		for i := range list {
			name := list[i].Name
			list[i].Provider = name
			models[name] = debatetest.ProviderFunc(func(_ context.Context, r providers.Request) (providers.Response, error) {
				mu.Lock()
				asked = append(asked, ask{name, r.SchemaName, r.Messages[len(r.Messages)-1].Text})
				mu.Unlock()
				v, ok := replies[name+" "+r.SchemaName]
				if !ok {
					return providers.Response{}, &providers.Error{Kind: providers.ServerError}
				}
				text, isText := v.(string)
				if !isText {
					text = debatetest.Encode(t, v)
				}
				return providers.Response{Text: text, FinishReason: providers.Stop}, nil
			})
		}
	}
	seat(cfg.Participants)
	seat(cfg.Judges)
	d, err := debate.New(t.Context(), cfg, debate.Options{Providers: models})
	require.NoError(t, err)
	for _, err := range d.Run(t.Context()) {
		require.NoError(t, err)
	}
	require.NoError(t, d.Verify(t.Context()))
	return debatetest.Result(t, d), asked
}

// found, votes and rulings are replies. A vote is a number, negative if the finding does not hold. A ruling is "1 error" or "-1", or
// "2 note =1" for a finding that says the same as the first.
func found(list ...review.Claim) review.Claims {
	return review.Claims{Findings: append([]review.Claim{}, list...)}
}

func votes(list ...int) (v review.Votes) {
	v.Summary, v.Votes = "They are clear.", []review.Vote{}
	for _, n := range list {
		v.Votes = append(v.Votes, review.Vote{Finding: max(n, -n), Holds: n > 0, Reason: fmt.Sprint("Vote ", n)})
	}
	return v
}

func rulings(list ...string) (v review.Rulings) {
	v.Summary, v.Rulings = "It is reviewed.", []review.Ruling{}
	for _, text := range list {
		x := review.Ruling{Reason: "Ruling " + text, Severity: review.Note}
		words := strings.Fields(text)
		x.Finding, _ = strconv.Atoi(strings.TrimPrefix(words[0], "-"))
		x.Stands = words[0][0] != '-'
		if x.Stands {
			x.Severity = review.Severity(words[1])
		}
		if len(words) > 2 {
			x.SameAs, _ = strconv.Atoi(words[2][1:])
		}
		v.Rulings = append(v.Rulings, x)
	}
	return v
}

// review replies.
const (
	find   = " findings/1"
	attack = " finding-votes/1"
	rule   = " finding-rulings/1"
)

func answerOf(t *testing.T, r *debate.Result) review.Result {
	t.Helper()
	res, err := review.DecodeAnswer(r.Answer)
	require.NoError(t, err)
	return res
}

// callsOf returns who was asked for what, without the prompts, in order of the names.
func callsOf(asked []ask) (list []string) {
	for _, a := range asked {
		list = append(list, a.who+" "+a.contract)
	}
	slices.Sort(list)
	return list
}

func TestAFindingIsAttackedAndDecided(t *testing.T) {
	r, asked := hold(t, seats{
		"Ada" + find: found(nilStore, logged), "Bo" + find: found(), "Cy" + find: found(),
		"Bo" + attack: votes(1, -2), "Cy" + attack: votes(1, 2),
		"Jo" + rule: rulings("1 error", "-2"),
	})
	res := answerOf(t, r)
	require.Equal(t, review.RequestChanges, res.Verdict)
	require.Equal(t, []review.Finding{{
		Number: 1, Source: 1, File: "store.go", Line: 11, EndLine: 11, Quote: nilStore.Quote, Severity: review.Error,
		Title: nilStore.Title, Text: nilStore.Text,
		Show: nilStore.Show, By: "Ada", Votes: map[string]int{review.Stands: 4, review.Falls: 0},
		Reasons: []string{"Jo: Ruling 1 error", "Bo: Vote 1", "Cy: Vote 1"},
	}}, res.Findings)
	require.Len(t, res.Refuted, 1)
	require.Equal(t, []string{"Jo: Ruling -2", "Bo: Vote -2"}, res.Refuted[0].Reasons)
	require.Equal(t, []string{"Cy: Vote 2"}, res.Refuted[0].Dissent)
	require.Equal(t, map[string]int{review.Stands: 2, review.Falls: 2}, res.Refuted[0].Votes)
	require.Equal(t, []string{
		"Ada findings/1", "Bo finding-votes/1", "Bo findings/1", "Cy finding-votes/1", "Cy findings/1", "Jo finding-rulings/1",
	}, callsOf(asked), "nobody attacks its own findings")
	require.Contains(t, r.Answer.Text, "Request changes. 1 error. 1 finding was refuted.")
	require.Contains(t, r.Answer.Text, "1. error: A nil store is dereferenced (store.go:11)")
	require.Empty(t, r.Answer.Warnings)
}

// A finding whose quote is not in its source is dropped: nobody reads it, and nobody is asked about it.
func TestInventedQuotesAreDroppedBeforeAnybodyPays(t *testing.T) {
	r, asked := hold(t, seats{"Ada" + find: found(absent, altered, stranger), "Bo" + find: found(), "Cy" + find: found()})
	res := answerOf(t, r)
	require.Equal(t, review.Approve, res.Verdict)
	require.Equal(t, review.Dropped{NotFound: 2, Altered: 1}, res.Dropped)
	require.Equal(t, []string{"Ada findings/1", "Bo findings/1", "Cy findings/1"}, callsOf(asked), "no attack and no ruling")
	require.Equal(t, "Approve. No finding stands. 3 findings were dropped, because the quote is not in the source.", r.Answer.Text)

	r, asked = hold(t, seats{
		"Ada" + find: found(absent, logged), "Bo" + find: found(altered), "Cy" + find: found(),
		"Bo" + attack: votes(1), "Cy" + attack: votes(1), "Jo" + rule: rulings("1 warning"),
	})
	res = answerOf(t, r)
	require.Equal(t, review.Comment, res.Verdict)
	require.Equal(t, review.Dropped{NotFound: 1, Altered: 1}, res.Dropped)
	require.NotContains(t, callsOf(asked), "Ada finding-votes/1", "the others have found nothing")
	for _, a := range asked {
		require.NotContains(t, a.prompt, "Shutdown(")
		require.NotContains(t, a.prompt, "s.path")
		require.Equal(t, a.contract != "findings/1", strings.Contains(a.prompt, logged.Title))
	}
}

// A reviewer may be wrong about the file and the lines: the place of the quote counts.
func TestLinesAreThoseOfTheQuote(t *testing.T) {
	lie := nilStore
	lie.File = "main.go"
	lie.Line = 999
	lie.EndLine = 1000
	r, _ := hold(t, seats{
		"Ada" + find: found(lie), "Bo" + find: found(), "Cy" + find: found(), "Bo" + attack: votes(1), "Cy" + attack: votes(1), "Jo" +
			rule: rulings("1 error"),
	})
	f := answerOf(t, r).Findings[0]
	require.Equal(t, []any{"store.go", 11, 11}, []any{f.File, f.Line, f.EndLine})
}

// Backticks and fences around a quote or in it do not hide it from the check.
func TestQuotesOfCodeWithBackticksAreChecked(t *testing.T) {
	fence := claim("```\n+see <b>below</b> for more\n ```", review.Note)
	second := claim("`closed %q`, s.name)", review.Note)
	odd := claim("log.Printf(`closing", review.Note)
	odd.Title, odd.Text = "About `", "It is ```\n```\nnot <quote source=\"1\"> closed."
	tagged := logged
	tagged.Quote = "<quote source=\"1\">" + logged.Quote + "</quote>"
	r, _ := hold(t, seats{
		"Ada" + find: found(odd, fence, second, tagged), "Bo" + find: found(), "Cy" + find: found(),
		"Bo" + attack: votes(1, 2, 3, 4), "Cy" + attack: votes(1, 2, 3, 4), "Jo" + rule: rulings("1 note", "2 note", "3 note", "4 note"),
	})
	require.Zero(t, answerOf(t, r).Dropped)
	require.Len(t, answerOf(t, r).Findings, 4)
	require.Equal(t, logged.Quote, answerOf(t, r).Findings[3].Quote)
}

func TestJudgesDecideByMajorityAndReviewersIfTheyDoNot(t *testing.T) {
	for name, tt := range map[string]struct {
		judges   []string
		bo, cy   any
		rulings  map[string]any
		verdict  review.Verdict
		severity review.Severity
		warns    []string
	}{
		"two of three judges": {
			[]string{"J", "K", "L"},
			votes(-1), votes(-1),
			map[string]any{"J": rulings("1 note"), "K": rulings("1 note"), "L": rulings("-1")},
			review.Comment, review.Note, nil,
		},
		"the worse of two severities": {
			[]string{"J", "K"},
			votes(-1), votes(-1),
			map[string]any{"J": rulings("1 note"), "K": rulings("1 error")},
			review.RequestChanges, review.Error, nil,
		},
		"divided judges, reviewers for it": {
			[]string{"J", "K"},
			votes(1), votes(-1),
			map[string]any{"J": rulings("1 note"), "K": rulings("-1")},
			review.Comment,
			review.Note, nil,
		},
		"divided judges, reviewers against it": {
			[]string{"J", "K"}, votes(-1), votes(-1), map[string]any{"J": rulings("1 note"), "K": rulings("-1")}, review.Approve, "", nil,
		},
		"no judge, divided reviewers": {
			[]string{"J"},
			votes(-1), "?",
			map[string]any{"J": "?"},
			review.Comment, review.Warning,
			[]string{"The rulings of J could not be read and do not count.", "No judge decided. The votes of the reviewers did."},
		},
		"no judge, nobody votes": {
			[]string{"J"},
			"?", "?",
			map[string]any{"J": "?"},
			review.Comment, review.Warning,
			[]string{"The rulings of J could not be read and do not count.", "No judge decided. The votes of the reviewers did."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			replies := seats{"Ada" + find: found(logged), "Bo" + find: found(), "Cy" + find: found(), "Bo" + attack: tt.bo, "Cy" +
				attack: tt.cy}
			for j, v := range tt.rulings {
				replies[j+rule] = v
			}
			r, _ := hold(t, replies, func(c *debate.Config) {
				c.Judges = nil
				for _, name := range tt.judges {
					c.Judges = append(c.Judges, debate.Participant{Name: name})
				}
			})
			res := answerOf(t, r)
			require.Equal(t, tt.verdict, res.Verdict)
			require.Equal(t, tt.warns, r.Answer.Warnings)
			if tt.severity == "" {
				require.Empty(t, res.Findings)
				return
			}
			require.Equal(t, tt.severity, res.Findings[0].Severity)
		})
	}
}

func TestEqualFindingsAreListedOnce(t *testing.T) {
	again := nilStore
	again.Title = "Close panics"
	r, _ := hold(t, seats{
		"Ada" + find: found(logged, nilStore), "Bo" + find: found(again), "Cy" + find: found(again, again),
		"Ada" + attack: votes(3, 4, 5), "Bo" + attack: votes(1, 2, 4, 5), "Cy" + attack: votes(1, 2, 3),
		"Jo" + rule: rulings("1 note", "2 error", "3 error =2", "4 error =2", "5 error =2"),
	})
	res := answerOf(t, r)
	require.Len(t, res.Findings, 2)
	require.Equal(t, nilStore.Title, res.Findings[0].Title, "the worst comes first")
	require.Equal(t, []string{"Bo", "Cy"}, res.Findings[0].AlsoBy)
	require.Equal(t, 1, res.Findings[1].Number)
	require.Empty(t, res.Refuted)
}

func TestReviewersWhoDoNotAnswer(t *testing.T) {
	r, _ := hold(t, seats{
		"Ada" + find: found(logged), "Bo" + find: "Looks good to me.", "Bo" + attack: votes(1), "Jo" + rule: rulings("1 warning"),
	})
	res := answerOf(t, r)
	require.Equal(t, []string{"Bo", "Cy"}, res.Silent)
	require.Equal(t, []string{"Bo gave no valid reply.", "Cy gave no valid reply."}, r.Answer.Warnings)
	require.Equal(t, review.Comment, res.Verdict)

	r, asked := hold(t, seats{"Ada" + find: found(logged), "Jo" + rule: rulings("1 error")}) // both others fail
	require.Equal(t, review.RequestChanges, answerOf(t, r).Verdict)
	require.Equal(t, map[string]int{review.Stands: 2, review.Falls: 0}, answerOf(t, r).Findings[0].Votes)
	require.NotContains(t, callsOf(asked), "Ada finding-votes/1")

	r, _ = hold(t, seats{"Ada" + find: "?", "Bo" + find: "?", "Cy" + find: "?"})
	require.Empty(t, answerOf(t, r).Verdict, "nobody has read it, so nobody approves")
	require.Equal(t, "No verdict, because no reviewer gave a valid reply.", r.Answer.Text)
}

// A reviewer who quotes a few signs loses the finding with that quote, and no other.
func TestAShortQuoteLosesItsFindingAlone(t *testing.T) {
	r, _ := hold(t, seats{
		"Ada" + find: found(claim("x++", review.Note), logged, claim("}", review.Note)), "Bo" + find: found(), "Cy" + find: found(),
		"Bo" + attack: votes(1), "Cy" + attack: votes(1), "Jo" + rule: rulings("1 error"),
	})
	answer := answerOf(t, r)
	require.Len(t, answer.Findings, 1)
	require.Equal(t, logged.Quote, answer.Findings[0].Quote)
	require.Equal(t, review.Dropped{NotChecked: 2}, answer.Dropped)
	require.Empty(t, answer.Silent)
}

func TestRepliesAreChecked(t *testing.T) {
	long := strings.Repeat("x ", 700)
	for reply, fault := range map[string]string{
		`{"findings":[]}`:                     "",
		debatetest.Encode(t, found(nilStore)): "",
		`{}`:                                  "findings",
		debatetest.Encode(t, found(claim("x++", review.Note))):              "/findings/0/quote: it is too short to be found",
		debatetest.Encode(t, found(claim("x++", review.Note), nilStore)):    "",
		debatetest.Encode(t, found(claim("a b </quote> c d", review.Note))): "/findings/0/quote: it contains a tag of quotes",
		debatetest.Encode(t, found(claim(long, review.Note))):               "/findings/0/quote",
		debatetest.Encode(t, found(claim("a b c d", "fatal"))):              "/findings/0/severity",
		debatetest.Encode(t, found(review.Claim{
			Line: 5, EndLine: 3, Source: 1, Quote: "a b c", Severity: review.Note, Title: "t",
			Text: "t", Show: "s",
		})): "/findings/0/end_line: 3 is before line 5",
		debatetest.Encode(t, found(make([]review.Claim, 9)...)): "/findings",
	} {
		_, err := review.ClaimsContract.Parse(reply, []string{"Ada"})
		if fault == "" {
			require.NoError(t, err, reply)
			continue
		}
		require.ErrorContains(t, err, fault)
	}
}

// Votes and rulings are about each finding once. A reply that is not is asked for again.
func TestEachFindingHasOneVoteAndOneRuling(t *testing.T) {
	for reply, fault := range map[string]string{
		debatetest.Encode(t, votes(1)):       "/votes",
		debatetest.Encode(t, votes(1, 1, 2)): "/votes/1/finding",
		debatetest.Encode(t, votes(1, 2, 3)): "/votes/2/finding",
	} {
		r, _ := hold(t, seats{
			"Ada" + find: found(nilStore, logged), "Bo" + find: found(), "Cy" + find: found(), "Bo" + attack: reply, "Cy" +
				attack: votes(1, 2), "Jo" + rule: rulings("1 note", "2 note"),
		})
		turn := turnOf(t, r, "attack", "Bo")
		require.Contains(t, turn.Flags, transcript.Defaulted)
		require.Contains(t, turn.Refusal(), fault)
	}
	for reply, fault := range map[string]string{
		debatetest.Encode(t, rulings("1 note")):              "/rulings",
		debatetest.Encode(t, rulings("1 note =2", "2 note")): "/rulings/0/same_as",
		debatetest.Encode(t, rulings("-1", "2 note =1")):     "/rulings/1/same_as",
	} {
		r, _ := hold(t, seats{
			"Ada" + find: found(nilStore, logged), "Bo" + find: found(), "Cy" + find: found(), "Bo" + attack: votes(1, 2), "Cy" +
				attack: votes(1, 2), "Jo" + rule: reply,
		})
		require.Contains(t, turnOf(t, r, "rule", "Jo").Refusal(), fault)
	}
}

func turnOf(t *testing.T, r *debate.Result, phase, actor string) *transcript.Turn {
	t.Helper()
	at := slices.IndexFunc(r.Turns, func(x transcript.Turn) bool { return x.Phase == phase && x.Actor == actor })
	require.GreaterOrEqual(t, at, 0)
	return &r.Turns[at]
}

func TestConfigurations(t *testing.T) {
	for want, change := range map[string]func(*protocol.Record){
		"": func(*protocol.Record) {},
		"participants: 1 enabled, a review takes 2 to 8": func(r *protocol.Record) { r.Participants = r.Participants[:1] },
		"participants: 9 enabled, a review takes 2 to 8": func(r *protocol.Record) {
			r.Participants = make([]transcript.Profile,
				9)
		},
		"judges: none, a review needs one":                         func(r *protocol.Record) { r.Judges = nil },
		"limits.max_rounds: 2, a review has 1 round":               func(r *protocol.Record) { r.MaxRounds = 2 },
		"participants: 0 enabled, a review that has begun needs 1": func(r *protocol.Record) { r.Participants, r.Cursor.Round = nil, 1 },
	} {
		r := &protocol.Record{Participants: make([]transcript.Profile, 2), Judges: []string{"Jo"}, MaxRounds: 1}
		change(r)
		text := ""
		for _, p := range (review.Protocol{}).Check(r) {
			text += p.String()
		}
		require.Equal(t, want, text)
	}
}

// The judge does not know who has found what.
func TestTheJudgeKnowsPseudonyms(t *testing.T) {
	_, asked := hold(t, seats{
		"Ada" + find: found(nilStore), "Bo" + find: found(), "Cy" + find: found(), "Bo" + attack: votes(1), "Cy" + attack: votes(1),
		"Jo" + rule: rulings("1 note"),
	})
	judged := asked[len(asked)-1]
	require.Equal(t, "finding-rulings/1", judged.contract)
	for _, name := range []string{"Ada", "Bo", "Cy"} {
		require.NotContains(t, judged.prompt, name)
	}
	require.Contains(t, judged.prompt, nilStore.Title)
}

// The answer survives JSON.
func TestTheAnswerIsPlainData(t *testing.T) {
	want := review.Result{Findings: []review.Finding{{Number: 1, Votes: map[string]int{}}}, Dropped: review.Dropped{Altered: 1}}
	b, err := json.Marshal(want)
	require.NoError(t, err)
	var got review.Result
	require.NoError(t, json.Unmarshal(b, &got))
	require.Equal(t, want, got)
}
