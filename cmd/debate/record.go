package main

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/mod/sumdb/note"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/report/archive"
	"github.com/elenchus-go/debate/store"
)

// recordFlags adds the flags of export for records.
func (o *options) recordFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.record.file, "record", "", "write a record to `file`, from which verify derives the debate")
	flags.StringArrayVar(&o.record.keys, "key", nil, "sign the record with the private key in `file`, which keys has written, unless that key has signed it")
	flags.StringArrayVar(&o.record.redact, "redact", nil, "hide a text in the record, as `KEY[.FIELD]`; can be repeated")
}

// verifyFlags adds the flags of verify.
func (o *options) verifyFlags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&o.record.keys, "key", nil, "public `key` that may have signed the record, or a file with it; can be repeated")
	flags.StringVar(&o.record.parent, "parent", "", "`file` with the record of the debate of which this one is a fork")
	flags.BoolVar(&o.json, "json", false, "print JSON, with what is said of each entry")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "list all entries")
}

// keysFlags adds the flags of keys.
func (o *options) keysFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&o.output, "output", "o", "", "write the private key to `file`, and the public key to file.pub; defaults to debate.key")
}

// exportRecord writes the record of a debate to the file of --record.
func (p *program) exportRecord(s store.Store) error {
	o := debate.Options{Store: s}
	if status, _, err := s.Load(p.ctx, p.operands[0], 0); err == nil && status.Labels[promptsLabel] != "" {
		o.Prompts = os.DirFS(status.Labels[promptsLabel]) // the record has their texts
	}
	e, err := debate.NewEngine(o)
	if err != nil {
		fmt.Fprintf(p.stderr, "the record lacks the templates of --prompts: %s\n", printableLine(err.Error()))
		e, err = debate.NewEngine(debate.Options{Store: s})
		if err != nil {
			return err
		}
	}
	f, err := archive.Record(p.ctx, e, p.operands[0])
	if err != nil {
		return p.notFound(err)
	}
	for _, path := range p.record.keys {
		if err := signRecord(f, path); err != nil {
			return err
		}
	}
	if len(p.record.redact) > 0 {
		quotes, err := f.Redact(p.record.redact...)
		if err != nil {
			return exitErrorf(exitInput, "%w", err)
		}
		for _, q := range quotes {
			fmt.Fprintf(p.stderr, "%s still quotes a hidden text\n", printableLine(q))
		}
	}
	b, err := f.MarshalText()
	if err == nil {
		err = writeFile(p.record.file, b)
	}
	if err == nil {
		fmt.Fprintf(p.stderr, "record of debate %s written to %s\n", p.operands[0], p.record.file)
	}
	return err
}

// signRecord signs a record with the private key in a file.
func signRecord(f *archive.File, path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return exitErrorf(exitInput, "read private key: %w", err)
	}
	s, err := note.NewSigner(strings.TrimSpace(string(b)))
	if err != nil { // the error does not quote the key
		return exitErrorf(exitInput, "read private key: %s: it is not a key that debate keys has written", path)
	}
	return f.Sign(s)
}

// readRecord reads a record.
func readRecord(path string) (*archive.File, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, exitErrorf(exitInput, "read record: there is no file %s; debate export ID --record FILE writes a record", path)
	}
	if err != nil {
		return nil, exitErrorf(exitInput, "read record: %w", err)
	}
	f, err := archive.ReadFile(bytes.NewReader(b))
	if err != nil {
		return nil, exitErrorf(exitDamaged, "%s: %w", path, err)
	}
	return f, nil
}

// recordExits are the exit codes of verify.
var recordExits = map[archive.Verdict]int{
	archive.Signed: exitSuccess, archive.Unsigned: exitUnsigned, archive.Partly: exitPartly, archive.Wrong: exitWrong,
}

// verifyRecord derives a debate from its record.
func (p *program) verifyRecord() error {
	f, err := readRecord(p.operands[0])
	if err != nil {
		return err
	}
	if p.record.parent != "" {
		f.Parent, err = readRecord(p.record.parent)
		if err != nil {
			return err
		}
	}
	keys, err := p.publicKeys()
	if err != nil {
		return err
	}
	r, err := archive.Verify(p.ctx, f, debate.Options{}, keys...)
	if err != nil {
		return err
	}
	if p.json {
		if err := p.printJSON(r); err != nil {
			return err
		}
	} else {
		p.printVerdicts(r)
	}
	if code := recordExits[r.Verdict]; code != exitSuccess {
		return exitErrorf(code, "verify record of debate %s: %s: %s", printableLine(r.ID), r.Verdict, printableLine(r.Reason))
	}
	return nil
}

// publicKeys returns the keys of --key.
func (p *program) publicKeys() (list []note.Verifier, err error) {
	for _, key := range p.record.keys {
		text, what := key, "it" // no error shows a private key
		if b, err := os.ReadFile(key); err == nil {
			text, what = string(b), key
		}
		text = strings.TrimSpace(text)
		if strings.HasPrefix(text, "PRIVATE+KEY+") {
			return nil, exitErrorf(exitInput,
				"read public key: %s is a private key, use the public one, which debate keys writes to a file that ends in .pub", what)
		}
		v, err := note.NewVerifier(text)
		if err != nil {
			return nil, exitErrorf(exitInput, "read public key: %.80q is neither a public key nor a file with one", key)
		}
		list = append(list, v)
	}
	return list, nil
}

// printVerdicts prints what a record has been found to be.
func (p *program) printVerdicts(r *archive.Report) {
	for _, c := range r.Checks {
		if p.verbose || c.Verdict == debate.EntryWrong || c.Verdict == debate.EntryNotDerivable {
			fmt.Fprintln(p.stdout, strings.TrimSpace(printableLine(fmt.Sprintf("entry %d, %s %s: %s %s", c.Seq, c.Type, c.Key, c.Verdict, c.Reason))))
		}
	}
	for _, c := range r.Checks {
		for _, name := range c.Names {
			fmt.Fprintln(p.stdout, printableLine(fmt.Sprintf("entry %d: the prompt of a blind judge has a participant's name: %s", c.Seq, name)))
		}
	}
	fmt.Fprintf(p.stdout, "debate %s: %s\n", printableLine(r.ID), r.Verdict)
	fmt.Fprintf(p.stdout, "%d entries: %d derived, %d input, %d not derivable, %d wrong\n", r.Entries,
		r.Count(debate.EntryDerived), r.Count(debate.EntryInput), r.Count(debate.EntryNotDerivable), r.Count(debate.EntryWrong))
	fmt.Fprintf(p.stdout, "prompts: %d equal to their hashes, %d not known\n", r.Prompts, r.UnknownPrompts)
	fmt.Fprintf(p.stdout, "replies: %d read again, %d not in the record\n", r.Replies, r.UnknownReplies)
	for _, what := range r.Lacks {
		fmt.Fprintln(p.stdout, printableLine("lacks "+what))
	}
	if r.Ending.Outcome != "" {
		fmt.Fprintln(p.stdout, "outcome:", printableLine(string(r.Ending.Outcome)))
	}
	if r.Hidden > 0 {
		fmt.Fprintf(p.stdout, "hidden texts: %d\n", r.Hidden)
	}
	fmt.Fprintln(p.stdout, "head:", r.Head)
	for _, s := range r.Signatures {
		known := "by a key that was not given: not checked"
		if s.Known {
			known = "valid"
		}
		fmt.Fprintf(p.stdout, "signature of %s (%s) over entries 1 to %d: %s\n", printableLine(s.Name), s.Hash, s.Entries, known)
	}
}

// makeKeys makes a pair of keys.
func (p *program) makeKeys() error {
	path := cmp.Or(p.output, "debate.key")
	private, public, err := note.GenerateKey(rand.Reader, p.operands[0])
	if err == nil {
		_, err = note.NewVerifier(public) // which checks the name
	}
	if err != nil {
		return exitErrorf(exitInput, "make keys: %q is not the name of a key, use one without blanks and +: %w", p.operands[0], err)
	}
	for _, x := range []struct {
		path, text string
		mode       fs.FileMode
	}{{path, private, 0o600}, {path + ".pub", public, 0o644}} {
		err := writeNew(x.path, x.text, x.mode)
		if errors.Is(err, fs.ErrExist) {
			return exitErrorf(exitInput, "make keys: %s exists, choose another file with --output", x.path)
		}
		if err != nil {
			return fmt.Errorf("make keys: %w", err)
		}
	}
	fmt.Fprintln(p.stdout, public)
	fmt.Fprintf(p.stderr, "private key written to %s, public key to %s.pub\n", path, path)
	return nil
}

// writeNew writes a line to a new file.
func writeNew(path, text string, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, text)
	return errors.Join(err, f.Close())
}
