// Package archive exports a debate from a store and imports it into another one, with its whole history.
//
// Use it to back up a debate, to move it to another database, or to attach it to a bug report:
//
//	func move(ctx context.Context, from, to store.Store, id string) error {
//		j, err := archive.Export(ctx, from, id)
//		if err != nil {
//			return err
//		}
//		return archive.Import(ctx, to, j)
//	}
//
// [Export] reads a [Journal], which you can write to a file as JSON. [Import] checks a journal before it stores anything,
// because a file may be damaged or forged, and never overwrites a debate. The imported debate has the same id, turns and
// results, and an engine continues it where it stopped.
//
// [Record] returns a debate as a file from which others derive it again without the store: [ReadFile] checks that it is complete,
// and [Verify] derives it. A file can be signed, and texts in it can be hidden; see docs/record.md.
//
// A journal contains everything that went into prompts. To show a debate to readers, use package report, which can leave
// that out.
package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/store"
)

// Export reads a debate from a store. It returns an error that wraps store.ErrNotFound if the store has no debate with
// that id.
func Export(ctx context.Context, s store.Store, id string) (*Journal, error) {
	head, entries, err := s.Load(ctx, id, 0)
	if err != nil {
		return nil, fmt.Errorf("export debate %s: %w", id, err)
	}
	for i := range entries {
		raw, err := json.Marshal(entries[i].Data)
		if err != nil {
			return nil, fmt.Errorf("export debate %s: encode entry %d: %w", id, entries[i].Seq, err)
		}
		entries[i].Data = json.RawMessage(raw)
	}
	return &Journal{head, entries}, nil
}

// Import writes a debate into a store. If the store already has a debate with the same id, Import returns an error that
// wraps debate.ErrTaken and changes nothing. Import first reads the journal as an engine would, and checks it with
// debate.Debate.Verify: it rejects a damaged journal, and one with an entry that the entries before it contradict. It returns an
// error that wraps a *debate.NewerFormat if the journal has a newer format. It uses only the ID, the Seq and
// the Plan of the journal's Status, and computes the other fields from the entries.
//
// If the debate was running when you exported it, both stores now contain a running debate, and workers of the target
// store start on it immediately. To avoid this, pause the debate before you export it.
func Import(ctx context.Context, s store.Store, j *Journal) error {
	err := j.check()
	var head store.Status
	if err == nil {
		head, err = j.summarize(ctx)
	}
	if err == nil {
		err = s.Commit(ctx, store.Change{ID: j.Status.ID, Entries: j.Entries, Status: head})
	}
	if _, taken := errors.AsType[*store.Conflict](err); taken {
		err = debate.ErrTaken
	}
	if err != nil {
		return fmt.Errorf("import debate %q: %w", j.Status.ID, err)
	}
	return nil
}

// summarize computes the status from the entries, as an engine reads them. It cannot plan the next step of a protocol
// that it does not know, and keeps the journal's Plan in that case.
func (j *Journal) summarize(ctx context.Context) (store.Status, error) {
	scratch := store.Memory()
	head := store.Status{ID: j.Status.ID, Seq: int64(len(j.Entries)), Plan: j.Status.Plan}
	if err := scratch.Commit(ctx, store.Change{ID: j.Status.ID, Entries: j.Entries, Status: head}); err != nil {
		return store.Status{}, err
	}
	e, err := debate.NewEngine(debate.Options{Store: scratch})
	if err != nil {
		return store.Status{}, err
	}
	d, err := e.Open(ctx, j.Status.ID)
	if err != nil {
		return store.Status{}, err
	}
	if err := d.Verify(ctx); err != nil {
		return store.Status{}, err
	}
	return d.Status(ctx)
}
