package debate

import (
	"encoding/base64"
	"fmt"
	"math"
	"slices"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/detect"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// watching is a debate's Watch, with the last round that it was told of.
type watching struct {
	detect.Watch

	spoken, judged int
}

// measured are the findings of a round whose speeches or assessments are complete, once.
func (r *record) measured(judged bool) []detect.Finding {
	round := r.Cursor.Round
	if len(r.config.Watch) == 0 || judged && r.looked.judged >= round || !judged && r.looked.spoken >= round {
		return nil
	}
	if r.watch == nil {
		r.watch = &watching{Watch: detect.Watch{
			Rules: r.config.Watch, Topic: r.config.Topic, Seats: r.everyone, Answer: r.answer,
		}}
	}
	for k := min(r.watch.spoken, r.watch.judged) + 1; k < round; k++ { // those of an earlier process
		r.hear(k)
		r.judge(k)
	}
	found := r.hear(round)
	if judged {
		found = r.judge(round)
	}
	for i := range found {
		found[i].Round = round // also where nobody has spoken
	}
	return found
}

// hear has the watch look at the speeches of a round, once.
func (r *record) hear(round int) []detect.Finding {
	if r.watch.spoken >= round {
		return nil
	}
	r.watch.spoken = round
	turns := of(&r.Record, round)
	return r.watch.Spoken(turns, r.vectors(turns))
}

// judge has the watch look at the judges' word on a round, once, where there is any.
func (r *record) judge(round int) []detect.Finding {
	if r.watch.judged >= round {
		return nil
	}
	r.watch.judged = round
	turns := slices.DeleteFunc(slices.Clone(of(&r.Record, round)), func(t transcript.Turn) bool { return t.Output != judge.AssessmentContract.Name() })
	joint, ok := judge.Bench{}.Assess(judge.Opinions[judge.Assessment](turns))
	switch {
	case !ok: // nobody judges
		return nil
	case joint.Failed:
		return r.watch.Judged(detect.Scores{Round: round, Quality: math.NaN(), Novelty: math.NaN()}, math.NaN())
	}
	var converged []bool
	for _, o := range joint.Opinions {
		if !o.Failed {
			converged = append(converged, o.Value.Converged)
		}
	}
	a := &joint.Value
	s := detect.Scores{Round: round, Quality: a.Quality, Novelty: a.Mean(judge.Novelty), Repetitive: a.Repetitive}
	return r.watch.Judged(s, a.Mean(judge.Relevance), converged...)
}

// of are the turns of a round.
func of(r *protocol.Record, round int) []transcript.Turn {
	turns := r.Since(round)
	if end := slices.IndexFunc(turns, func(t transcript.Turn) bool { return t.Round > round }); end >= 0 {
		turns = turns[:end]
	}
	return turns
}

// advice is what the judges of the round at hand are told of what was measured.
func (r *record) advice() (list []string) {
	for _, f := range r.since(r.Cursor.Round - 1) {
		if f.Found && f.Use != detect.Report {
			list = append(list, f.Advice())
		}
	}
	return list
}

// since are the findings of a round and of later ones.
func (r *record) since(round int) []detect.Finding {
	from := len(r.findings)
	for from > 0 && r.findings[from-1].Round >= round {
		from--
	}
	return r.findings[from:]
}

// alarm is the ending that a finding of the round at hand brings about, or one that was just made; zero: none does.
func (r *record) alarm(found ...detect.Finding) transcript.Ending {
	for _, f := range append(slices.Clip(r.since(r.Cursor.Round)), found...) {
		if f.Found && f.Use == detect.Stop {
			return f.Ending()
		}
	}
	return transcript.Ending{}
}

// embeds says whether vectors of the speeches are wanted.
func (c *Config) embeds() bool {
	return slices.ContainsFunc(c.Watch, func(r detect.Rule) bool { return r.Means() == "vectors" })
}

// embedding is a protocol with a further phase after the speeches of each round: vectors are made of them.
type embedding struct{ protocol.Protocol }

const embed = "embed"

// Phases are the protocol's own and the further one.
func (p embedding) Phases(r *protocol.Record) []protocol.Phase {
	phases := p.Protocol.Phases(r)
	if r.Cursor.Stage != transcript.Speech {
		return phases
	}
	parts := max(1, (len(speeches(of(r, r.Cursor.Round)))+batch-1)/batch)
	last := protocol.Phase{Name: embed, Parallel: parts > 1}
	for i := range parts {
		step := protocol.Step{Key: transcript.Key{Actor: protocol.Embedding}, Output: vectorsContract.Name()}
		if i > 0 {
			step.Target = fmt.Sprintf("part %d", i+1)
		}
		last.Steps = append(last.Steps, step)
	}
	return append(slices.Clip(phases), last)
}

// batch is how many texts an embedder is given at once: the longest vectors of so many have room in one reply.
const batch = 8

// vectors are the reply of an embedder: for each text its vector of length 1, each component times 127 and rounded to a
// signed byte, in base64.
type vectors struct {
	Vectors []string `json:"vectors" jsonschema:"maxItems=256" jsonschema_description:"one vector for each text"`
}

var vectorsContract = reply.New[vectors]("vectors/1")

// Text says how many there are.
func (v *vectors) Text() string { return fmt.Sprintf("%d vectors", len(v.Vectors)) }

// Fallback has none, so that nothing is found.
func (v *vectors) Fallback([]string) { v.Vectors = []string{} }

// texts are the messages of an embedder's request: its part of what was said in the round, in order.
func (r *record) texts(limit int, s *protocol.Step) (list []providers.Message) {
	said := speeches(of(&r.Record, s.Round))
	for _, t := range said[min(s.Order*batch, len(said)):min((s.Order+1)*batch, len(said))] {
		list = append(list, providers.Message{Role: providers.User, Text: window.Clip(t.Text, limit)})
	}
	return list
}

func speeches(turns []transcript.Turn) (list []transcript.Turn) {
	for _, t := range turns {
		if t.Kind == transcript.Speech {
			list = append(list, t)
		}
	}
	return list
}

// vectors are those of the speeches among the turns of a round, as far as an embedder has made them.
func (r *record) vectors(turns []transcript.Turn) (list []detect.Vector) {
	said := speeches(turns)
	for _, t := range turns {
		if t.Kind != transcript.Vectors {
			continue
		}
		part := said[min(t.Order*batch, len(said)):min((t.Order+1)*batch, len(said))]
		made, err := transcript.Decode[vectors](t)
		if err != nil || len(made.Vectors) != len(part) { // none, or of other texts
			continue
		}
		for i, of := range part {
			list = append(list, detect.Vector{Of: of.Key, Values: components(made.Vectors[i])})
		}
	}
	return list
}

// components are the values of a vector; nil where it is none.
func components(s string) (values []float32) {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil
	}
	for _, x := range b {
		values = append(values, float32(int8(x))/127) //nolint:gosec // the byte is a signed one
	}
	return values
}
