package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/readmodel"
	"github.com/elenchus-go/debate/transcript"
)

// forkDebate makes a new debate from the first entries of a stored one, with what the flags change. It runs it and
// says what changed, unless --paused is set.
func (p *program) forkDebate() error {
	return p.withDebate(func(d *debate.Debate, s configFile, o debate.Options) error {
		c, err := p.configAt(d, p.at)
		if err != nil {
			return err
		}
		if err := p.checkRunFlags(c); err != nil {
			return err
		}
		var edits debate.Edits
		changes := []string{"topic", "rounds", "model", "judge-model", "max-cost", "prices"}
		if slices.ContainsFunc(changes, func(name string) bool { return p.flagGiven[name] }) {
			if err := p.editConfig(s, &c, &o); err != nil {
				return err
			}
			edits.Config = &c
		}
		if p.flagGiven["reply"] || p.file != "" {
			edits.Turn, edits.Reply, err = p.editedTurn(d)
			if err != nil {
				return err
			}
		}
		if err := p.silence(d, &edits); err != nil {
			return err
		}
		engine, err := debate.NewEngine(o)
		if err != nil {
			return err
		}
		fork, err := engine.Fork(p.ctx, d.ID(), p.at, edits)
		if err != nil {
			return err
		}
		status, err := fork.Status(p.ctx)
		if err != nil {
			return err
		}
		if p.paused || status.State.Final() {
			if !status.State.Final() {
				fmt.Fprintln(p.stderr, strings.TrimSpace(p.nextCommand("resume", fork.ID())))
			}
			return p.printState(fork, nil)
		}
		return p.runBeside(d, fork, s, o)
	})
}

// silence sets which turns and participants are silent in a fork.
func (p *program) silence(d *debate.Debate, edits *debate.Edits) error {
	if len(p.silent) == 0 {
		return nil
	}
	r, err := d.Result(p.ctx)
	if err != nil {
		return err
	}
	edits.Silent, err = p.omitted("silent", p.silent, r, debate.Config{})
	return err
}

// editConfig changes a configuration as the flags say, and opens the providers of new models.
func (p *program) editConfig(s configFile, c *debate.Config, o *debate.Options) error {
	if p.flagGiven["topic"] {
		c.Topic = p.topicText
	}
	if p.rounds > 0 {
		c.Limits.MaxRounds, c.Limits.MinRounds = p.rounds, min(c.Limits.MinRounds, p.rounds)
	}
	if p.maxCost > 0 {
		c.Limits.Cost = p.maxCost
	}
	if err := p.chooseModels(s, c); err != nil {
		return err
	}
	if len(p.models)+len(p.judgeModels) == 0 {
		return p.setPrices(s, c)
	}
	return p.setModels(s, o, nil, c)
}

// editedTurn returns the key of the turn of --at, and the text in its place.
func (p *program) editedTurn(d *debate.Debate) (key transcript.Key, text string, err error) {
	switch text = p.reply; {
	case p.reply != "" && p.file != "":
		return key, "", exitErrorf(exitInput, "fork debate %s: want one of --reply and --file", d.ID())
	case p.file != "":
		text, err = readText("reply", p.file)
		if err != nil {
			return key, "", err
		}
	}
	r, err := d.Result(p.ctx)
	if err != nil {
		return key, "", err
	}
	var list []string
	for _, t := range r.Turns {
		if t.Seq == p.at {
			return t.Key, text, nil
		}
		list = append(list, fmt.Sprintf("%d (%s)", t.Seq, printableLine(readmodel.Label(t.Key))))
	}
	return key, "", exitErrorf(exitInput, "fork debate %s: --at %d is no turn, want one of %s", d.ID(), p.at, strings.Join(list, ", "))
}
