package debatea2a

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/log"
)

const maxBody = 1 << 20 // bytes of a request

// Handler returns a handler for a card, for JSON-RPC and for REST, at the paths that Card names. It serves protocols 1.0 and
// 0.3. Interceptors can authenticate users.
func (a *Agent) Handler(card *a2a.AgentCard, interceptors ...a2asrv.CallInterceptor) http.Handler {
	h, alive := a.RequestHandler(interceptors...), a2asrv.WithTransportKeepAlive(20*time.Second)
	mux := http.NewServeMux()
	mux.Handle(a2asrv.WellKnownAgentCardPath, cardHandler(card))
	mux.Handle(rpcPath, a2asrv.NewJSONRPCHandler(h, alive))
	mux.Handle("/", a2asrv.NewRESTHandler(h, alive))
	mux.Handle(oldRPCPath, a2av0.NewJSONRPCHandler(h, alive))
	mux.Handle(a2av0.RESTPathPrefix+"/", a2av0.NewRESTHandler(h, alive))
	return http.MaxBytesHandler(mux, maxBody)
}

// cardHandler returns a handler for a card. Clients of protocol 0.3 can read it if it has an interface for them.
func cardHandler(card *a2a.AgentCard) http.Handler {
	if slices.ContainsFunc(card.SupportedInterfaces, func(i *a2a.AgentInterface) bool { return i.ProtocolVersion == a2av0.Version }) {
		return a2asrv.NewAgentCardHandler(a2av0.NewStaticAgentCardProducer(card))
	}
	return a2asrv.NewStaticAgentCardHandler(card)
}

// RequestHandler returns a handler for other transports, such as gRPC. All servers with the same store have the same tasks,
// because the handler keeps none in the process.
func (a *Agent) RequestHandler(interceptors ...a2asrv.CallInterceptor) a2asrv.RequestHandler {
	options := []a2asrv.RequestHandlerOption{a2asrv.WithTaskStore(tasks{a})}
	if a.options.Push != nil {
		options = append(options, a2asrv.WithPushNotifications(a.options.PushConfigs, a.options.Push))
	}
	return &a2asrv.InterceptedHandler{Handler: handler{a2asrv.NewHandler(a, options...), a}, Interceptors: interceptors, Logger: slog.Default()}
}

// handler does what changes tasks. The handler of the SDK does the rest.
type handler struct {
	a2asrv.RequestHandler
	agent *Agent
}

func (h handler) CancelTask(ctx context.Context, r *a2a.CancelTaskRequest) (*a2a.Task, error) {
	for _, err := range h.agent.Cancel(ctx, &a2asrv.ExecutorContext{TaskID: r.ID}) {
		if err != nil {
			return nil, err
		}
	}
	return h.agent.task(ctx, h.agent.labels(ctx), r.ID)
}

func (h handler) SendMessage(ctx context.Context, r *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
	var id a2a.TaskID
	var last *a2a.TaskStatusUpdateEvent
	for event, err := range h.SendStreamingMessage(ctx, r) {
		if err != nil {
			return nil, err
		}
		id = event.TaskInfo().TaskID
		last, _ = event.(*a2a.TaskStatusUpdateEvent)
		if r.Config != nil && r.Config.ReturnImmediately {
			break
		}
	}
	t, err := h.agent.task(ctx, h.agent.labels(ctx), id)
	if err != nil {
		return nil, err
	}
	if last != nil { // says why a reply was refused
		t.Status = last.Status
	}
	return withHistory(t, historyLength(r)), nil
}

func (h handler) SendStreamingMessage(ctx context.Context, r *a2a.SendMessageRequest) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		ec, repeated, err := h.begin(ctx, r.Message)
		var config *a2a.PushConfig
		if err == nil {
			config, err = h.savePush(ctx, ec, r.Config)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		events := h.agent.Execute(ctx, ec)
		if repeated {
			events = h.subscribe(ctx, ec.StoredTask)
		}
		exists := ec.StoredTask != nil
		for event, err := range events {
			if err == nil && config != nil && !exists {
				h.agent.notify(ctx, ec.TaskID, config)
			}
			exists = exists || err == nil
			if t, ok := event.(*a2a.Task); ok {
				event = withHistory(t, historyLength(r))
			}
			if !yield(event, err) {
				break
			}
		}
		h.left(ctx, ec, config, exists)
	}
}

// left ends what a call leaves behind that has not started a task, or whose client has disconnected.
func (h handler) left(ctx context.Context, ec *a2asrv.ExecutorContext, config *a2a.PushConfig, exists bool) {
	gone, ctx := ctx.Err() != nil, context.WithoutCancel(ctx)
	if config != nil && !exists {
		_ = h.agent.options.PushConfigs.Delete(ctx, ec.TaskID, config.ID) // nothing is sent without a task
	}
	if gone && exists && ec.StoredTask == nil && config == nil && h.agent.options.StopOnCancel {
		for _, err := range h.agent.Cancel(ctx, ec) {
			if err != nil {
				log.Warn(ctx, "cancel debate whose client has left", "debate", string(ec.TaskID), "error", err)
			}
		}
	}
}

// begin checks a message, and reads the task that it is for. If the message has started a task already, it reports that, and
// reads this task.
func (h handler) begin(ctx context.Context, m *a2a.Message) (ec *a2asrv.ExecutorContext, repeated bool, err error) {
	if m == nil || m.ID == "" || m.Role == "" || len(m.Parts) == 0 || len(m.ContextID) > 200 || len(m.ID) > 200 {
		return nil, false, refuse("message: send messageId, role and parts; messageId and contextId have at most 200 bytes")
	}
	labels := h.agent.labels(ctx)
	ec = &a2asrv.ExecutorContext{Message: m, TaskID: m.TaskID}
	if m.TaskID == "" {
		ec.TaskID, err = taskID(m, labels[userLabel])
		if err != nil {
			return nil, false, err
		}
		ec.ContextID = cmp.Or(m.ContextID, string(ec.TaskID)) // the same for a message that is repeated at once
		ec.StoredTask, err = h.agent.task(ctx, labels, ec.TaskID)
		if err == nil {
			return ec, true, nil
		}
		ec.StoredTask = nil
		if a2a.ErrorReason(err) != a2a.ErrorReason(a2a.ErrTaskNotFound) {
			return nil, false, err
		}
		return ec, false, nil
	}
	ec.StoredTask, err = h.agent.task(ctx, labels, m.TaskID)
	if err != nil {
		return nil, false, err
	}
	ec.ContextID = ec.StoredTask.ContextID
	state := ec.StoredTask.Status.State
	if m.ContextID != "" && m.ContextID != ec.ContextID || state.Terminal() && state != a2a.TaskStateFailed {
		return nil, false, refuse("taskId: the task has ended or belongs to another context; send a message without a task to start a debate")
	}
	return ec, false, nil
}

// SubscribeToTask yields the task, and what happens after that if its debate runs.
func (h handler) SubscribeToTask(ctx context.Context, r *a2a.SubscribeToTaskRequest) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		t, err := h.agent.task(ctx, h.agent.labels(ctx), r.ID)
		if err != nil {
			yield(nil, err)
			return
		}
		h.subscribe(ctx, t)(yield)
	}
}

func (h handler) subscribe(ctx context.Context, t *a2a.Task) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		if yield(t, nil) && t.Status.State == a2a.TaskStateWorking {
			rest := h.agent.tools(h.agent.labels(ctx)).Follow(ctx, string(t.ID), position(t))
			_ = h.agent.follow(ctx, t.TaskInfo(), nil, rest, yield)
		}
	}
}

// historyLength returns how many messages of the history a client wants, or nil if it wants all.
func historyLength(r *a2a.SendMessageRequest) *int {
	if r.Config == nil {
		return nil
	}
	return r.Config.HistoryLength
}

// taskID returns the id of the task that a message starts. A message that is repeated starts the same task, also on another
// server. An id is unique only among the messages of one client, so what it asks counts, too.
func taskID(m *a2a.Message, user string) (a2a.TaskID, error) {
	input, err := inputOf(m, "topic", nil)
	if err != nil {
		return "", err
	}
	raw, err := json.Marshal([]string{user, m.ContextID, m.ID, string(input)})
	return a2a.TaskID(hash(raw)), err
}

// CreateTaskPushConfig has notifications of a task sent to a URL, the first one at once.
func (h handler) CreateTaskPushConfig(ctx context.Context, c *a2a.PushConfig) (*a2a.PushConfig, error) {
	if h.agent.options.Push == nil {
		return nil, a2a.ErrPushNotificationNotSupported
	}
	if _, err := h.agent.task(ctx, h.agent.labels(ctx), c.TaskID); err != nil {
		return nil, err
	}
	saved, err := h.agent.saveConfig(ctx, c.TaskID, c)
	if err == nil {
		h.agent.notify(ctx, c.TaskID, saved)
	}
	return saved, err
}

// savePush saves where a message wants notifications of its task sent. It returns nil if the message wants none.
func (h handler) savePush(ctx context.Context, ec *a2asrv.ExecutorContext, c *a2a.SendMessageConfig) (*a2a.PushConfig, error) {
	switch {
	case c == nil || c.PushConfig == nil:
		return nil, nil
	case h.agent.options.Push == nil:
		return nil, a2a.ErrPushNotificationNotSupported
	}
	saved, err := h.agent.saveConfig(ctx, ec.TaskID, c.PushConfig)
	if err == nil && ec.StoredTask != nil {
		h.agent.notify(ctx, ec.TaskID, saved)
	}
	return saved, err
}
