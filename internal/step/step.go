// Package step executes one step of a debate: it calls a model, streams and reads the reply, waits and tries again,
// shortens the prompt, asks for a valid reply, and turns to substitutes.
//
// A [Plan] holds all that a step needs. [Run.Do] executes it, and returns a turn, a [*journal.Failure], or why the step ended
// early. While it runs, it tells its [Host] what happens; the host commits nothing and need not know how steps work. The
// package knows no journal, no store and no events.
package step

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/seal"
	"github.com/elenchus-go/debate/internal/speech"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/transcript"
)

// Host runs a step and shows what happens in it. [Run.Do] calls it on its own goroutine.
type Host interface {
	// Begin begins a call of a model. It returns the context for the provider, and the call even if it returns an error,
	// which ends the step.
	Begin(ctx context.Context, a Attempt) (context.Context, Call, error)
	// Tools runs the calls of a round, stores the round, and sets the results. It is called between two attempts. An error
	// ends the step.
	Tools(ctx context.Context, c Calls) error
	// Others says how everybody else fares while the step cannot reach its provider. Answers count if they came after the
	// given time.
	Others(ctx context.Context, provider string, since time.Time) Others
}

// Others says how everybody else fares while a step cannot reach its provider.
type Others int

const (
	// OthersWait says that nobody else can go on: they need the same provider, cannot reach theirs either, or need the step's
	// reply.
	OthersWait Others = iota
	// OthersUnknown says that others have other providers, and nobody can tell whether these answer.
	OthersUnknown
	// OthersAnswer says that the provider of another one answers.
	OthersAnswer
)

// Attempt is what a call of a model is for.
type Attempt struct {
	Number   int                // 1 for the first attempt of the step
	Summary  bool               // the call does not ask for the turn, but for a summary that shortens the prompt of the attempt
	Provider string             // its name
	Request  *providers.Request // not valid afterwards
}

// Call is one call of a model.
type Call interface {
	// Chunk shows the next piece of the reply, in whole characters and without reasoning. It is empty if there is nothing to
	// show yet. An error ends the call. A provider that misbehaves may call it after the step has ended.
	Chunk(text string) error
	// Text returns what was shown so far.
	Text() string
	// End ends the call. The attempt is nil if the call has not returned, because somebody who was looking at it has
	// panicked. The pointers are not valid afterwards.
	End(a *transcript.Attempt, r *providers.Response, err error)
	// Failed reports that the attempt failed, and when the next one follows: at once, or never if the wait is negative. An
	// error means that nobody waits for the step any longer.
	Failed(e *providers.Error, wait time.Duration) error
}

// Plan is what to do in a step, with all that it needs. The step changes nothing that it refers to, except what
// Prompt.Data points to.
type Plan struct {
	Step          protocol.Step
	Model         Model   // the model to call
	Substitutes   []Model // what replaces it when it has failed, in order
	Summarizer    Model   // shortens a prompt after an overflow; without a Client, nothing does
	Prompt        Prompt
	Contract      *reply.Contract    // of the reply; nil for free text
	Names         []string           // participants that the reply may name
	Left          []string           // participants who have spoken and left: the reply may name them as speakers
	Pseudonyms    *judge.Pseudonyms  // names by which the model sees the participants
	Window        *transcript.Window // how the history was fitted into the window; nil if nothing was cut
	Limits        Limits
	Tools         *Tools        // that the model may call; nil if there are none
	Participating bool          // the actor is a participant: it gets its opaque reasoning back
	Speech        *speech.Seats // who can speak, if the reply is a free speech of a participant; nil if it is not
	RefusalFails  bool          // a speech that is a refusal is a failure
	Judging       bool          // the actor is a judge
	NoText        bool          // the actor returns documents or vectors, not generated text
	Concluding    bool          // the debate concludes
	KeepPartial   bool          // the text of a participant that failed is the turn
	UseDefault    bool          // the default reply is the turn if the step fails
	KeepReasoning bool          // the turn keeps reasoning that a person can read
	KeepReplies   bool          // its attempts keep the replies
	Private       bool          // the actor reads private documents, which its replies may quote
	Keys          *seal.Keys    // of the hashes of requests
	Prices        price.Prices
	Retries       map[providers.ErrorKind]int // where they differ from DefaultRetries
	Count         func(model, text string) int
	Answers       *Answers        // of all steps with the same providers
	Hold          *Hold           // of all steps of the debate
	Closing       <-chan struct{} // closed when steps that wait must end
	FirstRun      *atomic.Bool    // a person waits for the first turn of the debate; nil if nobody does
}

// Model is a model that can be called.
type Model struct {
	Provider string // its name
	Client   providers.Provider
	Request  providers.Request // the settings; for Plan.Model also the schema, and the messages if Prompt has none
	Window   int               // context window, in tokens
	Room     int               // tokens of a prompt, if the model is a substitute
	NoTools  bool              // it cannot call tools
	Gathers  bool              // it cannot have tools and a schema in one call: it calls tools first, and then gets the schema
	// Instructions are a summarizer's.
	Instructions string
}

// Prompt is what a request is built from, so that it can be shortened or sent again.
type Prompt struct {
	Set         *prompts.Set
	Base        *prompts.Data       // of all prompts of the actor
	Data        *prompts.Data       // to ask for another reply; nil if that never happens
	Messages    []providers.Message // without attachments, and without those that ask for a reply again
	Attachments []providers.Message // they follow the system prompt
	// Digests are those of Messages, AttachmentDigests those of Attachments, and SchemaDigest that of the schema of the reply.
	Digests, AttachmentDigests []Digest
	SchemaDigest               Digest
	Tokens                     int                // estimated tokens of the prompt, including slack
	Slack                      int                // tokens by which the fixed part was rounded up
	History                    int                // tokens of the history
	Opaque                     int                // the part of them that opaque reasoning takes
	Schema                     int                // tokens of the schema, a part of Tokens
	Cut                        window.Cut         // of the history
	Scale                      window.Calibration // of the actor's tokens
	Summarized                 bool               // the history begins with a summary
	Heading                    string             // of a summary
	Shorten                    bool               // the history may be shortened after an overflow
	Summarize                  bool               // its older half may be replaced with a summary
}

// Limits limit the attempts of a step.
type Limits struct {
	Attempts  int
	Time      time.Duration // for all attempts
	Budget    bool          // Time is the remaining time of the debate
	RateLimit time.Duration // wait for a rate limit that affects all participants; 0 if the step must not wait for it
	Outage    time.Duration // wait for a provider that cannot be reached; 0 if the step must not wait for it
	// The step fails like others if the provider cannot be reached for OutageTime or, if that is 0, for OutageUnknown while
	// nobody can tell whether others are answered.
	OutageTime, OutageUnknown time.Duration
	Remaining                 time.Duration // of the debate when the step was planned
}

// Hold tells the steps of a debate whether it is paused. The zero Hold is not ready: call Set first.
type Hold struct {
	mu     sync.Mutex
	paused bool
	begins chan struct{} // closed when a pause begins
}

// Paused returns a channel that is closed while the debate is paused.
func (h *Hold) Paused() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.begins
}

// Set says whether the debate is paused.
func (h *Hold) Set(paused bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.begins == nil || h.paused && !paused {
		h.begins = make(chan struct{})
	}
	if paused && !h.paused {
		close(h.begins)
	}
	h.paused = paused
}

// Answers holds, for each provider of an engine, when the last call began that it has answered, even if with an error, and
// when its last answer came.
// The zero Answers is ready to use.
type Answers struct {
	mu    sync.Mutex
	began map[string]time.Time // by the provider's name
	came  map[string]time.Time
}

// add records that a provider has answered a call that began at the given time.
func (l *Answers) add(provider string, began time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.began == nil {
		l.began = map[string]time.Time{}
		l.came = map[string]time.Time{}
	}
	l.came[provider] = time.Now()
	if began.After(l.began[provider]) {
		l.began[provider] = began
	}
}

// since reports whether a provider has answered a call that began after t, when another call had failed. A call that began
// earlier proves nothing: the server may have answered it before it went down, or while it was being stopped.
func (l *Answers) since(provider string, t time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.began[provider].After(t)
}

// CameSince reports whether an answer of a provider came after t, or ever if t is zero.
func (l *Answers) CameSince(provider string, t time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.came[provider].After(t)
}
