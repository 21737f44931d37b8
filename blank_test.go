package debate_test

import (
	"bytes"
	"context"
	"log/slog"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// A reply of which nobody can see anything is asked for again.
func TestAReplyThatNobodyCanSeeIsNoReply(t *testing.T) {
	for name, text := range map[string]string{
		"zero-width spaces":   "\u200b\u200b\ufeff",
		"joiners and marks":   "\u200d\u200c\u200e\u2060",
		"fillers":             "\u3164\u115f\uffa0 \u2800",
		"variation selectors": "\ufe0f\ufe0e",
		"soft hyphens":        "\u00ad\n\t",
		"tags":                "\U000e0041\U000e0001",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // a call is tried again after a wait
				calls := 0
				model := &scripted.Provider{Func: func(providers.Request) scripted.Reply {
					if calls++; calls == 1 {
						return scripted.Reply{Text: text}
					}
					return scripted.Reply{Text: "So it is."}
				}}
				e := debatetest.Engine(t, debate.Options{Providers: providersOf(model, scriptedJudge(t, 1))})
				d := debatetest.Create(t, e, debatetest.PairConfig(nil))
				debatetest.Finish(t, d)
				for _, turn := range debatetest.Result(t, d).Turns {
					require.NotContains(t, turn.Text, text)
				}
				wrong := d.Inject(t.Context(), debate.Remark{From: "Pat", Text: text})
				require.ErrorContains(t, wrong, "it is blank")
				require.ErrorContains(t, d.Annotate(t.Context(), text, 1), "it is blank")
			})
		})
	}
	for _, text := range []string{"👨‍👩‍👧", "x\u200b", "ﷺ"} { // visible, with characters that are not
		e := debatetest.Engine(t, debate.Options{})
		c := debatetest.PairConfig(nil)
		c.Topic = text
		debatetest.Create(t, e, c)
	}
}

// byPointer is a protocol whose methods need a pointer that is not nil.
type byPointer struct{ panel.Protocol }

func (p *byPointer) Name() string { return p.Protocol.Name() }

func TestANilPointerIsNoProtocol(t *testing.T) {
	c := debatetest.PairConfig(nil)
	for _, p := range []protocol.Protocol{(*byPointer)(nil), (*panel.Protocol)(nil)} {
		c.Protocol = p
		_, err := debate.New(t.Context(), c, debate.Options{Providers: providersOf(talkingModel(), scriptedJudge(t, 1))})
		require.ErrorContains(t, err, "protocol: it is a nil pointer of type *")
		_, err = debate.NewEngine(debate.Options{Protocols: []protocol.Protocol{p}})
		require.ErrorContains(t, err, "a protocol is nil")
		_, err = c.MarshalJSON()
		require.ErrorContains(t, err, "encode protocol: it is a nil pointer")
		e := debatetest.Engine(t, debate.Options{})
		c.Protocol = nil
		d := debatetest.Create(t, e, c)
		c.Protocol = p
		require.ErrorContains(t, d.Edit(t.Context(), c), "it is a nil pointer")
		_, err = e.Fork(t.Context(), d.ID(), 0, debate.Edits{Config: &c})
		require.ErrorContains(t, err, "it is a nil pointer")
	}
}

// An observer that ends its goroutine when a drive ends does not keep the debate from being driven again.
func TestAnObserverEndsItsGoroutineWithTheDrive(t *testing.T) {
	ends := true
	e := debatetest.Engine(t, debate.Options{
		Providers: providersOf(talkingModel(), scriptedJudge(t, 1)),
		Observer: debate.Observer{Begin: func(ctx context.Context, s debate.Step) (context.Context, func(debate.Outcome)) {
			if s.Key != (transcript.Key{}) {
				return ctx, nil
			}
			return ctx, func(debate.Outcome) {
				if ends {
					runtime.Goexit()
				}
			}
		}},
	})
	d := debatetest.Create(t, e, debatetest.PairConfig(nil))
	for _, drive := range []func(){
		func() { _, _ = d.RunOnce(context.Background()) },
		func() {
			for ev, err := range d.Run(context.Background()) {
				if ev != nil || err != nil {
					break
				}
			}
		},
	} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			drive()
		}()
		<-done
	}
	ends = false
	_, err := debatetest.Run(t, d)
	require.NoError(t, err, "nobody drives it any more")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, e.Close(ctx))
}

// Warnings of providers may quote a service, so only LogTexts brings them into the log.
func TestWarningsOfProvidersAreNotLogged(t *testing.T) {
	for _, texts := range []bool{false, true} {
		log := &bytes.Buffer{}
		model := debatetest.ProviderFunc(func(context.Context, providers.Request) (providers.Response, error) {
			return providers.Response{Text: "So it is.", Warnings: []string{"SECRET TEXT"}}, nil
		})
		d := debatetest.New(t, debatetest.PairConfig(nil), debate.Options{
			Providers: providersOf(model, scriptedJudge(t, 1)), Logger: slog.New(slog.NewTextHandler(log, nil)), LogTexts: texts,
		})
		debatetest.Finish(t, d)
		require.Equal(t, texts, bytes.Contains(log.Bytes(), []byte("SECRET TEXT")))
		require.Equal(t, !texts, bytes.Contains(log.Bytes(), []byte(`msg="warning of a provider"`)))
		require.Contains(t, debatetest.Result(t, d).Warnings[0], "SECRET TEXT")
	}
}
