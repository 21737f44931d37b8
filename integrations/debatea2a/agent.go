package debatea2a

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/store"
)

// The paths of JSON-RPC.
const (
	rpcPath    = "/rpc"
	oldRPCPath = "/rpc/v0.3" // for clients of protocol 0.3
)

// Options configures an Agent.
type Options struct {
	// Tools configures the debates. MaxWait has no effect. Texts of tasks are for people, so they have no delimiters unless
	// QuoteAlways is set; see [debatetool.Toolset.ForPeople].
	Tools debatetool.Options
	// StopOnCancel cancels the debate of a task if the client disconnects before the call that has started the task returns,
	// so that the debate costs nothing more. By default the debate continues, and a client that repeats its message or
	// subscribes to the task finds it. A task with a push notification continues in any case.
	StopOnCancel bool
	// Push sends notifications to the URLs that clients name. Without it, no notifications are sent. The sender of the SDK,
	// push.NewHTTPPushSender(nil), refuses addresses that are private, link-local or of this machine.
	Push push.Sender
	// PushConfigs keeps where notifications are sent, with the clients' secrets for it. Its Save can refuse a URL. Defaults to
	// the memory of the process, where the URLs of a task are kept until it ends.
	PushConfigs push.ConfigStore
}

// Agent holds debates for other agents. It is an [a2asrv.AgentExecutor], and safe for concurrent use.
type Agent struct {
	engine  *debate.Engine
	options Options

	mu        sync.Mutex
	executing map[a2a.TaskID]int  // number of loops over Execute that have not ended
	notified  map[a2a.TaskID]bool // tasks whose notifications this agent sends
}

// New returns an agent for the debates of an engine.
func New(e *debate.Engine, o Options) (*Agent, error) {
	o.Tools.MaxWait = 0
	if _, err := debatetool.New(e, o.Tools); err != nil {
		return nil, err
	}
	if o.PushConfigs == nil {
		o.PushConfigs = push.NewInMemoryStore()
	}
	return &Agent{engine: e, options: o, executing: map[a2a.TaskID]int{}, notified: map[a2a.TaskID]bool{}}, nil
}

// Card returns the card of an agent whose Handler clients reach at a URL, with a skill for each preset. Change it as you
// like. Without its interfaces of protocol 0.3, clients of that protocol do not find the agent.
func (a *Agent) Card(url string) *a2a.AgentCard {
	url = strings.TrimSuffix(url, "/")
	modes := []string{"text/plain", "application/json"}
	card := &a2a.AgentCard{
		Name: "Debate", Version: "1.0.0", DefaultInputModes: modes, DefaultOutputModes: modes,
		Capabilities: a2a.AgentCapabilities{Streaming: true, PushNotifications: a.options.Push != nil},
		Description:  "Has models debate a question that has several possible answers, and returns their answer. Send the topic as text. It takes minutes.",
		SupportedInterfaces: []*a2a.AgentInterface{
			a2a.NewAgentInterface(url+rpcPath, a2a.TransportProtocolJSONRPC), a2a.NewAgentInterface(url, a2a.TransportProtocolHTTPJSON),
			{URL: url + oldRPCPath, ProtocolBinding: a2a.TransportProtocolJSONRPC, ProtocolVersion: a2av0.Version},
			{URL: url, ProtocolBinding: a2a.TransportProtocolHTTPJSON, ProtocolVersion: a2av0.Version},
		},
	}
	skill := a2a.AgentSkill{ID: "debate", Name: "debate", Description: "A debate before a decision that is hard to reverse.", Tags: []string{"debate"}, Examples: []string{"Should we write the new service in Go?"}}
	presets := a.options.Tools.Presets
	for _, name := range slices.Sorted(maps.Keys(presets)) {
		skill.ID, skill.Name = name, name
		skill.Description = fmt.Sprintf(`%s Send the data {"preset": %q, "topic": ...}.`, presets[name].Description, name)
		card.Skills = append(card.Skills, skill)
	}
	if len(card.Skills) == 0 {
		card.Skills = append(card.Skills, skill)
	}
	return card
}

// user returns the name of the user who calls, or "" if nobody has authenticated the user.
func user(ctx context.Context) string {
	if call, ok := a2asrv.CallContextFrom(ctx); ok && call.User != nil {
		return call.User.Name
	}
	return ""
}

// labels returns the labels of all debates of the user who calls.
func (a *Agent) labels(ctx context.Context) map[string]string {
	l := map[string]string{userLabel: "anonymous"}
	if name := user(ctx); name != "" {
		l[userLabel] = "user " + name
	}
	maps.Copy(l, a.options.Tools.Labels)
	return l
}

// tools returns the tools for the debates that have the given labels.
func (a *Agent) tools(labels map[string]string) *debatetool.Toolset {
	o := a.options.Tools
	o.Labels = labels
	set, _ := debatetool.New(a.engine, o) // New has checked the options
	return set.ForPeople()
}

// list returns the statuses that a query selects, without those that cannot be read.
func (a *Agent) list(ctx context.Context, q store.Query) (list []store.Status, err error) {
	for status, err := range a.engine.List(ctx, q) {
		if err != nil && status.ID == "" {
			return nil, fmt.Errorf("list debates: %w", err)
		}
		if err == nil {
			list = append(list, status)
		}
	}
	return list, nil
}
