package debate

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/detect"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/transcript"
)

// newID returns an id that sorts by time.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

func (l *problemList) add(field, format string, args ...any) {
	l.problems = append(l.problems, protocol.Problemf(field, format, args...))
}

// policy adds a problem if a field does not have one of the known policies.
func (l *problemList) policy(field string, is FailurePolicy, known ...FailurePolicy) {
	if !slices.Contains(known, is) {
		l.add(field, "%q is unknown, use one of %q", is, known)
	}
}

// withDefaults returns a copy of the configuration with all defaults filled in, and every problem with it. A debate
// stores its defaults, so that later versions of the library do not change them.
func (c Config) withDefaults() (Config, []protocol.Problem) {
	c = c.clone()
	if c.Protocol == nil {
		c.Protocol = panel.Protocol{}
	}
	c.OnFailure = cmp.Or(c.OnFailure, Degrade)
	c.OnJudgeFailure = cmp.Or(c.OnJudgeFailure, Continue)
	c.OnRetrievalFailure = cmp.Or(c.OnRetrievalFailure, Degrade)
	c.OnOverflow = cmp.Or(c.OnOverflow, OverflowTruncate)
	own := protocolDefaults(c.Protocol)
	c.Limits = c.Limits.withDefaults(own)
	for i, p := range c.Participants {
		c.Participants[i] = p.withDefaults(own.Temperatures[min(i, len(own.Temperatures)-1)], c.Limits.StepTokens)
	}
	for i, p := range c.Judges {
		c.Judges[i] = p.withDefaults(*own.JudgeTemperature, c.Limits.JudgeTokens)
	}
	for i, p := range c.Substitutes {
		c.Substitutes[i] = p.withDefaults(*own.JudgeTemperature, c.Limits.JudgeTokens)
	}
	c.PersonaAssigner = c.systemActor(c.PersonaAssigner).withDefaults(0.9, c.Limits.JudgeTokens)
	c.Summarizer = c.systemActor(c.Summarizer).withDefaults(0.3, c.Limits.JudgeTokens)
	c.Retriever.Provider = cmp.Or(c.Retriever.Provider, templatesProvider)
	c.Embedder.Window = cmp.Or(c.Embedder.Window, 8_000)
	found := c.check()
	if c.Limits.OutputTokens == 0 && len(found) == 0 {
		c.Limits.OutputTokens = c.defaultOutputTokens(own.OutputTokens)
	}
	return c, found
}

// protocolDefaults returns a protocol's defaults, and the library's where the protocol has none.
func protocolDefaults(p protocol.Protocol) (d protocol.Defaults) {
	if own, ok := p.(protocol.Defaulter); ok {
		d = own.Defaults()
	}
	d.MinRounds = cmp.Or(d.MinRounds, 1)
	d.MaxRounds = cmp.Or(d.MaxRounds, 5)
	d.Time = cmp.Or(d.Time, time.Hour)
	d.StepTokens, d.JudgeTokens = cmp.Or(d.StepTokens, 4096), cmp.Or(d.JudgeTokens, 4096)
	if len(d.Temperatures) == 0 {
		d.Temperatures = []float64{0.7}
	}
	cool := 0.2
	d.JudgeTemperature = cmp.Or(d.JudgeTemperature, &cool)
	return d
}

// defaultOutputTokens returns the default of Limits.OutputTokens: the protocol's, if it suffices for all rounds,
// otherwise twice what all rounds can use.
func (c Config) defaultOutputTokens(own int) int {
	if worst := c.maxOutput(); own < worst {
		return 2 * worst
	}
	return own
}

func (p Participant) withDefaults(temperature float64, tokens int) Participant {
	p.Temperature = cmp.Or(p.Temperature, &temperature)
	p.MaxTokens = cmp.Or(p.MaxTokens, tokens)
	p.Window = cmp.Or(p.Window, window.DefaultSize)
	return p
}

// systemActor fills in the model of the persona assigner or the summarizer from the first judge or participant.
func (c Config) systemActor(p Participant) Participant {
	others := slices.Concat(c.Judges, c.active())
	if len(others) == 0 {
		return p
	}
	if p.Provider == "" {
		p.Provider = others[0].Provider
		p.Model = cmp.Or(p.Model, others[0].Model)
	}
	p.Window = cmp.Or(p.Window, others[0].Window)
	return p
}

func (l Limits) withDefaults(own protocol.Defaults) Limits {
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

type problemList struct{ problems []protocol.Problem }

// check returns every problem with a configuration whose defaults are filled in, as far as data alone can tell.
func (c Config) check() []protocol.Problem {
	l := &problemList{}
	if c.ID != "" && (len(c.ID) > 128 || strings.Trim(c.ID, idLetters) != "") {
		l.add("id", "%q is not valid, use up to 128 letters, digits, '.', '_' and '-'", c.ID)
	}
	if strings.TrimSpace(c.Topic) == "" {
		l.add("topic", "it is blank, set a question or claim to debate")
	}
	l.policy("on_failure", c.OnFailure, Degrade, Ask)
	l.policy("on_judge_failure", c.OnJudgeFailure, Continue, DropJudge, End, Ask)
	l.policy("on_retrieval_failure", c.OnRetrievalFailure, Degrade, Continue, Ask)
	l.policy("on_overflow", c.OnOverflow, OverflowTruncate, OverflowSummarize, End, Degrade)
	for kind, n := range c.Retries {
		if _, known := defaultRetries[kind]; !known || n < 0 {
			l.add("retries", "%s: %d is not valid, use 0 or more for each of %q", kind, n, slices.Sorted(maps.Keys(defaultRetries)))
		}
	}
	c.Limits.check(l)
	c.checkNames(l)
	for field, p := range c.allActors() {
		p.check(l, field)
		if _, known := c.Prices.Lookup(p.Model); !known && c.Limits.Cost > 0 && (p.Model != "" || field != "retriever" && field != "embedder") {
			l.add(field+".model", "%q has no price in prices, but limits.cost requires one", p.Model)
		}
	}
	if cost := c.Limits.Cost; !(cost >= 0) || math.IsInf(cost, 0) {
		l.add("limits.cost", "%v is not valid, use 0 or more", cost)
	}
	for model, p := range c.Prices {
		for _, x := range []float64{p.Input, p.Cached, p.Output} {
			if !(x >= 0) || math.IsInf(x, 0) {
				l.add("prices", "%s: %v is not valid, use 0 or more", model, x)
			}
		}
	}
	for _, p := range c.Rubric.Check() {
		l.add("rubric", "%s", p)
	}
	for _, p := range c.History.Check() {
		l.add("history", "%s", p)
	}
	c.checkDetect(l)
	l.problems = append(l.problems, c.Protocol.Check(c.protocolRecord())...)
	if len(l.problems) == 0 {
		c.checkBudget(l)
	}
	return l.problems
}

// checkDetect adds a problem for each rule that is invalid, or that needs something that the debate does not have.
func (c Config) checkDetect(l *problemList) {
	if len(c.Detect) == 0 {
		return
	}
	r := c.plannedRecord()
	r.Cursor.Round = 1
	judged := slices.ContainsFunc(r.phases(transcript.Assessment), func(p protocol.Phase) bool {
		return slices.ContainsFunc(p.Steps, func(s protocol.Step) bool { return s.Contract == judge.AssessmentContract.Name() })
	})
	for i, rule := range c.Detect {
		field := fmt.Sprintf("detect[%d]", i)
		switch problem := rule.Check(); {
		case problem != "":
			l.add(field, "%s", problem)
		case rule.EffectiveMethod() == "scores" && !judged:
			l.add(field, "%s needs the scores of judges, but no judge assesses the rounds of %s", rule.Signal, c.Protocol.Name())
		case rule.Effect == detect.Advise && !judged:
			l.add(field, "effect %q needs a judge, but no judge assesses the rounds of %s", rule.Effect, c.Protocol.Name())
		case rule.EffectiveMethod() == "vectors" && c.Embedder.Provider == "":
			l.add("embedder.provider", "it is empty, but detect[%d] needs vectors", i)
		}
		for _, name := range slices.Sorted(maps.Keys(rule.Names)) {
			if !slices.ContainsFunc(c.Participants, func(p Participant) bool { return p.Name == name }) {
				l.add(field+".names", "%q is not a participant", name)
			}
		}
	}
}

const idLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

// checkBudget adds a problem for each budget that is too small for the first phase and the conclusion. The debate
// would end before the first turn.
func (c Config) checkBudget(l *problemList) {
	r := c.plannedRecord()
	r.Cursor.Round = 1
	var first []protocol.Step
	if phases := r.phases(transcript.Speech); len(phases) > 0 {
		first = phases[0].Steps
	}
	need := conclusionReserve(r) + maxOutput(r, first)
	if c.Limits.OutputTokens > 0 && need > c.Limits.OutputTokens {
		l.add("limits.output_tokens", "%d is too small, the first phase and the conclusion can use %d", c.Limits.OutputTokens, need)
	}
	if e := spendingEnding(r, first); e.Outcome != "" {
		l.add(map[transcript.Outcome]string{transcript.TokenBudget: "limits.tokens", transcript.CostBudget: "limits.cost"}[e.Outcome], "too small for the first phase: %s", e.Evidence)
	}
}

// plannedRecord returns the record of a debate that has not begun.
func (c Config) plannedRecord() *record {
	r := newRecord(c.ID, noEnvironment)
	r.config, r.Record = &c, *c.protocolRecord()
	r.addParticipants()
	return r
}

// maxOutput returns the output tokens of a debate that uses all rounds, if each reply has its maximum length. It
// considers the phases that the protocol returns before any turn exists.
func (c Config) maxOutput() (tokens int) {
	r := c.plannedRecord()
	for _, p := range r.phases(transcript.Setup) {
		tokens += maxOutput(r, p.Steps)
	}
	round := 0
	for _, r.Cursor.Round = range []int{1, 2, c.Limits.MaxRounds} {
		cost := 0
		for _, p := range append(r.phases(transcript.Speech), r.phases(transcript.Assessment)...) {
			cost += maxOutput(r, p.Steps)
		}
		round = max(round, cost)
	}
	return tokens + c.Limits.MaxRounds*round + conclusionReserve(r)
}

func (c Config) checkNames(l *problemList) {
	seen := map[string]string{}
	for _, name := range systemActors {
		seen[name] = "a system actor"
	}
	for field, p := range c.allActors() {
		if !strings.HasPrefix(field, "participants") && !strings.HasPrefix(field, "judges") {
			continue
		}
		if reason := nameProblem(p.Name); reason != "" {
			l.add(field+".name", "%s", reason)
		}
		if other, dup := seen[strings.ToLower(p.Name)]; dup {
			l.add(field+".name", "%q is taken by %s", p.Name, other)
		}
		seen[strings.ToLower(p.Name)] = field
	}
	for i, j := range c.Judges {
		if j.Side != "" || j.Position != "" || j.Disabled {
			l.add(fmt.Sprintf("judges[%d]", i), "a judge must not have a side or a position and must not be disabled")
		}
	}
}

// nameProblem returns what is wrong with a name, or the empty string.
func nameProblem(name string) string {
	switch {
	case strings.TrimSpace(name) != name || name == "":
		return fmt.Sprintf("%q is not valid, use a name without leading or trailing blanks", name)
	case len(name) > 64:
		return fmt.Sprintf("%d bytes is too long, use at most 64", len(name))
	case strings.ContainsFunc(name, func(r rune) bool { return r == '/' || r == ':' || !unicode.IsPrint(r) }):
		return fmt.Sprintf("%q is not valid, remove '/', ':' and control characters", name)
	}
	return ""
}

func (p Participant) check(l *problemList, field string) {
	if t := p.Temperature; t != nil && !(*t >= 0 && *t <= 2) {
		l.add(field+".temperature", "%v is out of range, use 0 to 2", *t)
	}
	if p.MaxTokens < 0 {
		l.add(field+".max_tokens", "%d is not valid, use 1 or more", p.MaxTokens)
	}
	if p.Window < 0 || p.Window > 0 && p.Window <= p.MaxTokens {
		l.add(field+".window", "%d is too small for a reply of %d tokens and the prompt", p.Window, p.MaxTokens)
	}
}

func (l Limits) check(list *problemList) {
	for _, x := range []struct {
		field string
		value int64
	}{
		{"min_rounds", int64(l.MinRounds)},
		{"max_rounds", int64(l.MaxRounds)},
		{"running_time", int64(l.RunningTime)},
		{"output_tokens", int64(l.OutputTokens)},
		{"tokens", int64(l.Tokens)},
		{"step_tokens", int64(l.StepTokens)},
		{"judge_tokens", int64(l.JudgeTokens)},
		{"step_timeout", int64(l.StepTimeout)},
		{"step_attempts", int64(l.StepAttempts)},
		{"round_time", int64(l.RoundTime)},
		{"round_delay", int64(l.RoundDelay)},
	} {
		if x.value < 0 {
			list.add("limits."+x.field, "it is negative, use 0 for the default")
		}
	}
	if l.MaxRounds > maxRounds {
		list.add("limits.max_rounds", "%d, use at most %d", l.MaxRounds, maxRounds)
	}
	if l.MinRounds > l.MaxRounds {
		list.add("limits.min_rounds", "%d is more than max_rounds, %d", l.MinRounds, l.MaxRounds)
	}
}
