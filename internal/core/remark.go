package core

import (
	"slices"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/actor"
	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/step/prompting"
	"github.com/elenchus-go/debate/internal/userinput"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/protocol"
)

// Refuse returns the error for a method that the debate's state does not allow. No event of the lifecycle has its name.
func (c *Change) Refuse(method fsm.Event) error {
	_, err := fsm.Next(c.State.Lifecycle, method, c.State.Facts())
	return err
}

// NewRemark returns the turn of a remark, or nil if the debate has it.
func (c *Change) NewRemark(r journal.Remark) (*journal.TurnDone, error) {
	if err := ProblemsOf("remark", checkRemark(c.State, &r)); err != nil {
		return nil, err
	}
	if c.State.Lifecycle.State.Final() {
		return nil, c.Refuse("inject")
	}
	t := c.State.Remark(r.ID, r.From, r.Text)
	t.Started = c.Now
	t.Ended = c.Now
	if _, dup := c.State.Find(t.Key); dup {
		return nil, nil
	}
	return &journal.TurnDone{
		EventMeta: c.StampFor(journal.ActRemark, "turn"),
		At:        c.Now,
		Turn:      t,
	}, nil
}

// checkRemark returns everything that is wrong with a remark.
func checkRemark(rec *State, r *journal.Remark) []protocol.Problem {
	l := &ProblemList{}
	if characters.IsBlank(r.Text) {
		l.Add("text", "it is blank")
	}
	tokens := rec.Engine.Count("", r.Text)
	for _, p := range slices.Concat(rec.Config.Participants, rec.Config.Judges) {
		most := windowOf(&p) - p.MaxTokens
		if tokens > most && !p.Human && !p.Disabled { // people have no window
			l.Add(
				"text",
				"about %d tokens are too long, at most %d fit into the window of %s beside a reply",
				tokens,
				most,
				p.Name,
			)
			break
		}
	}
	seats := slices.Concat(prompting.NamesOf(rec.Profiles), namesOf(rec.Config.Judges))
	invalid := actor.CheckName(r.From)
	switch {
	case invalid != "":
		l.Add("from", "%s", invalid)
	case actor.KnownName(r.From, seats):
		l.Add("from", "%q is the name of an actor in this debate, use another name", r.From)
	}
	return append(l.Problems, userinput.CheckRemark(rec.Turns, r.ID, r.From, r.Text)...)
}
