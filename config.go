package debate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/detect"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/providers/retrieval"
	"github.com/elenchus-go/debate/transcript"
)

// makesNoText says whether an actor writes nothing: it finds or measures.
func makesNoText(actor string) bool { return actor == protocol.Retriever || actor == protocol.Embedder }

const maxRounds = 10_000

// protocolRecord is what the protocol sees before anything was said.
func (c Config) protocolRecord() *protocol.Record {
	r := &protocol.Record{ID: c.ID, Topic: c.Topic, Participants: participantProfiles(c), MinRounds: c.Limits.MinRounds, MaxRounds: c.Limits.MaxRounds}
	r.Cursor = transcript.Cursor{Run: 1}
	for _, j := range c.Judges {
		r.Judges = append(r.Judges, j.Name)
	}
	return r
}

// allActors are all who call a model, by their field, in order.
func (c Config) allActors() func(func(string, Participant) bool) {
	return func(yield func(string, Participant) bool) {
		for i, p := range c.Participants {
			if !p.Disabled && !yield(fmt.Sprintf("participants[%d]", i), p) {
				return
			}
		}
		for i, p := range c.Judges {
			if !yield(fmt.Sprintf("judges[%d]", i), p) {
				return
			}
		}
		for i, p := range c.Substitutes {
			if !yield(fmt.Sprintf("substitutes[%d]", i), p) {
				return
			}
		}
		_ = yield("persona_assigner", c.PersonaAssigner) && yield("summarizer", c.Summarizer) && yield("retriever", c.Retriever) &&
			(c.Embedder.Provider == "" || yield("embedder", c.Embedder))
	}
}

// systemActors are the names of those who are neither participants nor judges.
var systemActors = []string{protocol.PersonaAssigner, protocol.Summarizer, protocol.Retriever, protocol.Embedder}

// builtInRetriever are what the retriever of a debate finds where it names no other.
var builtInRetriever = retrieval.TemplateRetriever()

// Config says what a debate is. It is data: it is stored with the debate and survives JSON, it holds names and never
// live things or secrets. [Engine.ParseConfig] reads its JSON.
type Config struct {
	// ID names the debate: letters, digits, '.', '_' and '-', at most 128. Defaults to a new UUID of version 7, which
	// sorts by time.
	ID string `json:"id,omitempty"`
	// Topic is the question or claim that is debated.
	Topic string `json:"topic"`
	// Background is what everyone should know, shown in each system prompt.
	Background string `json:"background,omitempty"`
	// Protocol says who speaks when. Defaults to panel.Protocol{}, a free-form sequential panel.
	Protocol protocol.Protocol `json:"-"`
	// Participants debate, in this order.
	Participants []Participant `json:"participants"`
	// Judges assess and conclude, as the protocol has it: several of a panel's are a bench, of other protocols' the first
	// judges. They take no Side and no Position, and cannot be Disabled.
	Judges []Participant `json:"judges,omitempty"`
	// Substitutes give a judge's reply, in its name, where its model fails for good: one after the other, in this order.
	// Only what concerns the model means something.
	Substitutes []Participant `json:"substitutes,omitempty"`
	// PersonaAssigner assigns personas, and Summarizer makes summaries, where the protocol has such steps; only what concerns the
	// model means something. Provider, Model and Window default to the first judge's, else the first participant's. A
	// Provider without a Model means that provider's own model.
	PersonaAssigner Participant `json:"persona_assigner,omitzero"`
	Summarizer      Participant `json:"summarizer,omitzero"`
	// Retriever finds documents, where the protocol has such steps; its Provider defaults to the library's own templates of
	// reasoning. Embedder makes vectors of what was said, for the rules of Watch that go by them; its Window, of which each
	// text is cut to fit, defaults to 8,000. See package providers/retrieval for both.
	Retriever Participant `json:"retriever,omitzero"`
	Embedder  Participant `json:"embedder,omitzero"`
	// Rubric is what judges score by. Its zero value is the usual one; see judge.Rubric.
	Rubric judge.Rubric `json:"rubric,omitempty"`
	// History says how histories are kept inside a model's window. Defaults to a hybrid without summaries. Summaries are
	// steps, by Summarizer and its Instructions, that come before the steps that need them.
	History window.Policy `json:"history,omitzero"`
	// Detect is what is measured of each round, and what follows from it: it is reported, it advises the judges, or it stops
	// the debate, not before MinRounds. Findings stand in StateChanged and Result.
	Detect []detect.Rule `json:"detect,omitempty"`
	// Limits bound the debate.
	Limits Limits `json:"limits,omitzero"`
	// OnFailure says what happens when a model fails after all attempts: Degrade or Ask. Defaults to Degrade.
	OnFailure FailurePolicy `json:"on_failure,omitempty"`
	// OnJudgeFailure says the same of a judge whose substitutes have failed too: GoOn, WithoutJudge, End or Ask. Defaults
	// to GoOn.
	OnJudgeFailure FailurePolicy `json:"on_judge_failure,omitempty"`
	// OnRetrievalFailure says the same of a step that finds documents: Degrade, which stops the debate in an error, GoOn
	// without any, or Ask. Defaults to Degrade.
	OnRetrievalFailure FailurePolicy `json:"on_retrieval_failure,omitempty"`
	// OnOverflow says what happens when a service finds a prompt too long: Truncate, Summarize, End, or Degrade, by which
	// it is a failure like others. Defaults to Truncate.
	OnOverflow FailurePolicy `json:"on_overflow,omitempty"`
	// Retries are how often a call is made again, by the kind of its failure, within Limits.StepAttempts. What it leaves out
	// defaults to 3 for network, 5 for rate_limit, 2 for server_error and timeout, 1 for invalid_response (with the findings)
	// and 0 for others. The wait before the nth of a kind is drawn between 1 s and 2^n s, at most 60 s, and never less
	// than the service asks for. No wait is begun that would outlast the step's timeout or the time budget.
	Retries map[providers.ErrorKind]int `json:"retries,omitempty"`
	// Prices are what models cost, by their names. A model that is not among them has no known price, and Limits.Cost
	// needs one for each.
	Prices price.Prices `json:"prices,omitempty"`
	// Labels are the caller's own, to List by.
	Labels map[string]string `json:"labels,omitempty"`
}

// Participant is somebody who speaks, and the model behind.
type Participant struct {
	Name         string `json:"name,omitempty"`         // unique in the debate
	Role         string `json:"role,omitempty"`         // what it is there for, such as "economist"
	Side         string `json:"side,omitempty"`         // participants of one side argue together, and are summed up together
	Position     string `json:"position,omitempty"`     // the claim it defends
	Persona      string `json:"persona,omitempty"`      // who it is, in prose
	Instructions string `json:"instructions,omitempty"` // your own words to the model
	Disabled     bool   `json:"disabled,omitempty"`     // takes no part

	// Provider is a name in Options.Providers. Defaults to the only one there.
	Provider string `json:"provider,omitempty"`
	// Model is the model's name. Defaults to the provider's own.
	Model string `json:"model,omitempty"`
	// Temperature is from 0 to 2. Defaults to the protocol's own, else to 0.7 for participants and 0.2 for judges; to 0.3
	// for the summarizer and 0.9 for casting.
	Temperature *float64 `json:"temperature,omitempty"`
	// MaxTokens caps each of its replies. Defaults to Limits.StepTokens, for judges, the summarizer and casting to
	// Limits.JudgeTokens.
	MaxTokens int `json:"max_tokens,omitempty"`
	// Window is how many tokens the model reads and writes in one call. Defaults to 32,000.
	Window int `json:"window,omitempty"`
}

// Limits bound a debate. The zero value of each field means its default; a protocol may have defaults of its own, which its
// documentation gives. Budgets are checked where a phase begins, with the worst case of all its steps and of the conclusion,
// each reply counted once: what failed attempts use on top of that, and a structured reply that was cut and is asked for
// with twice its cap, counts from the next phase on. What calls use that are cut by a person, or fail while the debate is
// paused, is not known.
type Limits struct {
	MinRounds   int           // nothing but a budget or a person ends it before; defaults to 1
	MaxRounds   int           // defaults to 5, or to MinRounds where that is more
	RunningTime time.Duration // of running, pauses not counted; defaults to 1 hour
	// OutputTokens is the budget for all replies, from which room for the conclusion is kept. Defaults to twice
	// what the prelude, MaxRounds rounds and the conclusion can use when every reply is as long as its cap.
	OutputTokens int
	Tokens       int           // the budget for prompts and replies together; 0: none
	Cost         float64       // the budget in the currency of Config.Prices; 0: none
	StepTokens   int           // cap of a participant's reply, reasoning included; defaults to 4,096
	JudgeTokens  int           // cap of any other reply; defaults to 4,096
	StepTimeout  time.Duration // for a step with all its attempts and waits, rests for a rate limit apart; defaults to 5 minutes
	StepAttempts int           // that a step makes at most, those around such a rest apart; defaults to 10
	RoundTime    time.Duration // of running that a round may take before the debate concludes; 0: none
	RoundDelay   time.Duration // between rounds; defaults to none
}

// FailurePolicy says what happens when a model fails after all attempts. A key or a request that is refused stops the
// debate in an error, whatever the policy, unless that is Ask: to go on would only hide it. Retry goes on from an error.
type FailurePolicy string

const (
	// Degrade keeps what a participant that fails had said until then, as a turn that is marked as partial. One that has
	// said nothing is dropped, as long as the protocol accepts those who remain; without them the debate concludes with
	// what there is, or stops in an error where no round was completed. When anyone else fails, the debate stops in an
	// error. Where a rate limit hits all participants, who call one provider or have had to wait at theirs, they wait for
	// as long as the time budget lasts.
	Degrade FailurePolicy = "degrade"
	// Ask pauses the debate with a Question.
	Ask FailurePolicy = "ask"
	// Continue takes the safe defaults of the reply that a judge should have given, and marks them. A debate whose reply has
	// none stops in an error.
	Continue FailurePolicy = "go_on"
	// DropJudge goes on without the judge that failed: without any, to the limits and without a verdict.
	DropJudge FailurePolicy = "without_judge"
	// End ends the debate with what was said, without the judge that failed.
	End FailurePolicy = "end"
	// OverflowSummarize has the summarizer sum up the older half of the history, in its place; where that fails, it is left out.
	OverflowSummarize FailurePolicy = "summarize"
	// OverflowTruncate leaves out the older half of the history, and more where that is still too long.
	OverflowTruncate FailurePolicy = "truncate"
)

// active are the participants who are not disabled.
func (c Config) active() []Participant {
	return slices.DeleteFunc(slices.Clone(c.Participants), func(p Participant) bool { return p.Disabled })
}

func (p Participant) profile() transcript.Profile {
	return transcript.Profile{Name: p.Name, Role: p.Role, Side: p.Side, Position: p.Position, Persona: p.Persona, Instructions: p.Instructions}
}

func participantProfiles(c Config) (list []transcript.Profile) {
	for _, p := range c.active() {
		list = append(list, p.profile())
	}
	return list
}

func judgeProfiles(c Config) (list []transcript.Profile) {
	for _, j := range c.Judges {
		list = append(list, j.profile())
	}
	return list
}

// templatesProvider is the name of the retriever that the library brings along.
const templatesProvider = "templates"

// needsEmbeddings says whether vectors of the speeches are wanted.
func (c *Config) needsEmbeddings() bool {
	return slices.ContainsFunc(c.Detect, func(r detect.Rule) bool { return r.EffectiveMethod() == "vectors" })
}

func names(seats []transcript.Profile) []string {
	list := make([]string, len(seats))
	for i, s := range seats {
		list[i] = s.Name
	}
	return list
}

// defaultRetries are how many times a call is made again, by the kind of its failure, where the configuration says nothing.
var defaultRetries = map[providers.ErrorKind]int{
	providers.Network: 3, providers.RateLimit: 5, providers.ServerError: 2, providers.Timeout: 2, providers.InvalidResponse: 1,
	providers.ContextOverflow: 0, providers.Authentication: 0, providers.InvalidRequest: 0,
}

// settings is the model behind a participant, a judge or a helper; nil: nobody has that name.
func (c *Config) settings(name string) *Participant {
	switch name {
	case protocol.PersonaAssigner:
		return &c.PersonaAssigner
	case protocol.Summarizer:
		return &c.Summarizer
	case protocol.Retriever:
		return &c.Retriever
	case protocol.Embedder:
		return &c.Embedder
	}
	if p := findParticipant(c.Participants, name); p != nil {
		return p
	}
	return findParticipant(c.Judges, name)
}

// findParticipant is who has a name; nil: nobody.
func findParticipant(list []Participant, name string) *Participant {
	for i := range list {
		if list[i].Name == name && !list[i].Disabled {
			return &list[i]
		}
	}
	return nil
}

// selfPreferenceWarnings are the judges who are of one model with a participant: models are known to like their own words. Named resolves
// the name of a provider.
func (c *Config) selfPreferenceWarnings(named func(string) string) (list []string) {
	for i, j := range slices.Concat(c.Judges, c.Substitutes) {
		var kin []string
		for _, p := range c.active() {
			if named(p.Provider) == named(j.Provider) && p.Model == j.Model {
				kin = append(kin, p.Name)
			}
		}
		if len(kin) == 0 {
			continue
		}
		who := "judge " + j.Name
		if i >= len(c.Judges) {
			who = fmt.Sprintf("substitutes[%d]", i-len(c.Judges))
		}
		list = append(list, fmt.Sprintf("%s is of one model with %s, and may favour what it would say itself", who, strings.Join(kin, ", ")))
	}
	return list
}
