package debate

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
)

// filled is the configuration with its defaults in place, so that a stored debate does not change with them, and what is
// wrong with it.
func (c Config) filled() (Config, []protocol.Problem) {
	if c.Protocol == nil {
		c.Protocol = panel.Protocol{}
	}
	c.OnFailure = cmp.Or(c.OnFailure, Degrade)
	c.OnJudgeFailure = cmp.Or(c.OnJudgeFailure, GoOn)
	c.OnRetrievalFailure = cmp.Or(c.OnRetrievalFailure, Degrade)
	c.OnOverflow = cmp.Or(c.OnOverflow, Truncate)
	own := defaults(c.Protocol)
	c.Limits = c.Limits.filled(own)
	c.Labels = maps.Clone(c.Labels)
	c.Participants = slices.Clone(c.Participants)
	for i, p := range c.Participants {
		c.Participants[i] = p.filled(own.Temperatures[min(i, len(own.Temperatures)-1)], c.Limits.StepTokens)
	}
	c.Judges = slices.Clone(c.Judges)
	for i, p := range c.Judges {
		c.Judges[i] = p.filled(*own.JudgeTemperature, c.Limits.JudgeTokens)
	}
	c.Substitutes = slices.Clone(c.Substitutes)
	for i, p := range c.Substitutes {
		c.Substitutes[i] = p.filled(*own.JudgeTemperature, c.Limits.JudgeTokens)
	}
	c.Casting = c.helper(c.Casting).filled(0.9, c.Limits.JudgeTokens)
	c.Summarizer = c.helper(c.Summarizer).filled(0.3, c.Limits.JudgeTokens)
	c.Retriever.Provider = cmp.Or(c.Retriever.Provider, templates)
	c.Embedder.Window = cmp.Or(c.Embedder.Window, 8_000)
	found := c.check()
	if c.Limits.OutputTokens == 0 && len(found) == 0 {
		c.Limits.OutputTokens = c.budget(own.OutputTokens)
	}
	return c, found
}

// defaults are those of a protocol, and the library's where it has none.
func defaults(p protocol.Protocol) (d protocol.Defaults) {
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

// budget is the default of Limits.OutputTokens: the protocol's own, as long as that has room for all rounds.
func (c Config) budget(own int) int {
	if worst := c.worst(); own < worst {
		return 2 * worst
	}
	return own
}

func (p Participant) filled(temperature float64, tokens int) Participant {
	p.Temperature = cmp.Or(p.Temperature, &temperature)
	p.MaxTokens = cmp.Or(p.MaxTokens, tokens)
	p.Window = cmp.Or(p.Window, window.Default)
	return p
}

// helper gives casting or the summarizer the model of the first judge or participant.
func (c Config) helper(p Participant) Participant {
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

func (l Limits) filled(own protocol.Defaults) Limits {
	most := cmp.Or(l.MaxRounds, own.MaxRounds)
	l.MinRounds = cmp.Or(l.MinRounds, min(own.MinRounds, max(most, 1)))
	l.MaxRounds = cmp.Or(l.MaxRounds, max(own.MaxRounds, l.MinRounds))
	l.Time = cmp.Or(l.Time, own.Time)
	l.StepTokens = cmp.Or(l.StepTokens, own.StepTokens)
	l.JudgeTokens = cmp.Or(l.JudgeTokens, own.JudgeTokens)
	l.StepTimeout = cmp.Or(l.StepTimeout, 5*time.Minute)
	l.StepCalls = cmp.Or(l.StepCalls, 10)
	return l
}
