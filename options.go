package debate

import (
	"io/fs"
	"log/slog"
	"time"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// Options holds what a Config refers to by name and what cannot be stored, such as providers and the store.
type Options struct {
	// Providers maps the names that Participant.Provider uses to providers.
	Providers map[string]providers.Provider
	// Store keeps the debates. Defaults to store.Memory.
	Store store.Store
	// Protocols are protocols beyond those of the library, each given by any value of its type. The engine needs them
	// to decode stored debates. Fields that JSON omits, such as functions, are copied from the given value. An engine
	// uses the very protocol that Create or Edit was given for that debate. It learns the other debates' protocols of
	// the same name only if JSON omits nothing of them.
	Protocols []protocol.Protocol
	// Prompts holds templates that replace those of the library or add to them; see package prompts.
	Prompts fs.FS
	// PromptSets holds templates, like Prompts, for debates that name them in Config.Prompts.
	PromptSets map[string]fs.FS
	// Contracts are reply contracts beyond those of the library.
	Contracts []*reply.Contract
	// ExtractAnswer returns the answer that a turn gives, in a canonical form, or "" if it gives none. Rules of
	// Config.Detect that compare answers need it. Use the same function in all engines of one store.
	ExtractAnswer func(transcript.Turn) string
	// TokenCounter counts tokens. Defaults to window.Estimate, which needs no vocabulary. In both cases the counts
	// are corrected by what providers report for each model.
	TokenCounter window.TokenCounter
	// KeepReasoning stores what models think in Turn.Reasoning.Text, as far as their services show it, up to 64 KiB for
	// each turn.
	KeepReasoning bool
	// KeepReplies stores each reply in Attempt.Reply of its turn as the service gave it, up to 64 KiB for each attempt.
	KeepReplies bool
	// Name identifies the engine in Status.Driver of the debates that it drives. Use another name for each engine of a
	// store. Defaults to the name of the machine, the number of the process, and a random part.
	Name string
	// HeartbeatInterval is the time between two heartbeats of the engine; see store.Heartbeats. Each is one write for all
	// debates that the engine drives. Defaults to 10 s. If it is negative, the engine gives none.
	HeartbeatInterval time.Duration
	// RecoverAfter is the age of a heartbeat from which on it no longer counts. Defaults to three times
	// HeartbeatInterval. Use the same in all engines of a store, and keep their clocks closer together than this.
	RecoverAfter time.Duration
	// MaxDebates limits how many debates the engine drives in the background at once. Further debates that Launch, Start
	// or Recover starts wait in order. A debate that is paused, waits for a person or waits for its next round gives up its
	// place. Run is not limited. Defaults to no limit. It has no effect if the store has workers drive debates.
	MaxDebates int
	// Observer is told what the engine does. Its zero value observes nothing.
	Observer Observer
	// Logger receives a line for each transition, failed attempt, failed step and warning, with the ids of the debate and
	// the step, and errors that no caller would otherwise see. Defaults to none.
	Logger *slog.Logger
	// LogTexts adds the messages of failures and the texts of providers' warnings to their lines, what is wrong with a
	// refused configuration, and the topic to a line about a wrong status. They may contain text of services and of models.
	// The log has no other texts of a debate.
	LogTexts bool
}
