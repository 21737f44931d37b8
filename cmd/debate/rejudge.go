package main

import (
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// The labels of the debates that one call of rejudge makes.
const (
	familyLabel = "rejudge" // the same for all of them
	sampleLabel = "sample"  // from 1
)

// rejudgeDebate makes debates in which the judges of a stored one are asked again. It runs them and says what
// changed, unless --paused is set.
func (p *program) rejudgeDebate() error {
	return p.withDebate(func(d *debate.Debate, s configFile, o debate.Options) error {
		if p.samples < 1 {
			return exitErrorf(exitInput, "read arguments: --samples %d, use 1 or more", p.samples)
		}
		c, err := p.configAt(d, 0)
		if err != nil {
			return err
		}
		if err := p.checkRunFlags(c); err != nil {
			return err
		}
		r, err := d.Result(p.ctx)
		if err != nil {
			return err
		}
		again := debate.Rejudge{}
		again.Omit, err = p.omitted("omit", p.omit, r, c)
		if err != nil {
			return err
		}
		if len(p.judgeModels) > 0 {
			if err := p.chooseModels(s, &c); err != nil {
				return err
			}
			if err := p.setModels(s, &o, nil, &c); err != nil {
				return err
			}
			again.Judges, again.Prices = c.Judges, c.Prices
		}
		if p.flagGiven["judge-temperature"] {
			again.Judges = p.withTemperature(c.Judges)
			c.Judges = again.Judges
		}
		if orders := ordersOf(c.Protocol, r); p.samples > orders && isCold(c.Judges) {
			return exitErrorf(exitInput,
				"rejudge debate %s: the judges have temperature 0 and see %d order(s), so %d samples would repeat one another; use --samples %d or --judge-temperature",
				d.ID(), orders, p.samples, orders)
		}
		engine, err := debate.NewEngine(o)
		if err != nil {
			return err
		}
		made, err := p.makeSamples(engine, d.ID(), c, again)
		if err != nil || p.paused {
			return err
		}
		for _, sample := range made {
			if err := p.runBeside(d, sample, s, o); err != nil {
				return err
			}
		}
		return nil
	})
}

// makeSamples makes the debates of one family. c is the configuration with the judges.
func (p *program) makeSamples(engine *debate.Engine, id string, c debate.Config, again debate.Rejudge) (made []*debate.Debate, err error) {
	family := strings.ToLower(rand.Text()[:8])
	seeded := slices.ContainsFunc(c.Judges, func(j debate.Participant) bool { return j.Seed != nil })
	for i := range p.samples {
		again.Swap = i%2 == 1
		again.Labels = maps.Clone(c.Labels)
		if again.Labels == nil {
			again.Labels = map[string]string{}
		}
		again.Labels[familyLabel], again.Labels[sampleLabel] = family, strconv.Itoa(i+1)
		if seeded { // the same seed would give the same reply
			again.Judges = slices.Clone(c.Judges)
			for j := range again.Judges {
				if seed := again.Judges[j].Seed; seed != nil {
					again.Judges[j].Seed = new(*seed + int64(i))
				}
			}
		}
		d, err := engine.Rejudge(p.ctx, id, again)
		if err != nil {
			return made, err
		}
		made = append(made, d)
		if !p.paused {
			continue
		}
		if err := p.printState(d, nil); err != nil {
			return made, err
		}
		if i == 0 {
			fmt.Fprintln(p.stderr, strings.TrimSpace(p.nextCommand("resume", d.ID())))
		}
	}
	return made, nil
}

// ordersOf returns the number of orders in which samples show the participants to the judges: two, unless the judges see both in
// each debate, or no pseudonyms.
func ordersOf(p protocol.Protocol, r *debate.Result) int {
	name, _, _ := strings.Cut(p.Name(), "/")
	both := slices.ContainsFunc(r.Turns, func(t transcript.Turn) bool { return t.Kind == transcript.Conclusion && t.Target == judge.Swapped })
	if both || slices.Contains([]string{"skeptic", "refine", "pairwise"}, name) {
		return 1
	}
	return 2
}

// isCold reports whether all judges have temperature 0 and are models.
func isCold(judges []debate.Participant) bool {
	return !slices.ContainsFunc(judges, func(j debate.Participant) bool { return j.Human || j.Temperature == nil || *j.Temperature > 0 })
}

// withTemperature returns judges with the temperature of --judge-temperature.
func (p *program) withTemperature(judges []debate.Participant) []debate.Participant {
	judges = slices.Clone(judges)
	for i := range judges {
		if !judges[i].Human {
			judges[i].Temperature = &p.judgeTemperature
		}
	}
	return judges
}

// omitted returns what a flag names: documents and attachments, turns by their seqs, and seats.
func (p *program) omitted(flag string, names []string, r *debate.Result, c debate.Config) (o debate.Omission, err error) {
	for _, what := range names {
		document := slices.ContainsFunc(c.Documents, func(d evidence.Document) bool { return d.Name == what })
		if document || slices.ContainsFunc(c.Attachments, func(a debate.Attachment) bool { return a.Name == what }) {
			o.Documents = append(o.Documents, what)
			continue
		}
		seq, err := strconv.ParseInt(what, 10, 64)
		if err != nil {
			o.Seats = append(o.Seats, what)
			continue
		}
		at := slices.IndexFunc(r.Turns, func(t transcript.Turn) bool { return t.Seq == seq })
		if at < 0 {
			return o, exitErrorf(exitInput, "read arguments: --%s %d is no turn; show --verbose lists them", flag, seq)
		}
		o.Turns = append(o.Turns, r.Turns[at].Key)
	}
	return o, nil
}
