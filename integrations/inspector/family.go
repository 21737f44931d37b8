package inspector

import (
	"errors"
	"slices"

	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/store"
)

const (
	maxFamily  = 60 // debates on a page
	maxParents = 50 // generations above a debate
)

// relative is a debate in a family of forks, with its own forks.
type relative struct {
	store.Status
	Here  bool // whether the page is about it
	Forks []*relative
}

// familyView is what the page about a family shows.
type familyView struct {
	Root   *relative
	Parent string // the ID of the parent of Root if it was deleted or the visitor may not see it
	Count  int
	More   bool // whether the family is larger than the page
}

// family shows the forks of a debate, and what it is a fork of.
func (v *visit) family() error {
	if err := v.open(debatehttp.Status); err != nil {
		return err
	}
	f, err := v.readFamily()
	if err != nil {
		return err
	}
	return v.show("family", page{Title: v.status.Topic, Tab: "family", Main: f})
}

// readFamily returns the family of the debate, as far as the visitor may see it.
func (v *visit) readFamily() (*familyView, error) {
	f := &familyView{Root: &relative{Status: v.status}, Count: 1}
	for range maxParents {
		parent := f.Root.Parent.ID
		if parent == "" {
			break
		}
		status, ok, err := v.look(parent)
		if err != nil {
			return nil, err
		}
		if !ok {
			f.Parent = parent
			break
		}
		f.Root = &relative{Status: status}
	}
	seen := map[string]bool{f.Root.ID: true}
	next := []*relative{f.Root}
	for len(next) > 0 {
		r := next[0]
		next = next[1:]
		r.Here = r.ID == v.status.ID
		q := store.Query{Parent: r.ID}
		if err := v.allow(&debatehttp.Access{Action: debatehttp.List, Query: &q}); err != nil {
			return nil, err
		}
		for s, err := range v.engine.List(v.r.Context(), q) {
			switch {
			case err != nil && s.ID == "":
				return nil, err
			case err != nil || seen[s.ID]:
				continue
			case f.Count == maxFamily:
				f.More = true
				return f, nil
			}
			seen[s.ID] = true
			f.Count++
			r.Forks = append(r.Forks, &relative{Status: s})
		}
		slices.Reverse(r.Forks) // the oldest first
		next = append(next, r.Forks...)
	}
	return f, nil
}

// look returns the status of another debate, and whether there is one that the visitor may see.
func (v *visit) look(id string) (status store.Status, ok bool, err error) {
	d, err := v.engine.Open(v.r.Context(), id)
	if err == nil {
		status, err = d.Status(v.r.Context())
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		return status, false, nil
	case err != nil:
		return status, false, err
	}
	return status, v.allow(&debatehttp.Access{Action: debatehttp.Status, Debate: status}) == nil, nil
}
