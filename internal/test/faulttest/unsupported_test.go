package faulttest

import (
	"context"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// customPanel is a panel whose steps use a prompt and a reply contract of its own.
type customPanel struct {
	panel.Protocol

	Prompt   string `json:"prompt,omitempty"`
	Contract string `json:"contract,omitempty"`
}

func (customPanel) Name() string { return "custom/1" }

func (p customPanel) Phases(r *protocol.Record) []protocol.Phase {
	phases := p.Protocol.Phases(r)
	if r.Cursor.Stage == transcript.Speech {
		for i := range phases {
			for j := range phases[i].Steps {
				s := &phases[i].Steps[j]
				if p.Prompt != "" {
					s.Prompt = p.Prompt
				}
				s.Contract = p.Contract
			}
		}
	}
	return phases
}

type note struct {
	Text string `json:"text"`
}

// noteModel answers requests for notes too.
type noteModel struct{ *debatetest.DigestModel }

func (m noteModel) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	if r.SchemaName == "note/1" {
		return providers.Response{Text: `{"text": "noted"}`}, nil
	}
	return m.DigestModel.Generate(ctx, r)
}

// needs lists debates that need something that only some engines have.
var needs = map[string]struct {
	config  func(*debate.Config)
	give    func(*debate.Options) // what the first engine has and the second lacks
	missing string                // part of what Status says about the second engine
}{
	"a provider of a participant": {
		func(c *debate.Config) { c.Participants[1].Provider = "new" },
		func(o *debate.Options) { o.Providers["new"] = o.Providers["m"] },
		`participants[1].provider: "new" is unknown, use one of j, m`,
	},
	"a provider of a judge": {
		func(c *debate.Config) { c.Judges[0].Provider = "new" },
		func(o *debate.Options) { o.Providers["new"] = o.Providers["j"] },
		`judges[0].provider: "new" is unknown, use one of j, m`,
	},
	"a protocol": {
		func(c *debate.Config) { c.Protocol = customPanel{} },
		func(o *debate.Options) { o.Protocols = []protocol.Protocol{customPanel{}} },
		`protocol.name: "custom/1" is unknown to this engine`,
	},
	"an extractor of answers": {
		func(c *debate.Config) { c.Detect = []detect.Rule{{Signal: detect.Unanimous, Method: "answers"}} },
		func(o *debate.Options) { o.ExtractAnswer = func(transcript.Turn) string { return "" } },
		`detect[0]: unanimous compares answers, set Options.ExtractAnswer to find them`,
	},
	"a prompt": {
		func(c *debate.Config) { c.Protocol = customPanel{Prompt: "sing"} },
		func(o *debate.Options) {
			o.Prompts = fstest.MapFS{"sing.tmpl": {Data: []byte(`{{define "system"}}You sing.{{end}}Sing.`)}}
		},
		`prompt "sing" is unknown, add it to Options.Prompts`,
	},
	"a reply contract": {
		func(c *debate.Config) { c.Protocol = customPanel{Contract: "note/1"} },
		func(o *debate.Options) {
			o.Contracts = []*reply.Contract{reply.New[note]("note/1")}
		},
		`reply contract "note/1" is unknown, add it to Options.Contracts`,
	},
}

func TestAnEngineThatLacksSomethingLeavesADebateAlone(t *testing.T) {
	for name, need := range needs {
		for verb, drive := range drivers {
			t.Run(name+"/"+verb, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					shared := store.Memory()
					model := newGate(noteModel{&debatetest.DigestModel{Names: []string{"A", "B"}}})
					base := func() debate.Options {
						return debate.Options{Store: shared, Providers: map[string]providers.Provider{"m": model, "j": model}, Name: "other"}
					}
					lacking := base()
					lacking.Name = "lacking"
					lacking.Protocols = []protocol.Protocol{customPanel{}}
					if name == "a protocol" {
						lacking.Protocols = nil
					}
					o := base()
					o.Protocols = []protocol.Protocol{customPanel{}}
					need.give(&o)
					cfg := debatetest.PairConfig(nil)
					cfg.Limits.MaxRounds = 2
					need.config(&cfg)
					d := debatetest.Create(t, newTestEngine(t, o), cfg)
					other := debatetest.Open(t, newTestEngine(t, lacking), "d")

					perStep := name == "a prompt" || name == "a reply contract" // found when the step is planned
					if !perStep {
						requireLeftAlone(t, drive(t, other), other, need.missing, 1)
					}
					require.NoError(t, d.Start(t.Context()))
					<-model.arrived
					synctest.Wait()
					at := debatetest.Status(t, d).Seq
					err := drive(t, other)
					if verb == "Start" && perStep {
						require.NoError(t, err)
						synctest.Wait()
						err = debate.ErrUnsupported
					}
					requireLeftAlone(t, err, other, need.missing, at)
					model.openGate()
					time.Sleep(time.Minute)
					require.Equal(t, fsm.Completed, debatetest.Status(t, d).State)
					require.Zero(t, debatetest.Status(t, other).Driver)
				})
			})
		}
	}
}

// requireLeftAlone requires that driving a debate failed with err, changed nothing, and left a note of what is missing.
func requireLeftAlone(t *testing.T, err error, d *debate.Debate, missing string, seq int64) {
	t.Helper()
	require.ErrorIs(t, err, debate.ErrUnsupported)
	s := debatetest.Status(t, d)
	require.Equal(t, seq, s.Seq, "nothing is committed")
	if s.State != fsm.Configuring { // its driver lives
		return
	}
	require.Equal(t, "lacking", s.Driver.Name)
	require.Len(t, s.Driver.Missing, 1)
	require.Contains(t, s.Driver.Missing[0], missing)
	require.Equal(t, time.Now().UTC().Truncate(time.Microsecond), s.Driver.At)
}
