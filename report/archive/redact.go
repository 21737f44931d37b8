package archive

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate/internal/chain"
)

// Redact hides texts of entries, and the secret with which hidden texts could be found by trying. Each of what is the key of
// a turn, or the number of an entry, which hides all texts of that entry, or one of these with a field, such as
// "1/2/argue/Ada/.text" or "1.background". Every copy of a text that other entries have as a field of its own is hidden
// too. A text that is no string is hidden with what other entries have of its longer strings.
//
// The record keeps the keys of calls whose requests were made before a hidden text could change them, so that these are still
// compared with their hashes.
//
// Redact returns where the record still quotes a hidden text, such as "entry 12: turn.text": call Redact again with those
// that must not be shown. Signatures stay valid. You cannot undo Redact: keep the full record.
func (f *File) Redact(what ...string) (quotes []string, err error) {
	var picked []place
	for _, w := range what {
		found, err := f.pick(w)
		if err != nil {
			return nil, fmt.Errorf("redact record of debate %s: %w", f.header.ID, err)
		}
		picked = append(picked, found...)
	}
	var words []string
	for _, p := range picked {
		words = append(words, wordsOf(f.entries[p.entry].Texts[p.text].Value)...)
	}
	hide := map[place]bool{{0, f.textAt(0, "secret")}: true, {0, f.textAt(0, "copied_keys")}: true}
	touched := map[int]bool{}
	for _, p := range picked {
		hide[p], touched[p.entry] = true, true
	}
	for i, e := range f.entries {
		for j, t := range e.Texts {
			if slices.ContainsFunc(stringsOf(t.Value), func(s string) bool { return slices.Contains(words, s) }) {
				hide[place{i, j}], touched[i] = true, true
			}
		}
	}
	for i := range touched { // digests of texts, by which these could be found
		hide[place{i, f.textAt(i, "reply")}] = true
		for j, t := range f.entries[i].Texts {
			if lastName(t.Path) == "sha256" {
				hide[place{i, j}] = true
			}
		}
	}
	keys := keysOf(f)
	for i := range f.entries {
		var shown []chain.Text
		for j, t := range f.entries[i].Texts {
			if !hide[place{i, j}] {
				shown = append(shown, t)
			}
		}
		f.entries[i].Texts = shown
	}
	keep(f, keys)
	return f.quotes(words), nil
}

// place is the place of a text in a record.
type place struct{ entry, text int }

// textAt returns the index of the text of an entry with a path, or -1.
func (f *File) textAt(entry int, path string) int {
	return slices.IndexFunc(f.entries[entry].Texts, func(t chain.Text) bool { return t.Path == path })
}

// lastName returns the name of the last field of a path.
func lastName(path string) string {
	name := path[strings.LastIndexByte(path, '.')+1:]
	name, _, _ = strings.Cut(name, "[")
	return name
}

// pick returns the texts that what selects.
func (f *File) pick(what string) (list []place, err error) {
	keys := make([]string, len(f.entries))
	for i := range f.entries {
		stored, _, err := f.entries[i].Unmask()
		if err != nil {
			return nil, err
		}
		keys[i] = entryOf(int64(i)+1, stored).Key
	}
	find := func(key string) int {
		if n, err := strconv.Atoi(key); err == nil && n >= 1 && n <= len(keys) {
			return n - 1
		}
		if key == "" {
			return -1
		}
		return slices.Index(keys, key)
	}
	at, field := find(what), ""
	for cut := len(what); at < 0; { // a name in the key may have a dot, and so may the field
		cut = strings.LastIndexByte(what[:cut], '.')
		if cut < 0 {
			return nil, fmt.Errorf("%q is no turn and no entry: use the key of a turn, such as 1/2/argue/Ada/, or the number of an entry, and perhaps .FIELD after it", what)
		}
		at, field = find(what[:cut]), what[cut+1:]
	}
	for j, t := range f.entries[at].Texts {
		if field == "" || t.Path == field || lastName(t.Path) == field {
			list = append(list, place{at, j})
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%q selects no text that is shown", what)
	}
	return list, nil
}

// minWord is the length in bytes from which a string inside a text that is no string counts as a text.
const minWord = 24

// wordsOf returns the strings of a text that must not be shown elsewhere.
func wordsOf(value []byte) (list []string) {
	if value[0] == '"' {
		return stringsOf(value)
	}
	return slices.DeleteFunc(stringsOf(value), func(s string) bool { return len(s) < minWord })
}

// stringsOf returns all strings in a JSON value that are not blank.
func stringsOf(value []byte) (list []string) {
	d := json.NewDecoder(bytes.NewReader(value))
	for {
		t, err := d.Token()
		if err != nil {
			return list
		}
		if s, ok := t.(string); ok && strings.TrimSpace(s) != "" {
			list = append(list, strings.TrimSpace(s))
		}
	}
}

// quotes returns where the record shows hidden strings, or long sentences of them.
func (f *File) quotes(hidden []string) (list []string) {
	var parts []string
	for _, h := range hidden {
		parts = append(parts, h)
		for _, s := range strings.FieldsFunc(h, func(r rune) bool { return strings.ContainsRune(".!?;\n", r) }) {
			s = strings.TrimSpace(s)
			if len(s) >= minWord {
				parts = append(parts, s)
			}
		}
	}
	has := func(texts []string) bool {
		return slices.ContainsFunc(texts, func(text string) bool {
			return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
		})
	}
	for i, e := range f.entries {
		if has(stringsOf(e.Payload)) {
			list = append(list, fmt.Sprintf("entry %d", i+1))
		}
		for _, t := range e.Texts {
			if has(stringsOf(t.Value)) {
				list = append(list, fmt.Sprintf("entry %d: %s", i+1, t.Path))
			}
		}
	}
	return list
}
