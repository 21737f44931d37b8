// Package prompts holds what a debate says to its models: one template for each kind of step.
//
// # Templates
//
// A prompt is a file in the folder templates, in the language of [text/template], and its name is the file's without
// ".tmpl". The file's body is the last user message of the call: round, phase and task, all that changes from turn to
// turn. Its block "system" is the system prompt. Files whose names begin with "_" are partials: they hold blocks that
// prompts share, such as "debater" and "judge". A whole prompt can be as short as this:
//
//	{{define "system"}}{{template "debater" .}}{{end}}
//	Round {{.Round}}. Answer {{join .Opponents ", " " and "}} in one sentence.
//
// A body reads [Data]. A system prompt reads Topic, Background, Me, Others, Vars, Criteria and Nonce alone: it must not
// change within a debate, since models bill a prompt cheaper when it begins as their last one did. Besides the functions of
// text/template there are
//
//	join list separator last    the strings of a list, with last before the last of them
//	sorted list                 the strings of a list in order
//
// A key that Vars does not have is an error in {{.Vars.key}} and empty in {{index .Vars "key"}}. What is rendered is
// tidied: blanks at line ends go, and so do blank lines at both ends and after another blank line.
//
// # Replacing a prompt
//
// The overlay of [Load] replaces or adds prompts, file by file: with an opening.tmpl at its root, opening statements
// follow it, and all other prompts stay as they are. Partials of an overlay replace blocks by name, in whichever file
// they stand: a _house.tmpl that defines "rules" changes the rules of all participants and nothing else. (To empty a
// block, define it as {{""}}: text/template ignores an empty definition of a block that exists.)
package prompts

import "github.com/elenchus-go/debate/transcript"

// Data is all that a template may read.
type Data struct {
	Topic       string
	Background  string
	Me          transcript.Profile   // whose prompt it is: a participant or a judge
	Others      []transcript.Profile // for a participant the other ones, for a judge all of them; in order
	Opponents   []string             // names of the others who are not on the side of Me; filled in by User where it is nil
	ActiveNames []string             // of the participants who are still in the debate, in order
	Target      *transcript.Profile  // whom the step is about; usually nil
	Phase       string               // name of the phase
	Round       int                  // from 1; 0 in the prelude
	Rounds      int                  // the limit on rounds; 0 if there is none
	MinRounds   int                  // the debate does not end before this round is complete
	First       bool                 // Round is the first; filled in by User
	Last        bool                 // Round is the last that Rounds allows; filled in by User
	Vars        map[string]string    // the protocol's own parameters, such as "format" and "style"
	ReplyFields string               // the fields of a structured reply in words; empty where free text is wanted
	Violations  []string             // what was wrong with the last reply
	Criteria    string               // what a judge goes by, in words; empty for others
	Nonce       string               // the number that marks where a quoted statement begins and ends; empty where none is quoted
	Advice      []string             // what was measured of the round, for the judge
}

// opponents adds to names those of the others who are not on the side of Me. Without a side, all others are opponents.
func (d *Data) opponents(names []string) []string {
	for i := range d.Others {
		if o := &d.Others[i]; o.Side == "" || o.Side != d.Me.Side {
			names = append(names, o.Name)
		}
	}
	return names
}

// systemData is the part of Data that a system prompt may read: what stays the same throughout a debate.
type systemData struct {
	Topic      string
	Background string
	Me         transcript.Profile
	Others     []transcript.Profile
	Vars       map[string]string
	Criteria   string
	Nonce      string
}

func (d *Data) systemData() *systemData {
	return &systemData{
		Topic: d.Topic, Background: d.Background, Me: d.Me, Others: d.Others, Vars: d.Vars, Criteria: d.Criteria, Nonce: d.Nonce,
	}
}
