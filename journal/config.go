package journal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/actor"
	"github.com/elenchus-go/debate/internal/protocols"
	"github.com/elenchus-go/debate/internal/strictjson"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/transcript"
)

// Config defines a debate. It is plain data: it is stored with the debate, survives JSON, and holds no secrets.
//
// In JSON, a field has the name in its tag. Protocol is an object that holds the protocol's name and its parameters,
// for example {"name": "panel/1", "mode": "simultaneous"}. Durations are strings such as "90s" or "1h30m".
// A protocol's name without a version means its newest version. json.Unmarshal decodes a Config with a protocol of the
// library, and Engine.ParseConfig one with any protocol that the engine knows. Both reject unknown fields.
type Config struct {
	// ID identifies the debate. Use at most 128 letters, digits, '.', '_' and '-'. Defaults to a new UUID of version
	// 7, which sorts by time.
	ID string `json:"id,omitempty"`
	// Seed determines everything that is drawn: the pseudonyms and the order under which judges and others see the
	// participants, and the nonces of the delimiters around statements. Two debates with the same seed and otherwise
	// the same configuration draw the same. It does not affect how models sample; for that, set the seed of a
	// participant. Use at most 128 bytes. Defaults to the ID. It is stored with the debate, so a copy of a stored
	// configuration with another ID draws what the original drew.
	Seed string `json:"seed,omitempty"`
	// Topic is the question or claim to debate.
	Topic string `json:"topic"`
	// Background is context that every system prompt includes.
	Background string `json:"background,omitempty"`
	// Reference is a right answer to the topic, if one is known. Judges read it, and nobody else: no participant, and no viewer who
	// speaks for one. JSON exports contain it. If a judge mentions it in a reply that participants read, they know it.
	Reference string `json:"reference,omitempty"`
	// Attachments are pictures and PDF documents that participants and judges see before the history. Use at most 20.
	Attachments []Attachment `json:"attachments,omitempty"`
	// Documents are texts that participants and judges read in their system prompts: shared ones, which are stored with the
	// debate, and private ones, which Options.Documents gives. See package evidence.
	Documents []evidence.Document `json:"documents,omitempty"`
	// Protocol decides who speaks when. Defaults to panel.Protocol{}, a free-form sequential panel. In JSON:
	// protocol, as an object with the protocol's name and parameters.
	Protocol protocol.Protocol `json:"-"`
	// Participants debate in this order. Some protocols take none.
	Participants []Participant `json:"participants,omitempty"`
	// Judges assess rounds and conclude the debate, as the protocol defines. In panel, procon, vote, review and oversight,
	// several judges decide together; the other protocols of the library take one judge. A judge must not have a Side or a Position,
	// and must not be Disabled.
	Judges []Participant `json:"judges,omitempty"`
	// Substitutes take over a judge's reply, under the judge's name, when the judge's model has failed after all
	// attempts. They are tried in this order. Only the fields that concern the model are used.
	Substitutes []Participant `json:"substitutes,omitempty"`
	// PersonaAssigner assigns personas and Summarizer writes summaries, if the protocol or History has such steps.
	// Only Instructions and the fields that concern the model are used. If Provider is empty, Provider and Model
	// default to those of the first judge, or of the first participant if there is no judge. If Provider is set and
	// Model is empty, the provider's own default model is used. Window defaults to that judge's or participant's.
	PersonaAssigner Participant `json:"persona_assigner,omitzero"`
	Summarizer      Participant `json:"summarizer,omitzero"`
	// Retriever finds documents, if the protocol has such steps. Its Provider defaults to the built-in reasoning
	// templates. Embedder computes vectors of the speeches for the rules of Detect that need them. Each text is cut
	// to fit the Embedder's Window, which defaults to 8,000. See package providers/retrieval for both.
	Retriever Participant `json:"retriever,omitzero"`
	Embedder  Participant `json:"embedder,omitzero"`
	// Rubric defines the criteria by which judges score. Defaults to the standard rubric; see judge.Rubric.
	Rubric judge.Rubric `json:"rubric,omitempty"`
	// History defines how the history is fitted into a model's context window. Defaults to the hybrid manager without
	// summaries. A summary is a step of its own. The Summarizer performs it, with its Instructions, before the step
	// that needs it.
	History window.Policy `json:"history,omitzero"`
	// Detect lists what to detect in each round, and the effect of each finding: it is reported, it advises the
	// judges, or it stops the debate, though not before MinRounds. Findings appear in StateChanged and Result.
	Detect []detect.Rule `json:"detect,omitempty"`
	// AskBeforeRounds and AskBeforeVerdict are gates: points at which the debate pauses with a Question. They are before
	// each round and before the conclusion. Debate.Decide accepts approve, edit, which adds a remark, and stop, which
	// ends the debate or, before the conclusion, cancels it. Each gate asks once.
	AskBeforeRounds  bool `json:"ask_before_rounds,omitempty"`
	AskBeforeVerdict bool `json:"ask_before_verdict,omitempty"`
	// AskAboveCost is a gate too: the debate pauses before the first phase after more than this was spent, in the
	// currency of Prices. If it is 0, there is no such gate.
	AskAboveCost float64 `json:"ask_above_cost,omitempty"`
	// Prompts is a name in Options.PromptSets: the templates of the debate's prompts. Defaults to those of Options.Prompts.
	Prompts string `json:"prompts,omitempty"`
	// Limits bound the debate.
	Limits Limits `json:"limits,omitzero"`
	// OnFailure applies when a model has failed after all attempts: Degrade or Ask. Defaults to Degrade.
	OnFailure FailurePolicy `json:"on_failure,omitempty"`
	// OnJudgeFailure applies when a judge and all its substitutes have failed: Continue, DropJudge, End or Ask.
	// Defaults to Continue.
	OnJudgeFailure FailurePolicy `json:"on_judge_failure,omitempty"`
	// OnRetrievalFailure applies when a retrieval step has failed: Degrade, which stops the debate in an error,
	// Continue, which continues without documents, or Ask. Defaults to Degrade.
	OnRetrievalFailure FailurePolicy `json:"on_retrieval_failure,omitempty"`
	// OnOverflow applies when a service rejects a prompt as too long: OverflowTruncate, OverflowSummarize, End, or
	// Degrade, which treats it as any other failure. Defaults to OverflowTruncate.
	OnOverflow FailurePolicy `json:"on_overflow,omitempty"`
	// OnRefusal applies when a participant's model declines to speak, although it was asked again: Continue, which keeps the
	// refusal as a turn with the flag transcript.Refused, or Degrade, which treats it as any other failure, of the kind refused.
	// Defaults to Continue.
	OnRefusal FailurePolicy `json:"on_refusal,omitempty"`
	// Retries is the maximum number of retries of a step for each kind of error, within Limits.StepAttempts. A missing
	// kind has its default: 3 for network, 5 for rate_limit, 2 for server_error and timeout, 1 for invalid_response (the
	// retry includes the violations), refused and content_filtered, and 0 for others. A number for network also says that the
	// step does not wait for the end of an outage, unless Limits.OutageTime is set. The wait before the nth retry of a kind is
	// random, between 1 s and 2^n s and at most 60 s, but never shorter than the service asks for. A step never begins a
	// wait that would exceed its timeout or the time budget.
	Retries map[providers.ErrorKind]int `json:"retries,omitempty"`
	// Prices lists what each model costs, by the model's name. The cost of other models is unknown. Limits.Cost
	// requires a price for every model in use. The model of an actor without one is then the default model of its provider, if the
	// provider implements [providers.Defaulted]; the stored configuration has its name.
	Prices price.Prices `json:"prices,omitempty"`
	// Labels are your own key-value pairs. Engine.List can select debates by them. Use at most 64, without control
	// characters. A key has at most 128 bytes, a value 4 KiB, and all of them 16 KiB.
	Labels map[string]string `json:"labels,omitempty"`
}

// Participant configures an actor of a debate and the model that speaks for it.
type Participant struct {
	Name         string `json:"name,omitempty"`         // unique within the debate
	Role         string `json:"role,omitempty"`         // the actor's function, such as "economist"
	Side         string `json:"side,omitempty"`         // participants on one side argue together, and their totals are added up
	Position     string `json:"position,omitempty"`     // the claim it defends
	Persona      string `json:"persona,omitempty"`      // who it is, in prose
	Instructions string `json:"instructions,omitempty"` // added to its system prompt
	Disabled     bool   `json:"disabled,omitempty"`     // excludes it from the debate

	// Human makes a person speak for a participant or a judge. The debate asks the person with [Asked] and waits for
	// Debate.Answer or Debate.Decline. A person has no Provider, Model, Temperature or Window; MaxTokens limits the reply.
	Human bool `json:"human,omitempty"`
	// Blind shows the participants to a human judge under pseudonyms, as protocols do for models.
	Blind bool `json:"blind,omitempty"`

	// Provider is a name in Options.Providers. Defaults to the only provider there.
	Provider string `json:"provider,omitempty"`
	// Model is the model's name. Defaults to the provider's own default model.
	Model string `json:"model,omitempty"`
	// Temperature is between 0 and 2. Defaults to the protocol's value. If the protocol has none, it defaults to 0.7
	// for participants and 0.2 for judges. It defaults to 0.3 for the summarizer and 0.9 for the persona assigner. With
	// TopP, or if the model reasons, it has no default.
	Temperature *float64 `json:"temperature,omitempty"`
	// TopP samples only from the most likely tokens whose probabilities add up to it, at most 1. If it is 0, the service
	// chooses. If the service or the model does not support TopP, Seed, Stop or Reasoning, the debate does not start.
	TopP float64 `json:"top_p,omitempty"`
	// Seed asks the service to give the same reply to the same prompt. Defaults to none.
	Seed  *int64   `json:"seed,omitempty"`
	Tools []string `json:"tools,omitempty"` // names in Options.Tools: what a participant or a judge may call before it replies
	// Stop lists up to 16 texts that end a reply. The reply does not contain them.
	Stop []string `json:"stop,omitempty"`
	// Reasoning says how much the model reasons before each reply: none, low, medium, high, or a budget in tokens, such as
	// "2048". If it is empty, the service chooses. Reasoning is not part of the reply: nobody else sees it.
	Reasoning string `json:"reasoning,omitempty"`
	// MaxTokens limits the tokens of each reply, including its reasoning. Defaults to Limits.StepTokens for participants
	// and to Limits.JudgeTokens for all other actors, and to more if the model reasons: 2,048 tokens with low, 8,192 with
	// medium, 16,384 with high, or the budget. At most 2,000,000,000, as is Window.
	MaxTokens int `json:"max_tokens,omitempty"`
	// Window is the size of the model's context window in tokens: prompt and reply together. Defaults to the provider's
	// window, if it knows that when the debate starts, or else 32,000. If the provider knows a smaller window than the
	// configured one, a Warning says so. If the window cannot hold the longest first prompt, a reply of MaxTokens and some
	// history, replies are limited to what fits, and a Warning says so. If less than 256 tokens remain for a reply, the
	// configuration is refused before the first call.
	Window int `json:"window,omitempty"`
}

// Limits bound a debate. If a field is zero, its default applies; a protocol may define other defaults, which its
// documentation lists. Rounds are at most 10,000, tokens of a reply 2,000,000,000, attempts 1,000,000, and times 365
// days.
//
// A debate checks its budgets when a phase begins, and concludes if the worst case of the phase and of the conclusion
// does not fit. In the worst case, each step makes one call, or two if its first reply can be doubted, with replies of
// maximum length. Its prompt has its real size and shows all that the step can see by then. A configuration is refused if a budget is
// too small for the setup, the first phase and the conclusion: the smallest limit that a protocol of the library accepts is at most 1.2
// times their worst case. What failed attempts and invalid replies use counts from the next phase on.
// The usage of calls that a person cancels, or that fail while the debate is paused, is not recorded.
type Limits struct {
	// MinRounds is the number of rounds before which neither the protocol nor a finding ends the debate. Defaults to
	// 1. In JSON: min_rounds.
	MinRounds int
	// MaxRounds is the maximum number of rounds. Defaults to 5, or to MinRounds if that is greater. In JSON:
	// max_rounds.
	MaxRounds int
	// RunningTime is the time budget. Pauses and delays between rounds do not count, nor does the wait of a debate that
	// stops because a provider cannot be reached. Defaults to 1 hour. See docs/reliability.md for how the limits of time and
	// the failure policies act together. In JSON: running_time, as "1h".
	RunningTime time.Duration
	// OutputTokens is the budget for the tokens of all replies, including a reserve for the conclusion. Defaults to
	// twice what the setup, MaxRounds rounds and the conclusion use if every reply has its maximum length. In JSON:
	// output_tokens.
	OutputTokens int
	// Tokens is the budget for the tokens of all prompts and replies. 0 means no limit. In JSON: tokens.
	Tokens int
	// Cost is the budget in the currency of Config.Prices. 0 means no limit. In JSON: cost.
	Cost float64
	// StepTokens limits a participant's reply. It includes reasoning, unless Participant.Reasoning is set: see
	// Participant.MaxTokens. Defaults to 4,096. In JSON: step_tokens.
	StepTokens int
	// JudgeTokens limits the reply of any other actor in the same way. Defaults to 4,096. In JSON: judge_tokens.
	JudgeTokens int
	// StepTimeout limits a step with all its attempts and waits, except waits for a rate limit that affects all
	// participants, or for an outage. Defaults to 5 minutes. In JSON: step_timeout, as "5m".
	StepTimeout time.Duration
	// StepAttempts is the maximum number of attempts of a step. The count starts again after a wait for a rate limit
	// that affects all participants. Defaults to 10. In JSON: step_attempts.
	StepAttempts int
	// OutageTime is how long a step tries to reach its provider before it fails like others, so that OnFailure applies. By
	// default, the step fails after its retries if others are answered meanwhile and the debate can go on without it, after
	// StepTimeout if nobody can tell, and otherwise tries for as long as the debate has time. In JSON: outage_time, as "2m".
	OutageTime time.Duration
	// RoundTime limits the running time of a round. When it is used up, the debate concludes. 0 means no limit. In
	// JSON: round_time, as "10m".
	RoundTime time.Duration
	// RoundDelay is the delay between rounds. It does not count as running time. Defaults to none. In JSON: round_delay, as "30s".
	RoundDelay  time.Duration
	ToolRounds  int           // limits the replies with calls of tools in a step. Defaults to 4, at most 16. In JSON: tool_rounds.
	ToolCalls   int           // limits the calls of tools in a step. Defaults to 16, at most 128. In JSON: tool_calls.
	ToolBytes   int           // limits a result that a model reads, in bytes. Defaults to 8,192, at most 32,768. In JSON: tool_bytes.
	ToolTimeout time.Duration // limits one call of a tool. Defaults to 30 s. In JSON: tool_timeout, as "30s".
}

// Attachment is a picture or a PDF document that is part of the question. It has Data or a URL, but not both. It is
// stored with the debate; Data is base64 in JSON.
//
// Data has at most 3,932,160 bytes, because that is 5 MiB in base64, the most that Anthropic accepts for a picture. All
// data of a debate has at most 12 MiB, because each prompt contains it, and Google accepts requests up to 20 MB. A picture
// has at most 8,000 pixels on each side, and a PDF at most 100 pages, as Anthropic's service requires.
type Attachment struct {
	// Name identifies the attachment in prompts, reports and errors, such as "photo.png". It is unique and has at most 128
	// bytes.
	Name string `json:"name"`
	// MediaType is image/png, image/jpeg, image/gif, image/webp or application/pdf. Data must be of that type.
	MediaType string `json:"media_type"`
	Data      []byte `json:"data,omitempty"`
	// URL is an https address. The library never fetches it: the model's service does. It is stored and shown, so it must
	// hold no secret.
	URL string `json:"url,omitempty"`
	// Pages is the number of pages of a PDF. By default, those in Data are counted. It is required with a URL.
	Pages int `json:"pages,omitempty"`
	// Readers are the participants and judges who see it. Defaults to all. Persona assigner, summarizer, retriever and
	// embedder never see it.
	Readers []string `json:"readers,omitempty"`
}

// FailurePolicy defines what happens when a model has failed after all attempts. Config lists the policies that each
// field accepts.
//
// If the provider rejects its key or the request, every policy except Ask stops the debate in an error, because
// continuing would hide the problem. Debate.Retry continues after an error.
type FailurePolicy string

const (
	// Degrade keeps the partial text of a participant that fails, as a turn with the flag transcript.Partial. A
	// participant without any text is dropped if the protocol accepts the remaining ones. Otherwise the debate
	// concludes with the completed rounds, or stops in an error if no round was completed. A summary or embedding
	// step that fails is skipped. If any other actor fails, the debate stops in an error. If a rate limit affects all
	// participants, because they share the provider or have had to wait for theirs, they wait as long as the time
	// budget allows.
	Degrade FailurePolicy = "degrade"
	// Ask pauses the debate with a Question.
	Ask FailurePolicy = "ask"
	// Continue replaces a judge's reply with the default of its contract and flags the turn. A retrieval step
	// continues without documents, and a refusal stands as a turn. If the contract has no default, the debate stops in an error.
	Continue FailurePolicy = "continue"
	// DropJudge continues without the judge that failed. If no judge is left, the debate runs to its limits and has
	// no verdict.
	DropJudge FailurePolicy = "drop_judge"
	// End ends the debate with the turns so far. If a judge failed, it takes no further part.
	End FailurePolicy = "end"
	// OverflowSummarize replaces the older half of the history with a summary. If the summary fails, it omits that
	// half.
	OverflowSummarize FailurePolicy = "summarize"
	// OverflowTruncate omits the older half of the history, and more if the prompt is still too long.
	OverflowTruncate FailurePolicy = "truncate"
)

// Actors yields every actor that calls a model, with the path of its field, such as "judges[0]", in order.
func (c *Config) Actors() iter.Seq2[string, Participant] {
	return func(yield func(string, Participant) bool) {
		lists := []struct {
			field  string
			actors []Participant
		}{
			{"participants", c.Participants},
			{"judges", c.Judges},
			{"substitutes", c.Substitutes},
		}
		for _, list := range lists {
			for i := range list.actors {
				p := list.actors[i]
				skipped := p.Disabled && list.field == "participants"
				if !skipped && !yield(actor.Field(list.field, i), p) {
					return
				}
			}
		}
		for _, system := range c.systemActors() {
			unused := system.field == "embedder" && c.Embedder.Provider == ""
			if !unused && !yield(system.field, *system.actor) {
				return
			}
		}
	}
}

type systemActor struct {
	field string
	name  string // under which it takes its steps
	actor *Participant
}

// systemActors returns the actors that are neither participants nor judges.
func (c *Config) systemActors() []systemActor {
	return []systemActor{
		{"persona_assigner", protocol.PersonaAssigner, &c.PersonaAssigner},
		{"summarizer", protocol.Summarizer, &c.Summarizer},
		{"retriever", protocol.Retriever, &c.Retriever},
		{"embedder", protocol.Embedder, &c.Embedder},
	}
}

// Actor returns the settings of the participant, judge or system actor with a name, or nil if nobody has it.
func (c *Config) Actor(name string) *Participant {
	for _, system := range c.systemActors() {
		if system.name == name {
			return system.actor
		}
	}
	if p := Find(c.Participants, name); p != nil {
		return p
	}
	return Find(c.Judges, name)
}

// Find returns the participant of a list with a name who is not disabled, or nil if there is none.
func Find(list []Participant, name string) *Participant {
	for i := range list {
		if list[i].Name == name && !list[i].Disabled {
			return &list[i]
		}
	}
	return nil
}

// HasPeople reports whether a person speaks for a participant or a judge.
func (c *Config) HasPeople() bool {
	human := func(p Participant) bool { return p.Human }
	return slices.ContainsFunc(c.Participants, human) || slices.ContainsFunc(c.Judges, human)
}

// Profile returns what prompts say of the participant.
func (p *Participant) Profile() transcript.Profile {
	return transcript.Profile{
		Name:         p.Name,
		Role:         p.Role,
		Side:         p.Side,
		Position:     p.Position,
		Persona:      p.Persona,
		Instructions: p.Instructions,
		Human:        p.Human,
	}
}

// Request returns a request to the participant's model, without a prompt.
func (p *Participant) Request() providers.Request {
	return providers.Request{
		Model:       p.Model,
		Temperature: p.Temperature,
		TopP:        p.TopP,
		Seed:        p.Seed,
		Stop:        p.Stop,
		Reasoning:   p.Reasoning,
		MaxTokens:   p.MaxTokens,
	}
}

// String describes the attachment without its bytes and without its address.
func (a Attachment) String() string {
	shown := providers.Attachment{
		Name:      a.Name,
		MediaType: a.MediaType,
		Data:      a.Data,
		URL:       a.URL,
		Pages:     a.Pages,
	}
	return shown.String()
}

// Format writes the result of String for every verb, so that no log holds the bytes.
func (a Attachment) Format(f fmt.State, _ rune) { fmt.Fprint(f, a.String()) }

// IsFor reports whether an actor sees the attachment.
func (a *Attachment) IsFor(name string) bool {
	return len(a.Readers) == 0 || slices.Contains(a.Readers, name)
}

// configJSON holds a Config in its JSON form.
type configJSON struct {
	*plainConfig
	Protocol json.RawMessage `json:"protocol,omitempty"`
	Limits   limitsJSON      `json:"limits,omitzero"`
}

type plainConfig Config // has no methods, so that encoding it does not call MarshalJSON again

// MarshalJSON encodes the protocol as an object with its name and parameters, and durations as strings such as
// "10m0s". UnmarshalJSON and Engine.ParseConfig decode it.
func (c Config) MarshalJSON() ([]byte, error) {
	w := configJSON{plainConfig: (*plainConfig)(&c), Limits: c.Limits.json()}
	if c.Protocol != nil {
		encoded, err := protocols.Encode(c.Protocol)
		if err != nil {
			return nil, err
		}
		w.Protocol = encoded
	}
	return json.Marshal(w)
}

// UnmarshalJSON decodes a configuration with one of the protocols of the library. It rejects unknown fields. It returns
// *Problems with everything that is wrong, by the names of the fields as you wrote them. Engine.ParseConfig decodes
// configurations with other protocols.
func (c *Config) UnmarshalJSON(b []byte) error {
	return DecodeConfig(
		b,
		c,
		protocols.NewRegistry(),
		"decode other protocols with Engine.ParseConfig",
	)
}

// DecodeConfig decodes a configuration that a person wrote. It returns *Problems with everything that is wrong with it. advice
// says what to do about a protocol that is not known.
func DecodeConfig(b []byte, c *Config, known *protocols.Registry, advice string) error {
	w := configJSON{plainConfig: (*plainConfig)(c), Limits: c.Limits.json()}
	found := strictjson.Decode("", b, &w)
	c.Limits = w.Limits.limits()
	p, wrong := known.Read(w.Protocol, advice)
	if p != nil {
		c.Protocol = p
	}
	var problems []protocol.Problem
	for _, x := range append(found, wrong...) {
		problems = append(problems, protocol.Problem{Field: cmp.Or(x.Path, "configuration"), Reason: x.Reason})
	}
	if len(problems) == 0 {
		return nil
	}
	return &Problems{List: problems}
}

// StoredConfig decodes a stored configuration without its protocol, which it returns as it is encoded. It rejects unknown fields.
func StoredConfig(b []byte) (c Config, encoded json.RawMessage, err error) {
	w := configJSON{plainConfig: (*plainConfig)(&c)}
	unknown, err := strictjson.Unmarshal(b, &w)
	err = cmp.Or(err, unknown)
	if err != nil {
		return Config{}, nil, err
	}
	c.Limits = w.Limits.limits()
	c.Participants = slices.Clone(c.Participants) // without the room that decoding leaves
	c.Judges = slices.Clone(c.Judges)
	return c, w.Protocol, nil
}

// limitsJSON has the fields of Limits for JSON, with durations as strings such as "90s" or "1h30m".
type limitsJSON struct {
	MinRounds    int      `json:"min_rounds,omitempty"`
	MaxRounds    int      `json:"max_rounds,omitempty"`
	RunningTime  duration `json:"running_time,omitzero"`
	OutputTokens int      `json:"output_tokens,omitempty"`
	Tokens       int      `json:"tokens,omitempty"`
	Cost         float64  `json:"cost,omitempty"`
	StepTokens   int      `json:"step_tokens,omitempty"`
	JudgeTokens  int      `json:"judge_tokens,omitempty"`
	StepTimeout  duration `json:"step_timeout,omitzero"`
	StepAttempts int      `json:"step_attempts,omitempty"`
	OutageTime   duration `json:"outage_time,omitzero"`
	RoundTime    duration `json:"round_time,omitzero"`
	RoundDelay   duration `json:"round_delay,omitzero"`
	ToolRounds   int      `json:"tool_rounds,omitempty"`
	ToolCalls    int      `json:"tool_calls,omitempty"`
	ToolBytes    int      `json:"tool_bytes,omitempty"`
	ToolTimeout  duration `json:"tool_timeout,omitzero"`
}

// json returns the JSON form of the limits.
func (l *Limits) json() limitsJSON {
	return limitsJSON{
		l.MinRounds, l.MaxRounds, duration(l.RunningTime), l.OutputTokens, l.Tokens, l.Cost, l.StepTokens, l.JudgeTokens,
		duration(l.StepTimeout), l.StepAttempts, duration(l.OutageTime), duration(l.RoundTime), duration(l.RoundDelay),
		l.ToolRounds, l.ToolCalls, l.ToolBytes, duration(l.ToolTimeout),
	}
}

// limits returns the limits that are in their JSON form.
func (l *limitsJSON) limits() Limits {
	return Limits{
		l.MinRounds, l.MaxRounds, time.Duration(l.RunningTime), l.OutputTokens, l.Tokens, l.Cost, l.StepTokens, l.JudgeTokens,
		time.Duration(l.StepTimeout), l.StepAttempts, time.Duration(l.OutageTime), time.Duration(l.RoundTime), time.Duration(l.RoundDelay),
		l.ToolRounds, l.ToolCalls, l.ToolBytes, time.Duration(l.ToolTimeout),
	}
}

// duration encodes to a string such as "90s".
type duration time.Duration

func (d duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

func (d *duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err != nil {
		return fmt.Errorf("%q is not a duration, use one such as \"90s\" or \"1h30m\"", b)
	}
	*d = duration(v)
	return nil
}
