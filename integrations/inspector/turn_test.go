package inspector

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// The page of each turn of each protocol shows its text, its attempts and the prompt as PromptOf has it, and calls no model.
func TestEachTurnHasAPage(t *testing.T) {
	windows := 0
	forEachPreset(t, func(t *testing.T, w *web, cfg debate.Config, calls *atomic.Int64) {
		called := calls.Load()
		d := debatetest.Open(t, w.engine, cfg.ID)
		turns := debatetest.Result(t, d).Turns
		for _, turn := range turns {
			page := w.get(http.StatusOK, fmt.Sprintf("/debates/d/turn?seq=%d", turn.Seq))
			require.Contains(t, page, `data-key="`+html.EscapeString(turn.Key.String())+`"`)
			require.Equal(t, len(turn.Attempts), strings.Count(page, `<th scope="row">`), turn.Key)
			require.Contains(t, page, fmt.Sprintf("entry %d</a>.</p>", turn.VisibleSeq))
			if win := turn.Window; win != nil {
				require.Contains(t, page, fmt.Sprintf(`data-kept="%d" data-omitted="%d" data-summarized="%d"`, win.Kept, win.Omitted, win.Summarized))
				windows++
			}
			if turn.Kind == transcript.Embeddings {
				continue
			}
			prompt := debatetest.PromptOf(t, d, turn.Key)
			require.NotContains(t, page, "prompt-notes")
			for _, m := range shortMessages(prompt.Request.Messages) {
				require.Contains(t, page, `data-role="`+string(m.Role)+`"`)
				require.Contains(t, html.UnescapeString(page), m.Text, turn.Key)
			}
			require.Equal(t, len(prompt.Request.Schema) > 0, strings.Contains(page, `id="schema"`), turn.Key)
		}
		w.get(http.StatusNotFound, "/debates/d/turn?seq=1")
		w.get(http.StatusNotFound, "/debates/d/turn?seq=9999")
		require.Equal(t, called, calls.Load(), "no model was called")
	})
	require.NotZero(t, windows)
}

var leftOutLink = regexp.MustCompile(`<a href="\.\./\.\./debates/d/turn\?seq=(\d+)">`)

// The page of a turn has a link to each turn that the window left out or summarized, or to the last of them.
func TestATurnLinksToWhatTheWindowLeftOut(t *testing.T) {
	omitted, summarized := 0, 0
	for _, manager := range []window.Manager{window.Sliding, window.Summarize} {
		w := open(t, Options{}, speaker(longSpeech))
		cfg := pair("d")
		cfg.Protocol, cfg.History = panel.Protocol{Format: panel.RoundLimited}, window.Policy{Manager: manager}
		cfg.Limits = debate.Limits{MaxRounds: 8, StepTokens: 600, JudgeTokens: 600}
		for _, actors := range [][]debate.Participant{cfg.Participants, cfg.Judges} {
			for i := range actors {
				actors[i].Window = 4000
			}
		}
		d := w.run(cfg)
		for _, turn := range debatetest.Result(t, d).Turns {
			page := w.get(http.StatusOK, fmt.Sprintf("/debates/d/turn?seq=%d", turn.Seq))
			p := debatetest.PromptOf(t, d, turn.Key)
			for id, want := range map[string][]int64{"omitted": p.Omitted, "summarized": p.Summarized} {
				_, part, _ := strings.Cut(page, `<p id="`+id+`"`)
				part, _, _ = strings.Cut(part, "</p>")
				var got []int64
				for _, m := range leftOutLink.FindAllStringSubmatch(part, -1) {
					n, err := strconv.ParseInt(m[1], 10, 64)
					require.NoError(t, err)
					got = append(got, n)
				}
				require.Equal(t, want, got, "%s of entry %d", id, turn.Seq)
			}
			omitted, summarized = omitted+len(p.Omitted), summarized+len(p.Summarized)
		}
	}
	require.Positive(t, omitted)
	require.Positive(t, summarized)
	all := make([]int64, 3*maxLeftOut)
	all[2*maxLeftOut] = 7
	last := lastSeqs(all)
	require.Len(t, last.Last, maxLeftOut)
	require.EqualValues(t, 7, last.Last[0])
	require.Equal(t, 2*maxLeftOut, last.Earlier)
}

// pageOf returns a page of an engine's debates, without a server.
func pageOf(t *testing.T, e *debate.Engine, path string) string {
	t.Helper()
	h, err := Handler(e, Options{Authorize: debatehttp.AllowEveryone})
	require.NoError(t, err)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	return w.Body.String()
}

// keeping returns an inspector of an engine that keeps replies and reasoning.
func keeping(t *testing.T, o Options, model providers.Provider) *web {
	t.Helper()
	e := debatetest.Engine(t, debate.Options{KeepReplies: true, KeepReasoning: true, Providers: map[string]providers.Provider{"model": model}})
	return serve(t, e, o)
}

func TestATurnShowsHowItCameAbout(t *testing.T) {
	model := debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		step, _ := debate.StepFrom(ctx)
		switch {
		case step.Key.Actor == "Ada" && step.Number == 1:
			return providers.Response{}, &providers.Error{Kind: providers.RateLimit, Err: errors.New("too <many>"), RetryAfter: 2 * time.Second}
		case debatetest.AsksFor(r, "assessment"):
			return providers.Response{Text: debatetest.Encode(t, assessment(5, 5, true))}, nil
		case debatetest.AsksFor(r, "verdict"):
			verdict := "```json\n" + debatetest.Encode(t, judge.Verdict{Summary: "A <draw>.", Quality: 50}) + "\n```"
			return providers.Response{Text: verdict, Parts: []providers.Part{{Reasoning: &providers.Reasoning{Text: "Neither was better."}}, {Text: verdict}}}, nil
		}
		return providers.Response{Text: "Yes & <b>no</b>.", Usage: transcript.Usage{Input: 1000, Cached: 300, Output: 70, Reasoning: 30}}, nil
	})
	synctest.Test(t, func(t *testing.T) {
		e := debatetest.Engine(t, debate.Options{KeepReplies: true, KeepReasoning: true, Providers: map[string]providers.Provider{"model": model}})
		cfg := pair("d")
		cfg.Protocol, cfg.Limits.MaxRounds = panel.Protocol{Format: panel.RoundLimited}, 1
		d := debatetest.Create(t, e, cfg)
		debatetest.Finish(t, d)
		turns := debatetest.Result(t, d).Turns
		page := pageOf(t, e, fmt.Sprintf("/debates/d/turn?seq=%d", turns[0].Seq))
		for _, part := range []string{
			`<tr class="failed" data-error="rate_limit"><th scope="row">1</th>`,
			`<td><span dir="auto">rate_limit: too &lt;many&gt;</span><br>then retried</td>`,
			`<th scope="row">2</th>`, `<td>2s</td>`, `1,000 tokens, 300 of them cached`, `70 tokens, 30 of them reasoning`,
			`Yes &amp; &lt;b&gt;no&lt;/b&gt;.`,
		} {
			require.Contains(t, page, part)
		}
		last := turns[len(turns)-1]
		page = pageOf(t, e, fmt.Sprintf("/debates/d/turn?seq=%d", last.Seq))
		raw, valid, ok := strings.Cut(page[strings.Index(page, `id="raw"`):], `id="valid"`)
		require.True(t, ok)
		require.Contains(t, raw, "```json\n{&#34;summary&#34;:&#34;A ")
		require.Contains(t, valid, "{\n  &#34;summary&#34;: &#34;A ")
		require.NotContains(t, valid[:strings.Index(valid, "</pre>")], "```")
		require.Contains(t, page, `id="reasoning" dir="auto" tabindex="0">Neither was better.</pre>`)
	})
}

// A visitor who speaks for a seat, or who may not read prompts, sees neither those of others nor what was kept of their replies.
func TestPromptsArePrivate(t *testing.T) {
	model := &scripted.Provider{Func: func(providers.Request) scripted.Reply { return scripted.Reply{Text: "Yes."} }}
	w := keeping(t, Options{Authorize: func(_ context.Context, a *debatehttp.Access) error {
		if a.Action == debatehttp.Prompt && a.Principal == "" && a.Seat == "" {
			return errors.New("no")
		}
		return nil
	}}, model)
	cfg := pair("d")
	cfg.Protocol, cfg.Limits.MaxRounds = panel.Protocol{Format: panel.RoundLimited}, 1
	d := w.run(cfg)
	turn := debatetest.Result(t, d).Turns[0]
	path := fmt.Sprintf("/debates/d/turn?seq=%d", turn.Seq)
	for seat, sees := range map[string]bool{"": false, "Ada": true, "Bo": false} {
		page := w.get(http.StatusOK, path+"&seat="+seat)
		require.Equal(t, sees, strings.Contains(page, `id="prompt"`), "seat %q", seat)
		require.Equal(t, sees, strings.Contains(page, "As the service gave it"), "seat %q", seat)
		require.Equal(t, !sees, strings.Contains(page, "You may not see what was asked here."), "seat %q", seat)
	}
}

func TestALongPromptIsShortened(t *testing.T) {
	long := strings.Repeat("é", 10_000)
	list := []providers.Message{{Role: providers.System, Text: "Be brief."}}
	for range 1000 {
		list = append(list, providers.Message{Text: "Yes."}, providers.Message{Text: long})
	}
	shown := shortMessages(append(list, providers.Message{Text: "And now?"}))
	size, skipped := 0, 0
	for _, m := range shown {
		size += len(m.Text)
		skipped += m.Skipped
		require.True(t, strings.HasPrefix(long, strings.TrimSuffix(m.Text, " …")) || m.More == 0)
	}
	require.Less(t, size, maxPrompt+100)
	require.Equal(t, len(list)+1, len(shown)-1+skipped, "each message is shown or counted")
	require.Equal(t, "Be brief.", shown[0].Text)
	require.Equal(t, skipped, shown[1].Skipped)
	last := shown[len(shown)-3:]
	require.Equal(t, "Yes.", last[0].Text)
	require.Equal(t, 20_000-maxMessage, last[1].More)
	require.Equal(t, "And now?", last[2].Text)
	require.Equal(t, []message{{Text: "Hm."}, {Text: "Yes."}}, shortMessages([]providers.Message{{Text: "Hm."}, {Text: "Yes."}}))
	require.Empty(t, shortMessages(nil))
}
