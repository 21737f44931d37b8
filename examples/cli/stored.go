package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"github.com/elenchus-go/debate/archive"
	"github.com/elenchus-go/debate/store"
)

// listDebates lists all debates, newest first.
func (p *program) listDebates(s store.Store) error {
	list := []store.Status{}
	for head, err := range s.List(p.ctx, store.Query{}) {
		if err != nil {
			return err
		}
		list = append(list, head)
	}
	if p.json {
		return p.printJSON(list)
	}
	w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSTATE\tREASON\tROUND\tPROTOCOL\tCREATED\tTOPIC")
	for _, h := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d/%d\t%s\t%s\t%s\n", h.ID, h.State, h.Ending.Outcome, h.Cursor.Round, h.MaxRounds, h.Protocol, h.Created.Format(time.DateTime), truncateTopic(h.Topic))
	}
	return w.Flush()
}

// printJSON prints a value as JSON.
func (p *program) printJSON(v any) error {
	b, err := encodeJSON(v)
	if err == nil {
		_, err = p.stdout.Write(b)
	}
	return err
}

// truncateTopic returns a topic on one line, shortened to at most 60 characters.
func truncateTopic(topic string) string {
	r := []rune(printableLine(topic))
	if len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return string(r)
}

// deleteDebate deletes a debate. It asks first.
func (p *program) deleteDebate(s store.Store) error {
	id := p.operands[0]
	head, _, err := s.Load(p.ctx, id, 0)
	if err != nil {
		return p.notFound(err)
	}
	if err := p.confirm(fmt.Sprintf("Delete debate %s (%s, %s)?", id, head.State, truncateTopic(head.Topic))); err != nil {
		return fmt.Errorf("delete debate %s: %w", id, err)
	}
	if err := s.Delete(p.ctx, id, 0); err != nil {
		return err
	}
	fmt.Fprintln(p.stdout, id, "deleted")
	return nil
}

// exportDebate writes a debate to stdout or to the file of --output.
func (p *program) exportDebate(s store.Store) error {
	j, err := archive.Export(p.ctx, s, p.operands[0])
	if err != nil {
		return p.notFound(err)
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
func (p *program) importDebate(s store.Store) error {
	b, err := os.ReadFile(p.operands[0])
	if err != nil {
		return exitErrorf(exitArguments, "import debate: %w", err)
	}
	var j archive.Journal
	if err := json.Unmarshal(b, &j); err != nil {
		return fmt.Errorf("import debate: read %s: %w", p.operands[0], err)
	}
	if err := archive.Import(p.ctx, s, &j); err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "%s imported into %s\n", j.Status.ID, p.store)
	return nil
}

// notFound adds the store and the exit code to an error for an id that the store does not have.
func (p *program) notFound(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return exitErrorf(exitArguments, "%w in %s", err, p.store)
	}
	return err
}
