package debate

import (
	"context"
	"slices"
	"time"

	"github.com/elenchus-go/debate/internal/clients"
	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// setPatience sets how long a step may wait for a provider that it cannot reach. Earlier jobs may have waited for it too.
func setPatience(r *record, l *step.Limits) {
	waited := r.times.outage
	l.Outage = max(l.Remaining-waited, 1)
	l.OutageUnknown = max(r.config.Limits.StepTimeout-waited, 1)
	if most := r.config.Limits.OutageTime; most > 0 {
		l.OutageTime = max(most-waited, 1)
	}
}

// Others implements step.Host. It asks other providers, so it may take some seconds.
func (x *execution) Others(ctx context.Context, provider string, since time.Time) step.Others {
	e := x.engine
	p := &x.run.Plan
	var others []clients.Actor
	x.commits.read(func(r *record) {
		if r.config != nil && canLose(r, p) {
			others = e.othersThan(r, p, provider)
		}
	})
	if len(others) == 0 {
		return step.OthersWait
	}
	for _, other := range others {
		switch {
		case e.answers.CameSince(other.Provider, since):
			return step.OthersAnswer
		case !e.answers.CameSince(provider, time.Time{}) &&
			e.answers.CameSince(other.Provider, time.Time{}): // its address is probably wrong
			return step.OthersAnswer
		}
	}
	answer, known := e.asker().AnyAnswers(ctx, others)
	switch {
	case answer:
		return step.OthersAnswer
	case known:
		return step.OthersWait
	}
	return step.OthersUnknown
}

// canLose reports whether the debate can go on without the reply of a step, as it does after other failures.
func canLose(r *record, p *step.Plan) bool {
	switch actor := p.Step.Actor; {
	case p.Participating:
		return canDrop(r, &Failure{Key: p.Step.Key})
	case p.Judging:
		return len(r.Judges) > 1
	default:
		return actor == protocol.Summarizer && p.Step.Kind != transcript.Conclusion
	}
}

// othersThan returns those who go on with other providers if a step fails that cannot reach the given one: judges if it is
// a step of a judge, otherwise participants.
func (e *Engine) othersThan(r *record, p *step.Plan, provider string) (list []clients.Actor) {
	going := r.ParticipantNames()
	if p.Judging {
		going = r.Judges
	}
	for _, x := range e.clientsOf(r.config) {
		person := x.NoText
		if !person && x.Provider != provider && x.Seat != p.Step.Actor && slices.Contains(going, x.Seat) {
			list = append(list, x)
		}
	}
	return list
}
