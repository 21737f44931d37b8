package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/agreement"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/transcript"
)

// concluded is a debate that its judges have concluded.
type concluded struct {
	id     string
	before int64 // seq of the last entry before the conclusion
	config debate.Config
	pair   [2]string // the names of the participants; empty if options are decided
	item   agreement.Item
}

// readConcluded reads a debate that its judges have concluded.
func readConcluded(ctx context.Context, e *debate.Engine, id string) (c concluded, err error) {
	d, err := e.Open(ctx, id)
	if err != nil {
		return c, err
	}
	r, err := d.Result(ctx)
	if err != nil {
		return c, err
	}
	c.id = id
	for _, t := range r.Turns {
		if t.Kind == transcript.Conclusion && (c.before == 0 || t.Seq <= c.before) {
			c.before = t.Seq - 1
		}
	}
	if r.State != fsm.Completed || c.before == 0 {
		return c, errors.New("its judges have not concluded it")
	}
	for m, err := range d.Replay(ctx) {
		if err != nil {
			return c, err
		}
		if changed, ok := m.Event.(debate.ConfigChanged); ok && changed.Seq <= c.before {
			c.config, err = e.ParseConfig(changed.Config)
			if err != nil {
				return c, err
			}
		}
	}
	if err := c.setPair(); err != nil {
		return c, err
	}
	c.item = c.itemOf(r.Turns)
	c.item.Group = r.Topic
	return c, nil
}

// setPair sets between whom or what the judges decide.
func (c *concluded) setPair() error {
	var task decision.Task
	var selection agreement.Selection
	named := true
	switch p := c.config.Protocol.(type) {
	case panel.Protocol:
		task = p.Decision
		selection = p.Selection
		named = !p.ByScores && p.Format != panel.Oxford
	case procon.Protocol:
		task, selection = p.Decision, p.Selection
	default:
		named = false
	}
	var seats []string
	for _, p := range c.config.Participants {
		if !p.Disabled {
			seats = append(seats, p.Name)
		}
	}
	switch {
	case !selection.IsZero():
		return errors.New("its jury has a calibration, which belongs to its judges: label debates without one")
	case !named:
		return errors.New("its judges name no winner: label debates of the protocols panel and procon")
	case task.Contract != "" || len(task.Options) > 0 && len(task.Options) != 2:
		return errors.New("its judges do not decide between two options")
	case len(task.Options) == 0 && len(seats) != 2:
		return fmt.Errorf("it has %d participants, want 2", len(seats))
	case len(task.Options) == 0:
		c.pair = [2]string(seats)
	}
	return nil
}

// itemOf returns what judges decide in the turns of the debate, or of a fork.
func (c *concluded) itemOf(turns []transcript.Turn) agreement.Item {
	contracts := []string{judge.VerdictContract.Name(), procon.JudgmentContract.Name()}
	if c.pair[0] == "" {
		contracts = []string{decision.Contract.Name()}
	}
	last := slices.DeleteFunc(slices.Clone(turns), func(t transcript.Turn) bool {
		return t.Kind != transcript.Conclusion || !slices.Contains(contracts, t.Contract)
	})
	return agreement.ItemOf(c.id, c.pair[0], c.pair[1], last...)
}

// forPerson returns the configuration in which a person concludes the debate. Nobody else has a turn there, so that the fork needs
// no models: people are in all seats.
func (c *concluded) forPerson(name string) debate.Config {
	f := c.config
	f.Participants = slices.Clone(f.Participants)
	for i, p := range f.Participants {
		f.Participants[i] = debate.Participant{Name: p.Name, Role: p.Role, Side: p.Side, Position: p.Position, Persona: p.Persona, Disabled: p.Disabled, Human: true}
	}
	f.Judges, f.Substitutes = []debate.Participant{{Name: name, Human: true, Blind: true}}, nil
	f.PersonaAssigner = debate.Participant{}
	f.Summarizer = debate.Participant{}
	f.Retriever = debate.Participant{}
	f.Embedder = debate.Participant{}
	f.Detect = nil
	f.Prices = nil
	f.OnJudgeFailure = debate.Continue
	f.AskBeforeRounds = false
	f.AskBeforeVerdict = false
	f.AskAboveCost = 0
	f.Limits.Cost, f.Limits.Tokens = 0, 0
	f.Labels = nil
	f.Documents = nil
	f.Attachments = nil // as labels of an evaluation, of which it is no run
	for _, d := range c.config.Documents {
		if slices.Contains(d.Readers, evidence.Everybody) {
			f.Documents = append(f.Documents, d)
		}
	}
	for _, a := range c.config.Attachments {
		if len(a.Readers) == 0 {
			f.Attachments = append(f.Attachments, a)
		}
	}
	return f
}
