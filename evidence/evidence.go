// Package evidence describes the documents of a debate: what its participants and judges may read besides the speeches.
//
//	cfg.Documents = []evidence.Document{
//		evidence.Shared("report.md", report),               // stored with the debate, for everybody
//		evidence.Private("contract.md", contract, "Ann"),   // stored without its text, for Ann
//	}
//
// A shared document holds its text. A private one names its readers and has only a hash: Options.Documents of package
// debate gives the text to the engine for each step that reads it. What a reader says about a private document is public by
// its own act. A short private text can be guessed from its hash, and the model's provider sees everything.
//
// Package [github.com/elenchus-go/debate/evidence/quote] checks quotes, and package
// [github.com/elenchus-go/debate/evidence/search] finds passages.
package evidence

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/elenchus-go/debate/evidence/quote"
	"github.com/elenchus-go/debate/internal/lines"
)

// Everybody as a reader stands for all participants and judges.
const Everybody = "*"

// The limits of documents.
const (
	MaxDocuments = 100      // of a debate
	MaxShared    = 4 << 20  // bytes of all shared texts of a debate, which is stored with them
	MaxSize      = 64 << 20 // bytes of one document
	maxName      = 128      // bytes
	maxTokens    = 2_000_000_000
)

// Document is a text that participants and judges read. It is plain data and survives JSON.
//
// A document without readers is refused: it has either a Text, and then Readers is ["*"], or at least one reader.
type Document struct {
	// Name identifies the document in prompts, reports and errors, such as "contract.md" or "cmd/main.go". It is unique within the
	// debate, has at most 128 bytes, and is public. Its ending says whether the text is code.
	Name string `json:"name"`
	// SHA256 is the hash of the text in hexadecimal digits. It is computed if there is a Text.
	SHA256 string `json:"sha256"`
	// Size is the length of the text in bytes. It is computed if there is a Text.
	Size int `json:"size"`
	// Tokens is how many tokens windows and budgets count for the text, on every engine alike. For a Text, it defaults to what
	// the engine counts when the debate is created, otherwise to a third of Size, and for code to half of it.
	Tokens int `json:"tokens,omitempty"`
	// Readers are the names of the participants and judges who read the document, or ["*"] for all. A substitute reads what
	// the judge reads. Nobody else does: neither persona assigner nor summarizer nor embedder.
	Readers []string `json:"readers"`
	// Text is the text of a shared document, which is stored with the debate and shown to everybody. A private document has
	// none.
	Text string `json:"text,omitempty"`
}

// Shared returns a document that is stored with the debate, for everybody.
func Shared(name, text string) Document {
	return Document{Name: name, SHA256: Hash(text), Size: len(text), Readers: []string{Everybody}, Text: text}
}

// Private returns a document for the given readers, without its text.
func Private(name, text string, readers ...string) Document {
	return Document{Name: name, SHA256: Hash(text), Size: len(text), Readers: readers}
}

// Hash returns the SHA-256 of a text in hexadecimal digits.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// IsPrivate reports whether the document is stored without its text.
func (d *Document) IsPrivate() bool { return d.Text == "" }

// IsFor reports whether a participant or a judge reads the document.
func (d *Document) IsFor(name string) bool {
	return slices.Contains(d.Readers, name) || slices.Contains(d.Readers, Everybody)
}

// Matches reports whether a text is that of the document.
func (d *Document) Matches(text string) bool { return len(text) == d.Size && Hash(text) == d.SHA256 }

// String describes the document without its text.
func (d Document) String() string { return fmt.Sprintf("%s (%d bytes)", d.Name, d.Size) }

// IsCode reports whether the document holds code, configuration or a diff, as its name says. Prompts show its lines with their
// numbers.
func (d *Document) IsCode() bool { return quote.IsCode(d.Name) }

// Shown returns a text of the document as prompts show it.
func (d *Document) Shown(text string) string {
	if d.IsCode() {
		return lines.Number(text, 1)
	}
	return text
}

// Format writes the result of String for every verb, so that no log holds the text.
func (d Document) Format(f fmt.State, _ rune) { fmt.Fprint(f, d.String()) }

// WithDefaults returns the document with what follows from its text. count counts tokens.
func (d Document) WithDefaults(count func(text string) int) Document {
	switch {
	case !d.IsPrivate():
		if d.SHA256 == "" {
			d.SHA256 = Hash(d.Text)
		}
		if d.Size == 0 {
			d.Size = len(d.Text)
		}
		if d.Tokens == 0 {
			d.Tokens = count(d.Shown(d.Text))
		}
	case d.Tokens != 0 || d.Size <= 0 || d.Size > MaxSize:
	case d.IsCode(): // with the numbers of its lines
		d.Tokens = (d.Size + 1) / 2
	default:
		d.Tokens = (d.Size + 2) / 3
	}
	return d
}

// A Problem is something that is wrong with a document.
type Problem struct {
	Field  string // such as "readers"; empty for the whole document
	Reason string
}

// Check returns everything that is wrong with a document whose defaults are filled in. isSeat reports whether a name is that
// of a participant or a judge.
func (d *Document) Check(isSeat func(name string) bool) (list []Problem) {
	add := func(field, format string, args ...any) {
		list = append(list, Problem{field, fmt.Sprintf(format, args...)})
	}
	if d.Name == "" || len(d.Name) > maxName || strings.TrimSpace(d.Name) != d.Name ||
		strings.ContainsFunc(d.Name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		add("name", "%q is not valid, use 1 to %d bytes without control characters, and blanks at its ends",
			d.Name[:min(len(d.Name), maxName)], maxName)
	}
	if d.Text == "" && d.SHA256 == "" {
		add("text", "there is neither a text nor the hash of a private one, use Shared or Private")
		return list
	}
	if !d.IsPrivate() && !utf8.ValidString(d.Text) {
		add("text", "it is not valid UTF-8")
	}
	if raw, err := hex.DecodeString(d.SHA256); err != nil || len(raw) != sha256.Size || strings.ToLower(d.SHA256) != d.SHA256 {
		add("sha256", "it is not valid, use the 64 lower-case hexadecimal digits of the text's SHA-256")
	} else if !d.IsPrivate() && d.SHA256 != Hash(d.Text) {
		add("sha256", "it is not that of the text, leave it out")
	}
	switch {
	case d.Size < 1 || d.Size > MaxSize:
		add("size", "%d is not valid, use 1 to %d", d.Size, MaxSize)
	case !d.IsPrivate() && d.Size != len(d.Text):
		add("size", "%d is not the size of the text, leave it out", d.Size)
	}
	if d.Tokens < 1 || d.Tokens > maxTokens {
		add("tokens", "%d is not valid, use 1 to %d", d.Tokens, maxTokens)
	}
	return append(list, d.checkReaders(isSeat)...)
}

// checkReaders returns everything that is wrong with the readers.
func (d *Document) checkReaders(isSeat func(name string) bool) (list []Problem) {
	add := func(format string, args ...any) {
		list = append(list, Problem{"readers", fmt.Sprintf(format, args...)})
	}
	switch {
	case len(d.Readers) == 0:
		add("it is empty: name who reads the document, or use %q with a text for everybody", Everybody)
	case !d.IsPrivate() && (len(d.Readers) != 1 || d.Readers[0] != Everybody):
		add("a text is stored with the debate, for everybody: use [%q], or leave the text out and give it in Options.Documents", Everybody)
	}
	for i, name := range d.Readers {
		switch {
		case slices.Contains(d.Readers[:i], name):
			add("%q is listed twice", name)
		case name == Everybody && len(d.Readers) > 1:
			add("%q stands for all, remove the other names", Everybody)
		case name != Everybody && !isSeat(name):
			add("%q is neither a participant nor a judge", name)
		}
	}
	return list
}

// CheckAll returns everything that is wrong with the documents of a debate, by the path of the field after the name of the
// list, such as "[1].readers".
func CheckAll(list []Document, isSeat func(name string) bool) (found []Problem) {
	shared, seen := 0, map[string]bool{}
	for i := range list {
		d := &list[i]
		for _, p := range d.Check(isSeat) {
			path := fmt.Sprintf("[%d]", i)
			if p.Field != "" {
				path += "." + p.Field
			}
			found = append(found, Problem{path, p.Reason})
		}
		if seen[d.Name] {
			found = append(found, Problem{fmt.Sprintf("[%d].name", i), fmt.Sprintf("%q is the name of two documents", d.Name)})
		}
		seen[d.Name] = true
		shared += len(d.Text)
	}
	if len(list) > MaxDocuments {
		found = append(found, Problem{"", fmt.Sprintf("%d are too many, use at most %d", len(list), MaxDocuments)})
	}
	if shared > MaxShared {
		found = append(found, Problem{"", fmt.Sprintf("the texts have %d bytes, use at most %d for all, because the debate is stored with them", shared, MaxShared)})
	}
	return found
}

// Source is what participants and judges can cite and quote by its number: a document, or a text that a tool has found. It
// says what the debate has made of it.
type Source struct {
	Number int    `json:"number"`           // from 1; unique in the debate
	Name   string `json:"name"`             // the name of the document, or the title that the tool gave
	URI    string `json:"uri,omitempty"`    // that the tool gave
	SHA256 string `json:"sha256,omitempty"` // of the text; empty if there is none
	Size   int    `json:"size,omitempty"`   // of the text in bytes
	// Document is set for a document of the debate, and Private if it is stored without its text.
	Document bool `json:"document,omitempty"`
	Private  bool `json:"private,omitempty"`
	// FoundBy are the names of those whose tools have found it.
	FoundBy []string `json:"found_by,omitempty"`
	// CitedBy are the names of those who cite or quote it, QuotedBy of those with a verified quote of it, and MisquotedBy of
	// those with a quote that it does not contain, each in the order of their first turns.
	CitedBy     []string `json:"cited_by,omitempty"`
	QuotedBy    []string `json:"quoted_by,omitempty"`
	MisquotedBy []string `json:"misquoted_by,omitempty"`
	// Unanswered is set if participants of only one side cite it: nobody else has taken it up.
	Unanswered bool `json:"unanswered,omitempty"`
}
