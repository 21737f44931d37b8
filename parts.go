package debate

import (
	"encoding/json"
	"time"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/calibration"
	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// acceptance is what the last check of the configuration has found.
type acceptance struct {
	valid      bool               // the configuration was accepted and has not changed since
	limited    []Warning          // about replies whose token limits were lowered
	mismatched []Warning          // about windows that were larger than those of the providers
	problems   []protocol.Problem // why the last start was refused
}

// losses are the failures of a debate.
type losses struct {
	failure *Failure // why the debate is in error
	dropped []Dropped
	steps   []*Failure // steps that failed, including those that were retried later
}

// decisions are what a person decides: about failures, and at gates.
type decisions struct {
	question  *Question         // the open question
	made      map[string]string // the answers to questions, by ID
	withdrawn *Failure          // the failure whose actor a person chose to drop
	passed    map[string]bool   // gates that were decided, by name
}

// people holds what the debate waits for people for.
type people struct {
	asked    map[transcript.Key]*Asked   // the steps that people were asked for
	declined map[transcript.Key]*Decided // those to which they give no reply
	replies  map[transcript.Key]string   // hashes of the replies
	held     bool                        // a person holds the debate: replies do not continue it
}

// storedStatus is what only the stored status of a debate has.
type storedStatus struct {
	plan    store.Plan
	awaited []string // the names for whom the debate waits
	driver  store.Heartbeat
}

// times holds when things happened and how long the debate has run.
type times struct {
	created, updated, completed time.Time
	entered                     time.Time // when the current state was entered; a pause does not change it
	running                     time.Duration
	outage                      time.Duration // time since the last turn in which a provider could not be reached; no running time
	roundBegan                  time.Duration // running time at the start of the current round
}

// history holds what the record needs to fit a debate's turns into the context windows of its readers.
type history struct {
	tokens    int                 // of all turns except summaries
	summaries []madeSummary       // in order
	wanted    *window.SummaryPlan // the summary to make now; nil if there is none
	scales    calibration.Scales
	opaque    map[int64]*reasoning.Opaque // by the seq of the turn
}

// madeSummary is a turn that replaces earlier turns in prompts.
type madeSummary struct {
	reader string // the reader that it is for; empty if it is for every reader that sees all speeches
	upTo   int64  // the seq of the last turn that it covers
	seq    int64
	round  int
	tokens int
	failed bool // whether the summary is empty or incomplete
}

// promptCache keeps parts of prompts that do not change. Losing it only costs time.
type promptCache struct {
	fixedPrompts []*fixedPrompt // the constant part of each reader's prompts
	pseudonyms   map[pseudonymsKey]*judge.Pseudonyms
	texts        map[*judge.Pseudonyms][]string // formatted turns, by reader and seq
	// Buffers that are reused for each prompt.
	shown, tokens []int
	covered       []window.Summary
}

type pseudonymsKey struct {
	reader string // empty for all readers that share the debaters' nonce
	swap   bool
	blind  bool
}

type fixedPromptKey struct {
	actor, prompt string
	blind, swap   bool
}

// fixedPrompt is the part of a reader's prompts that does not change.
type fixedPrompt struct {
	key        fixedPromptKey
	system     string
	tokens     int // of the system prompt
	data       prompts.Data
	reply      *namedReply         // what the last reply with a contract must look like; nil if there is none yet
	vars       map[string]string   // of the first step
	planned    bool                // no step has used it yet, so the first step may have other vars
	pseudonyms *judge.Pseudonyms   // names by which the reader sees the participants
	shown      []providers.Message // the message with the attachments; nil if there are none
}

// namedReply is what a reply must look like, with the names that the reader sees.
type namedReply struct {
	contract       *reply.Contract
	schema         json.RawMessage
	outline        string
	tokens, active int      // of the schema, and participants who were left
	names          []string // that the protocol listed; nil if it did not
}
