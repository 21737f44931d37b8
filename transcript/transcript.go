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
// A [Turn] is one committed step of a debate. Its [Key] identifies the step and is unique in the debate. A [Cursor] is
// the current position of a debate, and an [Ending] is the reason why it ended. All types are plain data that you can
// encode as JSON and decode again without loss. The package does no I/O.
package transcript

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/elenchus-go/debate/internal/contract"
)

// Kind is the part of a debate to which a turn belongs. The first four kinds are also the stages of a protocol.
type Kind string

// The kinds of turns.
const (
	Setup      Kind = "setup"      // before round 1, such as personas
	Speech     Kind = "speech"     // a participant's statement
	Assessment Kind = "assessment" // a judge's assessment of the round
	Conclusion Kind = "conclusion" // after the last round, such as the verdict
	Remark     Kind = "remark"     // a person's remark between turns
	Summary    Kind = "summary"    // a summary of turns that do not fit into a prompt
	Embeddings Kind = "embeddings" // vectors of a round's speeches, for detectors
	Silence    Kind = "silence"    // in place of a speech, in a fork whose edits make it silent; empty, and no prompt shows it
)

// Profile is the description of a participant for prompts and protocols. It does not name a model.
type Profile struct {
	Name         string   `json:"name"`
	Role         string   `json:"role,omitempty"`
	Side         string   `json:"side,omitempty"`          // participants on one side argue together
	Position     string   `json:"position,omitempty"`      // the claim that the participant defends
	Persona      string   `json:"persona,omitempty"`       // description of the participant in prose
	Instructions string   `json:"instructions,omitempty"`  // additional instructions of the user to the model
	KeyArguments []string `json:"key_arguments,omitempty"` // set together with an assigned persona
	Human        bool     `json:"human,omitempty"`         // whether a person speaks
}

// Key identifies one step of a debate. At most one turn has a given key.
type Key struct {
	Run    int    `json:"run"`              // starts at 1 and increases with each reset
	Round  int    `json:"round"`            // starts at 1; 0 in the setup stage
	Phase  string `json:"phase"`            // unique within a stage of a round
	Actor  string `json:"actor"`            // the participant, judge or system actor
	Target string `json:"target,omitempty"` // the participant or thing that the step is about
}

// String returns the key as run/round/phase/actor/target. Different keys have different strings if neither phase nor
// actor contains a slash.
func (k Key) String() string {
	return strconv.Itoa(k.Run) + "/" + strconv.Itoa(k.Round) + "/" + k.Phase + "/" + k.Actor + "/" + k.Target
}

// Turn is one committed step. Turns are immutable: copy a turn before you change it.
type Turn struct {
	Key
	Kind       Kind            `json:"kind"`
	Order      int             `json:"order"`              // position in the phase, from 0; turns are sorted by it
	Seq        int64           `json:"seq"`                // sequence number of its entry in the journal
	VisibleSeq int64           `json:"visible_seq"`        // its prompt showed no turn with a later seq
	Text       string          `json:"text"`               // the text for readers
	Contract   string          `json:"contract,omitempty"` // the contract of Data, such as "assessment/1"; empty for free text
	Data       json.RawMessage `json:"data,omitempty"`     // the validated reply; empty for free text
	Flags      []Flag          `json:"flags,omitempty"`    // how the reply was obtained
	Tokens     int             `json:"tokens"`             // estimated tokens of Text, counted once at commit
	Usage      Usage           `json:"usage"`              // sum over all attempts
	Window     *Window         `json:"window,omitempty"`   // how its prompt was fitted; nil if nothing was cut
	Attempts   []Attempt       `json:"attempts"`           // in order; the last one produced the turn
	By         string          `json:"by,omitempty"`       // who gave the reply of a person's step; empty for a model
	Started    time.Time       `json:"started"`
	Ended      time.Time       `json:"ended"`
	// ViewerTime is the approximate time, in nanoseconds, that the consumer of the debate's events took since Started, or
	// since the previous journal entry if that is later. It does not count as running time.
	ViewerTime time.Duration `json:"viewer_time,omitempty"`
	// Reasoning is what the model thought before it replied. It is nil if nothing is kept.
	Reasoning *Reasoning `json:"reasoning,omitempty"`
	// Extracted is the answer that Options.ExtractAnswer found in a speech, or "" if it found none. It is nil if no rule of
	// Config.Detect compared answers.
	Extracted *string `json:"extracted,omitempty"`
	// Citations are what Text cites and quotes: the quotes in order, and then the sources that are only cited. It is nil if
	// there are none, or if the debate has no sources.
	Citations []Citation `json:"citations,omitempty"`
}

// Citation is a source that a text cites as [3], or quotes as <quote source="3">…</quote>.
type Citation struct {
	Source int    `json:"source"`          // the number of the source; 0 if the text names no source that there is
	Quote  string `json:"quote,omitempty"` // the words between the tags; empty if the source is only cited
	// Verdict is what the engine has found out when the turn was committed. It is empty if a source is only cited, and there
	// is such a source: nothing says whether it supports the text.
	Verdict Verdict `json:"verdict,omitempty"`
	Omitted int     `json:"omitted,omitempty"` // words of the source that a verified quote leaves out and marks with an ellipsis
	// File, Line and EndLine say where a verified quote of code stands: the name of the source, and the first and the last line,
	// from 1. Of a diff, they are the path of the changed file and its lines. They are zero for other texts, which have no lines that
	// a reader could count.
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	EndLine int    `json:"end_line,omitempty"`
}

// Verdict is the result of a check of a citation.
type Verdict string

// The verdicts.
const (
	Verified   Verdict = "verified"    // the source contains the quote, or its pieces in order if it marks omissions
	Altered    Verdict = "altered"     // the source contains a passage with most of the words, but not the quote
	NotFound   Verdict = "not_found"   // there is no such source, or it contains nothing like the quote
	NotChecked Verdict = "not_checked" // the text of the source is not known to whoever committed the turn, or the quote is too short
)

// Reasoning is what a model thought before it replied. It is not part of the reply.
type Reasoning struct {
	Text string `json:"text,omitempty"` // only if Options.KeepReasoning is set; no prompt contains it
	// Opaque is what only the model's service can read, such as encrypted reasoning, in a form of the library's own. Later
	// prompts of the same actor contain it, as long as they go to the same model.
	Opaque json.RawMessage `json:"opaque,omitempty"`
}

// Flag describes how the reply of a turn was obtained.
type Flag string

// The flags of turns.
const (
	Truncated    Flag = "truncated"     // the reply was cut off at the token limit
	Defaulted    Flag = "defaulted"     // there was no valid reply; Data holds the default of the contract
	Reasked      Flag = "reasked"       // the first reply was invalid, doubtful or no speech, and was requested again
	Repaired     Flag = "repaired"      // the reply's syntax was corrected
	Partial      Flag = "partial"       // the model failed, and the turn holds the part that was received
	Substituted  Flag = "substituted"   // another model replied in place of the judge's own
	Filtered     Flag = "filtered"      // a content filter of the service cut off the reply
	Edited       Flag = "edited"        // a person has given the reply, in a fork
	SpecialToken Flag = "special_token" // the text has what looks like a special token of a model
	Refused      Flag = "refused"       // the model declined to speak, twice; the text is what it said instead of a speech
	// SpokeForOthers means that the reply had lines for others too, twice. The text is the speaker's part; the attempt has the whole.
	SpokeForOthers Flag = "spoke_for_others"
)

// Decode decodes the validated reply of a turn into T, the Go type of the turn's contract. It returns an error if T is
// the type of other contracts, or if the turn is free text. A type that no contract has, such as a struct with a part of
// the fields, decodes every reply.
func Decode[T any](t Turn) (v T, err error) {
	known := contract.Names(reflect.TypeFor[T]())
	switch {
	case t.Contract == "" && len(t.Data) == 0:
		return v, fmt.Errorf("decode turn %s as %T: the turn is free text", t.Key, v)
	case len(known) > 0 && !slices.Contains(known, t.Contract):
		return v, fmt.Errorf("decode turn %s as %T: the turn's contract is %q, want %s", t.Key, v, t.Contract, strings.Join(known, " or "))
	}
	err = json.Unmarshal(t.Data, &v)
	if err != nil {
		err = fmt.Errorf("decode %s of turn %s: %w", t.Contract, t.Key, err)
	}
	return v, err
}

// Refusal returns why no reply to a defaulted turn was valid: the violations of the last reply, or the kind of the last error.
// It contains no text of a model. It is empty if no attempt failed.
func (t *Turn) Refusal() string {
	for _, a := range slices.Backward(t.Attempts) {
		switch {
		case len(a.Violations) > 0:
			return strings.Join(a.Violations, "; ")
		case a.FinishReason == "length":
			return "it was cut off at its token limit"
		case a.ErrorKind == "invalid_response": // empty, or the service says no more
			return ""
		case a.ErrorKind != "":
			return "the last error was " + a.ErrorKind
		}
	}
	return ""
}

// Attempt is one request to a model for a turn.
type Attempt struct {
	Provider       string        `json:"provider"`                  // name of the provider in the options
	Model          string        `json:"model,omitempty"`           // as reported by the provider, or else as requested
	Requested      string        `json:"requested,omitempty"`       // the model as requested, if the provider reported another name
	FinishReason   string        `json:"finish_reason,omitempty"`   // why the model stopped, as reported by the provider
	ErrorKind      string        `json:"error_kind,omitempty"`      // kind of the error; empty for the successful attempt; a doubtful reply has invalid_response and can stand
	ErrorMessage   string        `json:"error_message,omitempty"`   // message of the error
	Next           Next          `json:"next,omitempty"`            // what followed; empty if the reply is the turn
	PromptTokens   int           `json:"prompt_tokens,omitempty"`   // estimated tokens of the prompt
	Cut            bool          `json:"cut,omitempty"`             // the service seems to have cut the prompt, so Usage.Input counts what was left
	Counted        bool          `json:"counted,omitempty"`         // Usage.Input counts the prompt, although the reply was not valid
	Hash           string        `json:"hash,omitempty"`            // hash of the request with a key that the journal has and nothing shows; see Debate.PromptOf
	ToolsForbidden bool          `json:"tools_forbidden,omitempty"` // the model has tools, but this call had to reply without them
	Usage          Usage         `json:"usage"`
	Began          time.Time     `json:"began,omitzero"`        // when the call began
	Waited         time.Duration `json:"waited,omitempty"`      // wait before it, after an earlier attempt or call of the actor, in nanoseconds
	FirstChunk     time.Duration `json:"first_chunk,omitempty"` // from Began to the first piece of the reply, in nanoseconds; 0 if none came
	Duration       time.Duration `json:"duration"`              // of the call, in nanoseconds
	Violations     []string      `json:"violations,omitempty"`  // why the reply was not valid: paths and rules, without texts
	Warnings       []string      `json:"warnings,omitempty"`    // what the provider changed in the request, and what was noticed about the service
	Reply          string        `json:"reply,omitempty"`       // as it came; with Options.KeepReplies, or if the turn lacks a part of it
	ReplyCut       bool          `json:"reply_cut,omitempty"`   // Reply is only the beginning: the journal keeps 64 KiB
	Read           []Access      `json:"read,omitempty"`        // what the model looked at by itself, such as files, in order
}

// Next says what followed a request to a model.
type Next string

// What can follow a request. "The prompt" is that of the next request.
const (
	NextAskedAgain       Next = "asked_again"       // the prompt had the reply too, why it is not valid, and a request for a valid one
	NextReconsidered     Next = "reconsidered"      // the prompt had the reply too, which is valid, and why it is doubtful
	NextAskedAlone       Next = "asked_alone"       // the prompt also asked the model to speak only for itself
	NextInsisted         Next = "insisted"          // the prompt also asked the model to speak, although it had declined
	NextCapRaised        Next = "cap_raised"        // the same prompt, with a higher token limit of the reply
	NextCapRaisedMore    Next = "cap_raised_more"   // the same, with a limit that leaves room for reasoning
	NextShortened        Next = "shortened"         // the prompt was shortened, because it was too long for the model
	NextSummary          Next = "summary"           // a request for a summary of a part of the prompt, which is the next attempt
	NextSummarized       Next = "summarized"        // after such a request: the prompt had the summary in place of the part
	NextReasoningDropped Next = "reasoning_dropped" // the prompt had no reasoning of earlier turns any more
	NextTools            Next = "tools"             // the calls of tools ran, and the prompt had their results
	NextWithoutTools     Next = "without_tools"     // the model had to reply without calls of tools
	NextRetried          Next = "retried"           // the same request after a short wait; after a loop, it also asked to avoid repetition
	NextWaited           Next = "waited"            // the same request, after a wait for a rate limit of all or for a provider out of reach
	NextSubstitute       Next = "substitute"        // the first request to a substitute
	NextGivenUp          Next = "given_up"          // nothing: the step ended without a reply to this request
)

// Access is something that a model looked at by itself before it replied, with tools of its own. A coding agent reads files, for
// example. It is what the model's service reports; nothing proves it.
type Access struct {
	Kind   string  `json:"kind,omitempty"`   // such as "read", "search", "fetch" or "execute"
	Title  string  `json:"title"`            // in the words of the service
	Places []Place `json:"places,omitempty"` // where the model looked, if the service reports it
	Failed bool    `json:"failed,omitempty"` // the model saw nothing, for example because it may not do this
}

// Place is a file, or a line of a file.
type Place struct {
	Path string `json:"path"`           // relative to the folder in which the model works, if it is below it
	Line int    `json:"line,omitempty"` // from 1; 0 for the whole file
}

// String returns the path, and after a colon the line if there is one.
func (p Place) String() string {
	if p.Line == 0 {
		return p.Path
	}
	return p.Path + ":" + strconv.Itoa(p.Line)
}

// Signature says who has signed a debate.
type Signature struct {
	Signer  string `json:"signer"`  // name of the key
	Entries int64  `json:"entries"` // number of the entries that are signed, from the first one
	Head    string `json:"head"`    // hash that covers them, in base64url
}

// Usage is the number of tokens used, and their cost.
type Usage struct {
	Input     int  `json:"input"`               // tokens of prompts, including cached ones
	Cached    int  `json:"cached,omitempty"`    // the part of Input that the provider read from its cache
	Written   int  `json:"written,omitempty"`   // another part of Input, which the provider wrote to its cache
	Output    int  `json:"output"`              // tokens of replies, including reasoning
	Reasoning int  `json:"reasoning,omitempty"` // the part of Output that was spent on hidden reasoning
	Estimated bool `json:"estimated,omitempty"` // at least one number was estimated because a provider reported none
	// Cost is the cost in the currency of the debate's prices. Unpriced reports that a part has no known price and is not
	// included. Both are zero if the debate has no prices.
	Cost     float64 `json:"cost,omitempty"`
	Unpriced bool    `json:"unpriced,omitempty"`
}

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, Cached: u.Cached + v.Cached, Written: u.Written + v.Written,
		Output: u.Output + v.Output, Reasoning: u.Reasoning + v.Reasoning,
		Estimated: u.Estimated || v.Estimated, Cost: u.Cost + v.Cost, Unpriced: u.Unpriced || v.Unpriced,
	}
}

// Window describes how a prompt was fitted into the context window of its model. Limit and Used are estimated tokens.
type Window struct {
	Limit   int `json:"limit"`   // tokens available for the history
	Used    int `json:"used"`    // tokens of the history that was kept
	Kept    int `json:"kept"`    // number of turns shown
	Omitted int `json:"omitted"` // number of turns left out
	// Summarized is the number of turns that a summary replaced. Percent is the share of Limit that the history would take
	// if only those turns were left out.
	Summarized int `json:"summarized,omitempty"`
	Percent    int `json:"percent,omitempty"`
}

// Cursor is the current position of a debate. It is derived from the journal.
type Cursor struct {
	Run      int    `json:"run"`             // starts at 1 and increases with each reset
	Round    int    `json:"round"`           // from 1; 0 before the first round
	Stage    Kind   `json:"stage,omitempty"` // empty while no stage is active, such as before the start and after the end
	Phase    string `json:"phase,omitempty"` // empty until the first phase of the stage begins
	PhaseSeq int64  `json:"phase_seq"`       // seq at which the phase began; a parallel phase sees nothing later
}

// Parent says what a fork was made of: the first entries of another debate, which may have been deleted since.
type Parent struct {
	ID  string `json:"id"`
	Seq int64  `json:"seq"` // seq of the last entry that the fork has from the other debate
}

// Outcome is the reason why a debate ended. It is empty while the debate continues. Protocols may define their own.
type Outcome string

// The outcomes. Protocols and detection rules decide the first five. The engine decides the others.
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

// Ending is an outcome with its evidence. The zero Ending means that the debate continues.
type Ending struct {
	Outcome  Outcome `json:"outcome,omitempty"`
	Round    int     `json:"round,omitempty"`    // round in which it was decided; set by the engine
	Evidence string  `json:"evidence,omitempty"` // explanation for readers
}
