package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
)

// takeSeats makes the participants and judges of --me people.
func (p *program) takeSeats(c *debate.Config) error {
	for _, list := range [][]debate.Participant{c.Participants, c.Judges} {
		for i, a := range list {
			if slices.Contains(p.me, a.Name) {
				list[i] = debate.Participant{
					Name: a.Name, Role: a.Role, Side: a.Side, Position: a.Position, Persona: a.Persona, Instructions: a.Instructions,
					Disabled: a.Disabled, Human: true, Blind: a.Blind, MaxTokens: a.MaxTokens,
				}
			}
		}
	}
	return p.checkSeats(*c)
}

// checkSeats returns an error for a name of --me that is no person in the debate. It also returns an error if a person is
// not at this terminal and the debate is not stored, because nobody could continue it.
func (p *program) checkSeats(c debate.Config) error {
	var people, all []string
	for _, a := range slices.Concat(c.Participants, c.Judges) {
		if a.Disabled {
			continue
		}
		all = append(all, a.Name)
		if a.Human {
			people = append(people, a.Name)
		}
	}
	for _, name := range p.me {
		switch {
		case !slices.Contains(all, name):
			return exitErrorf(exitInput, "take seat: --me %s is unknown, use one of %s", name, strings.Join(all, ", "))
		case !slices.Contains(people, name):
			return exitErrorf(exitInput, "take seat: %s is a model in this debate, and remains one", name)
		}
	}
	for _, name := range people {
		if p.storePath == "" && (!p.canAsk() || !slices.Contains(p.me, name)) {
			return exitErrorf(exitInput,
				"take seat: %s is a person: reply on a terminal with --me %s, or keep the debate with --store to reply later", name, shellWord(name))
		}
	}
	return nil
}

// harmless matches a word that means itself in a command.
var harmless = regexp.MustCompile(`^[\pL\pN_./:@%+=,-]+$`)

// shellWord returns a word as you write it in a command.
func shellWord(word string) string {
	if harmless.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
