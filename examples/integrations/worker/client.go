package main

import (
	"context"
	"fmt"
	"io"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debateriver"
	"github.com/elenchus-go/debate/protocol/panel"
)

const usage = `usage: worker work | submit "Should cities ban private cars?" | watch, pause, resume, stop or cancel <id> | eval <file>`

// client runs the commands that submit, watch and control debates. It calls no models.
type client struct {
	ctx            context.Context
	store          *debateriver.Store
	stdout, stderr io.Writer
}

func (c client) runCommand(what, argument string) error {
	if what == "eval" {
		return evaluate(c.ctx, c.store, argument, c.stdout, c.stderr)
	}
	engine, err := debate.NewEngine(debate.Options{Store: c.store})
	if err != nil {
		return err
	}
	if what == "submit" {
		return c.submit(engine, argument)
	}
	d, err := engine.Open(c.ctx, argument)
	if err != nil {
		return err
	}
	switch what {
	case "watch":
		return c.watch(d)
	case "pause":
		return d.Pause(c.ctx)
	case "resume":
		return d.Resume(c.ctx)
	case "stop":
		return d.Stop(c.ctx)
	case "cancel":
		return d.Cancel(c.ctx)
	}
	return fmt.Errorf("unknown command %q; %s", what, usage)
}

// submit creates and starts a debate, which workers run, and watches it.
func (c client) submit(engine *debate.Engine, topic string) error {
	d, err := engine.Create(c.ctx, debate.Config{
		Topic:        topic,
		Protocol:     panel.Protocol{Format: panel.ConvergenceSeeking},
		Participants: []debate.Participant{{Name: "Ada", Side: "for"}, {Name: "Bo", Side: "against"}},
		Judges:       []debate.Participant{{Name: "Judge"}},
		Limits:       debate.Limits{MaxRounds: 3},
	})
	if err != nil {
		return err // *debate.Problems lists every configuration error
	}
	if err := d.Start(c.ctx); err != nil { // inserts the first job
		return err
	}
	fmt.Fprintln(c.stdout, "debate", d.ID())
	return c.watch(d)
}

// watch shows the debate turn by turn, whichever worker runs it.
func (c client) watch(d *debate.Debate) error {
	for event, err := range d.Watch(c.ctx, 0) {
		switch {
		case c.ctx.Err() != nil:
			fmt.Fprintf(c.stdout, "\nThe debate continues. To watch it again: worker watch %s\n", d.ID())
			return nil
		case err != nil:
			return err
		}
		switch e := event.(type) {
		case debate.StateChanged:
			if e.Failure != nil {
				return fmt.Errorf("the debate stopped with an error: %w", e.Failure)
			}
			if len(e.Problems) > 0 {
				return &debate.Problems{List: e.Problems}
			}
			fmt.Fprintf(c.stdout, "-- %s\n", e.To)
		case debate.TurnDone:
			fmt.Fprintf(c.stdout, "\n%s (%s):\n%s\n\n", e.Turn.Actor, e.Turn.Phase, e.Turn.Text)
		case debate.Ended:
			fmt.Fprintf(c.stdout, "ended in round %d: %s\n", e.Result.Round, e.Result.Ending.Outcome)
		}
	}
	return nil
}
