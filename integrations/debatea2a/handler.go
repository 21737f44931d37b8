package debatea2a

import (
	"cmp"
	"context"
	"iter"
	"log/slog"
	"net/http"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

const maxBody = 1 << 20 // bytes of a request

// Handler returns a handler for a card, for JSON-RPC and for REST, at the paths that Card names. Interceptors can
// authenticate users.
func (a *Agent) Handler(card *a2a.AgentCard, interceptors ...a2asrv.CallInterceptor) http.Handler {
	h, alive := a.RequestHandler(interceptors...), a2asrv.WithTransportKeepAlive(20*time.Second)
	mux := http.NewServeMux()
	mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(card))
	mux.Handle(rpcPath, a2asrv.NewJSONRPCHandler(h, alive))
	mux.Handle("/", a2asrv.NewRESTHandler(h, alive))
	return http.MaxBytesHandler(mux, maxBody)
}

// RequestHandler returns a handler for other transports, such as gRPC. It keeps nothing in the process: all servers with
// the same store have the same tasks. It supports neither push notifications nor lists of tasks.
func (a *Agent) RequestHandler(interceptors ...a2asrv.CallInterceptor) a2asrv.RequestHandler {
	return &a2asrv.InterceptedHandler{Handler: handler{a2asrv.NewHandler(a), a}, Interceptors: interceptors, Logger: slog.Default()}
}

type handler struct {
	a2asrv.RequestHandler // refuses what is not supported
	agent                 *Agent
}

func (h handler) GetTask(ctx context.Context, r *a2a.GetTaskRequest) (*a2a.Task, error) {
	return h.agent.task(ctx, r.ID)
}

func (h handler) ListTasks(context.Context, *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	return nil, a2a.ErrUnsupportedOperation
}

func (h handler) CancelTask(ctx context.Context, r *a2a.CancelTaskRequest) (*a2a.Task, error) {
	for _, err := range h.agent.Cancel(ctx, &a2asrv.ExecutorContext{TaskID: r.ID}) {
		if err != nil {
			return nil, err
		}
	}
	return h.agent.task(ctx, r.ID)
}

func (h handler) SendMessage(ctx context.Context, r *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
	var id a2a.TaskID
	var last *a2a.TaskStatusUpdateEvent
	for event, err := range h.SendStreamingMessage(ctx, r) {
		if err != nil {
			return nil, err
		}
		id = event.TaskInfo().TaskID
		if last, _ = event.(*a2a.TaskStatusUpdateEvent); r.Config != nil && r.Config.ReturnImmediately {
			break
		}
	}
	t, err := h.agent.task(ctx, id)
	if err == nil && last != nil { // says why a reply was refused
		t.Status = last.Status
	}
	return t, err
}

func (h handler) SendStreamingMessage(ctx context.Context, r *a2a.SendMessageRequest) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		if ec, err := h.begin(ctx, r.Message); err != nil {
			yield(nil, err)
		} else {
			h.agent.Execute(ctx, ec)(yield)
		}
	}
}

// begin checks a message, and reads the task that it is for.
func (h handler) begin(ctx context.Context, m *a2a.Message) (ec *a2asrv.ExecutorContext, err error) {
	if m == nil || m.ID == "" || m.Role == "" || len(m.Parts) == 0 || len(m.ContextID) > 200 {
		return nil, refuse("message: send messageId, role and parts, and a contextId of at most 200 bytes")
	}
	ec = &a2asrv.ExecutorContext{Message: m, TaskID: cmp.Or(m.TaskID, a2a.NewTaskID()), ContextID: cmp.Or(m.ContextID, a2a.NewContextID())}
	if m.TaskID == "" {
		return ec, nil
	}
	if ec.StoredTask, err = h.agent.task(ctx, m.TaskID); err != nil {
		return nil, err
	}
	ec.ContextID = ec.StoredTask.ContextID
	if m.ContextID != "" && m.ContextID != ec.ContextID || ec.StoredTask.Status.State.Terminal() {
		return nil, refuse("taskId: the task has ended or belongs to another context; send a message without a task to start a debate")
	}
	return ec, nil
}

// SubscribeToTask yields the task, and what happens after that if its debate runs.
func (h handler) SubscribeToTask(ctx context.Context, r *a2a.SubscribeToTaskRequest) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		t, err := h.agent.task(ctx, r.ID)
		if err != nil {
			yield(nil, err)
		} else if yield(t, nil) && t.Status.State == a2a.TaskStateWorking {
			follow(t.TaskInfo(), nil, h.agent.rest(ctx, t), yield)
		}
	}
}
