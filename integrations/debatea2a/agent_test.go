package debatea2a_test

import (
	"bufio"
	"context"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/integrations/debatea2a"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

// spoken lists the names of the artifacts of a debate of two rounds.
var spoken = []string{"Ada", "Bo", "Judge", "Ada", "Bo", "Judge", "Judge", "answer"}

func TestADebateStreamsItsTurns(t *testing.T) {
	for _, transport := range transports {
		t.Run(string(transport), func(t *testing.T) {
			agent, _ := newAgent(t, store.Memory(), &model{}, presets(debatetest.ShortPanel(2)))
			c := connect(t, serve(t, agent), transport)
			r := question()
			r.Message.ContextID = "our context"
			var id a2a.TaskID
			var artifacts []*a2a.Artifact
			var states []a2a.TaskState
			for event, err := range c.SendStreamingMessage(t.Context(), r) {
				require.NoError(t, err)
				id = event.TaskInfo().TaskID
				require.Equal(t, "our context", event.TaskInfo().ContextID)
				switch e := event.(type) {
				case *a2a.Task:
					states = append(states, e.Status.State)
				case *a2a.TaskStatusUpdateEvent:
					states = append(states, e.Status.State)
				case *a2a.TaskArtifactUpdateEvent:
					require.True(t, e.LastChunk)
					artifacts = append(artifacts, e.Artifact)
				}
			}
			require.Equal(t, []a2a.TaskState{a2a.TaskStateWorking, a2a.TaskStateCompleted}, states)
			require.Equal(t, spoken, names(artifacts))
			require.Equal(t, "Round 1 of at most 2: Ada has spoken.", artifacts[0].Description)
			require.Equal(t, "I say yes.", artifacts[0].Parts[0].Text(), "people read it, so it has no delimiters")
			require.Equal(t, "speech", artifacts[0].Metadata["kind"])
			answer := artifacts[len(artifacts)-1]
			require.Equal(t, a2a.ArtifactID("answer"), answer.ID)
			require.Contains(t, answer.Parts[0].Text(), "completed")
			require.Equal(t, string(id), answer.Parts[1].Data().(map[string]any)["id"])

			task := debatetest.Call(t, c.GetTask, &a2a.GetTaskRequest{ID: id})
			require.Equal(t, a2a.TaskStateCompleted, task.Status.State)
			require.Equal(t, "our context", task.ContextID)
			require.Equal(t, "Ban cars?", task.History[0].Parts[0].Text())
			require.Equal(t, spoken, names(task.Artifacts))
			for i, a := range task.Artifacts {
				require.Equal(t, artifacts[i].ID, a.ID)
				require.Equal(t, artifacts[i].Parts, a.Parts)
			}
			again := send(t, c, question())
			require.NotEqual(t, id, again.ID)
			require.Equal(t, spoken, names(again.Artifacts))
		})
	}
}

// The task is that of a debate: another server with the same store has it too.
func TestAnotherServerContinuesATask(t *testing.T) {
	for _, transport := range transports {
		t.Run(string(transport), func(t *testing.T) {
			t.Parallel()
			s := store.Memory()
			agent, engine := newAgent(t, s, blocked(), presets(debatetest.ShortPanel(2)))
			c := connect(t, serve(t, agent), transport)
			task := start(t, c)
			follows, stopped := make(chan struct{}), make(chan *a2a.Task, 1)
			go func() {
				var last *a2a.Task
				for event, err := range c.SubscribeToTask(context.Background(), &a2a.SubscribeToTaskRequest{ID: task.ID}) {
					if _, begins := event.(*a2a.Task); begins {
						close(follows)
					}
					if e, ok := event.(*a2a.TaskStatusUpdateEvent); ok && err == nil {
						last = &a2a.Task{ID: e.TaskID, Status: e.Status}
					}
				}
				stopped <- last
			}()
			<-follows
			closed, cancel := context.WithCancel(t.Context())
			cancel()
			_ = engine.Close(closed)
			last := <-stopped
			require.NotNil(t, last)
			require.Equal(t, a2a.TaskStateInputRequired, last.Status.State, "the task is not over")
			require.Contains(t, textOf(last.Status), "Send a message to this task to continue.")

			m := blocked() // until the message has arrived, because a task that has ended accepts none
			other, _ := newAgent(t, s, m, presets(debatetest.ShortPanel(2)))
			c = connect(t, serve(t, other), transport)
			arrived := sync.OnceFunc(func() { close(m.gate) })
			for _, err := range c.SendStreamingMessage(t.Context(), message(task.ID, a2a.NewTextPart("Go on."))) {
				require.NoError(t, err)
				arrived()
			}
			done := debatetest.Call(t, c.GetTask, &a2a.GetTaskRequest{ID: task.ID})
			require.Equal(t, a2a.TaskStateCompleted, done.Status.State)
			require.Equal(t, spoken, names(done.Artifacts))
		})
	}
}

// A server is killed while a task runs. The next one continues the task.
func TestAKilledServerContinuesItsTask(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "debates.db")
	run := func(variables ...string) (cmd *exec.Cmd, url string) {
		cmd = exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(append(os.Environ(), serverFile+"="+file), variables...)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		t.Cleanup(func() { // before the folder of the file is removed
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		line, err := bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		return cmd, strings.TrimSpace(line)
	}
	first, url := run(serverHangs + "=1")
	c := connect(t, url)
	var before []*a2a.Artifact
	var id a2a.TaskID
	for event, err := range c.SendStreamingMessage(t.Context(), question()) {
		if err != nil {
			break // the server is gone
		}
		id = event.TaskInfo().TaskID
		if e, ok := event.(*a2a.TaskArtifactUpdateEvent); ok {
			before = append(before, e.Artifact)
		}
		if len(before) == 2 {
			require.NoError(t, first.Process.Kill())
			_ = first.Wait()
		}
	}
	require.GreaterOrEqual(t, len(before), 2)
	require.Less(t, len(before), len(spoken))

	_, url = run()
	c = connect(t, url, a2a.TransportProtocolHTTPJSON)
	var after []*a2a.Artifact
	for event, err := range c.SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: id}) {
		require.NoError(t, err)
		switch e := event.(type) {
		case *a2a.Task:
			after = e.Artifacts
		case *a2a.TaskArtifactUpdateEvent:
			after = append(after, e.Artifact)
		}
	}
	require.Equal(t, spoken, names(after), "no turn is lost or there twice")
	for i, a := range before {
		require.Equal(t, a.ID, after[i].ID)
		require.Equal(t, a.Parts, after[i].Parts)
	}
}

func TestPeopleReplyToTheTask(t *testing.T) {
	for _, transport := range transports {
		t.Run(string(transport), func(t *testing.T) {
			config := debatetest.ShortPanel(2)
			config.Participants[1].Human = true
			config.Limits.MaxRounds = 1
			agent, _ := newAgent(t, store.Memory(), &model{}, presets(config))
			c := connect(t, serve(t, agent), transport)
			task := send(t, c, question())
			require.Equal(t, a2a.TaskStateInputRequired, task.Status.State)
			require.Contains(t, textOf(task.Status), "asks Bo:")
			require.Contains(t, textOf(task.Status), "send each reply to this task")
			require.NotContains(t, textOf(task.Status), "debate_answer")
			require.Equal(t, []string{"Ada"}, names(task.Artifacts))
			waiting := task.Status.Message.Parts[1].Data().(map[string]any)["waiting"].([]any)
			step := waiting[0].(map[string]any)["step"]

			refused := send(t, c, message(task.ID, a2a.NewDataPart(map[string]any{"step": step, "text": "No.", "who": "Bo"})))
			require.Equal(t, a2a.TaskStateInputRequired, refused.Status.State)
			require.Contains(t, textOf(refused.Status), "- who: ")
			require.Contains(t, textOf(refused.Status), "asks Bo:")
			refused = send(t, c, message(task.ID, a2a.NewDataPart(map[string]any{"text": "No."}), a2a.NewTextPart("Yes.")))
			require.Contains(t, textOf(refused.Status), "not both")

			task = send(t, c, message(task.ID, a2a.NewTextPart("Shops need deliveries.")))
			require.Equal(t, a2a.TaskStateCompleted, task.Status.State)
			require.Equal(t, []string{"Ada", "Bo", "Judge", "Judge", "answer"}, names(task.Artifacts))
			require.Contains(t, task.Artifacts[1].Parts[0].Text(), "Shops need deliveries.")
		})
	}
}

func TestPeopleDecideWithAMessage(t *testing.T) {
	config := debatetest.ShortPanel(2)
	config.AskBeforeVerdict = true
	agent, _ := newAgent(t, store.Memory(), &model{}, presets(config))
	c := connect(t, serve(t, agent))
	task := send(t, c, question())
	require.Equal(t, a2a.TaskStateInputRequired, task.Status.State)
	require.Contains(t, textOf(task.Status), "\n- approve: ")
	refused := send(t, c, message(task.ID, a2a.NewDataPart(map[string]any{"action": "maybe"})))
	require.Contains(t, textOf(refused.Status), `"maybe" is not a choice`)
	var seen []string
	for event, err := range c.SendStreamingMessage(t.Context(), message(task.ID, a2a.NewTextPart("Approve"))) {
		require.NoError(t, err)
		if e, ok := event.(*a2a.TaskArtifactUpdateEvent); ok {
			seen = append(seen, e.Artifact.Name)
		}
	}
	require.Equal(t, []string{"Judge", "answer"}, seen, "turns are not sent again")
}

func TestCancel(t *testing.T) {
	for _, transport := range transports {
		t.Run(string(transport), func(t *testing.T) {
			agent, engine := newAgent(t, store.Memory(), blocked(), presets(debatetest.ShortPanel(2)))
			c := connect(t, serve(t, agent), transport)
			task := start(t, c)
			states := make(chan a2a.TaskState, 10)
			go func() {
				defer close(states)
				for event, err := range c.SubscribeToTask(context.Background(), &a2a.SubscribeToTaskRequest{ID: task.ID}) {
					if err != nil {
						return
					}
					switch e := event.(type) {
					case *a2a.Task:
						states <- e.Status.State
					case *a2a.TaskStatusUpdateEvent:
						states <- e.Status.State
					}
				}
			}()
			require.Equal(t, a2a.TaskStateWorking, <-states)
			canceled, err := c.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: task.ID})
			require.NoError(t, err)
			require.Equal(t, a2a.TaskStateCanceled, canceled.Status.State)
			require.Empty(t, canceled.Artifacts)
			var last a2a.TaskState
			for state := range states {
				last = state
			}
			require.Equal(t, a2a.TaskStateCanceled, last)
			d := debatetest.Open(t, engine, string(task.ID))
			status := debatetest.Status(t, d)
			require.Equal(t, "canceled", string(status.State))

			canceled, err = c.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: task.ID})
			require.NoError(t, err, "a client may repeat it")
			require.Equal(t, a2a.TaskStateCanceled, canceled.Status.State)
			_, err = c.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: "unknown"})
			require.ErrorIs(t, err, a2a.ErrTaskNotFound)
			_, err = c.SendMessage(t.Context(), message(task.ID, a2a.NewTextPart("Go on.")))
			require.ErrorContains(t, err, "the task has ended")
		})
	}
}

func TestMessagesThatAreRefused(t *testing.T) {
	agent, _ := newAgent(t, store.Memory(), &model{}, presets(debatetest.ShortPanel(2)))
	url := serve(t, agent)
	done := send(t, connect(t, url), question())
	_, err := connect(t, url).CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: done.ID})
	require.ErrorIs(t, err, a2a.ErrTaskNotCancelable)
	foreign := message(done.ID, a2a.NewTextPart("x"))
	foreign.Message.ContextID = "other"
	long := question()
	long.Message.ContextID = strings.Repeat("x", 201)
	data := func(v any) *a2a.SendMessageRequest { return message("", a2a.NewDataPart(v)) }
	for name, c := range map[string]struct {
		r    *a2a.SendMessageRequest
		err  error
		want string
	}{
		"blank":           {message("", a2a.NewTextPart(" ")), a2a.ErrInvalidParams, "topic: it is empty"},
		"unknown field":   {data(map[string]any{"topic": "Ban cars?", "rounds": 3}), a2a.ErrInvalidParams, "- rounds: "},
		"wrong type":      {data(map[string]any{"topic": 7}), a2a.ErrInvalidParams, "- topic: "},
		"too much":        {data(map[string]any{"topic": "Ban cars?", "budget": map[string]any{"rounds": 9}}), a2a.ErrInvalidParams, "- budget.rounds: 9 is out of bounds"},
		"id":              {data(map[string]any{"id": string(done.ID)}), a2a.ErrInvalidParams, "send the message to its task"},
		"after":           {data(map[string]any{"topic": "Ban cars?", "after": 1}), a2a.ErrInvalidParams, "leave out id and after"},
		"two topics":      {message("", a2a.NewTextPart("Ban cars?"), a2a.NewDataPart(map[string]any{"topic": "Why?"})), a2a.ErrInvalidParams, "not both"},
		"list":            {data([]any{"x"}), a2a.ErrInvalidParams, "at most one object"},
		"file":            {message("", a2a.NewRawPart([]byte("x"))), a2a.ErrInvalidParams, "parts: send text"},
		"two objects":     {message("", a2a.NewDataPart(map[string]any{"topic": "a"}), a2a.NewDataPart(map[string]any{"topic": "b"})), a2a.ErrInvalidParams, "at most one object"},
		"no parts":        {message(""), a2a.ErrInvalidParams, "send messageId, role and parts"},
		"unknown task":    {message("unknown", a2a.NewTextPart("x")), a2a.ErrTaskNotFound, "task not found"},
		"other context":   {foreign, a2a.ErrInvalidParams, "another context"},
		"long context id": {long, a2a.ErrInvalidParams, "at most 200 bytes"},
	} {
		for _, transport := range transports {
			t.Run(name+" over "+string(transport), func(t *testing.T) {
				_, err := connect(t, url, transport).SendMessage(t.Context(), c.r)
				require.ErrorIs(t, err, c.err)
				require.ErrorContains(t, err, c.want)
				for _, err = range connect(t, url, transport).SendStreamingMessage(t.Context(), c.r) {
					require.ErrorContains(t, err, c.want)
				}
				require.Error(t, err)
			})
		}
	}
	_, err = connect(t, url).SendMessage(t.Context(), message("", a2a.NewTextPart(strings.Repeat("x", 2<<20))))
	require.Error(t, err, "a body has at most 1 MB")
	for _, err := range connect(t, url).SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: "unknown"}) {
		require.ErrorIs(t, err, a2a.ErrTaskNotFound)
	}
}

func TestUsersHaveTheirOwnTasks(t *testing.T) {
	agent, _ := newAgent(t, store.Memory(), &model{}, presets(debatetest.ShortPanel(2)))
	url := serve(t, agent, asUser{})
	c := connect(t, url)
	as := func(user string) context.Context {
		return a2aclient.AttachServiceParams(t.Context(), a2aclient.ServiceParams{"X-User": {user}})
	}
	_, err := c.SendMessage(t.Context(), question())
	require.ErrorIs(t, err, a2a.ErrUnauthenticated)
	result, err := c.SendMessage(as("ann"), question())
	require.NoError(t, err)
	id := result.(*a2a.Task).ID
	_, err = c.GetTask(as("ann"), &a2a.GetTaskRequest{ID: id})
	require.NoError(t, err)
	for _, user := range []string{"ben", "anonymous", "user ann"} {
		_, err = c.GetTask(as(user), &a2a.GetTaskRequest{ID: id})
		require.ErrorIs(t, err, a2a.ErrTaskNotFound)
		_, err = c.CancelTask(as(user), &a2a.CancelTaskRequest{ID: id})
		require.ErrorIs(t, err, a2a.ErrTaskNotFound)
		_, err = c.SendMessage(as(user), message(id, a2a.NewTextPart("x")))
		require.ErrorIs(t, err, a2a.ErrTaskNotFound)
		for _, err := range c.SubscribeToTask(as(user), &a2a.SubscribeToTaskRequest{ID: id}) {
			require.ErrorIs(t, err, a2a.ErrTaskNotFound)
		}
	}
}

// An orchestrator asks its user for what a task needs. It must not ask for the key of this server.
func TestAFailedDebateIsTriedAgain(t *testing.T) {
	for kind, want := range map[providers.ErrorKind]a2a.TaskState{
		providers.Authentication: a2a.TaskStateFailed, providers.Billing: a2a.TaskStateFailed, providers.InvalidRequest: a2a.TaskStateFailed,
		providers.ServerError: a2a.TaskStateInputRequired, providers.Timeout: a2a.TaskStateInputRequired,
	} {
		t.Run(string(kind), func(t *testing.T) {
			fails := atomic.Bool{}
			fails.Store(true)
			m := &model{say: func(r providers.Request) (string, error) {
				if fails.Load() {
					return "", &providers.Error{Kind: kind, Err: errService}
				}
				return "", nil
			}}
			config := debatetest.ShortPanel(2)
			config.Limits.StepAttempts = 1
			agent, _ := newAgent(t, store.Memory(), m, presets(config))
			c := connect(t, serve(t, agent))
			task := send(t, c, question())
			require.Equal(t, want, task.Status.State)
			require.Contains(t, textOf(task.Status), "failed")
			if want == a2a.TaskStateFailed {
				require.Contains(t, textOf(task.Status), "Whoever runs this server has to correct the cause.")
			} else {
				require.Contains(t, textOf(task.Status), "Send a message to try again.")
			}
			stored := debatetest.Call(t, c.GetTask, &a2a.GetTaskRequest{ID: task.ID})
			require.Equal(t, want, stored.Status.State)
			fails.Store(false)
			task = send(t, c, message(task.ID, a2a.NewTextPart("Try again.")))
			require.Equal(t, a2a.TaskStateCompleted, task.Status.State, "nothing that was said is lost")
		})
	}
}

func TestTextsAreBounded(t *testing.T) {
	m := &model{say: func(r providers.Request) (string, error) {
		if r.Schema == nil {
			return strings.Repeat("long ", 1_000), nil
		}
		return "", nil
	}}
	o := presets(debatetest.ShortPanel(2))
	o.MaxText = 100
	agent, _ := newAgent(t, store.Memory(), m, o)
	task := send(t, connect(t, serve(t, agent)), question())
	for _, a := range task.Artifacts[:4] {
		require.Less(t, len(a.Parts[0].Text()), 400)
		require.Contains(t, a.Parts[0].Text(), "characters left out]")
	}
}

func TestCard(t *testing.T) {
	o := presets(debatetest.ShortPanel(2))
	o.Presets["quick"] = debatetool.Preset{Description: "One round.", Config: debatetest.ShortPanel(2)}
	agent, engine := newAgent(t, store.Memory(), &model{}, o)
	card := agent.Card("http://example.com/debates/")
	require.Equal(t, "http://example.com/debates/rpc", card.SupportedInterfaces[0].URL)
	require.Equal(t, "http://example.com/debates", card.SupportedInterfaces[1].URL)
	require.True(t, card.Capabilities.Streaming)
	require.Len(t, card.Skills, 2)
	require.Equal(t, `One round. Send the data {"preset": "quick", "topic": ...}.`, card.Skills[1].Description)
	plain, err := debatea2a.New(engine, debatea2a.Options{})
	require.NoError(t, err)
	require.Len(t, plain.Card("").Skills, 1)
	_, err = debatea2a.New(nil, debatea2a.Options{})
	require.ErrorContains(t, err, "the engine is nil")
}

// The agent is an executor for the server of the SDK, too.
func TestAnExecutorForTheServerOfTheSDK(t *testing.T) {
	for name, model := range map[string]providers.Provider{"answer": &model{}, "cancel": blocked()} {
		t.Run(name, func(t *testing.T) {
			agent, _ := newAgent(t, store.Memory(), model, presets(debatetest.ShortPanel(2)))
			h := a2asrv.NewHandler(agent)
			ctx, _ := a2asrv.NewCallContext(t.Context(), nil)
			r := question()
			r.Config = &a2a.SendMessageConfig{ReturnImmediately: name == "cancel"}
			result, err := h.SendMessage(ctx, r)
			require.NoError(t, err)
			task := result.(*a2a.Task)
			if name == "answer" {
				require.Equal(t, a2a.TaskStateCompleted, task.Status.State)
				require.Equal(t, spoken, names(task.Artifacts))
				return
			}
			task, err = h.CancelTask(ctx, &a2a.CancelTaskRequest{ID: task.ID})
			require.NoError(t, err)
			require.Equal(t, a2a.TaskStateCanceled, task.Status.State)
		})
	}
}

// Each event of a task is told once. The server of the SDK refuses a second status of a task that has ended.
func TestACanceledTaskIsToldOnce(t *testing.T) {
	agent, _ := newAgent(t, store.Memory(), blocked(), presets(debatetest.ShortPanel(2)))
	states := func(events iter.Seq2[a2a.Event, error], seen func(a2a.TaskState)) {
		for event, err := range events {
			if err != nil {
				t.Error(err)
			}
			switch e := event.(type) {
			case *a2a.Task:
				seen(e.Status.State)
			case *a2a.TaskStatusUpdateEvent:
				seen(e.Status.State)
			}
		}
	}
	canceled := func(id a2a.TaskID) (list []a2a.TaskState) {
		states(agent.Cancel(t.Context(), &a2asrv.ExecutorContext{TaskID: id}), func(s a2a.TaskState) { list = append(list, s) })
		return list
	}
	executed := make(chan a2a.TaskState, 10)
	go func() {
		defer close(executed)
		states(agent.Execute(context.Background(), &a2asrv.ExecutorContext{TaskID: "x", Message: question().Message}), func(s a2a.TaskState) { executed <- s })
	}()
	require.Equal(t, a2a.TaskStateWorking, <-executed)
	require.Empty(t, canceled("x"))
	require.Equal(t, a2a.TaskStateCanceled, <-executed)
	_, more := <-executed
	require.False(t, more)
	require.Equal(t, []a2a.TaskState{a2a.TaskStateCanceled}, canceled("x"), "nobody follows the task now")
}
