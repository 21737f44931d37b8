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
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/template"

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

// Set is a set of prompts. Use [Load] to create one. It is safe for concurrent use.
type Set struct {
	prompts map[string]prompt
	version string
	files   []file // as they are written, by name
	over    *Set   // the set whose files these replace; nil for those of the library
}

// Version returns a short text that identifies the templates of the set. It changes if any of them does.
func (s *Set) Version() string { return s.version }

// System renders the system prompt of the named prompt. For one participant or judge, the result is the same in each round
// of a debate, so you can cache it.
func (s *Set) System(name string, d Data) (string, error) {
	p, err := s.lookup(name)
	if err != nil {
		return "", err
	}
	return render(p.flatSystem(), d.systemData())
}

// User renders the last user message of the named prompt. It computes First and Last, and
// also Opponents if it is nil.
func (s *Set) User(name string, d Data) (string, error) {
	p, err := s.lookup(name)
	if err != nil {
		return "", err
	}
	u := userData.Get().(*reusable)
	defer u.release()
	u.Data = d
	u.First = d.Round == 1
	u.Last = d.Rounds > 0 && d.Round == d.Rounds
	u.Early = d.Round < d.MinRounds
	if d.Opponents == nil {
		u.Opponents = d.opponents(u.names[:0])
		u.names = u.Opponents
	}
	return render(p.flatUser(), &u.Data)
}

// userData holds what templates read while they are rendered.
var userData = sync.Pool{New: func() any { return new(reusable) }}

// reusable is data with room for the names of opponents.
type reusable struct {
	Data
	names Names
}

func (u *reusable) release() {
	u.Data = Data{}
	userData.Put(u)
}

// ReadsCriteria reports whether the named prompt shows a judge the criteria of the rubric.
func (s *Set) ReadsCriteria(name string) bool {
	p, err := s.lookup(name)
	return err == nil && slices.ContainsFunc(p.user.Templates(), func(t *template.Template) bool { // those that it uses
		return strings.Contains(t.Root.String(), ".Criteria")
	})
}

// Names returns the names of all prompts, sorted.
func (s *Set) Names() []string { return slices.Sorted(maps.Keys(s.prompts)) }

// Has reports whether the set contains the named prompt.
func (s *Set) Has(name string) bool {
	_, ok := s.prompts[name]
	return ok
}

func (s *Set) lookup(name string) (prompt, error) {
	p, ok := s.prompts[name]
	if !ok {
		return p, fmt.Errorf("find prompt %q: unknown prompt; the prompts are %s", name, strings.Join(s.Names(), ", "))
	}
	return p, nil
}

// prompt is a parsed prompt file with its own copy of the blocks that it uses.
type prompt struct {
	system, user         *template.Template
	flatSystem, flatUser func() *template.Template // the same with inlined blocks
}

// file holds a template file.
type file struct{ name, text string }

// partial reports whether the file contains shared blocks and no prompt.
func (f file) partial() bool { return strings.HasPrefix(f.name, "_") }

// funcs are the functions for templates, in addition to those of text/template.
var funcs = template.FuncMap{"join": join, "sorted": sorted}

// join joins strings with separator, and the last two with last.
func join(list []string, separator, last string) string {
	n := len(list) - 1
	if n < 1 {
		return strings.Join(list, separator)
	}
	return strings.Join(list[:n], separator) + last + list[n]
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// render executes a template and tidies the result.
func render(t *template.Template, data any) (string, error) {
	b := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(b)
	b.Reset()
	if err := t.Execute(b, data); err != nil {
		return "", fmt.Errorf("render prompt: %w", err)
	}
	return string(tidy(b.Bytes())), nil
}

// tidy removes spaces at line ends, blank lines at both ends, and all but one of several blank lines in a row. It works in
// place.
func tidy(text []byte) []byte {
	out := text[:0]
	blank := true
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, " \t\r\n")
		if blank && len(line) == 0 {
			continue
		}
		blank = len(line) == 0
		out = append(append(out, line...), '\n')
	}
	return bytes.TrimRight(out, "\n")
}
