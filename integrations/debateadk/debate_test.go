package debateadk_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/workflowagents/parallelagent"
	"google.golang.org/adk/v2/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/integrations/debateadk"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/providertest"
	"github.com/elenchus-go/debate/store"
)

// toolset returns the tools of a new engine on a store, which stands for a process. It also returns a function that ends
// the process.
func toolset(t *testing.T, s store.Store, p providers.Provider, c debate.Config) (*debatetool.Toolset, func()) {
	e := debatetest.Engine(t, debate.Options{Store: s, Providers: map[string]providers.Provider{"m": p}, HeartbeatInterval: 50 * time.Millisecond})
	end := func() { debatetest.Kill(e) }
	t.Cleanup(end)
	set, err := debatetool.New(e, debatetool.Options{Presets: map[string]debatetool.Preset{"default": {Config: c}}})
	require.NoError(t, err)
	return set, end
}

// a conversation is a session with an agent.
type conversation struct {
	sessions session.Service
	runner   *runner.Runner
	texts    map[string]bool // everything that was said
}

func talk(t *testing.T, a agent.Agent, sessions session.Service) conversation {
	r, err := runner.New(runner.Config{AppName: "app", Agent: a, SessionService: sessions, AutoCreateSession: true})
	require.NoError(t, err)
	return conversation{sessions, r, map[string]bool{}}
}

// say sends a message, and returns the authors of the answers, and the last answer.
func (c conversation) say(t *testing.T, text string) (authors []string, last string, err error) {
	for e, err := range c.runner.Run(t.Context(), "u", "s1", genai.NewContentFromText(text, genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			return authors, last, err
		}
		if e.Content == nil {
			continue
		}
		authors = append(authors, e.Author)
		c.texts[e.Content.Parts[0].Text] = true
		last = e.Content.Parts[0].Text
		if e.Author == "" {
			require.Fail(t, "an event without an author")
		}
	}
	return authors, last, nil
}

// stored returns everything that ADK has stored of the session.
func (c conversation) stored(t *testing.T) string {
	got, err := c.sessions.Get(t.Context(), &session.GetRequest{AppName: "app", UserID: "u", SessionID: "s1"})
	require.NoError(t, err)
	all := maps.Collect(got.Session.State().All())
	var events []*session.Event
	for e := range got.Session.Events().All() {
		events = append(events, e)
	}
	return debatetest.Encode(t, []any{all, events})
}

func count(list []string, name string) (n int) {
	for _, s := range list {
		if s == name {
			n++
		}
	}
	return n
}

// host returns an agent whose model calls the tool debate of a set.
func host(t *testing.T, set *debatetool.Toolset, m *fake) agent.Agent {
	tools, err := debateadk.NewTools(set)
	require.NoError(t, err)
	a, err := llmagent.New(llmagent.Config{Name: "host", Description: "Answers.", Model: m, Tools: tools})
	require.NoError(t, err)
	return a
}

// calls holds a reply that calls the tool debate.
var calls = providertest.Reply{ToolCalls: []providers.ToolCall{{ID: "call-0123456789abcdef", Name: "debate"}}}

// result returns what the model got from its call.
func result(t *testing.T, m *fake) string {
	list := m.asked[len(m.asked)-1].Contents
	for _, p := range list[len(list)-1].Parts {
		if p.FunctionResponse != nil {
			return debatetest.Encode(t, p.FunctionResponse.Response)
		}
	}
	require.Fail(t, "no result")
	return ""
}

func TestADebateIsATool(t *testing.T) {
	set, _ := toolset(t, store.Memory(), offline.Model(false), debatetest.ShortPanel(1))
	m := &fake{ask: map[string]any{"topic": "Ban cars?"}, replies: []providertest.Reply{calls, {Chunks: []string{"Both sides were heard."}}}}
	_, last, err := talk(t, host(t, set, m), session.InMemoryService()).say(t, "Ban cars?")
	require.NoError(t, err)
	require.Equal(t, "Both sides were heard.", last)
	require.Contains(t, result(t, m), "completed, round limit in round 1")
	declared := m.asked[0].Config.Tools[0].FunctionDeclarations
	require.Len(t, declared, 6)
	require.Equal(t, "debate", declared[0].Name)
	require.Contains(t, debatetest.Encode(t, declared[0].ParametersJsonSchema), `"topic"`)
}

// The model reads what is wrong with its call, and the run goes on.
func TestAWrongCallIsExplained(t *testing.T) {
	set, _ := toolset(t, store.Memory(), offline.Model(false), debatetest.ShortPanel(1))
	m := &fake{ask: map[string]any{"topic": "Ban cars?", "preset": "default", "budget": map[string]any{"rounds": 9}}, replies: []providertest.Reply{calls, {Chunks: []string{"Sorry."}}}}
	_, last, err := talk(t, host(t, set, m), session.InMemoryService()).say(t, "Ban cars?")
	require.NoError(t, err)
	require.Equal(t, "Sorry.", last)
	require.Contains(t, result(t, m), "budget.rounds: 9 is out of bounds")
}

// A process dies in the middle of a tool call. When ADK makes the same call again, the debate continues.
func TestADebateSurvivesItsProcess(t *testing.T) {
	s := store.Memory()
	var mu sync.Mutex
	model, hung := offline.Model(false), make(chan struct{})
	first := true
	hangs := debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		mu.Lock()
		hang := first && strings.Contains(r.Messages[0].Text, "You are Bo")
		first = first && !hang
		mu.Unlock()
		if hang {
			close(hung)
			<-ctx.Done()
			return providers.Response{}, providers.ContextError(ctx, providers.Response{})
		}
		return model.Generate(ctx, r)
	})
	set, end := toolset(t, s, hangs, debatetest.ShortPanel(1))
	ctx, kill := context.WithCancel(t.Context())
	done := make(chan struct{})
	ask := map[string]any{"topic": "Ban cars?"}
	go func() {
		defer close(done)
		c := talk(t, host(t, set, &fake{ask: ask, replies: []providertest.Reply{calls, {}}}), session.InMemoryService())
		for _, err := range c.runner.Run(ctx, "u", "s1", genai.NewContentFromText("Ban cars?", genai.RoleUser), agent.RunConfig{}) {
			_ = err // the process is killed
		}
	}()
	<-hung
	kill()
	end()
	<-done
	set, _ = toolset(t, s, hangs, debatetest.ShortPanel(1))
	m := &fake{ask: ask, replies: []providertest.Reply{calls, {Chunks: []string{"Done."}}}}
	_, last, err := talk(t, host(t, set, m), session.InMemoryService()).say(t, "Ban cars?")
	require.NoError(t, err)
	require.Equal(t, "Done.", last)
	require.Contains(t, result(t, m), "completed")
	require.Len(t, debatetest.List(t, s, store.Query{}), 1)
}

func TestADebateIsAnAgent(t *testing.T) {
	set, _ := toolset(t, store.Memory(), offline.Model(false), debatetest.ShortPanel(1))
	a, err := debateadk.NewAgent(set, "panel", "Debates.", debatetool.Input{Background: "A small town."})
	require.NoError(t, err)
	c := talk(t, a, session.InMemoryService())
	for range 2 { // the second message is another debate
		authors, last, err := c.say(t, "Ban cars?")
		require.NoError(t, err)
		require.Equal(t, []string{"Ada", "Bo", "Judge", "Judge", "panel"}, authors, "each turn says who speaks")
		require.Contains(t, last, "completed, round limit in round 1")
		require.NotContains(t, c.stored(t), "Arguments about", "the turns are not stored")
		for text := range c.texts {
			require.NotContains(t, text, "<<<", "people read it in a chat window")
		}
	}
	_, _, err = c.say(t, " ")
	require.ErrorContains(t, err, "- topic: it is empty")
}

// A set can quote for models that read what the agent says.
func TestAnAgentBelowAModelQuotes(t *testing.T) {
	e := debatetest.Engine(t, debate.Options{Providers: map[string]providers.Provider{"m": offline.Model(false)}})
	set, err := debatetool.New(e, debatetool.Options{QuoteAlways: true})
	require.NoError(t, err)
	a, err := debateadk.NewAgent(set, "panel", "Debates.", debatetool.Input{})
	require.NoError(t, err)
	_, last, err := talk(t, a, session.InMemoryService()).say(t, "Ban cars?")
	require.NoError(t, err)
	require.Contains(t, last, " begin: answer>>>")
}

// What was said before in the session is background: by the user, by this agent and by others, but not by agents that run
// in parallel.
func TestAConversationIsBackground(t *testing.T) {
	s := store.Memory()
	set, _ := toolset(t, s, offline.Model(false), debatetest.ShortPanel(1))
	a, err := debateadk.NewAgent(set, "panel", "Debates.", debatetool.Input{Background: "A small town."})
	require.NoError(t, err)
	talks := func(name, text string) agent.Agent {
		m := &fake{replies: []providertest.Reply{{Chunks: []string{text}}}}
		a, err := llmagent.New(llmagent.Config{Name: name, Description: "Talks.", Model: m})
		require.NoError(t, err)
		return a
	}
	both, err := parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "both", SubAgents: []agent.Agent{a}}})
	require.NoError(t, err)
	all, err := sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{Name: "all", SubAgents: []agent.Agent{talks("clerk", "I have counted the cars."), both}}})
	require.NoError(t, err)
	sessions := session.InMemoryService()
	made, err := sessions.Create(t.Context(), &session.CreateRequest{AppName: "app", UserID: "u", SessionID: "s1"})
	require.NoError(t, err)
	beside := &session.Event{ID: "e1", InvocationID: "i1", Author: "beside", Branch: "both.beside"}
	beside.Content = genai.NewContentFromText("I am elsewhere.", genai.RoleModel)
	require.NoError(t, sessions.AppendEvent(t.Context(), made.Session, beside))
	_, _, err = talk(t, all, sessions).say(t, "Ban cars?")
	require.NoError(t, err)
	_, last, err := talk(t, a, sessions).say(t, "And bikes?")
	require.NoError(t, err)
	require.Contains(t, last, "completed")

	backgrounds := map[string]string{}
	for _, status := range debatetest.List(t, s, store.Query{}) {
		_, entries, err := s.Load(t.Context(), status.ID, 0)
		require.NoError(t, err)
		backgrounds[status.Topic] = debatetest.Encode(t, entries[0].Data)
	}
	require.Contains(t, backgrounds["Ban cars?"], `A small town.\n\nEarlier, clerk said: I have counted the cars."`)
	require.NotContains(t, backgrounds["Ban cars?"], "elsewhere")
	require.Contains(t, backgrounds["And bikes?"], `Earlier, the user said: Ban cars?\n\nEarlier, clerk said: I have`)
	require.Contains(t, backgrounds["And bikes?"], `Earlier, panel said: Debate tool-`)
	require.Contains(t, backgrounds["And bikes?"], "elsewhere", "the root agent sees all branches")
}

// A debate waits for a person. Another process continues it from the session, which has nothing but its id.
func TestAPersonReplies(t *testing.T) {
	s, sessions := store.Memory(), session.InMemoryService()
	withPerson := debatetest.ShortPanel(1)
	withPerson.Participants[1].Human = true
	start := func() conversation {
		set, _ := toolset(t, s, offline.Model(false), withPerson)
		a, err := debateadk.NewAgent(set, "panel", "Debates.", debatetool.Input{})
		require.NoError(t, err)
		return talk(t, a, sessions)
	}
	authors, last, err := start().say(t, "Ban cars?")
	require.NoError(t, err)
	require.Equal(t, []string{"Ada", "panel"}, authors)
	require.Contains(t, last, "asks Bo")
	state, err := sessions.Get(t.Context(), &session.GetRequest{AppName: "app", UserID: "u", SessionID: "s1"})
	require.NoError(t, err)
	kept := maps.Collect(state.Session.State().All())
	require.Len(t, kept, 1)
	require.Contains(t, last, kept["debate:panel"])

	authors, last, err = start().say(t, "Shops need deliveries.")
	require.NoError(t, err)
	require.Equal(t, []int{0, 1, 2, 1}, []int{count(authors, "Ada"), count(authors, "Bo"), count(authors, "Judge"), count(authors, "panel")}, "%v", authors)
	require.Contains(t, last, "completed")
	authors, _, err = start().say(t, "Ban bikes?")
	require.NoError(t, err)
	require.Equal(t, 1, count(authors, "Ada"), "the next message is a new debate")
}

// A debate that has failed continues with the next message.
func TestAnAgentTriesAgain(t *testing.T) {
	model, fails := offline.Model(false), true
	set, _ := toolset(t, store.Memory(), debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		if fails {
			return providers.Response{}, &providers.Error{Kind: providers.Billing, Err: errors.New("no credit")}
		}
		return model.Generate(ctx, r)
	}), debatetest.ShortPanel(1))
	a, err := debateadk.NewAgent(set, "panel", "Debates.", debatetool.Input{})
	require.NoError(t, err)
	c := talk(t, a, session.InMemoryService())
	_, last, err := c.say(t, "Ban cars?")
	require.NoError(t, err)
	require.Contains(t, last, "failed")
	fails = false
	_, last, err = c.say(t, "Go on.")
	require.NoError(t, err)
	require.Contains(t, last, "completed")
}
