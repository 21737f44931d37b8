package debatetool

import (
	"slices"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol"
)

// maxParticipants limits the participants of an input.
const maxParticipants = 8

// Input asks for a debate, or continues one.
type Input struct {
	ID           string        `json:"id,omitempty" jsonschema_description:"Continues this debate; other fields may be missing. Leave it out for a new one."`
	After        int64         `json:"after,omitempty" jsonschema_description:"The position of an earlier call: only later turns are returned."`
	Topic        string        `json:"topic,omitempty" jsonschema_description:"The question or claim, in one or two sentences."`
	Background   string        `json:"background,omitempty" jsonschema_description:"All facts that the participants need. They know nothing of your conversation."`
	Preset       string        `json:"preset,omitempty" jsonschema_description:"The kind of debate."`
	Protocol     string        `json:"protocol,omitempty" jsonschema_description:"Who speaks when. Defaults to the preset's."`
	Options      []string      `json:"options,omitempty" jsonschema_description:"Choices: panel, procon, vote."`
	Participants []Participant `json:"participants,omitempty" jsonschema_description:"Replaces the preset's participants. They use its models."`
	Budget       Budget        `json:"budget,omitzero" jsonschema_description:"Limits below those of the preset."`

	// Earlier has the messages of the conversation before the topic, oldest first, by Actor and Text. Actor is "system" for
	// instructions, and otherwise says who has spoken: "user", "assistant", "tool" or a name. The instructions and the last 20
	// others are added to the background. A program sets this field; models give Background.
	Earlier []Turn `json:"-"`
}

// Participant is a participant of a debate.
type Participant struct {
	Name     string `json:"name" jsonschema_description:"A unique name."`
	Role     string `json:"role,omitempty" jsonschema_description:"Such as economist."`
	Side     string `json:"side,omitempty" jsonschema_description:"Those of one side argue together."`
	Position string `json:"position,omitempty" jsonschema_description:"The claim to defend."`
}

// Budget lowers the limits of a preset. A field that is 0 leaves the limit as it is.
type Budget struct {
	Rounds  int     `json:"rounds,omitempty" jsonschema_description:"Most rounds."`
	Minutes float64 `json:"minutes,omitempty" jsonschema_description:"Longest running time."`
	Tokens  int     `json:"tokens,omitempty" jsonschema_description:"Most tokens, with prompts."`
	Cost    float64 `json:"cost,omitempty" jsonschema_description:"Highest cost, in the prices' currency."`
}

// setParticipants replaces the participants of a configuration. The new ones have the models of the old ones, in turn.
func setParticipants(c *debate.Config, list []Participant) []protocol.Problem {
	if len(list) == 0 {
		return nil
	}
	if len(list) > maxParticipants {
		return []protocol.Problem{protocol.Problemf("participants", "%d are too many, use at most %d", len(list), maxParticipants)}
	}
	models := slices.DeleteFunc(slices.Clone(c.Participants), func(p debate.Participant) bool { return p.Human || p.Disabled })
	if len(models) == 0 {
		models = []debate.Participant{{}}
	}
	c.Participants = nil
	for i, p := range list {
		model := models[i%len(models)]
		model.Name = p.Name
		model.Role = p.Role
		model.Side = p.Side
		model.Position = p.Position
		model.Persona, model.Instructions = "", ""
		c.Participants = append(c.Participants, model)
	}
	return nil
}
