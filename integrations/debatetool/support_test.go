package debatetool_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

// model speaks for everybody. It takes a second for each reply.
type model struct {
	calls atomic.Int64
	// say returns the reply or the error of a call, or "" for an ordinary reply. It may be nil.
	say func(r providers.Request) (string, error)
}

func (m *model) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	m.calls.Add(1)
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return providers.Response{}, providers.ContextError(ctx, providers.Response{})
	}
	if m.say != nil {
		if text, err := m.say(r); text != "" || err != nil {
			return providers.Response{Text: text}, err
		}
	}
	if r.Schema == nil {
		return providers.Response{Text: "I say yes."}, nil
	}
	return (&debatetest.DigestModel{Names: []string{"Ada", "Bo"}}).Generate(ctx, r)
}

// failing returns a function that fails calls for structured replies, or for free text.
func failing(structured bool, kind providers.ErrorKind) func(providers.Request) (string, error) {
	return func(r providers.Request) (string, error) {
		if (r.Schema != nil) == structured {
			return "", &providers.Error{Kind: kind, Err: errors.New("the service is <<<ill>>>\x1b[31m")}
		}
		return "", nil
	}
}

// speaks reports whether a request is for a speech of the named participant.
func speaks(r providers.Request, name string) bool {
	return r.Schema == nil && strings.Contains(r.Messages[0].Text, name)
}

// bench is an engine with tools.
type bench struct {
	*debatetool.Toolset
	engine *debate.Engine
}

// sit returns the tools of an engine on a store, whose debates have the configuration.
func sit(t *testing.T, s store.Store, m providers.Provider, c debate.Config, o debatetool.Options) bench {
	t.Helper()
	e := debatetest.Engine(t, debate.Options{Store: s, Providers: map[string]providers.Provider{"m": m}})
	t.Cleanup(func() { debatetest.Kill(e) })
	if o.Presets == nil {
		o.Presets = map[string]debatetool.Preset{"default": {Description: "a panel", Config: c}}
	}
	set, err := debatetool.New(e, o)
	require.NoError(t, err)
	return bench{set, e}
}

// tool returns a tool by its name.
func (b bench) tool(t *testing.T, name string) debatetool.Tool {
	t.Helper()
	for _, tool := range b.Tools() {
		if tool.Name() == name {
			return tool
		}
	}
	t.Fatalf("there is no tool %s", name)
	return debatetool.Tool{}
}

var ask = debatetool.Input{Topic: "Ban cars?"}
