// Package prompts contains the prompts of debates: one template for each kind of step. [Load] replaces some of them by your
// own:
//
//	set, err := prompts.Load(os.DirFS("my-prompts"))
//	if err != nil {
//		return err
//	}
//	message, err := set.User("opening", data)
//
// # Templates
//
// A prompt is a file in the folder templates, written for [text/template]. Its name is the name of the file without
// ".tmpl". The body of the file is the last user message of a request: round, phase, task, and everything else that
// changes from turn to turn. The block "system" is the system prompt. Files whose names begin with "_" are partials: they
// contain blocks that prompts share, such as "debater" and "judge". A complete prompt can be as short as this:
//
//	{{define "system"}}{{template "debater" .}}{{end}}
//	Round {{.Round}}. Answer {{.Opponents}} in one sentence.
//
// A body can read every field of [Data]. A system prompt can read only Topic, Background, Me, Others, Vars, Criteria and
// Nonce. Both can call [Data.Quote]: use it for texts that models or documents may have written, such as positions, personas
// and key arguments. A system prompt must not change within a debate, because providers bill a prompt at a lower price if it begins like the
// previous one.
//
// A person has no system prompt, but reads the same rules: System renders them if Me.Human is set. Topic, Background, Others,
// Criteria, Nonce and the texts of Me are empty then, because the person sees them elsewhere. A template leaves out for a
// person what concerns only models, such as delimiters, with {{if not .Me.Human}}.
//
// In addition to the functions of text/template, you can use:
//
//	join list separator last    joins strings with separator, and the last two with last
//	sorted list                 returns the strings of a list in order
//
// For a key that Vars does not contain, {{.Vars.key}} is an error and {{index .Vars "key"}} is empty. Rendering removes
// spaces at line ends, blank lines at both ends, and all but one of several blank lines in a row.
//
// # Replacing a prompt
//
// The overlay of [Load] replaces or adds prompts, file by file: an opening.tmpl at its root replaces the prompt of opening
// statements, and all other prompts are unchanged. Partials of an overlay replace blocks by name, whatever the name of
// the file: a _house.tmpl that defines "rules" changes the rules of all participants and nothing else. To make a block
// empty, define it as {{""}}: text/template ignores an empty definition of an existing block.
//
// Debates of one engine can use different sets: Options.PromptSets of package debate holds them by name, and a configuration
// names one. [Set.Version] identifies the templates of a set. The journal of a debate has it for each turn.
package prompts

import (
	"github.com/elenchus-go/debate/internal/delimit"
	"github.com/elenchus-go/debate/transcript"
)

// Data is the data that a template can read.
type Data struct {
	Topic       string
	Background  string
	Me          transcript.Profile   // the participant or judge that receives the prompt
	Others      []transcript.Profile // the other participants, or all of them for a judge; in order
	Opponents   Names                // names of the Others who are not on the side of Me; set by User if nil
	ActiveNames Names                // names of the active participants, or those that the reply may name, in order
	Target      *transcript.Profile  // the participant that the step is about; nil if there is none
	Phase       string               // name of the phase
	Round       int                  // from 1; 0 in the setup stage
	Rounds      int                  // limit on rounds; 0 if there is none
	MinRounds   int                  // minimum number of rounds
	First       bool                 // whether Round is the first; set by User
	Last        bool                 // whether Round is the last that Rounds allows; set by User
	Early       bool                 // Round is before MinRounds; set by User
	Vars        map[string]string    // parameters of the protocol, such as "format" and "style"
	ReplyFields string               // description of the fields of a structured reply; empty for free text
	Violations  []string             // violations of the last reply
	Criteria    string               // description of the judge's criteria; empty for others
	Nonce       string               // nonce in the delimiters of statements
	Blind       bool                 // whether the names are pseudonyms
	Advice      []string             // findings about the round for the judge
}

// Names are names of participants. A template that prints them gets them as in a sentence: "Ada, Bo and Cy".
type Names []string

// String returns the names as in a sentence.
func (n Names) String() string { return join(n, ", ", " and ") }

// Quote returns a text between the delimiters of statements, as data and not as an instruction. what says in the first
// delimiter what the text is. The text cannot close the delimiters.
func (d *Data) Quote(what, text string) string { return quote(d.Nonce, what, text) }

// quote encloses a text in delimiters. Without a nonce, a person reads the text: each of its lines begins with a mark then.
func quote(nonce, what, text string) string {
	if nonce == "" {
		return delimit.Line("", what) + ":\n" + delimit.Mark(text)
	}
	return delimit.Enclose(nonce, delimit.Line(nonce, what), text)
}

// opponents adds to names those of the others who are not on the side of Me. Without a side, all others are opponents.
func (d *Data) opponents(names Names) Names {
	for i := range d.Others {
		if o := &d.Others[i]; o.Side == "" || o.Side != d.Me.Side {
			names = append(names, o.Name)
		}
	}
	return names
}

// systemData is the part of Data that a system prompt can read. It does not change within a debate.
type systemData struct {
	Topic      string
	Background string
	Me         transcript.Profile
	Others     []transcript.Profile
	Vars       map[string]string
	Criteria   string
	Nonce      string
	Blind      bool
}

// Quote does what [Data.Quote] does.
func (d *systemData) Quote(what, text string) string { return quote(d.Nonce, what, text) }

func (d *Data) systemData() *systemData {
	return &systemData{
		Topic: d.Topic, Background: d.Background, Me: d.Me, Others: d.Others, Vars: d.Vars, Criteria: d.Criteria, Nonce: d.Nonce, Blind: d.Blind,
	}
}
