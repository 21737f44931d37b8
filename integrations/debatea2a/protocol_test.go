package debatea2a_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	legacy "github.com/a2aproject/a2a-go/a2a"
	legacyclient "github.com/a2aproject/a2a-go/a2aclient"
	legacycard "github.com/a2aproject/a2a-go/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/integrations/debatea2a"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

// debates returns the number of debates in a store.
func debates(t *testing.T, s store.Store) (n int) {
	t.Helper()
	counts := debatetest.Call(t, s.Count, store.Query{})
	for _, count := range counts {
		n += count
	}
	return n
}

// with returns an agent with options on the engine of another one.
func with(t *testing.T, e *debate.Engine, o debatea2a.Options) *debatea2a.Agent {
	t.Helper()
	a, err := debatea2a.New(e, o)
	require.NoError(t, err)
	return a
}

func TestHistoryLength(t *testing.T) {
	for _, transport := range transports {
		t.Run(string(transport), func(t *testing.T) {
			agent, _ := newAgent(t, store.Memory(), &model{}, presets(debatetest.ShortPanel(2)))
			c := connect(t, serve(t, agent), transport)
			for n, want := range map[int]int{0: 0, 1: 1, 5: 1} {
				r := question()
				r.Config = &a2a.SendMessageConfig{HistoryLength: &n}
				task := send(t, c, r)
				require.Len(t, task.History, want)
				got := debatetest.Call(t, c.GetTask, &a2a.GetTaskRequest{ID: task.ID, HistoryLength: &n})
				require.Len(t, got.History, want)
				r = question()
				r.Config = &a2a.SendMessageConfig{HistoryLength: &n}
				for event, err := range c.SendStreamingMessage(t.Context(), r) {
					require.NoError(t, err)
					if task, ok := event.(*a2a.Task); ok {
						require.Len(t, task.History, want)
					}
				}
			}
			r := question()
			task := send(t, c, r)
			require.Len(t, task.History, 1)
			require.Equal(t, r.Message.ID, task.History[0].ID, "a client finds its own message")
		})
	}
}

func TestListTasks(t *testing.T) {
	for _, transport := range transports {
		t.Run(string(transport), func(t *testing.T) {
			config := debatetest.ShortPanel(2)
			config.Limits.MaxRounds = 1
			human := config
			human.Participants = append([]debate.Participant{}, config.Participants...)
			human.Participants[1].Human = true
			o := presets(config)
			o.Presets["human"] = debatetool.Preset{Config: human}
			agent, engine := newAgent(t, store.Memory(), &model{}, o)
			url := serve(t, agent, asUser{})
			c := connect(t, url, transport)
			as := func(user string) context.Context {
				return a2aclient.AttachServiceParams(t.Context(), a2aclient.ServiceParams{"X-User": {user}})
			}
			ask := func(user, contextID string, parts ...*a2a.Part) a2a.TaskID {
				r := message("", parts...)
				r.Message.ContextID = contextID
				result, err := c.SendMessage(as(user), r)
				require.NoError(t, err)
				return result.(*a2a.Task).ID
			}
			var ids []a2a.TaskID
			for i := range 5 {
				ids = append(ids, ask("ann", "c1", a2a.NewTextPart(fmt.Sprintf("Ban cars in street %d?", i))))
			}
			waits := ask("ann", "c2", a2a.NewDataPart(map[string]any{"preset": "human", "topic": "Ban bikes?"}))
			ask("ben", "c1", a2a.NewTextPart("Ban boats?"))
			list := func(user string, r *a2a.ListTasksRequest) (ids []a2a.TaskID, page *a2a.ListTasksResponse) {
				t.Helper()
				page, err := c.ListTasks(as(user), r)
				require.NoError(t, err)
				for _, task := range page.Tasks {
					ids = append(ids, task.ID)
				}
				return ids, page
			}
			all, page := list("ann", &a2a.ListTasksRequest{})
			require.Equal(t, []a2a.TaskID{waits, ids[4], ids[3], ids[2], ids[1], ids[0]}, all, "last changed first, and none of ben's")
			require.Equal(t, []int{6, 50}, []int{page.TotalSize, page.PageSize})
			require.Empty(t, page.NextPageToken)
			require.Equal(t, a2a.TaskStateInputRequired, page.Tasks[0].Status.State)
			require.Equal(t, "Ban bikes?", page.Tasks[0].History[0].Parts[0].Text())
			require.NotNil(t, page.Tasks[0].Status.Timestamp)
			require.Empty(t, page.Tasks[1].Artifacts)

			var pages []a2a.TaskID
			for token, more := "", true; more; more = token != "" {
				some, page := list("ann", &a2a.ListTasksRequest{PageSize: 4, PageToken: token})
				pages, token = append(pages, some...), page.NextPageToken
				require.Equal(t, 6, page.TotalSize)
				require.LessOrEqual(t, len(some), 4)
			}
			require.Equal(t, all, pages)

			some, page := list("ann", &a2a.ListTasksRequest{ContextID: "c2", IncludeArtifacts: true, HistoryLength: new(int)})
			require.Equal(t, []a2a.TaskID{waits}, some)
			require.Equal(t, []string{"Ada"}, names(page.Tasks[0].Artifacts))
			require.Empty(t, page.Tasks[0].History)
			some, _ = list("ann", &a2a.ListTasksRequest{Status: a2a.TaskStateInputRequired})
			require.Equal(t, []a2a.TaskID{waits}, some)
			some, _ = list("ann", &a2a.ListTasksRequest{Status: a2a.TaskStateCompleted})
			require.Len(t, some, 5)
			later := time.Now().Add(time.Hour)
			if transport == a2a.TransportProtocolJSONRPC { // the SDK's client for REST sends another name
				some, _ = list("ann", &a2a.ListTasksRequest{StatusTimestampAfter: &later})
				require.Empty(t, some)
			}
			_, page = list("nobody", &a2a.ListTasksRequest{})
			require.NotNil(t, page.Tasks, "an empty list is no null")

			_, err := c.ListTasks(as("ann"), &a2a.ListTasksRequest{PageSize: 101})
			require.ErrorContains(t, err, "101 is out of bounds")
			_, err = c.ListTasks(as("ann"), &a2a.ListTasksRequest{PageToken: "x"})
			require.ErrorContains(t, err, "use the nextPageToken")

			open := connect(t, serve(t, with(t, engine, debatea2a.Options{Tools: o})), transport)
			_, err = open.ListTasks(t.Context(), &a2a.ListTasksRequest{})
			require.ErrorIs(t, err, a2a.ErrUnauthenticated, "whoever reaches the server must not see the tasks of all others")
			page, err = open.ListTasks(t.Context(), &a2a.ListTasksRequest{ContextID: "c1"})
			require.NoError(t, err)
			require.Empty(t, page.Tasks, "those are of users")
		})
	}
}

// A client that has lost its connection sends its message again. It pays once.
func TestAMessageStartsOneDebate(t *testing.T) {
	s := store.Memory()
	agent, _ := newAgent(t, s, &model{}, presets(debatetest.ShortPanel(2)))
	c := connect(t, serve(t, agent))
	r := question()
	r.Message.ID = "m1"
	first := send(t, c, r)
	require.Equal(t, a2a.TaskStateCompleted, first.Status.State)
	restarted, _ := newAgent(t, s, &model{say: func(providers.Request) (string, error) { panic("a model is called again") }}, presets(debatetest.ShortPanel(2)))
	for name, again := range map[string]*a2aclient.Client{"the same server": c, "after a restart": connect(t, serve(t, restarted), a2a.TransportProtocolHTTPJSON)} {
		task := send(t, again, r)
		require.Equal(t, first.ID, task.ID, name)
		require.Equal(t, first.ContextID, task.ContextID, name)
		require.Equal(t, spoken, names(task.Artifacts), name)
		var events []a2a.Event
		for event, err := range again.SendStreamingMessage(t.Context(), r) {
			require.NoError(t, err)
			events = append(events, event)
		}
		require.Len(t, events, 1, name)
		require.Equal(t, spoken, names(events[0].(*a2a.Task).Artifacts), name)
	}
	require.Equal(t, 1, debates(t, s))

	other := message("", a2a.NewTextPart("Ban bikes?"))
	other.Message.ID = "m1" // of a client that numbers its messages anew
	require.NotEqual(t, first.ID, send(t, c, other).ID)
	other = question()
	require.NotEqual(t, first.ID, send(t, c, other).ID, "the same question in another message")
	other = question()
	other.Message.ID, other.Message.ContextID = "m1", "c2"
	require.NotEqual(t, first.ID, send(t, c, other).ID)
	require.Equal(t, 4, debates(t, s))
}

func TestAMessageThatIsRepeatedAtOnceStartsOneDebate(t *testing.T) {
	s := store.Memory()
	m := blocked()
	agent, _ := newAgent(t, s, m, presets(debatetest.ShortPanel(2)))
	url := serve(t, agent)
	r := question()
	var group sync.WaitGroup
	ids, errs := make([]a2a.TaskID, 8), make([]error, 8)
	for i := range ids {
		c := connect(t, url)
		again := *r // the client writes to it
		group.Go(func() {
			var result a2a.SendMessageResult
			result, errs[i] = c.SendMessage(t.Context(), &again)
			if errs[i] == nil {
				ids[i] = result.(*a2a.Task).ID
			}
		})
	}
	close(m.gate)
	group.Wait()
	for i, id := range ids {
		require.NoError(t, errs[i])
		require.Equal(t, ids[0], id)
	}
	require.Equal(t, 1, debates(t, s))
}

// A reply that is repeated is not the reply to what the debate asks next.
func TestAReplyIsGivenOnce(t *testing.T) {
	config := debatetest.ShortPanel(2)
	config.Participants[1].Human = true
	s := store.Memory()
	agent, _ := newAgent(t, s, &model{}, presets(config))
	c := connect(t, serve(t, agent))
	task := send(t, c, question())
	reply := message(task.ID, a2a.NewTextPart("Shops need deliveries."))
	task = send(t, c, reply)
	require.Equal(t, a2a.TaskStateInputRequired, task.Status.State, "of the second round")
	require.Equal(t, []string{"Ada", "Bo", "Judge", "Ada"}, names(task.Artifacts))

	restarted, _ := newAgent(t, s, &model{}, presets(config))
	c = connect(t, serve(t, restarted))
	task = send(t, c, reply)
	require.Equal(t, a2a.TaskStateInputRequired, task.Status.State)
	require.Equal(t, []string{"Ada", "Bo", "Judge", "Ada"}, names(task.Artifacts))
	task = send(t, c, message(task.ID, a2a.NewTextPart("Shops need deliveries.")))
	require.Equal(t, spoken, names(task.Artifacts), "another message may say the same")
}

func TestAConversationIsBackground(t *testing.T) {
	s := store.Memory()
	agent, engine := newAgent(t, s, &model{}, presets(debatetest.ShortPanel(2)))
	c := connect(t, serve(t, agent))
	ask := func(contextID, text string) *a2a.Task {
		r := message("", a2a.NewTextPart(text))
		r.Message.ContextID = contextID
		return send(t, c, r)
	}
	background := func(task *a2a.Task) string {
		d := debatetest.Open(t, engine, string(task.ID))
		r := debatetest.Result(t, d)
		return r.Background
	}
	first := ask("", "Ban cars?")
	require.Empty(t, background(first))
	ask("other", "Ban boats?")
	second := ask(first.ContextID, "And bikes?")
	require.Equal(t, first.ContextID, second.ContextID)
	require.Contains(t, background(second), "Earlier, the user said: Ban cars?\n\nEarlier, the assistant said: ")
	require.NotContains(t, background(second), "boats")
	third := background(ask(first.ContextID, "And trams?"))
	require.Less(t, strings.Index(third, "Ban cars?"), strings.Index(third, "And bikes?"), "oldest first")
}

func TestStopOnCancel(t *testing.T) {
	for _, stops := range []bool{true, false} {
		for _, streams := range []bool{true, false} {
			for _, transport := range transports {
				t.Run(fmt.Sprintf("%v, stream %v, %s", stops, streams, transport), func(t *testing.T) {
					s, calls := store.Memory(), make(chan struct{}, 10)
					m := &model{gate: make(chan struct{})}
					_, engine := newAgent(t, s, told{m, calls}, presets(debatetest.ShortPanel(2)))
					agent := with(t, engine, debatea2a.Options{Tools: presets(debatetest.ShortPanel(2)), StopOnCancel: stops})
					c := connect(t, serve(t, agent), transport)
					ctx, leave := context.WithCancel(t.Context())
					left := make(chan struct{})
					go func() {
						defer close(left)
						if streams {
							for _, err := range c.SendStreamingMessage(ctx, question()) {
								_ = err // the client leaves
							}
							return
						}
						_, _ = c.SendMessage(ctx, question())
					}()
					<-calls
					leave()
					<-left
					if !stops {
						close(m.gate)
					}
					for _, status := range debatetest.List(t, s, store.Query{}) {
						d := debatetest.Open(t, engine, status.ID)
						for _, err := range d.Watch(t.Context(), 0) { // until the end
							require.NoError(t, err)
						}
						status := debatetest.Status(t, d)
						require.Equal(t, map[bool]fsm.State{true: fsm.Canceled, false: fsm.Completed}[stops], status.State)
					}
				})
			}
		}
	}
}

// told tells when a model is called.
type told struct {
	providers.Provider
	calls chan struct{}
}

func (p told) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	select {
	case p.calls <- struct{}{}:
	default:
	}
	return p.Provider.Generate(ctx, r)
}

// A viewer who leaves, and a call that does not wait, cancel nothing.
func TestOnlyTheClientOfATaskStopsIt(t *testing.T) {
	m := blocked()
	_, engine := newAgent(t, store.Memory(), m, presets(debatetest.ShortPanel(2)))
	agent := with(t, engine, debatea2a.Options{Tools: presets(debatetest.ShortPanel(2)), StopOnCancel: true})
	c := connect(t, serve(t, agent))
	task := start(t, c)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	for event, err := range c.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: task.ID}) {
		if _, ok := event.(*a2a.Task); ok && err == nil {
			leave()
		}
	}
	close(m.gate)
	for _, err := range c.SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: task.ID}) {
		require.NoError(t, err)
	}
	done := debatetest.Call(t, c.GetTask, &a2a.GetTaskRequest{ID: task.ID})
	require.Equal(t, a2a.TaskStateCompleted, done.Status.State)
}

// The client of protocol 0.3, which is another module, works as that of protocol 1.0.
func TestAClientOfProtocol03(t *testing.T) {
	config := debatetest.ShortPanel(2)
	config.Participants[1].Human, config.Limits.MaxRounds = true, 1
	agent, _ := newAgent(t, store.Memory(), &model{}, presets(config))
	card, err := legacycard.DefaultResolver.Resolve(t.Context(), serve(t, agent))
	require.NoError(t, err)
	require.Equal(t, "0.3", card.ProtocolVersion)
	require.NotEmpty(t, card.URL)
	c, err := legacyclient.NewFromCard(t.Context(), card)
	require.NoError(t, err)
	defer func() { _ = c.Destroy() }()
	var id legacy.TaskID
	var seen []string
	var last legacy.TaskState
	collect := func(event legacy.Event, err error) {
		require.NoError(t, err)
		switch e := event.(type) {
		case *legacy.Task:
			id = e.ID
		case *legacy.TaskArtifactUpdateEvent:
			seen = append(seen, e.Artifact.Name)
		case *legacy.TaskStatusUpdateEvent:
			last = e.Status.State
			if e.Final {
				require.NotEqual(t, legacy.TaskStateWorking, last)
			}
		}
	}
	for event, err := range c.SendStreamingMessage(t.Context(), &legacy.MessageSendParams{Message: legacy.NewMessage(legacy.MessageRoleUser, legacy.TextPart{Text: "Ban cars?"})}) {
		collect(event, err)
	}
	require.Equal(t, legacy.TaskStateInputRequired, last)
	answer := legacy.NewMessage(legacy.MessageRoleUser, legacy.TextPart{Text: "Shops need deliveries."})
	answer.TaskID = id
	result := debatetest.Call(t, c.SendMessage, &legacy.MessageSendParams{Message: answer})
	task := result.(*legacy.Task)
	require.Equal(t, legacy.TaskStateCompleted, task.Status.State)
	require.Len(t, task.Artifacts, 5)
	require.Equal(t, []string{"Ada"}, seen)
	task = debatetest.Call(t, c.GetTask, &legacy.TaskQueryParams{ID: id, HistoryLength: new(int)})
	require.Empty(t, task.History)
	_, err = c.GetTask(t.Context(), &legacy.TaskQueryParams{ID: "unknown"})
	require.Error(t, err)
	_, err = c.CancelTask(t.Context(), &legacy.TaskIDParams{ID: id})
	require.Error(t, err)
}

// A card of yours need not offer protocol 0.3.
func TestACardWithoutProtocol03(t *testing.T) {
	agent, _ := newAgent(t, store.Memory(), &model{}, presets(debatetest.ShortPanel(2)))
	card := agent.Card("http://127.0.0.1")
	card.SupportedInterfaces = card.SupportedInterfaces[:2]
	w := httptest.NewRecorder()
	agent.Handler(card).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/.well-known/agent-card.json", http.NoBody))
	require.Equal(t, http.StatusOK, w.Code)
	require.NotContains(t, w.Body.String(), "0.3")
}

// receiver is what a client runs to get notifications.
type receiver struct {
	*httptest.Server
	got chan string // what was notified: the name of an artifact, or a state
}

func receive(t *testing.T, token string) *receiver {
	r := &receiver{got: make(chan string, 100)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		if q.Header.Get("A2a-Notification-Token") != token || q.Header.Get("Authorization") != "Bearer c1" {
			r.got <- "without its secrets"
			return
		}
		var event a2a.StreamResponse
		if err := json.NewDecoder(q.Body).Decode(&event); err != nil {
			r.got <- err.Error()
			return
		}
		switch e := event.Event.(type) {
		case *a2a.Task:
			r.got <- "task " + string(e.Status.State)
		case *a2a.TaskArtifactUpdateEvent:
			r.got <- e.Artifact.Name
		case *a2a.TaskStatusUpdateEvent:
			r.got <- string(e.Status.State)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// until returns what was notified up to a state.
func (r *receiver) until(t *testing.T, state a2a.TaskState) (list []string) {
	t.Helper()
	for {
		select {
		case got := <-r.got:
			list = append(list, got)
			if got == string(state) {
				return list
			}
		case <-time.After(2 * time.Minute):
			require.Fail(t, "no notification", "%v", list)
		}
	}
}

func (r *receiver) config() *a2a.PushConfig {
	return &a2a.PushConfig{URL: r.URL + "/x?y=z", Token: "t1", Auth: &a2a.PushAuthInfo{Scheme: "Bearer", Credentials: "c1"}}
}

// local returns a sender to this machine. That of Options.Push has to be chosen for this.
func local() push.Sender {
	return push.NewHTTPPushSender(&push.HTTPSenderConfig{AllowPrivateNetworks: true, FailOnError: true})
}

func TestPushNotifications(t *testing.T) {
	for _, transport := range transports {
		t.Run(string(transport), func(t *testing.T) {
			config := debatetest.ShortPanel(2)
			config.Participants[1].Human, config.Limits.MaxRounds = true, 1
			m := blocked()
			_, engine := newAgent(t, store.Memory(), m, presets(config))
			configs := push.NewInMemoryStore()
			agent := with(t, engine, debatea2a.Options{Tools: presets(config), Push: local(), PushConfigs: configs})
			require.True(t, agent.Card("").Capabilities.PushNotifications)
			c := connect(t, serve(t, agent), transport)
			r := receive(t, "t1")
			ask := question()
			ask.Config = &a2a.SendMessageConfig{ReturnImmediately: true, PushConfig: r.config()}
			task := send(t, c, ask)
			require.Equal(t, "task TASK_STATE_WORKING", <-r.got)
			close(m.gate)
			got := r.until(t, a2a.TaskStateInputRequired)
			require.Contains(t, got, "Ada")
			list, err := c.ListTaskPushConfigs(t.Context(), &a2a.ListTaskPushConfigRequest{TaskID: task.ID})
			require.NoError(t, err)
			require.Len(t, list, 1)

			late := receive(t, "t1")
			saved, err := c.CreateTaskPushConfig(t.Context(), &a2a.PushConfig{TaskID: task.ID, URL: late.URL, Token: "t1", Auth: late.config().Auth})
			require.NoError(t, err)
			require.NotEmpty(t, saved.ID)
			require.Equal(t, "task TASK_STATE_INPUT_REQUIRED", <-late.got, "a late client gets the task first")
			gone := receive(t, "t1")
			saved, err = c.CreateTaskPushConfig(t.Context(), &a2a.PushConfig{TaskID: task.ID, URL: gone.URL, Token: "t1", Auth: late.config().Auth})
			require.NoError(t, err)
			<-gone.got
			require.NoError(t, c.DeleteTaskPushConfig(t.Context(), &a2a.DeleteTaskPushConfigRequest{TaskID: task.ID, ID: saved.ID}))

			send(t, c, message(task.ID, a2a.NewTextPart("Shops need deliveries.")))
			for _, r := range []*receiver{r, late} {
				got := r.until(t, a2a.TaskStateCompleted)
				require.Equal(t, []string{"Bo", "Judge", "Judge", "answer", "TASK_STATE_COMPLETED"}, got[len(got)-5:])
				require.NotContains(t, got, "Ada", "each turn is notified once")
			}
			require.Empty(t, gone.got)
			require.Eventually(t, func() bool {
				list, err := configs.List(t.Context(), task.ID)
				return err == nil && len(list) == 0
			}, time.Minute, time.Millisecond, "secrets are forgotten when the task has ended")
		})
	}
}

// With configurations that outlive the process, another one continues the notifications.
func TestNotificationsAfterARestart(t *testing.T) {
	s, configs := store.Memory(), push.NewInMemoryStore()
	options := debatea2a.Options{Tools: presets(debatetest.ShortPanel(2)), Push: local(), PushConfigs: configs}
	m := blocked()
	_, engine := newAgent(t, s, m, presets(debatetest.ShortPanel(2)))
	c := connect(t, serve(t, with(t, engine, options)))
	r := receive(t, "t1")
	ask := question()
	ask.Config = &a2a.SendMessageConfig{ReturnImmediately: true, PushConfig: r.config()}
	send(t, c, ask)
	require.Equal(t, "task TASK_STATE_WORKING", <-r.got)
	closed, cancel := context.WithCancel(t.Context())
	cancel()
	_ = engine.Close(closed)

	m = blocked()
	_, engine = newAgent(t, s, m, presets(debatetest.ShortPanel(2)))
	require.NoError(t, engine.Recover(t.Context()))
	require.NoError(t, with(t, engine, options).Recover(t.Context()))
	r.until(t, "task TASK_STATE_WORKING")
	close(m.gate)
	require.Contains(t, r.until(t, a2a.TaskStateCompleted), "answer")
}

// The server decides whether it sends notifications, and where to.
func TestNotificationsThatAreRefused(t *testing.T) {
	s := store.Memory()
	m := blocked()
	agent, engine := newAgent(t, s, m, presets(debatetest.ShortPanel(2)))
	require.False(t, agent.Card("").Capabilities.PushNotifications)
	off := connect(t, serve(t, agent))
	r := question()
	r.Config = &a2a.SendMessageConfig{ReturnImmediately: true, PushConfig: &a2a.PushConfig{URL: "https://example.com"}}
	_, err := off.SendMessage(t.Context(), r)
	require.ErrorIs(t, err, a2a.ErrPushNotificationNotSupported)
	require.Equal(t, 0, debates(t, s), "a client that relies on notifications pays for nothing")

	allowed := only{push.NewInMemoryStore()}
	on := connect(t, serve(t, with(t, engine, debatea2a.Options{Tools: presets(debatetest.ShortPanel(2)), Push: local(), PushConfigs: allowed}), asUser{}))
	as := func(user string) context.Context {
		return a2aclient.AttachServiceParams(t.Context(), a2aclient.ServiceParams{"X-User": {user}})
	}
	for target, want := range map[string]string{
		"":                              "url: it is not valid",
		"/x":                            "url: it is not valid",
		"file:///etc/passwd":            "url: it is not valid",
		"https://me:secret@example.com": "url: it is not valid",
		"https://example.com/%zz":       "url: it is not valid",
		"https://other.example":         "example.com only",
		"https://example.com/" + strings.Repeat("x", 5_000): "too large",
	} {
		r.Config.PushConfig.URL = target
		_, err := on.SendMessage(as("ann"), r)
		require.ErrorIs(t, err, a2a.ErrInvalidParams, target)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "secret")
	}
	require.Equal(t, 0, debates(t, s))

	r.Config.PushConfig = nil
	result, err := on.SendMessage(as("ann"), r)
	require.NoError(t, err)
	id := result.(*a2a.Task).ID
	_, err = on.CreateTaskPushConfig(as("ben"), &a2a.PushConfig{TaskID: id, URL: "https://example.com"})
	require.ErrorIs(t, err, a2a.ErrTaskNotFound, "the task of another user")
	_, err = on.ListTaskPushConfigs(as("ben"), &a2a.ListTaskPushConfigRequest{TaskID: id})
	require.ErrorIs(t, err, a2a.ErrTaskNotFound)
	for range 10 {
		_, err = allowed.InMemoryPushConfigStore.Save(t.Context(), id, &a2a.PushConfig{URL: "https://example.com"})
		require.NoError(t, err)
	}
	_, err = on.CreateTaskPushConfig(as("ann"), &a2a.PushConfig{TaskID: id, URL: "https://example.com"})
	require.ErrorContains(t, err, "which is the most")
}

// only keeps URLs of one host.
type only struct{ *push.InMemoryPushConfigStore }

func (s only) Save(ctx context.Context, id a2a.TaskID, c *a2a.PushConfig) (*a2a.PushConfig, error) {
	if u, err := url.Parse(c.URL); err != nil || u.Host != "example.com" {
		return nil, a2a.NewError(a2a.ErrInvalidParams, "example.com only")
	}
	return s.InMemoryPushConfigStore.Save(ctx, id, c)
}

// The sender that the documentation names does not reach this machine.
func TestTheDefaultSenderReachesNoPrivateAddress(t *testing.T) {
	var reached atomic.Bool
	private := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	defer private.Close()
	sender := push.NewHTTPPushSender(&push.HTTPSenderConfig{FailOnError: true})
	for _, target := range []string{private.URL, strings.Replace(private.URL, "127.0.0.1", "localhost", 1), "http://169.254.169.254/latest", "http://[::1]:80", "http://10.0.0.1", "http://[::ffff:127.0.0.1]:80"} {
		err := sender.SendPush(t.Context(), &a2a.PushConfig{URL: target}, a2a.NewMessage(a2a.MessageRoleAgent))
		require.ErrorContains(t, err, "blocked address range", target)
	}
	require.False(t, reached.Load())
}

// A task that needs a human judge has what the judge must know, as text and as data.
func TestATaskBriefsAJudge(t *testing.T) {
	config := debatetest.ShortPanel(2)
	config.Judges[0].Human, config.Limits.MaxRounds = true, 1
	config.Background = "BACKGROUND-TEXT"
	config.Rubric = judge.Rubric{{Name: "policy_fit", Weight: 70, Description: "DESCRIPTION-TEXT", Zero: "ZERO-TEXT"}, {Name: "cost", Weight: 30}}
	agent, _ := newAgent(t, store.Memory(), &model{}, presets(config))
	task := send(t, connect(t, serve(t, agent)), question())
	require.Equal(t, a2a.TaskStateInputRequired, task.Status.State)
	data := debatetest.Encode(t, task.Status.Message.Parts[1])
	for _, marker := range []string{"BACKGROUND-TEXT", "DESCRIPTION-TEXT", "ZERO-TEXT"} {
		require.Contains(t, textOf(task.Status), marker)
		require.Contains(t, data, marker)
	}
}
