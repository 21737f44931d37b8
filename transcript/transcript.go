// Package transcript defines the data of a debate: its turns, their keys, token usage and outcomes.
//
//	for _, t := range result.Turns {
//		fmt.Printf("%s (%s, round %d): %s\n", t.Actor, t.Kind, t.Round, t.Text)
//		if t.Contract == "vote/1" {
//			ballot, err := transcript.Decode[vote.Ballot](t)
//			fmt.Println(ballot.Answer, err)
//		}
//	}
//
// A [Turn] is one committed step of a debate. Its [Key] names the step and is unique in the debate. A [Cursor] says how
// far a debate has come, and an [Ending] says why it ended. All types are plain data that survives JSON. The package
// does no I/O.
package transcript

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Kind says which part of a debate asked for a turn. The first four are also the stages of a protocol.
type Kind string

// The kinds of turns.
const (
	Setup      Kind = "setup"      // before round 1: personas
	Speech     Kind = "speech"     // a participant speaks
	Assessment Kind = "assessment" // a judge looks at the round
	Conclusion Kind = "conclusion" // the verdict
	Remark     Kind = "remark"     // a person's, between turns
	Summary    Kind = "summary"    // of turns, for prompts that have no room for them
	Embeddings Kind = "embeddings" // of a round's speeches, to measure them by
)

// Profile is a participant as prompts and protocols see it: who one is, without the model behind.
type Profile struct {
	Name         string   `json:"name"`
	Role         string   `json:"role,omitempty"`
	Side         string   `json:"side,omitempty"`          // participants of one side argue together; its totals are summed
	Position     string   `json:"position,omitempty"`      // the claim it defends
	Persona      string   `json:"persona,omitempty"`       // who it is, in prose
	Instructions string   `json:"instructions,omitempty"`  // the user's own words to the model
	KeyArguments []string `json:"key_arguments,omitempty"` // given together with an assigned persona
}

// Key names one step of one debate, and so at most one turn.
type Key struct {
	Run    int    `json:"run"`              // 1, and one more after each reset
	Round  int    `json:"round"`            // 0 in the prelude
	Phase  string `json:"phase"`            // unique within a stage of a round
	Actor  string `json:"actor"`            // who acts
	Target string `json:"target,omitempty"` // whom or what it is about
}

// String is the key's canonical form, run/round/phase/actor/target. It is unique as long as neither phase nor actor has
// a slash.
func (k Key) String() string {
	return strconv.Itoa(k.Run) + "/" + strconv.Itoa(k.Round) + "/" + k.Phase + "/" + k.Actor + "/" + k.Target
}

// Turn is one committed step. Turns are immutable: copy one before you change it.
type Turn struct {
	Key
	Kind       Kind            `json:"kind"`
	Order      int             `json:"order"`              // its step's place in the phase, from 0: turns are sorted by it, not by arrival
	Seq        int64           `json:"seq"`                // its place in the journal
	VisibleSeq int64           `json:"visible_seq"`        // its prompt showed nothing later than this seq
	Text       string          `json:"text"`               // what readers see
	Contract   string          `json:"contract,omitempty"` // the contract of Data, such as "assessment/1"
	Data       json.RawMessage `json:"data,omitempty"`     // the validated reply
	Flags      []Flag          `json:"flags,omitempty"`    // what a reader should know about how it came to be
	Tokens     int             `json:"tokens"`             // of Text, estimated once, at commit
	Usage      Usage           `json:"usage"`              // of all attempts
	Window     *Window         `json:"window,omitempty"`   // how its prompt was fitted; nil where nothing was cut
	Attempts   []Attempt       `json:"attempts"`           // in order; the last one gave the turn
	Started    time.Time       `json:"started"`
	Ended      time.Time       `json:"ended"`
	// ViewerTime is about how much of the time since Began, or since the entry before where that is later, the debate's
	// viewer took, in nanoseconds. It does not count as running time.
	ViewerTime time.Duration `json:"viewer_time,omitempty"`
}

// Flag marks a turn.
type Flag string

// The flags of turns.
const (
	Truncated   Flag = "truncated"   // the model was cut at its token cap
	Defaulted   Flag = "defaulted"   // no valid reply came: Data holds safe defaults
	Reasked     Flag = "reasked"     // the first reply was invalid or cut
	Repaired    Flag = "repaired"    // the reply's syntax was corrected
	Partial     Flag = "partial"     // the model failed for good, this is as far as it came
	Substituted Flag = "substituted" // another model spoke in a judge's name
	Filtered    Flag = "filtered"    // the service held back the rest
)

// Decode reads a turn's validated reply into the Go type of its contract.
func Decode[T any](t Turn) (v T, err error) {
	if err = json.Unmarshal(t.Data, &v); err != nil {
		err = fmt.Errorf("decode %s of turn %s: %w", t.Contract, t.Key, err)
	}
	return v, err
}

// Attempt is one call of a model for a turn.
type Attempt struct {
	Provider     string        `json:"provider"`                // its name in the options
	Model        string        `json:"model,omitempty"`         // as the provider reported it, else as it was asked for
	FinishReason string        `json:"finish_reason,omitempty"` // why the model stopped
	ErrorKind    string        `json:"error_kind,omitempty"`    // the kind of error; empty for the attempt that gave the turn
	ErrorMessage string        `json:"error_message,omitempty"` // the error in words
	PromptTokens int           `json:"prompt_tokens,omitempty"` // tokens of its prompt, estimated
	Usage        Usage         `json:"usage"`
	Duration     time.Duration `json:"duration"` // in nanoseconds
}

// Usage counts tokens.
type Usage struct {
	Input     int  `json:"input"`               // tokens of prompts, cached ones included
	Cached    int  `json:"cached,omitempty"`    // of Input, those the provider read from its cache
	Output    int  `json:"output"`              // tokens of replies, reasoning included
	Reasoning int  `json:"reasoning,omitempty"` // of Output, those not shown
	Estimated bool `json:"estimated,omitempty"` // a part was estimated, since a provider reported none
	// Cost is what it cost, in the currency of the debate's prices; Unpriced says that a part has no known price. Both are
	// left out where a debate has no prices.
	Cost     float64 `json:"cost,omitempty"`
	Unpriced bool    `json:"unpriced,omitempty"`
}

// Add is the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, Cached: u.Cached + v.Cached,
		Output: u.Output + v.Output, Reasoning: u.Reasoning + v.Reasoning,
		Estimated: u.Estimated || v.Estimated, Cost: u.Cost + v.Cost, Unpriced: u.Unpriced || v.Unpriced,
	}
}

// Window says how a prompt was fitted into its reader's context window. All counts are estimated tokens.
type Window struct {
	Limit   int `json:"limit"`   // room for the history
	Used    int `json:"used"`    // by the history that was kept
	Kept    int `json:"kept"`    // turns that were shown
	Omitted int `json:"omitted"` // turns that were left out
	// Summarized are the turns that a summary stood for, and Percent is how much of Limit the history would take if nothing
	// but those were left out.
	Summarized int `json:"summarized,omitempty"`
	Percent    int `json:"percent,omitempty"`
}

// Cursor says where a debate stands. It is derived from the journal, never written by hand.
type Cursor struct {
	Run      int    `json:"run"`             // 1, and one more after each reset
	Round    int    `json:"round"`           // 0 before the first
	Stage    Kind   `json:"stage,omitempty"` // empty where no protocol has a word: configuring, final
	Phase    string `json:"phase,omitempty"` // empty until the first phase of the stage has begun
	PhaseSeq int64  `json:"phase_seq"`       // the seq at which the phase began: the horizon of a parallel phase
}

// Outcome says why a debate ended; empty while it goes on. Protocols may name their own.
type Outcome string

// The outcomes. Those of a protocol's own come first, and each protocol uses some of them.
const (
	JudgeDecided       Outcome = "judge_decided"
	Converged          Outcome = "converged"
	DiminishingReturns Outcome = "diminishing_returns"
	Unanimous          Outcome = "unanimous"
	EarlyStop          Outcome = "early_stop"
	RoundLimit         Outcome = "round_limit"
	TokenBudget        Outcome = "token_budget"
	CostBudget         Outcome = "cost_budget"
	TimeBudget         Outcome = "time_budget"
	QuorumLost         Outcome = "quorum_lost"
	Stopped            Outcome = "stopped"
	Canceled           Outcome = "canceled"
)

// Ending is an outcome with its evidence. The zero Ending means that the debate goes on.
type Ending struct {
	Outcome  Outcome `json:"outcome,omitempty"`
	Round    int     `json:"round,omitempty"`    // in which it was decided; filled in by the engine
	Evidence string  `json:"evidence,omitempty"` // what led to it, in words
}
