package inspector

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
)

// presetModel plays all actors of a debate and counts its calls.
func presetModel(cfg debate.Config) (m providers.Provider, calls *atomic.Int64) {
	calls = &atomic.Int64{}
	return &scripted.Provider{DiscardCalls: true, Func: func(r providers.Request) scripted.Reply {
		calls.Add(1)
		return scripted.Reply{Text: enginetest.PresetReply(cfg, r)}
	}}, calls
}

// forEachPreset runs a subtest with a finished debate of each preset.
func forEachPreset(t *testing.T, test func(t *testing.T, w *web, cfg debate.Config, calls *atomic.Int64)) {
	presets := enginetest.PresetConfigs()
	for _, name := range slices.Sorted(maps.Keys(presets)) {
		t.Run(name, func(t *testing.T) {
			cfg := presets[name]
			cfg.Retriever.Provider, cfg.Prices = "model", price.Prices{"": {Input: 3000, Output: 7000}}
			if cfg.Embedder.Provider != "" {
				cfg.Embedder.Provider = "model"
			}
			model, calls := presetModel(cfg)
			w := open(t, Options{}, model)
			w.run(cfg)
			test(t, w, cfg, calls)
		})
	}
}

var (
	turnPattern = regexp.MustCompile(`<article class="turn[^"]*" id="turn-(\d+)"`)
	rowPattern  = regexp.MustCompile(`(?s)<tr data-series="([^"]*)">.*?</tr>`)
	cellPattern = regexp.MustCompile(`<td>([^<]*)</td>`)
	earlier     = regexp.MustCompile(`id="earlier" href="([^"]*)"`)
)

// turnsOn returns the seqs of the turns on a page and the pages before it.
func (w *web) turnsOn(path string) (list []string) {
	w.t.Helper()
	page := w.get(http.StatusOK, path)
	_, transcript, _ := strings.Cut(page, `id="turns-until"`)
	for _, m := range turnPattern.FindAllStringSubmatch(transcript, -1) {
		list = append(list, m[1])
	}
	if m := earlier.FindStringSubmatch(page); m != nil {
		_, query, _ := strings.Cut(html.UnescapeString(m[1]), "?")
		before, _, _ := strings.Cut(path, "?")
		list = append(w.turnsOn(before+"?"+query), list...)
	}
	return list
}

// scoresOn returns the scores in a page's table, by name.
func scoresOn(page string) map[string][]string {
	scores := map[string][]string{}
	for _, row := range rowPattern.FindAllStringSubmatch(page, -1) {
		cells := []string{}
		for _, c := range cellPattern.FindAllStringSubmatch(row[0], -1) {
			cells = append(cells, c[1])
		}
		scores[html.UnescapeString(row[1])] = cells
	}
	return scores
}

// assessed returns what the jury's scores were after each round.
func assessed(r *debate.Result, jury judge.Jury) map[string][]string {
	scores := map[string][]string{}
	for n := 1; n <= r.Round; n++ {
		var round []judge.Opinion[judge.Assessment]
		for _, t := range r.Assessments {
			if t.Round == n && t.Contract == judge.AssessmentContract.Name() {
				round = append(round, judge.Opinions[judge.Assessment](t)...)
			}
		}
		joint, _ := jury.CombineAssessments(round)
		for _, p := range joint.Value.Participants {
			scores[p.Name] = append(scores[p.Name], fmt.Sprint(p.Score))
		}
	}
	return scores
}

// The page of each entry of each protocol shows the state, the scores, the cost and the turns of that moment, and calls no
// model.
func TestThePastIsShownAsItWas(t *testing.T) {
	scored, costly := 0, 0
	forEachPreset(t, func(t *testing.T, w *web, cfg debate.Config, calls *atomic.Int64) {
		d := debatetest.Open(t, w.engine, cfg.ID)
		called, sample := calls.Load(), enginetest.NewSample(t, 4)
		for s, err := range d.Replay(t.Context()) {
			require.NoError(t, err)
			at, r := s.Status(), s.Result()
			isScored := len(assessed(r, juryOf(&cfg))) > 0
			if !sample.Tries(fmt.Sprint(at.State, isScored)) {
				continue
			}
			path := fmt.Sprintf("/debates/%s/past?at=%d", d.ID(), at.Seq)
			page := w.get(http.StatusOK, path)
			require.Contains(t, page, fmt.Sprintf(`<div id="moment" data-seq="%d" data-state="%s">`, at.Seq, at.State))
			require.Contains(t, page, fmt.Sprintf(`<dd id="turns-then">%d</dd>`, len(r.Turns)))
			require.Contains(t, page, fmt.Sprintf(`<dd id="tokens-then">%s in, %s out</dd>`, outcome.Thousands(r.Total.Usage.Input),
				outcome.Thousands(r.Total.Usage.Output)))
			require.Contains(t, page, fmt.Sprintf(`<g class="state current" data-state="%s">`, at.State))
			if cost := r.Total.Usage.Cost; cost > 0 {
				require.Contains(t, page, `<dd id="cost-then">`+formatCost(cost)+`</dd>`)
				costly++
			}
			want := []string{}
			for _, turn := range r.Turns {
				if turn.Kind != "embeddings" {
					want = append(want, fmt.Sprint(turn.Seq))
				}
			}
			require.Equal(t, want, append([]string{}, w.turnsOn(path)...), "entry %d", at.Seq)
			shown := scoresOn(page)
			for name, cells := range assessed(r, juryOf(&cfg)) {
				require.Equal(t, cells, shown[name], "entry %d, %s", at.Seq, name)
				scored++
			}
		}
		require.Equal(t, called, calls.Load(), "no model was called")
	})
	require.NotZero(t, scored)
	require.NotZero(t, costly)
}

// A viewer who speaks for a seat sees the past up to what the seat may not see yet.
func TestThePastOfABlindSeat(t *testing.T) {
	model, _ := presetModel(pair("d"))
	w := open(t, Options{}, model)
	cfg := pair("d")
	cfg.Protocol, cfg.Participants[1].Human = panel.Protocol{Mode: panel.Simultaneous}, true
	d := w.run(cfg)
	status := debatetest.Status(t, d)
	var spoke int64
	for s, err := range d.Replay(t.Context()) {
		require.NoError(t, err)
		if done, ok := s.Event.(debate.TurnDone); ok {
			spoke = done.Turn.Seq
		}
	}
	for at := range status.Seq + 2 {
		page := w.get(http.StatusOK, fmt.Sprintf("/debates/d/past?seat=Bo&at=%d", at))
		require.Contains(t, page, fmt.Sprintf(`max="%d"`, spoke-1))
		require.NotContains(t, page, "turn-"+fmt.Sprint(spoke))
		require.NotContains(t, page, "Ada: ")
	}
	w.get(http.StatusNotFound, fmt.Sprintf("/debates/d/turn?seat=Bo&seq=%d", spoke))
	w.get(http.StatusOK, fmt.Sprintf("/debates/d/turn?seq=%d", spoke))
	require.Contains(t, w.get(http.StatusOK, fmt.Sprintf("/debates/d/past?at=%d", spoke)), "turn-"+fmt.Sprint(spoke))
	w.get(http.StatusBadRequest, "/debates/d/past?seat=Zoe")
}

func TestAMomentThatDoesNotExist(t *testing.T) {
	w := open(t, Options{})
	w.create(pair("d"))
	require.Contains(t, w.get(http.StatusOK, "/debates/d/past?at=999"), `data-seq="1"`, "the last entry")
	require.Contains(t, w.get(http.StatusOK, "/debates/d/past"), `data-seq="1"`)
	require.Equal(t, w.get(http.StatusOK, "/debates/d/past?at=1"), strings.ReplaceAll(w.get(http.StatusOK, "/debates/d?at=1"), `"../`, `"../../`))
	for _, at := range []string{"-1", "x", "1.5", "99999999999999999999"} {
		require.Contains(t, w.get(http.StatusBadRequest, "/debates/d/past?at="+at), "want the number of an entry", at)
	}
	w.get(http.StatusNotFound, "/debates/other/past")
}

// large runs a debate with a journal of 10,000 entries.
func large(t testing.TB, s store.Store) (e *debate.Engine, last int64) {
	t.Helper()
	cfg := pair("large")
	cfg.Protocol, cfg.Limits = panel.Protocol{Format: panel.RoundLimited}, debate.Limits{MaxRounds: 1250, OutputTokens: 1 << 40, RunningTime: 1 << 54}
	speech := strings.Repeat("A parked car takes twelve square metres of street all day. ", 10)
	assessment := debatetest.Encode(t, debatetest.LongAssessment("Ada", "Bo"))
	e = debatetest.Engine(t, debate.Options{Store: s, Providers: map[string]providers.Provider{
		"model": &scripted.Provider{DiscardCalls: true, Func: func(r providers.Request) scripted.Reply {
			if debatetest.AsksFor(r, "assessment") {
				return scripted.Reply{Text: assessment}
			}
			return scripted.Reply{Text: speech}
		}},
	}})
	d := debatetest.Create(t, e, cfg)
	debatetest.Finish(t, d)
	status := debatetest.Status(t, d)
	require.Greater(t, status.Seq, int64(10_000))
	return e, status.Seq
}

// The pages of a long debate are light.
func TestPagesOfALongDebateAreSmall(t *testing.T) {
	e, last := large(t, nil)
	w := serve(t, e, Options{Controls: true})
	d := debatetest.Open(t, e, "large")
	turns := debatetest.Result(t, d).Turns
	paths := []string{"", "/family", "/compare?with=large"}
	for _, at := range []int64{1, last / 2, last} {
		paths = append(paths, fmt.Sprint("/past?at=", at), fmt.Sprint("/judges?at=", at), fmt.Sprint("/fork?at=", at))
	}
	for _, turn := range turns[len(turns)/2:][:3] { // of both participants and of the judge
		paths = append(paths, fmt.Sprint("/turn?seq=", turn.Seq), fmt.Sprint("/past?at=", turn.Seq))
	}
	for _, path := range append(paths, fmt.Sprint("/turn?seq=", turns[len(turns)-1].Seq)) {
		w.requireLight("/debates/large" + path)
	}
}

// jsonStore is a store in memory that has entries as JSON, as databases have them.
type jsonStore struct {
	store.Store
	entries sync.Map // JSON by seq
}

func (j *jsonStore) Load(ctx context.Context, id string, after int64) (store.Status, []store.Entry, error) {
	status, entries, err := j.Store.Load(ctx, id, after)
	entries = slices.Clone(entries)
	for i, e := range entries {
		raw, ok := j.entries.Load(e.Seq)
		if !ok {
			var b []byte
			b, err = json.Marshal(e.Data)
			if err != nil {
				return status, nil, err
			}
			raw = json.RawMessage(b)
			j.entries.Store(e.Seq, raw)
		}
		entries[i].Data = raw
	}
	return status, entries, err
}

// BenchmarkPast opens pages of a debate with a journal of 10,000 entries: as the first pages after a start, and when others
// have been open before. It reports the CPU time too, because that depends less on what else runs.
func BenchmarkPast(b *testing.B) {
	for kind, s := range map[string]store.Store{"memory": store.Memory(), "JSON": &jsonStore{Store: store.Memory()}} {
		e, last := large(b, s)
		d := debatetest.Open(b, e, "large")
		turns := debatetest.Result(b, d).Turns
		opened := handler(b, e)
		for name, path := range map[string]string{
			"now": "", "first": "/past?at=1", "middle": fmt.Sprint("/past?at=", last/2), "last": fmt.Sprint("/past?at=", last),
			"judges": "/judges", "turn": fmt.Sprint("/turn?seq=", turns[len(turns)-1].Seq),
		} {
			for when, handlerOf := range map[string]func() http.Handler{
				"after a start": func() http.Handler { return handler(b, e) }, "later": func() http.Handler { return opened },
			} {
				b.Run(kind+"/"+name+"/"+when, func(b *testing.B) {
					began := debatetest.CPUTime(b)
					for b.Loop() {
						w := httptest.NewRecorder()
						handlerOf().ServeHTTP(w, httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/debates/large"+path, nil))
						require.Equal(b, http.StatusOK, w.Code)
					}
					b.ReportMetric(float64(debatetest.CPUTime(b)-began)/1e6/float64(b.N), "cpu-ms/op")
				})
			}
		}
	}
}

// handler returns the inspector of an engine, which has no debate open yet.
func handler(b *testing.B, e *debate.Engine) http.Handler {
	h, err := Handler(e, Options{Authorize: debatehttp.AllowEveryone})
	require.NoError(b, err)
	return h
}
