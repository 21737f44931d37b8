package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/elenchus-go/debate"
)

// kind is a way to hold a debate.
type kind struct {
	about  string        // what happens
	topic  string        // without one on the command line
	config debate.Config // without a topic and models
	text   string        // of the documents that only participants read
	show   func(w io.Writer, r *debate.Result) error
}

// configure returns the configuration of a debate about a topic, with these models.
func (k kind) configure(topic string, models []string, judge string, rounds int) debate.Config {
	c := k.config
	c.Topic = k.topic
	if topic != "" {
		c.Topic = topic
	}
	if rounds != 0 {
		c.Limits.MaxRounds = rounds
	}
	c.Participants, c.Judges = slices.Clone(c.Participants), slices.Clone(c.Judges)
	for i := range c.Participants {
		c.Participants[i].Model = models[i%len(models)]
	}
	for i := range c.Judges {
		c.Judges[i].Model = judge
	}
	return c
}

// people returns participants or judges with these names.
func people(names ...string) (list []debate.Participant) {
	for _, name := range names {
		list = append(list, debate.Participant{Name: name})
	}
	return list
}

// showText prints the answer.
func showText(w io.Writer, r *debate.Result) error {
	_, err := fmt.Fprintln(w, r.Answer.Text)
	return err
}
