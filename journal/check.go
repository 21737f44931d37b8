package journal

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/actor"
	"github.com/elenchus-go/debate/internal/attachment"
	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/internal/turns"
	"github.com/elenchus-go/debate/internal/userinput"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/providers/tool"
)

// DefaultRetries returns the number of retries of a step for each kind of error, where Config.Retries has no other one.
func DefaultRetries() map[providers.ErrorKind]int {
	return map[providers.ErrorKind]int{
		providers.Network:         3,
		providers.RateLimit:       5,
		providers.ServerError:     2,
		providers.Timeout:         2,
		providers.InvalidResponse: 1,
		providers.Loop:            1,
		providers.Refused:         1,
		providers.ContentFiltered: 1,
		providers.WrongAddress:    1,
		providers.ContextOverflow: 0,
		providers.Authentication:  0,
		providers.Billing:         0,
		providers.InvalidRequest:  0,
		providers.OutOfMemory:     0,
	}
}

// problemList collects the problems of a check.
type problemList struct{ list []protocol.Problem }

func (l *problemList) add(field, format string, args ...any) {
	l.list = append(l.list, protocol.Problemf(field, format, args...))
}

// CheckValues returns a problem for each value that no configuration has, whether it is new or stored. Defaults are filled in.
func (c *Config) CheckValues() []protocol.Problem {
	l := &problemList{}
	l.list = append(l.list, userinput.CheckID(c.ID)...)
	if len(c.Seed) > 128 {
		l.add("seed", "it has %d bytes, use at most 128", len(c.Seed))
	}
	l.policy("on_failure", c.OnFailure, Degrade, Ask)
	l.policy("on_judge_failure", c.OnJudgeFailure, Continue, DropJudge, End, Ask)
	l.policy("on_retrieval_failure", c.OnRetrievalFailure, Degrade, Continue, Ask)
	l.policy("on_refusal", c.OnRefusal, Continue, Degrade)
	l.policy("on_overflow", c.OnOverflow, OverflowTruncate, OverflowSummarize, End, Degrade)
	known := DefaultRetries()
	for _, kind := range slices.Sorted(maps.Keys(c.Retries)) {
		n := c.Retries[kind]
		_, ok := known[kind]
		if !ok || n < 0 {
			l.add("retries", "%s: %d is not valid, use 0 or more for each of %q", kind, n, slices.Sorted(maps.Keys(known)))
		}
	}
	for i, j := range c.Judges {
		if j.Side != "" || j.Position != "" || j.Disabled {
			l.add(actor.Field("judges", i), "a judge must not have a side or a position and must not be disabled")
		}
	}
	for field, p := range c.Actors() {
		p.MaxTokens = c.ReplyLimit(field, &p)
		l.list = append(l.list, p.Check(field)...)
	}
	l.list = append(l.list, checkPrices(c.Prices)...)
	if len(c.Attachments)+len(c.Documents) > 0 {
		c.checkFiles(l)
	}
	if c.Reference != "" && len(c.Judges) == 0 {
		l.add("reference", "there are no judges, who alone read it: leave it out")
	}
	if x := c.AskAboveCost; !(x >= 0) || math.IsInf(x, 0) {
		l.add("ask_above_cost", "%v is not valid, use 0 or more", x)
	}
	for _, p := range c.Rubric.Check() {
		l.add("rubric", "%s", p)
	}
	for _, p := range c.History.Check() {
		l.add("history", "%s", p)
	}
	return l.list
}

func (c *Config) checkFiles(l *problemList) {
	var files []attachment.Named
	for _, a := range c.Attachments {
		file := attachment.File{
			MediaType: a.MediaType,
			Data:      a.Data,
			URL:       a.URL,
			Pages:     a.Pages,
		}
		files = append(files, attachment.Named{
			File:    file,
			Name:    a.Name,
			Readers: a.Readers,
		})
	}
	for _, p := range attachment.CheckAll(files, c.HasSeat) {
		l.add("attachments"+p.Field, "%s", p.Reason)
	}
	for _, p := range evidence.CheckAll(c.Documents, c.HasSeat) {
		l.add("documents"+p.Field, "%s", p.Reason)
	}
}

// policy adds a problem if a field does not have one of the known policies. It may be empty in an early journal.
func (l *problemList) policy(field string, is FailurePolicy, known ...FailurePolicy) {
	if is != "" && !slices.Contains(known, is) {
		l.add(field, "%q is unknown, use one of %q", is, known)
	}
}

// ReplyLimit returns the token limit of the replies of the actor in a field. That of a substitute is the lowest for any judge.
func (c *Config) ReplyLimit(field string, p *Participant) int {
	limit := p.MaxTokens
	if !strings.HasPrefix(field, "substitutes") {
		return limit
	}
	for i := range c.Judges {
		limit = min(limit, p.LimitFor(&c.Judges[i]))
	}
	return limit
}

// LimitFor returns the token limit of a substitute's replies in place of a judge: the lower one of the two limits. The substitute
// has room for its reasoning in addition to the judge's limit.
func (p *Participant) LimitFor(judge *Participant) int {
	return min(p.MaxTokens, judge.MaxTokens+reasoning.Tokens(p.Reasoning))
}

// HasSeat reports whether a participant or a judge has a name.
func (c *Config) HasSeat(name string) bool {
	is := func(p Participant) bool { return p.Name == name }
	return slices.ContainsFunc(c.Participants, is) || slices.ContainsFunc(c.Judges, is)
}

// The greatest limits. With these, no sum or product of limits overflows.
const (
	maxRounds   = 10_000
	maxAttempts = 1_000_000
	maxTokens   = math.MaxInt / 4 // of a debate
	maxTime     = 365 * 24 * time.Hour
)

// The default limits of tool calls, and the greatest ones.
const (
	defaultToolRounds  = 4
	defaultToolCalls   = 16
	defaultToolBytes   = 8 << 10
	defaultToolTimeout = 30 * time.Second

	maxToolRounds = 16
	maxToolCalls  = 128
	maxToolBytes  = 32 << 10
	minToolBytes  = 256
)

// Valid returns the limits with 0, the default, in place of each invalid value, and a problem for that value. Otherwise
// checks of other fields would report it again.
func (l Limits) Valid() (valid Limits, found []protocol.Problem) {
	add := func(field, format string, args ...any) {
		found = append(found, protocol.Problemf("limits."+field, format, args...))
	}
	for _, x := range []struct {
		field string
		value *int
		most  int
	}{
		{"min_rounds", &l.MinRounds, maxRounds},
		{"max_rounds", &l.MaxRounds, maxRounds},
		{"output_tokens", &l.OutputTokens, maxTokens},
		{"tokens", &l.Tokens, maxTokens},
		{"step_tokens", &l.StepTokens, turns.MaxTokens},
		{"judge_tokens", &l.JudgeTokens, turns.MaxTokens},
		{"step_attempts", &l.StepAttempts, maxAttempts},
		{"tool_rounds", &l.ToolRounds, maxToolRounds},
		{"tool_calls", &l.ToolCalls, maxToolCalls},
		{"tool_bytes", &l.ToolBytes, maxToolBytes},
	} {
		if *x.value < 0 || *x.value > x.most {
			add(x.field, "%d is not valid, use at most %d, or 0 for the default", *x.value, x.most)
			*x.value = 0
		}
	}
	for _, x := range []struct {
		field string
		value *time.Duration
	}{
		{"running_time", &l.RunningTime},
		{"step_timeout", &l.StepTimeout},
		{"outage_time", &l.OutageTime},
		{"round_time", &l.RoundTime},
		{"round_delay", &l.RoundDelay},
		{"tool_timeout", &l.ToolTimeout},
	} {
		if *x.value < 0 || *x.value > maxTime {
			add(x.field, "%v is not valid, use at most %v, or 0 for the default", *x.value, maxTime)
			*x.value = 0
		}
	}
	if n := l.ToolBytes; n > 0 && n < minToolBytes {
		add("tool_bytes", "%d is too small, use at least %d, or 0 for the default", n, minToolBytes)
		l.ToolBytes = 0
	}
	if !(l.Cost >= 0) || math.IsInf(l.Cost, 0) {
		add("cost", "%v is not valid, use 0 or more", l.Cost)
		l.Cost = 0
	}
	if l.MinRounds > l.MaxRounds && l.MaxRounds > 0 {
		add("min_rounds", "%d is more than max_rounds, %d", l.MinRounds, l.MaxRounds)
		l.MinRounds = 0
	}
	return l, found
}

// WithDefaults returns the limits with the defaults of a protocol in place of those that are zero.
func (l Limits) WithDefaults(own protocol.Defaults) Limits {
	most := cmp.Or(l.MaxRounds, own.MaxRounds)
	l.MinRounds = cmp.Or(l.MinRounds, min(own.MinRounds, max(most, 1)))
	l.MaxRounds = cmp.Or(l.MaxRounds, max(own.MaxRounds, l.MinRounds))
	l.RunningTime = cmp.Or(l.RunningTime, own.Time)
	l.StepTokens = cmp.Or(l.StepTokens, own.StepTokens)
	l.JudgeTokens = cmp.Or(l.JudgeTokens, own.JudgeTokens)
	l.StepTimeout = cmp.Or(l.StepTimeout, 5*time.Minute)
	l.StepAttempts = cmp.Or(l.StepAttempts, 10)
	return l
}

// WithToolDefaults returns the limits with the defaults of tool calls in place of those that are zero.
func (l Limits) WithToolDefaults() Limits {
	l.ToolRounds = cmp.Or(l.ToolRounds, defaultToolRounds)
	l.ToolCalls = cmp.Or(l.ToolCalls, defaultToolCalls)
	l.ToolBytes = cmp.Or(l.ToolBytes, defaultToolBytes)
	l.ToolTimeout = cmp.Or(l.ToolTimeout, defaultToolTimeout)
	return l
}

// checkPrices returns a problem for each price that is not valid.
func checkPrices(prices price.Prices) (list []protocol.Problem) {
	for _, model := range slices.Sorted(maps.Keys(prices)) {
		p := prices[model]
		for _, x := range []float64{p.Input, p.Cached, p.Written, p.Output} {
			if !(x >= 0) || math.IsInf(x, 0) {
				list = append(list, protocol.Problemf("prices", "%s: %v is not valid, use 0 or more", model, x))
			}
		}
	}
	return list
}

// maxStops limits the texts that end a reply.
const maxStops = 16

// WithDefaults returns the participant with defaults in place of what is not set. tokens limits a reply. open reports whether the
// windows of a provider's models are known only when the debate starts.
func (p Participant) WithDefaults(temperature float64, tokens int, open func(provider string) bool) Participant {
	if p.Human {
		p.Provider = cmp.Or(p.Provider, actor.Human)
		p.MaxTokens = cmp.Or(p.MaxTokens, tokens)
		return p
	}
	room := reasoning.Tokens(p.Reasoning)
	if room == 0 && p.TopP == 0 { // otherwise most services refuse a temperature
		p.Temperature = cmp.Or(p.Temperature, &temperature)
	}
	p.MaxTokens = cmp.Or(p.MaxTokens, tokens+room)
	if !open(p.Provider) {
		p.Window = cmp.Or(p.Window, window.DefaultSize)
	}
	return p
}

// participantProblems collects what is wrong with the actor in a field.
type participantProblems struct {
	field string
	list  []protocol.Problem
}

func (l *participantProblems) add(setting, format string, args ...any) {
	l.list = append(l.list, protocol.Problemf(l.field+"."+setting, format, args...))
}

// isSeat reports whether the actor is a participant or a judge.
func (l *participantProblems) isSeat() bool {
	return strings.HasPrefix(l.field, "participants") || l.isJudge()
}

func (l *participantProblems) isJudge() bool { return strings.HasPrefix(l.field, "judges") }

// Check returns a problem for each value that the actor in a field of the configuration, such as "judges[0]", cannot have. Its
// name is checked by Config.CheckNames.
func (p *Participant) Check(field string) []protocol.Problem {
	l := &participantProblems{field: field}
	p.checkHuman(l)
	p.checkTools(l)
	if t := p.Temperature; t != nil && !(*t >= 0 && *t <= 2) {
		l.add("temperature", "%v is out of range, use 0 to 2", *t)
	}
	if !(p.TopP >= 0 && p.TopP <= 1) {
		l.add("top_p", "%v is out of range, use more than 0, at most 1", p.TopP)
	}
	if len(p.Stop) > maxStops || slices.Contains(p.Stop, "") {
		l.add("stop", "%q is not valid, use up to %d texts that are not empty", p.Stop, maxStops)
	}
	if problem := reasoning.Check(p.Reasoning); problem != "" {
		l.add("reasoning", "%s", problem)
	} else if n := reasoning.Budget(p.Reasoning); n > 0 && p.MaxTokens > 0 && n >= p.MaxTokens {
		l.add("reasoning", "%d tokens leave no room for the reply, max_tokens is %d", n, p.MaxTokens)
	}
	switch {
	case p.MaxTokens < 0 || p.MaxTokens > turns.MaxTokens:
		l.add("max_tokens", "%d is not valid, use 1 to %d", p.MaxTokens, turns.MaxTokens)
	case p.Window < 0 || p.Window > turns.MaxTokens:
		l.add("window", "%d is not valid, use 1 to %d", p.Window, turns.MaxTokens)
	case p.Window > 0 && p.Window <= min(p.MaxTokens, actor.MinReply):
		l.add("window", "%d is too small for a prompt and a reply", p.Window)
	}
	return l.list
}

// checkHuman adds a problem for each setting that does not fit a person, or that only a person can have.
func (p *Participant) checkHuman(l *participantProblems) {
	if p.Blind && (!p.Human || !l.isJudge()) {
		l.add("blind", "only a human judge can choose it")
	}
	if !p.Human {
		return
	}
	if !l.isSeat() {
		l.add("human", "only a participant or a judge can be a person")
	}
	if p.Provider != actor.Human {
		l.add("provider", "a person has no provider, but it is %q", p.Provider)
	}
	for _, x := range []struct {
		setting string
		set     bool
	}{
		{"model", p.Model != ""},
		{"temperature", p.Temperature != nil},
		{"window", p.Window != 0},
		{"top_p", p.TopP != 0},
		{"seed", p.Seed != nil},
		{"stop", p.Stop != nil},
		{"reasoning", p.Reasoning != ""},
	} {
		if x.set {
			l.add(x.setting, "a person has no %s", x.setting)
		}
	}
}

// checkTools adds a problem for each name of a tool that the actor cannot have.
func (p *Participant) checkTools(l *participantProblems) {
	switch {
	case len(p.Tools) == 0:
		return
	case p.Human:
		l.add("tools", "a person has no tools")
	case strings.HasPrefix(l.field, "substitutes"):
		l.add("tools", "a substitute has the tools of the judge, remove them")
	case !l.isSeat():
		l.add("tools", "only a participant or a judge can have tools")
	}
	for i, name := range p.Tools {
		if err := tool.CheckName(name); err != nil {
			l.add("tools", "%v", err)
		} else if slices.Contains(p.Tools[:i], name) {
			l.add("tools", "%q is there twice", name)
		}
	}
}

// CheckNames returns a problem for each name that a participant or a judge cannot have.
func (c *Config) CheckNames() (list []protocol.Problem) {
	seen := map[string]string{}
	for _, name := range actor.System {
		seen[name] = "a system actor"
	}
	for field, s := range c.Actors() {
		if !strings.HasPrefix(field, "participants") && !strings.HasPrefix(field, "judges") {
			continue
		}
		if reason := actor.CheckName(s.Name); reason != "" {
			list = append(list, protocol.Problemf(field+".name", "%s", reason))
		}
		if other, dup := seen[strings.ToLower(s.Name)]; dup {
			list = append(list, protocol.Problemf(field+".name", "%q is taken by %s", s.Name, other))
		}
		seen[strings.ToLower(s.Name)] = field
	}
	return list
}

// modelOf returns how a problem names a model.
func modelOf(name string) string {
	if name == "" {
		return "the default model of the provider"
	}
	return strconv.Quote(name)
}

// CheckPriced returns a problem for each model without a price, once for the actors that have the model of a participant.
func (c *Config) CheckPriced() (list []protocol.Problem) {
	unpriced := map[string]bool{}
	for field, s := range c.Actors() {
		own := strings.Contains(field, "[") // the others have the model of a participant, unless they are configured
		_, known := c.Prices.Lookup(s.Model)
		reported := !own && unpriced[s.Model]
		free := s.Human || s.Model == "" && (field == "retriever" || field == "embedder")
		if !known && !reported && !free {
			list = append(
				list,
				protocol.Problemf(
					field+".model",
					"%s has no price in prices, and limits.cost or ask_above_cost needs one",
					modelOf(s.Model),
				),
			)
			unpriced[s.Model] = true
		}
	}
	return list
}
