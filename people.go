package debate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/seal"
	"github.com/elenchus-go/debate/internal/step/prompting"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// put sets a value of a map, which may be nil.
func put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

// newAsked returns what a person is asked in a step.
func newAsked(r *record, s *protocol.Step) (q Asked, err error) {
	who, seat, _ := r.actor(s.Actor)
	q = Asked{Key: s.Key, Kind: s.Kind, Contract: s.Contract, Tokens: who.MaxTokens}
	if !r.Settings.Templates.Has(s.Prompt) {
		return q, &unsupported{[]string{fmt.Sprintf("prompt %q is unknown, add it to Options.Prompts", s.Prompt)}}
	}
	b, err := r.Fixed(s, seat)
	if err != nil {
		return q, err
	}
	for _, a := range attachmentsFor(r.config, s.Actor) {
		a.Name = b.Pseudonyms.Hide(a.Name)
		q.Attachments = append(q.Attachments, a.String())
	}
	for _, d := range documentsFor(r.config, s.Actor) {
		d.Name = b.Pseudonyms.Hide(d.Name)
		q.Documents = append(q.Documents, d.String())
	}
	active, own := r.NamesFor(s)
	contract, err := contractFor(r, s)
	if err != nil {
		return q, err
	}
	if contract != nil {
		contract = r.Form(contract, b.Pseudonyms, active, own)
		q.Fields, q.Schema = contract.Outline(), contract.Schema()
	}
	q.Task, err = r.Task(s, b, active)
	return q, err
}

// brief sets what the actor of a next step may read and must know, as in a prompt for a model.
func brief(r *record, q *Asked) (err error) {
	q.Said, q.Briefing = nil, nil // no entry of the journal has them
	at := slices.IndexFunc(r.next(), func(s protocol.Step) bool { return s.Key == q.Key })
	if at < 0 {
		return nil
	}
	s := &r.next()[at]
	q.Said = r.Said(s)
	if r.Settings.Templates.Has(s.Prompt) {
		q.Briefing, err = newBriefing(r, s)
	}
	return err
}

// newBriefing returns what a person must know to reply to a step.
func newBriefing(r *record, s *protocol.Step) (*Briefing, error) {
	_, seat, _ := r.actor(s.Actor)
	b, err := r.Brief(s, seat)
	return (*Briefing)(&b), err
}

// Text returns the briefing as plain text. Each line of what users or models wrote begins with "> ", apart from names, roles,
// sides and criteria, which have one line. So no text can pass for another part. Empty parts are left out.
func (b *Briefing) Text() string { return prompting.Briefing(*b).Text() }

// contractFor returns the contract of the reply to a step, with the step's own check, or nil if the reply is free text.
func contractFor(r *record, s *protocol.Step) (*reply.Contract, error) {
	if s.Contract == "" {
		return nil, nil
	}
	c := r.Contract(s.Contract)
	if c == nil {
		return nil, &unsupported{[]string{fmt.Sprintf("reply contract %q is unknown, add it to Options.Contracts", s.Contract)}}
	}
	if s.Check != nil {
		c = c.WithCheck(s.Check)
	}
	return c, nil
}

// replyHash returns a hash of a person's reply, by which the journal recognizes a reply that is given again. The turn does not
// tell: it has real names in place of pseudonyms, and lacks what the contract removes. Without keys, it is the hash that earlier
// versions stored.
func replyHash(keys *seal.Keys, step transcript.Key, text string) string {
	sum := sha256.Sum256([]byte(strings.TrimSpace(text)))
	if key, ok := keys.Of(seal.ReplyID(step.String())); ok {
		return key.Hash(sum)
	}
	return hex.EncodeToString(sum[:16])
}

// hasReply reports whether a person has given a text as the reply to a step.
func hasReply(r *record, step transcript.Key, text string) bool {
	is := r.people.replies[step]
	return is != "" && (is == replyHash(r.keys, step, text) || is == replyHash(nil, step, text))
}
