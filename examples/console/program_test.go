package console_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

// screen is a terminal.
type screen struct {
	bytes.Buffer
	wrote func(string)
}

func (s *screen) Write(b []byte) (int, error) {
	if s.wrote != nil {
		s.wrote(string(b))
	}
	return s.Buffer.Write(b)
}

func (*screen) Stat() (fs.FileInfo, error) { return device{}, nil }

type device struct{ fs.FileInfo }

func (device) Mode() fs.FileMode { return fs.ModeDevice | fs.ModeCharDevice }

func none(string) string { return "" }

func TestCodes(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		fail error
		code int
		out  string
		err  string
	}{
		"a topic":         {[]string{"-n", "2", "Is", "tea", "free?"}, nil, 0, "Is tea free? 2", ""},
		"no topic":        {nil, nil, 0, "Tea? 1", ""},
		"a blank one":     {[]string{" ", "\n"}, nil, 0, "Tea? 1", ""},
		"help":            {[]string{"-h"}, nil, 0, "", "usage: [flags] [\"topic\"]\n  -n int\n    \thow often (default 1)\n"},
		"an unknown flag": {[]string{"-x"}, nil, 2, "", "flag provided but not defined: -x\nusage: "},
		"no number":       {[]string{"-n", "x"}, nil, 2, "", "invalid value \"x\" for flag -n"},
		"a failure":       {nil, errors.New("no\x1b[2J tea"), 1, "", "\nno[2J tea\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := console.Run(t.Context(), func(_ context.Context, p *console.Program) error {
				n := p.Flags.Int("n", 1, "how often")
				topic, err := p.Topic("Tea?")
				if err == nil && test.fail == nil {
					fmt.Fprint(p.Stdout, topic, " ", *n)
				}
				return errors.Join(err, test.fail)
			}, test.args, &stdout, &stderr, none)
			require.Equal(t, test.code, code, stderr.String())
			require.Equal(t, test.out, stdout.String())
			require.True(t, strings.HasPrefix(stderr.String(), test.err), stderr.String())
		})
	}
}

// show runs a debate of one round, writes its progress to s, and returns the exit code.
func show(t *testing.T, p protocol.Protocol, model providers.Provider, s io.Writer) int {
	t.Helper()
	return console.Run(t.Context(), func(ctx context.Context, program *console.Program) error {
		_, err := program.Debate(ctx, debate.Config{
			Topic: "Is tea free?", Protocol: p, Limits: debate.Limits{MaxRounds: 1}, Judges: []debate.Participant{{Name: "Judge", Provider: "judge"}},
			Participants: []debate.Participant{{Name: "Ada", Position: "Yes", Provider: "model"}, {Name: "Bo", Position: "No", Provider: "model"}},
		}, debate.Options{Providers: map[string]providers.Provider{"model": model, "judge": offline.Model(program.IsTerminal)}})
		return err
	}, nil, &bytes.Buffer{}, s, none)
}

// On a terminal, prose appears word by word, and structured replies appear as text at the end of the turn.
func TestALiveDebate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		writes := 0
		s := &screen{wrote: func(string) { writes++ }}
		require.Equal(t, 0, show(t, procon.Protocol{}, offline.Model(true), s))
		require.Greater(t, writes, 60)
		require.Equal(t, 1, strings.Count(s.String(), "Ada · argue\n  My answer is yes,"))
		require.Equal(t, 1, strings.Count(s.String(), "Bo · argue\n  Ada says “"))
		require.Contains(t, s.String(), "  On the topic")
		require.NotContains(t, s.String(), "{")
	})
}

// In a parallel phase, each turn appears when it is complete, because chunks of several actors would mix.
func TestALiveDebateOfAllAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{}
		require.Equal(t, 0, show(t, panel.Protocol{Mode: panel.Simultaneous}, offline.Model(true), s))
		require.Contains(t, s.String(), "  My answer is yes, and my reason is health.")
		require.Equal(t, 1, strings.Count(s.String(), "Ada · respond · "))
		require.Contains(t, s.String(), "  My answer is no, and the reason is safety.")
	})
}

func TestALiveVote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{}
		require.Equal(t, 0, show(t, vote.Protocol{}, offline.Model(true), s))
		require.Contains(t, s.String(), "  Answer: Yes\n  Confidence: 60 %\n")
		require.NotContains(t, s.String(), "{")
	})
}

func TestFailuresAreShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		flaky := &scripted.Provider{Func: func(providers.Request) scripted.Reply {
			calls++
			if calls%3 == 1 {
				return scripted.Reply{Text: "I was about to", Err: &providers.Error{Kind: providers.Network, Err: errors.New("the line\nis dead")}}
			}
			return scripted.Reply{Text: "It is."}
		}}
		s := &screen{}
		require.Equal(t, 0, show(t, procon.Protocol{}, flaky, s))
		require.Regexp(t, `Ada · argue\n  I was about to\nargue: Ada failed, retrying in \ds: network: the line is dead\n\nAda · argue\n  It is\.\n`, s.String())

		var plain bytes.Buffer // without a terminal, incomplete replies do not appear
		require.Equal(t, 0, show(t, procon.Protocol{}, flaky, &plain))
		require.Contains(t, plain.String(), "Ada failed, retrying in ")
		require.NotContains(t, plain.String(), "I was about to")
	})
}

func TestADebateThatCannotGoOn(t *testing.T) {
	refused := &scripted.Provider{Func: func(providers.Request) scripted.Reply {
		return scripted.Reply{Err: &providers.Error{Kind: providers.Authentication, Err: errors.New("the key is refused")}}
	}}
	s := &screen{}
	require.Equal(t, 1, show(t, procon.Protocol{}, refused, s))
	require.Contains(t, s.String(), "the key is refused")
}

// Ctrl-C cancels the debate without waiting for the call in flight.
func TestCtrlC(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, interrupt := context.WithCancel(t.Context())
		s := &screen{wrote: func(text string) {
			if strings.Contains(text, "Bo · argue") {
				interrupt()
			}
		}}
		began := time.Now()
		code := console.Run(ctx, func(ctx context.Context, p *console.Program) error {
			_, err := p.Debate(ctx, debate.Config{
				Topic: "Is tea free?", Protocol: procon.Protocol{}, Judges: []debate.Participant{{Name: "Judge"}},
				Participants: []debate.Participant{{Name: "Ada", Position: "Yes"}, {Name: "Bo", Position: "No"}},
			}, debate.Options{Providers: map[string]providers.Provider{"model": offline.Model(true)}})
			return err
		}, nil, &bytes.Buffer{}, s, none)
		require.Equal(t, 130, code)
		require.True(t, strings.HasSuffix(s.String(), "\ncanceled; completed turns: 1\n"), s.String())
		require.Less(t, time.Since(began), 2*time.Second)
	})
}
