package debate

import (
	"context"
	"fmt"
	"maps"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/step/prompting"
)

// unreadable is the ErrUnsupported of a debate with a private document that this engine cannot read. Its message does not
// have that of the cause, which may quote the text.
type unreadable struct {
	unsupported

	cause error
}

func (u *unreadable) Unwrap() []error { return []error{&u.unsupported, u.cause} }

// readDocument returns the text of a private document from Options.Documents, or an ErrUnsupported.
func readDocument(ctx context.Context, e *Engine, id string, labels map[string]string, d evidence.Document) (text string, err error) {
	lacks := func(reason string, cause error) error {
		return &unreadable{unsupported{[]string{fmt.Sprintf("document %q: %s", d.Name, reason)}}, cause}
	}
	if e.documents == nil {
		return "", lacks("it is private, set Options.Documents", nil)
	}
	returned := false
	defer func() {
		if !returned && recover() != nil { // the value may quote the text
			text, err = "", lacks("Options.Documents panicked", nil)
		}
	}()
	text, err = e.documents(ctx, id, maps.Clone(labels), d)
	returned = true
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", lacks("Options.Documents does not give its text", err)
	case !d.Matches(text):
		return "", lacks("the text that Options.Documents gives has another size or another SHA-256", nil)
	}
	return text, nil
}

// checkReadable returns an ErrUnsupported if the engine cannot read a private document of the debate. It checks each
// configuration once, before the driver adds anything to the journal.
func checkReadable(dr *driver) error {
	dr.journal.mu.Lock()
	r := dr.journal.rec
	if r == nil || r.config == dr.readable || r.supported() != nil || !r.lifecycle.State.Active() && r.lifecycle.State != fsm.Configuring && r.lifecycle.State != fsm.Ready {
		dr.journal.mu.Unlock()
		return nil
	}
	c := r.config
	dr.journal.mu.Unlock()
	for _, d := range privateOnes(c.Documents) {
		if _, err := readDocument(dr.ctx, dr.engine, dr.journal.id, c.Labels, d); err != nil {
			return fmt.Errorf("drive debate %s: %w", dr.journal.id, err)
		}
	}
	dr.readable = c
	return nil
}

// giveDocuments gives the models of steps the texts of the private documents that their actors read. If one cannot be read,
// no step begins.
func giveDocuments(dr *driver, list []*execution) error {
	for _, x := range list {
		if x.documents == nil {
			continue
		}
		texts := make([]string, len(x.documents))
		for i, d := range x.documents {
			var err error
			if texts[i], err = readDocument(dr.ctx, dr.engine, x.debate, x.labels, d); err != nil {
				return fmt.Errorf("drive debate %s: %w", x.debate, err)
			}
		}
		p := &x.run.Plan
		p.Model.Client = prompting.PrivateClient(p.Model.Client, x.documents, texts, p.Pseudonyms)
		for i := range p.Substitutes {
			p.Substitutes[i].Client = prompting.PrivateClient(p.Substitutes[i].Client, x.documents, texts, p.Pseudonyms)
		}
	}
	return nil
}
