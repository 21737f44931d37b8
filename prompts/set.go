package prompts

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/template"
)

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
