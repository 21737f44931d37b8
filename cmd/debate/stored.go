package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/runs"
	"github.com/elenchus-go/debate/report/archive"
	"github.com/elenchus-go/debate/store"
)

// listDebates lists the debates that the filters select, newest first, or their number by state.
func (p *program) listDebates() error {
	return p.withStore(func(_ configFile, o debate.Options) error { return p.listStored(o.Store) })
}

func (p *program) listStored(s store.Store) error {
	q, err := p.filters.query()
	if err != nil {
		return err
	}
	switch {
	case p.count && p.by != "":
		return exitErrorf(exitInput, "read arguments: --count and --by exclude one another")
	case p.count:
		return p.countDebates(s, q)
	case p.by != "":
		return p.sumDebates(s, q)
	}
	if !p.all && !p.json && len(p.filters.labels) == 0 {
		return p.listRows(s, q)
	}
	list := []store.Status{}
	for head, err := range s.List(p.ctx, q) {
		if err != nil {
			return err
		}
		list = append(list, head)
	}
	if p.json {
		return p.printJSON(list)
	}
	lines := make([]runs.Row, len(list))
	for i := range list {
		lines[i].Debate = &list[i]
	}
	return p.printList(lines)
}

// listRows lists the debates that somebody has begun, and one line for the debates of each run.
func (p *program) listRows(s store.Store, q store.Query) error {
	limit := q.Limit
	q.Limit = 0
	var list []store.Status
	for head, err := range s.List(p.ctx, q) {
		if err != nil {
			return err
		}
		list = append(list, head)
	}
	lines := runs.Rows(list)
	if limit > 0 {
		lines = lines[:min(limit, len(lines))]
	}
	return p.printList(lines)
}

// printList prints a line for each debate and each run, and what continues those whose process is gone.
func (p *program) printList(list []runs.Row) error {
	forks := slices.ContainsFunc(list, func(r runs.Row) bool { return r.Debate != nil && r.Debate.Parent.ID != "" })
	var t table
	add := func(fork, topic string, values ...any) {
		if forks {
			values = append(values, fork)
		}
		t.add(append(values, topic)...)
	}
	add("FORK OF", "TOPIC", "ID", "STATE", "REASON", "ROUND", "PROTOCOL", "CREATED")
	var abandoned []string
	for _, row := range list {
		if g := row.Group; g != nil {
			words := fmt.Sprintf("list --label %s", shellWord(g.Kind+"="+g.Name))
			add("", printableLine(words), g.Kind, g.Summary(), "", "", "", g.Created.Format(time.DateTime))
			continue
		}
		h := *row.Debate
		reason := string(h.Ending.Outcome)
		if h.FailureKind != "" {
			reason = h.FailureKind
		}
		if len(h.Waiting) > 0 {
			reason = "waits for " + strings.Join(h.Waiting, ", ")
		}
		if isAbandoned(h, time.Now()) {
			reason, abandoned = "no process", append(abandoned, h.ID)
		}
		add(printableLine(h.Parent.ID), truncateTopic(h.Topic), printableLine(h.ID), h.State, printableLine(reason),
			fmt.Sprintf("%d/%d", h.Cursor.Round, h.MaxRounds), printableLine(h.Protocol), h.Created.Format(time.DateTime))
	}
	if err := t.print(p.stdout); err != nil {
		return err
	}
	for _, id := range abandoned {
		fmt.Fprintf(p.stderr, "no process runs debate %s any more%s\n", printableLine(id), p.nextCommand("resume", id))
	}
	return nil
}

// countDebates prints the number of debates by state.
func (p *program) countDebates(s store.Store, q store.Query) error {
	counts, err := s.Count(p.ctx, q)
	if err != nil {
		return err
	}
	if p.json {
		return p.printJSON(counts)
	}
	fmt.Fprintln(p.stdout, describeCounts(counts))
	return nil
}

// sumDebates prints what debates have used, by the value of a label. Debates that cannot be read are left out, and their errors come at the
// end.
func (p *program) sumDebates(s store.Store, q store.Query) error {
	sums, unreadable := q.TotalsBy(p.ctx, s, p.by)
	if p.json {
		return errors.Join(p.printJSON(sums), unreadable)
	}
	var t table
	t.add(printableLine(p.by), "DEBATES", "INPUT TOKENS", "OUTPUT TOKENS", "COST", "RUNNING TIME")
	for _, value := range sortedKeys(sums) {
		sum := sums[value]
		cost := formatAmount(sum.Usage.Cost)
		if sum.Usage.Unpriced {
			cost += " and more"
		}
		shown := printableLine(value)
		if value == "" {
			shown = "(none)"
		}
		t.add(shown, sum.Debates, sum.Usage.Input, sum.Usage.Output, cost, seconds(sum.RunningTime))
	}
	return errors.Join(t.print(p.stdout), unreadable)
}

// describeCounts returns the numbers of debates as text, such as "debates: 3 (completed 2, error 1)".
func describeCounts(counts map[fsm.State]int) string {
	total := 0
	var parts []string
	for _, state := range sortedKeys(counts) {
		total += counts[state]
		parts = append(parts, fmt.Sprintf("%s %d", state, counts[state]))
	}
	if total == 0 {
		return "debates: 0"
	}
	return fmt.Sprintf("debates: %d (%s)", total, strings.Join(parts, ", "))
}

// deleteDebates deletes one debate, or all that the filters select. It asks first.
func (p *program) deleteDebates() error {
	return p.withStore(func(_ configFile, o debate.Options) error { return p.deleteStored(o.Store) })
}

func (p *program) deleteStored(s store.Store) error {
	if len(p.operands) > 0 {
		if err := p.completeID(s.List(p.ctx, store.Query{})); err != nil {
			return err
		}
		id := p.operands[0]
		head, _, err := s.Load(p.ctx, id, 0)
		if err != nil {
			return p.notFound(err)
		}
		if err := p.confirm(fmt.Sprintf("Delete debate %s (%s, %s)?", id, head.State, truncateTopic(head.Topic))); err != nil {
			return fmt.Errorf("delete debate %s: %w", id, err)
		}
		if err := s.Delete(p.ctx, id, head.Seq); err != nil {
			return err
		}
		fmt.Fprintln(p.stdout, id, "deleted")
		return nil
	}
	q, err := p.filters.query()
	if err != nil {
		return err
	}
	if err := p.confirmDeletion(s, q); err != nil {
		return err
	}
	n, err := q.Delete(p.ctx, s)
	fmt.Fprintln(p.stdout, "debates deleted:", n)
	return err
}

// confirmDeletion asks whether to delete the debates that a query selects.
func (p *program) confirmDeletion(s store.Store, q store.Query) error {
	counts, err := s.Count(p.ctx, q)
	if err != nil {
		return err
	}
	if err := p.confirm(fmt.Sprintf("Delete %s?", describeCounts(counts))); err != nil {
		return fmt.Errorf("delete debates: %w", err)
	}
	return nil
}

// exportDebate writes a debate to stdout or to the file of --output.
func (p *program) exportDebate() error {
	if p.record.file == "" && len(p.record.keys)+len(p.record.redact) > 0 {
		return exitErrorf(exitInput, "read arguments: --key and --redact need --record")
	}
	var j *archive.Journal
	err := p.withStore(func(_ configFile, o debate.Options) (err error) {
		err = p.completeID(o.Store.List(p.ctx, store.Query{}))
		if err != nil {
			return err
		}
		if p.record.file != "" {
			return p.exportRecord(o.Store)
		}
		j, err = archive.Export(p.ctx, o.Store, p.operands[0])
		return p.notFound(err)
	})
	if err != nil || p.record.file != "" {
		return err
	}
	if p.output == "" {
		return p.printJSON(j)
	}
	b, err := encodeJSON(j)
	if err == nil {
		err = writeFile(p.output, b)
	}
	if err == nil {
		fmt.Fprintf(p.stderr, "debate %s written to %s\n", p.operands[0], p.output)
	}
	return err
}

// importDebate stores a debate that exportDebate wrote.
func (p *program) importDebate() error {
	b, err := os.ReadFile(p.operands[0])
	if err != nil {
		return exitErrorf(exitInput, "import debate: %w", err)
	}
	var j archive.Journal
	if err := json.Unmarshal(b, &j); err != nil {
		return exitErrorf(exitInput, "import debate: read %s: %w", p.operands[0], err)
	}
	err = p.withStore(func(_ configFile, o debate.Options) error { return archive.Import(p.ctx, o.Store, &j) })
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "%s imported into %s\n", printableLine(j.Status.ID), p.storePath)
	return nil
}
