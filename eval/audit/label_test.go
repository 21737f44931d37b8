package audit

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge/agreement"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
)

// unlabeled returns pairs without gold labels, of which every group has two.
func unlabeled(n int) []Pair {
	pairs := pairsOf(n)
	for i := range pairs {
		pairs[i].Gold, pairs[i].Group = agreement.None, fmt.Sprint("g", i/2)
	}
	return pairs
}

// answers answers what the debates ask, as the person decides, in the seat.
func answers(t *testing.T, s store.Store, l *Labels, decide func(a debate.Asked) string) {
	t.Helper()
	e := debatetest.Engine(t, debate.Options{Store: s})
	for _, id := range l.Waiting {
		d := debatetest.Open(t, e, id)
		asked := debatetest.Waiting(t, d)
		require.Len(t, asked, 1)
		require.Equal(t, l.Judge, asked[0].Key.Actor)
		switch text := decide(asked[0]); text {
		case "":
			require.NoError(t, d.Decline(t.Context(), asked[0].Key, "I do not know.", ""))
		case "later":
		default:
			require.NoError(t, d.Answer(t.Context(), asked[0].Key, text, ""))
		}
	}
}

// A person labels a sample of pairs. What is labeled is gold for an audit.
func TestAPersonLabelsPairs(t *testing.T) {
	o := debate.Options{Store: store.Memory()}
	l := Labeling{Name: "gold", Pairs: unlabeled(40), Size: 12, Judge: "Eve"}
	first := debatetest.Call(t, l.Run, o)
	require.Len(t, first.Waiting, 12)
	require.Equal(t, "0 of 12 labeled: 0 for the first, 0 for the second; 12 wait for Eve", first.String())
	n, shownFirst := 0, 0
	answers(t, o.Store, first, func(a debate.Asked) string {
		rules := a.Briefing.Rules
		winner := "second"
		if strings.Index(rules, "the right one") < strings.Index(rules, "the other one") {
			winner, shownFirst = "first", shownFirst+1
		}
		switch n++; n {
		case 1:
			return ""
		case 2:
			return `{"reason": "Both are fine.", "winner": "neither", "margin": 0}`
		case 3:
			return "later"
		}
		return fmt.Sprintf(`{"reason": "Right.", "winner": %q, "margin": 2}`, winner)
	})
	got := debatetest.Call(t, l.Run, o)
	require.Equal(t, []int{12, 9, 1, 1}, []int{got.Sample, got.A + got.B, got.Neither, got.Declined})
	require.Contains(t, got.String(), "; 1 for neither; 1 declined; 1 wait for Eve")
	groups := map[string]bool{}
	for _, p := range got.Pairs {
		want := agreement.A
		if strings.Contains(p.B, "the right one") {
			want = agreement.B
		}
		require.Equal(t, want, p.Gold, "as the pair is, whichever was shown first: %v", p)
		require.False(t, groups[p.Group], "one of each group")
		groups[p.Group] = true
	}
	var lines bytes.Buffer
	require.NoError(t, got.Write(&lines))
	read, err := Format{}.Read(&lines)
	require.NoError(t, err)
	require.Equal(t, got.Pairs, read)
	oj, _ := options(map[string]simulated{"fair": {accuracy: 1}})
	report := debatetest.Call(t, (&Audit{Name: "judges", Pairs: read, Judges: []Judge{judgeOf("fair")}}).Run, oj)
	require.InDelta(t, 1, report.Judges[0].Accuracy.Value, 0)

	l.Size = 20
	more := debatetest.Call(t, l.Run, o)
	require.Equal(t, got.Pairs, more.Pairs, "a larger sample keeps the labels")
	require.Len(t, more.Waiting, 1+8)
}

// Half of the sample is shown with B first, and another seed draws another sample.
func TestTheSampleIsDrawn(t *testing.T) {
	var all []question
	for _, p := range unlabeled(100) {
		all = append(all, question{id: p.ID, group: p.Group})
	}
	a := drawn(all, "1", 50)
	again := drawn(all, "1", 50)
	other := drawn(all, "2", 50)
	require.Equal(t, a, again)
	require.NotEqual(t, a, other)
	groups := map[string]int{}
	for _, q := range a {
		groups[q.group]++
	}
	require.Len(t, groups, 50, "all groups before a second pair of any")
	require.Equal(t, a, drawn(all, "1", 0)[:50])
	l := labeler{Labeling: Labeling{Name: "x", Pairs: unlabeled(10), Seed: "x", Judge: "Eve"}}
	require.NoError(t, l.draw(t.Context()))
	swapped := 0
	for _, q := range l.sample {
		if q.swapped {
			swapped++
		}
	}
	require.Equal(t, 5, swapped)
}

// judged returns the options of a store with judged debates, and their ids.
func judged(t *testing.T, p protocol.Protocol, n int) (o debate.Options, ids []string) {
	t.Helper()
	speaks := &scripted.Provider{Func: func(providers.Request) scripted.Reply { return scripted.Reply{Text: "I say so."} }}
	judges := &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		name := "Debater A"
		if r.SchemaName == decision.Contract.Name() {
			return scripted.Reply{Text: `{"summary": "Wait.", "reasons": [{"text": "It is early."}], "option": 2, "confidence": 70}`}
		}
		if strings.Contains(r.SchemaName, "judgment") {
			return scripted.Reply{Text: fmt.Sprintf(`{"summary": "Because CANARY.", "no_new_arguments": true, "participants": [{"name": "Debater A", "score": 8}, {"name": "Debater B", "score": 7}], "winner": %q}`, name)}
		}
		return scripted.Reply{Text: fmt.Sprintf(`{"summary": "Because CANARY.", "winner": %q, "quality": 70}`, name)}
	}}
	o = debate.Options{Store: store.Memory(), Providers: map[string]providers.Provider{"speaks": speaks, "judges": judges}}
	e := debatetest.Engine(t, o)
	for i := range n {
		d := debatetest.Create(t, e, debate.Config{
			ID: fmt.Sprint("d", i), Topic: fmt.Sprint("Topic ", i/2), Protocol: p, Limits: debate.Limits{MaxRounds: 1}, Retries: map[providers.ErrorKind]int{providers.InvalidResponse: 0},
			Participants: []debate.Participant{{Name: "Ada", Side: "pro", Provider: "speaks"}, {Name: "Bo", Side: "con", Provider: "speaks"}},
			Judges:       []debate.Participant{{Name: "Cy", Provider: "judges"}, {Name: "Di", Provider: "judges"}},
		})
		debatetest.Finish(t, d)
		ids = append(ids, d.ID())
	}
	require.NoError(t, e.Close(t.Context()))
	return o, ids
}

// A person concludes forks of judged debates, blind to names and to what the judges have said. The labels are gold for a
// calibration of these judges.
func TestAPersonLabelsDebates(t *testing.T) {
	options := decision.Task{Options: []string{"Ban", "Wait"}}
	for name, tt := range map[string]struct {
		protocol protocol.Protocol
		reply    func(winner string) string
		want     func(i agreement.Item) agreement.Decision // the label of the person
	}{
		"procon": {procon.Protocol{}, func(w string) string {
			return fmt.Sprintf(`{"summary": "x", "no_new_arguments": true, "participants": [{"name": "Debater A", "score": 5}, {"name": "Debater B", "score": 5}], "winner": %q}`, w)
		}, nil},
		"panel":                  {panel.Protocol{Format: panel.RoundLimited}, func(w string) string { return fmt.Sprintf(`{"summary": "x", "winner": %q, "quality": 50}`, w) }, nil},
		"procon with a decision": {procon.Protocol{Decision: options}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			o, ids := judged(t, tt.protocol, 6)
			l := Labeling{Name: "gold", Debates: ids}
			person := debate.Options{Store: o.Store} // without a model
			var got *Labels
			for range 3 { // with a decision, a person scores first
				got = debatetest.Call(t, l.Run, person)
				answers(t, o.Store, got, func(a debate.Asked) string {
					seen := a.Task + a.Briefing.Text()
					var speakers []string
					for _, s := range a.Said {
						seen += s.Actor + s.Text
						speakers = append(speakers, s.Actor)
					}
					for _, hidden := range []string{"Ada", "CANARY", "Cy"} {
						require.NotContains(t, seen, hidden)
					}
					switch {
					case a.Schema != nil && strings.Contains(string(a.Schema), `"option"`):
						return `{"summary": "x", "reasons": [{"text": "y"}], "option": 1, "confidence": 80}`
					case tt.reply == nil:
						return `{"summary": "x", "no_new_arguments": true, "participants": [{"name": "Debater A", "score": 5}, {"name": "Debater B", "score": 5}]}`
					}
					return tt.reply(speakers[0]) // Ada
				})
			}
			require.Empty(t, got.Waiting)
			require.Equal(t, 6, got.A)
			require.Len(t, got.Items, 6)
			for _, i := range got.Items {
				require.Equal(t, agreement.A, i.Gold)
				require.Len(t, i.Decisions["Cy"], 1)
				require.Contains(t, i.Group, "Topic ")
				require.NotContains(t, i.Decisions, "Labeler")
				if tt.reply == nil {
					require.Equal(t, agreement.B, i.Decisions["Cy"][0])
				}
			}
			_, err := agreement.Calibrate(got.Items, .5, "Cy", "Di")
			if err != nil {
				require.ErrorIs(t, err, agreement.ErrRefused)
			}
			require.Equal(t, 3, agreement.Summarize(got.Items, "Cy", "Di").Majority.Groups)
		})
	}
}

func TestWhatCannotBeLabeled(t *testing.T) {
	o, ids := judged(t, panel.Protocol{Format: panel.RoundLimited, ByScores: true}, 1)
	pairs := unlabeled(2)
	for says, l := range map[string]Labeling{
		"name: \"\"": {Pairs: pairs},
		"debates: there are pairs too, use one of them": {Name: "x", Pairs: pairs, Debates: ids},
		"pairs: there are none":                         {Name: "x"},
		"size: -1, use 1 or more":                       {Name: "x", Pairs: pairs, Size: -1},
		"its judges name no winner":                     {Name: "x", Debates: ids},
		"read debate none":                              {Name: "x", Debates: []string{"none"}},
	} {
		_, err := l.Run(t.Context(), o)
		require.ErrorContains(t, err, says)
	}
}

// The person may answer over HTTP, in the inbox of the seat.
func TestAPersonLabelsOverHTTP(t *testing.T) {
	s := store.Memory()
	l := Labeling{Name: "gold", Pairs: unlabeled(4), Size: 1, Judge: "Eve"}
	first := debatetest.Call(t, l.Run, debate.Options{Store: s})
	e := debatetest.Engine(t, debate.Options{Store: s})
	h, err := debatehttp.New(e, debatehttp.Options{Authorize: debatehttp.AllowEveryone})
	require.NoError(t, err)
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	call := func(method, path, body string) string {
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		res, err := server.Client().Do(r)
		require.NoError(t, err)
		defer res.Body.Close() //nolint:errcheck // it is only read
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.Less(t, res.StatusCode, 300, "%s", text)
		return string(text)
	}
	id := first.Waiting[0]
	require.Contains(t, call(http.MethodGet, "/inbox?seat=Eve", ""), id)
	require.Contains(t, call(http.MethodGet, "/debates/"+url.PathEscape(id)+"/waiting", ""), "pairwise")
	call(http.MethodPost, "/debates/"+url.PathEscape(id)+"/answers", `{"key": {"run": 1, "round": 1, "phase": "judge", "actor": "Eve"}, "text": "{\"reason\": \"Right.\", \"winner\": \"first\", \"margin\": 1}"}`)
	got := debatetest.Call(t, l.Run, debate.Options{Store: s})
	require.Len(t, got.Pairs, 1)
}
