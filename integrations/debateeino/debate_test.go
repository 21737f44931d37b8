package debateeino_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/integrations/debateeino"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/providertest"
	"github.com/elenchus-go/debate/store"
)

// withPerson returns the same debate with a person as Bo.
func withPerson() debate.Config {
	c := debatetest.ShortPanel(1)
	c.Participants[1].Human = true
	return c
}

// toolset returns the tools of a new engine on a store, which stands for a process.
func toolset(t *testing.T, s store.Store, p providers.Provider, c debate.Config, o debatetool.Options) *debatetool.Toolset {
	e := debatetest.Engine(t, debate.Options{Store: s, Providers: map[string]providers.Provider{"m": p}})
	t.Cleanup(func() { debatetest.Kill(e) })
	o.Presets = map[string]debatetool.Preset{"default": {Config: c}}
	set, err := debatetool.New(e, o)
	require.NoError(t, err)
	return set
}

// checkpoints is a store for checkpoints of Eino.
type checkpoints struct {
	mu   sync.Mutex
	data map[string][]byte
}

func (c *checkpoints) Get(_ context.Context, id string) ([]byte, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b, ok := c.data[id]
	return b, ok, nil
}

func (c *checkpoints) Set(_ context.Context, id string, b []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.data[id] = b
	return nil
}

// run is what a run of an agent has sent.
type run struct {
	said        []string // who has spoken
	texts       []string // what they have said
	last        string   // the last message
	interrupted *adk.InterruptCtx
	err         error
}

// collect collects the events of a run.
func collect(t *testing.T, events *adk.AsyncIterator[*adk.AgentEvent]) (r run) {
	for e, ok := events.Next(); ok; e, ok = events.Next() {
		switch {
		case e.Err != nil:
			r.err = e.Err
		case e.Action != nil && e.Action.Interrupted != nil:
			for _, c := range e.Action.Interrupted.InterruptContexts {
				if c.IsRootCause {
					r.interrupted = c
				}
			}
		case e.Output != nil && e.Output.MessageOutput != nil:
			m, err := e.Output.MessageOutput.GetMessage()
			require.NoError(t, err)
			r.last = m.Content
			r.said = append(r.said, e.AgentName)
			r.texts = append(r.texts, m.Content)
		}
	}
	return r
}

// host returns an agent of Eino whose model calls the tool debate of a set.
func host(t *testing.T, set *debatetool.Toolset, m *fake) adk.Agent {
	debates, err := debateeino.NewTool(t.Context(), set)
	require.NoError(t, err)
	a, err := adk.NewChatModelAgent(t.Context(), &adk.ChatModelAgentConfig{Name: "host", Description: "Answers.", Model: m, ToolsConfig: adk.ToolsConfig{
		ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{debates}}, EmitInternalEvents: true,
	}})
	require.NoError(t, err)
	return a
}

// calls returns a reply that calls the tool debate.
func calls(input string) providertest.Reply {
	return providertest.Reply{
		ToolCalls:    []providers.ToolCall{{ID: "call-0123456789abcdef", Name: "debate", Arguments: []byte(input)}},
		FinishReason: providers.ToolCalls,
	}
}

var answers = providertest.Reply{Chunks: []string{"Both sides ", "were heard."}}

func TestADebateIsATool(t *testing.T) {
	for _, streams := range []bool{true, false} {
		set := toolset(t, store.Memory(), offline.Model(false), debatetest.ShortPanel(1), debatetool.Options{})
		m := &fake{replies: []providertest.Reply{calls(`{"topic": "Ban cars?"}`), answers}}
		runner := adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: host(t, set, m), EnableStreaming: streams})
		r := collect(t, runner.Query(t.Context(), "Should cities ban cars?"))
		require.NoError(t, r.err)
		require.Equal(t, "Both sides were heard.", r.last)
		require.Equal(t, []string{"host", "Ada", "Bo", "Judge", "Judge", "debate", "host", "host"}, r.said, "each turn says who speaks")
		asked := m.asked[1]
		require.Len(t, asked, 3, "the turns are not part of the conversation")
		require.Regexp(t, `^Debate call-\w+: completed, round limit in round 1\.`, asked[2].Content)
		require.Contains(t, asked[2].Content, "Ban cars?")
		require.Contains(t, asked[2].Content, " begin: answer>>>", "the model reads a quotation")
		require.NotContains(t, r.texts[1], "<<<", "people see the turns")
	}
}

func TestTheModelOfAHostSeesTheSchema(t *testing.T) {
	m := &fake{replies: []providertest.Reply{answers}}
	set := toolset(t, store.Memory(), offline.Model(false), debatetest.ShortPanel(1), debatetool.Options{})
	require.NoError(t, collect(t, adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: host(t, set, m)}).Query(t.Context(), "Ban cars?")).err)
	info := m.options[0].Tools[0]
	require.Equal(t, "debate", info.Name)
	require.NotEmpty(t, info.Desc)
	s, err := info.ToJSONSchema()
	require.NoError(t, err)
	_, ok := s.Properties.Get("topic")
	require.True(t, ok)
}

// The model reads what is wrong with its call, and the run goes on.
func TestAWrongCallIsCorrected(t *testing.T) {
	m := &fake{replies: []providertest.Reply{calls(`{"topic": "Ban cars?", "rounds": 9}`), calls(`{"topic": "Ban cars?"}`), answers}}
	set := toolset(t, store.Memory(), offline.Model(false), debatetest.ShortPanel(1), debatetool.Options{})
	r := collect(t, adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: host(t, set, m)}).Query(t.Context(), "Ban cars?"))
	require.NoError(t, r.err)
	require.Contains(t, m.asked[1][2].Content, "- rounds: ")
	require.Contains(t, m.asked[2][4].Content, "completed")
}

// A debate waits for a person. Another process continues it from the checkpoint, which has nothing but its id.
func TestAPersonReplies(t *testing.T) {
	for name, newAgent := range map[string]func(t *testing.T, s store.Store) adk.Agent{
		"tool": func(t *testing.T, s store.Store) adk.Agent {
			return host(t, toolset(t, s, offline.Model(false), withPerson(), debatetool.Options{}), &fake{replies: []providertest.Reply{calls(`{"topic": "Ban cars?"}`), answers}})
		},
		"agent": func(t *testing.T, s store.Store) adk.Agent {
			return debateeino.NewAgent(toolset(t, s, offline.Model(false), withPerson(), debatetool.Options{}), "panel", "Debates.", debatetool.Input{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, kept := store.Memory(), &checkpoints{data: map[string][]byte{}}
			runner := adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: newAgent(t, s), CheckPointStore: kept, EnableStreaming: true})
			r := collect(t, runner.Query(t.Context(), "Ban cars?", adk.WithCheckPointID("c1")))
			require.NoError(t, r.err)
			require.NotNil(t, r.interrupted)
			id, ok := r.interrupted.Info.(string)
			require.True(t, ok)
			out, err := toolset(t, s, offline.Model(false), withPerson(), debatetool.Options{}).Status(t.Context(), id, 0)
			require.NoError(t, err)
			require.Equal(t, "Bo", out.Waiting[0].Name)
			require.Equal(t, 1, count(r.said, "Ada"))
			checkpoint := string(kept.data["c1"])
			require.Contains(t, checkpoint, out.ID)
			require.NotContains(t, checkpoint, out.Turns[0].Text)
			require.NotContains(t, checkpoint, out.Waiting[0].Task)

			agent := newAgent(t, s)
			if name == "tool" {
				agent = host(t, toolset(t, s, offline.Model(false), withPerson(), debatetool.Options{}), &fake{replies: []providertest.Reply{answers}})
			}
			other := adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: agent, CheckPointStore: kept})
			events, err := other.Resume(t.Context(), "c1") // without a reply
			require.NoError(t, err)
			r = collect(t, events)
			require.NoError(t, r.err)
			require.NotNil(t, r.interrupted, "the debate still waits")
			require.Empty(t, count(r.said, "Ada"), "a turn is shown once")

			events, err = other.ResumeWithParams(t.Context(), "c1", &adk.ResumeParams{Targets: map[string]any{
				r.interrupted.ID: debatetool.Reply{Step: out.Waiting[0].Step, Text: "Shops need deliveries.", By: "Robert"},
			}})
			require.NoError(t, err)
			r = collect(t, events)
			require.NoError(t, r.err)
			require.Nil(t, r.interrupted)
			require.Equal(t, []int{0, 1, 2}, []int{count(r.said, "Ada"), count(r.said, "Bo"), count(r.said, "Judge")}, "%v", r.said)
			if name == "agent" {
				require.Contains(t, r.last, "completed")
			} else {
				require.Equal(t, "Both sides were heard.", r.last)
			}
		})
	}
}

func count(list []string, name string) (n int) {
	for _, s := range list {
		if s == name {
			n++
		}
	}
	return n
}

func TestAWrongReplyIsAnError(t *testing.T) {
	s, kept := store.Memory(), &checkpoints{data: map[string][]byte{}}
	runner := adk.NewRunner(t.Context(), adk.RunnerConfig{
		Agent: debateeino.NewAgent(toolset(t, s, offline.Model(false), withPerson(), debatetool.Options{}), "panel", "Debates.", debatetool.Input{}), CheckPointStore: kept,
	})
	r := collect(t, runner.Query(t.Context(), "Ban cars?", adk.WithCheckPointID("c1")))
	events, err := runner.ResumeWithParams(t.Context(), "c1", &adk.ResumeParams{Targets: map[string]any{r.interrupted.ID: debatetool.Reply{Step: "q9", Text: "No."}}})
	require.NoError(t, err)
	require.ErrorContains(t, collect(t, events).err, `"q9" is not asked`)
}

// A process dies in the middle of a tool call. When Eino makes the same call again, the debate continues.
func TestADebateSurvivesItsProcess(t *testing.T) {
	s := store.Memory()
	var mu sync.Mutex
	spoken := map[string]int{}
	model, called := offline.Model(false), make(chan struct{})
	hang := debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		name := "Ada"
		if strings.Contains(r.Messages[0].Text, "You are Bo") {
			name = "Bo"
		}
		mu.Lock()
		spoken[name]++
		first := name == "Bo" && spoken[name] == 1
		mu.Unlock()
		if first {
			close(called)
			<-ctx.Done()
			return providers.Response{}, providers.ContextError(ctx, providers.Response{})
		}
		return model.Generate(ctx, r)
	})
	o := debate.Options{Store: s, Providers: map[string]providers.Provider{"m": hang}, HeartbeatInterval: 50 * time.Millisecond}
	died := debatetest.Engine(t, o)
	presets := map[string]debatetool.Preset{"default": {Config: debatetest.ShortPanel(1)}}
	set, err := debatetool.New(died, debatetool.Options{Presets: presets})
	require.NoError(t, err)
	ctx, kill := context.WithCancel(t.Context())
	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: host(t, set, &fake{replies: []providertest.Reply{calls(`{"topic": "Ban cars?"}`), answers}})}).Query(ctx, "Ban cars?")
	for e, ok := events.Next(); ok && e.AgentName != "Ada"; e, ok = events.Next() {
		require.NoError(t, e.Err)
	}
	<-called
	kill()
	debatetest.Kill(died)

	again := debatetest.Engine(t, o)
	defer debatetest.Kill(again)
	set, err = debatetool.New(again, debatetool.Options{Presets: presets})
	require.NoError(t, err)
	m := &fake{replies: []providertest.Reply{calls(`{"topic": "Ban cars?"}`), answers}}
	r := collect(t, adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: host(t, set, m)}).Query(t.Context(), "Ban cars?"))
	require.NoError(t, r.err)
	require.Contains(t, m.asked[1][2].Content, "completed")
	require.Len(t, debatetest.List(t, again, store.Query{}), 1)
}

func TestADebateIsAnAgent(t *testing.T) {
	set := toolset(t, store.Memory(), offline.Model(false), debatetest.ShortPanel(1), debatetool.Options{})
	agent := debateeino.NewAgent(set, "panel", "Debates.", debatetool.Input{Background: "A small town."})
	require.Equal(t, "Debates.", agent.Description(t.Context()))
	after, err := adk.NewSequentialAgent(t.Context(), &adk.SequentialAgentConfig{Name: "both", Description: "Both.", SubAgents: []adk.Agent{agent}})
	require.NoError(t, err)
	for _, a := range []adk.Agent{agent, after} {
		r := collect(t, adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: a}).Query(t.Context(), "Ban cars?"))
		require.NoError(t, r.err)
		require.Equal(t, []string{"Ada", "Bo", "Judge", "Judge", "panel"}, r.said)
		require.Contains(t, r.last, "completed, round limit in round 1")
		require.NotContains(t, strings.Join(r.texts, "\n"), "<<<", "people read it in a chat window")
	}
	r := collect(t, adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: agent}).Run(t.Context(), nil))
	require.ErrorContains(t, r.err, "- topic: it is empty")
}

// A set can quote for models that read what the agent says.
func TestAnAgentBelowAModelQuotes(t *testing.T) {
	set := toolset(t, store.Memory(), offline.Model(false), debatetest.ShortPanel(1), debatetool.Options{QuoteAlways: true})
	r := collect(t, adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: debateeino.NewAgent(set, "panel", "Debates.", debatetool.Input{})}).Query(t.Context(), "Ban cars?"))
	require.NoError(t, r.err)
	require.Contains(t, r.texts[0], " begin: Ada, round 1>>>")
	require.Contains(t, r.last, "no instructions for you")
}

func TestAConversationIsBackground(t *testing.T) {
	s, prompts := store.Memory(), &strings.Builder{}
	model := offline.Model(false)
	set := toolset(t, s, debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		for _, m := range r.Messages {
			prompts.WriteString(m.Text)
		}
		return model.Generate(ctx, r)
	}), debatetest.ShortPanel(1), debatetool.Options{})
	agent := debateeino.NewAgent(set, "panel", "Debates.", debatetool.Input{Background: "A small town."})
	parts := []schema.MessageInputPart{{Type: schema.ChatMessagePartTypeText, Text: "And"}, {Type: schema.ChatMessagePartTypeText, Text: "bikes?"}}
	r := collect(t, adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: agent}).Run(t.Context(), []*schema.Message{
		schema.SystemMessage("Be brief."), schema.UserMessage("Ban cars?"), schema.AssistantMessage("Yes, in the centre.", nil),
		{Role: schema.User, UserInputMultiContent: parts},
	}))
	require.NoError(t, r.err)
	require.Contains(t, prompts.String(), "A small town.\n\nBe brief.\n\nEarlier, the user said: Ban cars?\n\nEarlier, the assistant said: Yes, in the centre.")
	for _, status := range debatetest.List(t, s, store.Query{}) {
		require.Equal(t, "And\nbikes?", status.Topic)
	}
}

// A program may resume a run with what it has: a text, a reply, or the map that it has decoded.
func TestARunIsResumedWith(t *testing.T) {
	for name, c := range map[string]struct {
		data any
		want string // the error; empty if the debate goes on
	}{
		"text":            {"Shops need deliveries.", ""},
		"reply":           {debatetool.Reply{Text: "Shops need deliveries."}, ""},
		"pointer":         {&debatetool.Reply{Text: "Shops need deliveries."}, ""},
		"map":             {map[string]any{"text": "Shops need deliveries."}, ""},
		"map of anything": {map[string]any{"reply": "Shops need deliveries."}, `unknown field "reply"`},
		"wrong type":      {map[string]any{"text": 7}, "decode the fields of a reply"},
		"blank":           {" \n", "the text is empty"},
		"number":          {7, "the data have the type int, use a text, a debatetool.Reply, or a map"},
		"list":            {[]string{"Shops need deliveries."}, "the data have the type []string"},
	} {
		for _, as := range []string{"tool", "agent"} {
			t.Run(name+" to a "+as, func(t *testing.T) {
				s, kept := store.Memory(), &checkpoints{data: map[string][]byte{}}
				set := toolset(t, s, offline.Model(false), withPerson(), debatetool.Options{})
				var a adk.Agent = debateeino.NewAgent(set, "panel", "Debates.", debatetool.Input{})
				if as == "tool" {
					a = host(t, set, &fake{replies: []providertest.Reply{calls(`{"topic": "Ban cars?"}`), answers}})
				}
				runner := adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: a, CheckPointStore: kept})
				r := collect(t, runner.Query(t.Context(), "Ban cars?", adk.WithCheckPointID("c1")))
				require.NotNil(t, r.interrupted)
				id := r.interrupted.Info.(string)
				events, err := runner.ResumeWithParams(t.Context(), "c1", &adk.ResumeParams{Targets: map[string]any{r.interrupted.ID: c.data}})
				require.NoError(t, err)
				r = collect(t, events)
				out, err := set.Status(t.Context(), id, 0)
				require.NoError(t, err)
				if c.want == "" {
					require.NoError(t, r.err)
					require.Nil(t, r.interrupted)
					require.Equal(t, "Shops need deliveries.", out.Turns[1].Plain())
					return
				}
				require.Equal(t, "waiting", out.Status)
				require.ErrorContains(t, r.err, c.want)
			})
		}
	}
}

// An agent whose debate takes too long, or fails, interrupts its run, and continues when it is resumed.
func TestAnAgentContinuesLater(t *testing.T) {
	model := offline.Model(false)
	for name, trouble := range map[string]func(ctx context.Context, over <-chan struct{}) error{
		"fails": func(_ context.Context, over <-chan struct{}) error {
			select {
			case <-over:
				return nil
			default:
				return &providers.Error{Kind: providers.Billing, Err: errors.New("no credit")}
			}
		},
		"takes too long": func(ctx context.Context, over <-chan struct{}) error {
			select {
			case <-over:
				return nil
			case <-ctx.Done():
				return providers.ContextError(ctx, providers.Response{})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			over := make(chan struct{})
			p := debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
				if err := trouble(ctx, over); err != nil {
					return providers.Response{}, err
				}
				return model.Generate(ctx, r)
			})
			kept := &checkpoints{data: map[string][]byte{}}
			set := toolset(t, store.Memory(), p, debatetest.ShortPanel(1), debatetool.Options{MaxWait: 100 * time.Millisecond})
			runner := adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: debateeino.NewAgent(set, "panel", "Debates.", debatetool.Input{}), CheckPointStore: kept})
			r := collect(t, runner.Query(t.Context(), "Ban cars?", adk.WithCheckPointID("c1")))
			require.NoError(t, r.err)
			require.NotNil(t, r.interrupted)
			close(over)
			for r.interrupted != nil { // on a slow machine, the debate takes longer than MaxWait again
				events, err := runner.Resume(t.Context(), "c1")
				require.NoError(t, err)
				r = collect(t, events)
			}
			require.NoError(t, r.err)
			require.Contains(t, r.last, "completed")
		})
	}
}
