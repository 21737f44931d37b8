package prompting

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/actor"
	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/protocol"
)

// Texts holds what stands in the prompts of a debate before the history.
type Texts struct {
	Topic, Background string
	Reference         string // for judges
	Documents         []evidence.Document
}

// noRoom says what to do about a document that is too long.
const noRoom = "%s has about %d tokens, which leaves no room in the window of %s, %d: " +
	"use a model with a larger window, a shorter text or other readers, or a tool that searches the document"

// ReplyRoom returns the tokens that a reply may have if the given number of tokens is left beside the prompt. The rest is for the
// history: half, but at most 1,024, or 2,048 with the results of tools.
func ReplyRoom(left int, tools bool) int {
	most := 1024
	if tools {
		most *= 2
	}
	return left - min(left/2, most)
}

// CheckDocuments returns a problem for each document that alone fills the window of a reader. isSeat reports whether a participant
// or a judge has a name.
func (t *Texts) CheckDocuments(all iter.Seq2[string, journal.Participant], isSeat func(name string) bool) (list []protocol.Problem) {
	for i := range t.Documents {
		d := &t.Documents[i]
		for field, s := range all {
			fills := s.Window > 0 && d.Tokens >= s.Window
			reads := !s.Human && isSeat(s.Name) && d.IsFor(s.Name)
			if fills && reads {
				list = append(list, documentTooLong(i, d, d.Tokens, field, &s))
				break
			}
		}
	}
	return list
}

// documentTooLong returns the problem with the document at an index, which takes some tokens of the window of an actor.
func documentTooLong(at int, d *evidence.Document, tokens int, field string, s *journal.Participant) protocol.Problem {
	return protocol.Problemf(
		fmt.Sprintf("documents[%d]", at),
		noRoom,
		d.Name,
		tokens,
		actor.Seat(field, s.Name),
		s.Window,
	)
}

// Longest returns the field of the topic or of the background, whichever is longer, and its tokens.
func (t *Texts) Longest() (text string, tokens int) {
	topic, background := window.Estimate(t.Topic), window.Estimate(t.Background)
	if background > topic {
		return "background", background
	}
	return "topic", topic
}

// Fills reports whether a text with the given tokens alone fills the window of the actor in a field, which reads it.
func Fills(tokens int, field string, s *journal.Participant) bool {
	return s.Window > 0 &&
		tokens >= s.Window &&
		!actor.MakesNoText(actor.NameIn(field, s.Name))
}

// TooLong returns the problem with a text in a field that leaves no room in the window of an actor.
func TooLong(text string, tokens int, field string, s *journal.Participant) protocol.Problem {
	return protocol.Problemf(text, "about %d tokens are too long for the window of %s, %d", tokens, actor.Seat(field, s.Name), s.Window)
}

// ToolRoom limits what rounds of tool calls take of a window.
type ToolRoom struct {
	Room  func(left int) int // returns the tokens that they may take of what is left
	Least int                // tokens that they need
}

// CheckRoom returns a problem for each actor whose window has too little room beside its first prompt, and lower token limits for
// replies that would leave no room for the history, by field. sizes are the tokens of the prompts, by the names of the actors.
// tooSmall returns what Texts.TooSmall does for a prompt.
func CheckRoom(
	all iter.Seq2[string, journal.Participant], sizes map[string]int, tools ToolRoom,
	tooSmall func(field string, s *journal.Participant, size int) (protocol.Problem, bool),
) (list []protocol.Problem, limits map[string]int) {
	for field, s := range all {
		size := sizes[actor.NameIn(field, s.Name)]
		left := ReplyRoom(s.Window-size, len(s.Tools) > 0)
		switch {
		case size == 0 || actor.MakesNoText(actor.NameIn(field, s.Name)):
		case len(s.Tools) > 0 && tools.Room(s.Window-size-min(left, s.MaxTokens)) < tools.Least && left >= actor.MinReply:
			list = append(list, protocol.Problemf(
				field+".window",
				"%d is too small: the prompt takes about %d tokens and the reply %d, "+
					"and results of tools need %d and three times as much for the history",
				s.Window,
				size,
				min(left, s.MaxTokens),
				tools.Least,
			))
		case left >= s.MaxTokens:
		case left < actor.MinReply+reasoning.Budget(s.Reasoning):
			problem, shared := tooSmall(field, &s, size)
			if !shared ||
				!slices.ContainsFunc(list, func(x protocol.Problem) bool { return x.Field == problem.Field }) {
				list = append(list, problem)
			}
		default:
			if limits == nil {
				limits = map[string]int{}
			}
			limits[field] = left
		}
	}
	return list, limits
}

// FirstPrompt describes the first prompt of an actor that leaves too little of its window.
type FirstPrompt struct {
	Tokens      int
	Attachments int                 // their tokens
	Read        []evidence.Document // the documents that the actor reads
	Documents   int                 // their tokens in the prompt
}

// TooSmall returns a problem about a prompt that leaves too little of the window of the actor in a field. It names the part that
// takes more than half of the window, if there is one. shared reports whether that part is a text that other actors read too: the
// topic, the background or the reference.
func (t *Texts) TooSmall(field string, s *journal.Participant, p FirstPrompt) (problem protocol.Problem, shared bool) {
	texts := []struct{ field, text string }{{"topic", t.Topic}, {"background", t.Background}}
	if strings.HasPrefix(field, "judges") || strings.HasPrefix(field, "substitutes") {
		texts = append(texts, struct{ field, text string }{"reference", t.Reference})
	}
	half := s.Window / 2
	for _, text := range texts {
		if tokens := window.Estimate(text.text); tokens > half {
			return TooLong(text.field, tokens, field, s), true
		}
	}
	switch {
	case p.Attachments > half:
		return protocol.Problemf(
			"attachments",
			"about %d tokens are too many for the window of %s, %d: set its window, or leave it out of the readers",
			p.Attachments,
			actor.Seat(field, s.Name),
			s.Window,
		), false
	case p.Documents > half:
		largest := slices.MaxFunc(p.Read, func(a, b evidence.Document) int {
			return a.Tokens - b.Tokens
		})
		at := slices.IndexFunc(t.Documents, func(d evidence.Document) bool {
			return d.Name == largest.Name
		})
		return documentTooLong(at, &largest, p.Documents, field, s), false
	}
	return protocol.Problemf(
		field+".window",
		"%d is too small: the prompt takes about %d tokens, and the reply and the history need %d each",
		s.Window,
		p.Tokens,
		actor.MinReply,
	), false
}
