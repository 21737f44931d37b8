package debatehttp

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/transcript"
)

// control returns a function that calls a method of a debate.
func control(method func(*debate.Debate, context.Context) error) func(*call) error {
	return func(c *call) error {
		if err := c.allow(); err != nil {
			return err
		}
		return c.done(method(c.debate, c.detached()))
	}
}

// retry makes a debate in error ready and drives it again.
func (c *call) retry() error {
	if err := c.allow(); err != nil {
		return err
	}
	if err := c.debate.Retry(c.detached()); err != nil {
		return err
	}
	return c.done(c.debate.Start(c.detached()))
}

func (c *call) delete() error {
	if err := c.allow(); err != nil {
		return err
	}
	return c.done(c.engine.Delete(c.detached(), c.debate.ID()))
}

// The bodies of requests.
type (
	answerBody struct {
		Key  transcript.Key `json:"key"`
		Text string         `json:"text"`
	}
	declineBody struct {
		Key    transcript.Key `json:"key"`
		Reason string         `json:"reason,omitempty"`
	}
	remarkBody struct {
		ID   string `json:"id,omitempty"`
		From string `json:"from,omitempty"`
		Text string `json:"text"`
	}
	decisionBody struct {
		Question string      `json:"question"`
		Action   string      `json:"action"`
		Remark   *remarkBody `json:"remark,omitempty"`
	}
)

// reply gives a person's reply to a step, in the principal's name.
func (c *call) reply() error {
	var body answerBody
	if err := c.decode(&body); err != nil {
		return err
	}
	if err := c.speakFor(body.Key); err != nil {
		return err
	}
	return c.done(c.debate.Answer(c.detached(), body.Key, body.Text, c.access.Principal))
}

// speakFor takes the seat of the actor of a step. It returns an error if the principal may not have it.
func (c *call) speakFor(key transcript.Key) error {
	c.access.Seat = key.Actor
	if c.access.Seat == "" {
		return invalid("key.actor", "it is empty, use the key of what is asked")
	}
	return c.allow()
}

// decline says that a person gives no reply to a step.
func (c *call) decline() error {
	var body declineBody
	if err := c.decode(&body); err != nil {
		return err
	}
	if err := c.speakFor(body.Key); err != nil {
		return err
	}
	return c.done(c.debate.Decline(c.detached(), body.Key, body.Reason, c.access.Principal))
}

// remark returns a remark of the client, by default in the principal's name.
func (c *call) remark(body remarkBody) debate.Remark {
	c.access.Seat = cmp.Or(body.From, c.access.Principal)
	return debate.Remark{ID: body.ID, From: c.access.Seat, Text: body.Text}
}

func (c *call) inject() error {
	var body remarkBody
	if err := c.decode(&body); err != nil {
		return err
	}
	remark := c.remark(body)
	if err := c.allow(); err != nil {
		return err
	}
	return c.done(c.debate.Inject(c.detached(), remark))
}

func (c *call) decide() error {
	var body decisionBody
	if err := c.decode(&body); err != nil {
		return err
	}
	var remarks []debate.Remark
	if body.Remark != nil {
		remarks = append(remarks, c.remark(*body.Remark))
	}
	if err := c.allow(); err != nil {
		return err
	}
	return c.done(c.debate.Decide(c.detached(), body.Question, body.Action, remarks...))
}

// annotate stores a note, whose value is the body.
func (c *call) annotate() error {
	b, err := c.body()
	if err != nil {
		return err
	}
	var value json.RawMessage
	if err := json.Unmarshal(b, &value); err != nil {
		return problem("invalid", "the body is not JSON: %v", err)
	}
	if err := c.allow(); err != nil {
		return err
	}
	return c.done(c.debate.Annotate(c.detached(), c.r.PathValue("name"), value))
}
