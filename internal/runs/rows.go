package runs

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
)

// kinds lists what makes many debates: each has a label of this name, and its ids begin with it.
var kinds = []string{"eval", "influence", "labels", "tournament"}

// Group is debates that one run has made: an evaluation, an audit, a tournament, labels, or an analysis of what decided a debate.
type Group struct {
	Kind, Name string // the label of its debates. The name of an influence is the id of the debate that it is about.
	Debates    int
	States     map[fsm.State]int
	Newest     string    // the id of the newest debate
	Created    time.Time // of that debate
}

// Row is a line of a list of debates: a debate that somebody has begun, or the debates of a run.
type Row struct {
	Debate *store.Status // nil for a group
	Group  *Group        // nil for a debate
}

// groupOf returns the kind and the name of the run that made a debate, or "" if none did.
func groupOf(s *store.Status) (kind, name string) {
	at := slices.IndexFunc(kinds, func(k string) bool { return s.Labels[k] != "" && strings.HasPrefix(s.ID, k+"-") })
	if at < 0 {
		return "", ""
	}
	return kinds[at], s.Labels[kinds[at]]
}

// RunOf returns what the debates of a run have in common, or "" if no run made the debate.
func RunOf(s *store.Status) string {
	kind, name := groupOf(s)
	if kind == "" {
		return ""
	}
	return kind + ":" + name
}

// Rows returns the lines of a list of debates, in its order. The debates of a run are one line, below the debate that they belong to, or
// where the first of them is.
func Rows(list []store.Status) (rows []Row) {
	groups := map[[2]string]*Group{}
	for i := range list {
		s := &list[i]
		kind, name := groupOf(s)
		if kind == "" {
			rows = append(rows, Row{Debate: s})
			continue
		}
		g := groups[[2]string{kind, name}]
		if g == nil {
			g = &Group{Kind: kind, Name: name, States: map[fsm.State]int{}, Newest: s.ID, Created: s.Created}
			groups[[2]string{kind, name}] = g
			rows = append(rows, Row{Group: g})
		}
		g.Debates++
		g.States[s.State]++
		if s.Created.After(g.Created) {
			g.Created = s.Created
			g.Newest = s.ID
		}
	}
	return belowTheirDebates(rows)
}

// belowTheirDebates moves each group that is about a debate below it.
func belowTheirDebates(rows []Row) []Row {
	about := map[string][]Row{}
	known := map[string]bool{}
	for _, r := range rows {
		if r.Debate != nil {
			known[r.Debate.ID] = true
		}
	}
	var sorted []Row
	for _, r := range rows {
		if r.Group != nil && known[r.Group.Name] {
			about[r.Group.Name] = append(about[r.Group.Name], r)
		}
	}
	for _, r := range rows {
		switch {
		case r.Debate != nil:
			sorted = append(sorted, r)
			sorted = append(sorted, about[r.Debate.ID]...)
		case !known[r.Group.Name]:
			sorted = append(sorted, r)
		}
	}
	return sorted
}

// Summary returns the number of debates and their states, such as "135 debates: completed 134, error 1".
func (g *Group) Summary() string {
	var states []string
	for _, s := range slices.Sorted(maps.Keys(g.States)) {
		states = append(states, string(s)+" "+strconv.Itoa(g.States[s]))
	}
	noun := " debates: "
	if g.Debates == 1 {
		noun = " debate: "
	}
	return strconv.Itoa(g.Debates) + noun + strings.Join(states, ", ")
}
