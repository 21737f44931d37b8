package debate

import (
	"encoding/json"
	"time"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/judge/agreement"
	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Result holds everything about a debate, while it runs or after it has ended. It is yours to modify: it shares no memory
// with the debate or with other results. Assessments and Verdict refer to Turns.
type Result struct {
	ID         string            `json:"id"`
	Parent     transcript.Parent `json:"parent,omitzero"`    // what the debate is a fork of; zero if it is none
	Rejudged   *Rejudged         `json:"rejudged,omitempty"` // how its judges were asked again; nil unless it was made by Engine.Rejudge
	Topic      string            `json:"topic"`
	Background string            `json:"background,omitempty"`
	Protocol   string            `json:"protocol"` // name and version
	State      fsm.State         `json:"state"`
	Ending     transcript.Ending `json:"ending,omitzero"` // why it ended, with the evidence; zero while it runs
	Round      int               `json:"round"`           // the current or last round; 0 before the first

	Turns []transcript.Turn `json:"turns"` // turns of the current run, in order
	// Assessments are the assessments among Turns. Decode each according to its Contract, for example into
	// judge.Assessment.
	Assessments []transcript.Turn `json:"assessments,omitempty"`
	// Verdict is the last turn of the last phase of the conclusion, or nil if there is none. A turn with the flag
	// transcript.Defaulted is used only if the phase has no other. Decode it according to its Contract.
	Verdict *transcript.Turn `json:"verdict,omitempty"`
	// Answer is the answer that the protocol computes, or the verdict if the protocol computes none.
	Answer protocol.Answer `json:"answer,omitzero"`
	// Outcome is what the debate has found so far, in the form that all protocols have in common.
	Outcome  protocol.Outcome `json:"outcome,omitzero"`
	Findings []detect.Finding `json:"findings,omitempty"` // findings of Config.Detect, in order
	// Sources are the documents and what tools have found, by their numbers: who cites and quotes them, and what nobody has
	// answered. Turn.Citations says the same of one turn.
	Sources []evidence.Source `json:"sources,omitempty"`
	// Agreement says how far several judges agree on the scores. It is nil unless two judges scored the same round.
	Agreement *agreement.Scores `json:"agreement,omitempty"`

	Tools   []ToolUse        `json:"tools,omitempty"`   // who has called which tool in the current run, in the order of the first calls
	Waiting []transcript.Key `json:"waiting,omitempty"` // the steps for which people have yet to reply; see Debate.Waiting

	Participants []ParticipantStatus `json:"participants"` // in order, including those who dropped out
	Total        Totals              `json:"total"`
	// Sides holds totals by side. A participant without a side is listed by its name, and all other actors under "".
	Sides  map[string]Totals `json:"sides"`
	Rounds []Totals          `json:"rounds"` // by round; index 0 holds everything before round 1
	// Warnings lists judges that use a participant's model, shortened prompts, and replies that are incomplete or
	// replaced.
	Warnings    []string                   `json:"warnings,omitempty"`
	Annotations map[string]json.RawMessage `json:"annotations,omitempty"`
	// Signature is the last signature by Options.Signer. It is nil if there is none. Nobody has checked it: see
	// archive.Verify.
	Signature *transcript.Signature `json:"signature,omitempty"`
	Question  *Question             `json:"question,omitempty"` // the open question, which a person has to decide; nil if there is none
	Failure   *Failure              `json:"failure,omitempty"`  // why the debate is in error; nil if it is not
	// Problems lists why the last start of the debate was refused, such as a wrong key or an unknown model. It is empty
	// after an Edit, and after a start that was not refused.
	Problems []protocol.Problem `json:"problems,omitempty"`

	RunningTime time.Duration `json:"running_time"` // in nanoseconds, without pauses
	Created     time.Time     `json:"created"`
	Started     time.Time     `json:"started,omitzero"`
	Updated     time.Time     `json:"updated"`
	Completed   time.Time     `json:"completed,omitzero"`
}

// Totals are sums over turns.
type Totals struct {
	Turns        int              `json:"turns"`
	Usage        transcript.Usage `json:"usage"`         // includes steps that failed
	Duration     time.Duration    `json:"duration"`      // from the start to the end of each turn, in nanoseconds
	OmittedTurns int              `json:"omitted_turns"` // number of turns whose prompt omitted part of the history
}

// ToolUse says how often an actor has called a tool.
type ToolUse struct {
	Actor  string `json:"actor"`
	Tool   string `json:"tool"`
	Calls  int    `json:"calls"`            // with a result or an error
	Failed int    `json:"failed,omitempty"` // those with an error, also because a person has refused them
}

// ParticipantStatus is the status of one participant.
type ParticipantStatus struct {
	Name string `json:"name"`
	// State is "active", "rate_limited" if the last turn had to wait for the service, "context_exceeded" if its
	// prompt had to omit part of the history, or "dropped" if the participant failed and was dropped.
	State    string   `json:"state"`
	Attempts int      `json:"attempts"`
	Errors   []string `json:"errors,omitempty"` // of failed attempts, in order
}

func (r *Result) addFailure(f *Failure, side string) {
	used := f.usage()
	of := r.Sides[side]
	of.Usage = of.Usage.Add(used)
	r.Sides[side] = of
	r.Rounds[f.Key.Round].Usage = r.Rounds[f.Key.Round].Usage.Add(used)
	r.Total.Usage = r.Total.Usage.Add(used)
}

func (a Totals) add(t *transcript.Turn) Totals {
	a.Turns++
	a.Usage = a.Usage.Add(t.Usage)
	a.Duration += t.Ended.Sub(t.Started)
	if t.Window != nil && t.Window.Omitted > 0 {
		a.OmittedTurns++
	}
	return a
}

// Rejudged says how the judges of a rejudged debate were asked; see [Engine.Rejudge].
type Rejudged struct {
	Omit Omission `json:"omit,omitzero"`  // what was left out of their prompts
	Swap bool     `json:"swap,omitempty"` // each judge saw the participants in the opposite order
	// Departures are where the new judges would have taken another course, in order.
	Departures []Departure `json:"departures,omitempty"`
	// Remains are the steps whose prompts held eight words in a row of a turn that was left out, because somebody else has
	// said them too: a quote, a summary, or what the debate is about.
	Remains []transcript.Key `json:"remains,omitempty"`
}

// Departure is a point at which new judges would have taken another course than the debate that they judge again.
type Departure struct {
	Round int `json:"round"`
	// Kept is what the debate has kept, and Instead what the new judges would have decided. Both are zero where the debate
	// went on.
	Kept    transcript.Ending `json:"kept,omitzero"`
	Instead transcript.Ending `json:"instead,omitzero"`
}

// Omission names what is left out: what judges do not see, or what is silent in a fork.
type Omission struct {
	Turns []transcript.Key `json:"turns,omitempty"` // speeches and remarks
	Seats []string         `json:"seats,omitempty"` // participants, all of whose turns are left out
	// Documents lists the names of documents and attachments.
	Documents []string `json:"documents,omitempty"`
}

// IsZero reports whether nothing is left out.
func (o Omission) IsZero() bool { return len(o.Turns)+len(o.Seats)+len(o.Documents) == 0 }

// EntryVerdict says whether an entry of a journal follows from the entries before it.
type EntryVerdict string

// The verdicts.
const (
	EntryDerived      EntryVerdict = "derived"       // nothing else could follow
	EntryInput        EntryVerdict = "input"         // a model, a person, a failure, a clock or an engine's check of limits has led to it
	EntryNotDerivable EntryVerdict = "not derivable" // something is missing that tells
	EntryWrong        EntryVerdict = "wrong"         // something else must follow
)

// EntryCheck is what [Debate.VerifyEntries] says of one entry.
type EntryCheck struct {
	Seq     int64        `json:"seq"`
	Type    string       `json:"type"`          // of the entry, such as "turn"
	Key     string       `json:"key,omitempty"` // of the turn, if the entry has one
	Verdict EntryVerdict `json:"verdict"`
	Reason  string       `json:"reason,omitempty"`

	// Of a turn by a model, and of steps that failed: Prompts is the number of calls whose request was made again and has the hash
	// in the journal. Unknown is the number of the other calls, and Missing says what the journal lacks, if it is known. Read reports that the
	// reply was read again, and the turn has what it says; otherwise the journal does not have the reply.
	Prompts int      `json:"prompts,omitempty"`
	Unknown int      `json:"unknown,omitempty"`
	Missing []string `json:"missing,omitempty"`
	Read    bool     `json:"read,omitempty"`
	// Names says where the prompt of a blind judge has a word that is the name of a participant, with the words that follow it.
	// Texts of the debate never have one there, but templates and the names of criteria may.
	Names []string `json:"names,omitempty"`
}
