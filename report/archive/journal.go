package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/store"
)

// Journal is a stored debate: all its entries, and the status that they lead to. You can store it as JSON and import it
// into another store. It contains everything that went into prompts, including instructions, and cannot be redacted. It also
// contains the secret of the debate, so that the copy can check hashes and recognize replies: give it only to those who may
// read the whole debate.
type Journal struct {
	Status  store.Status
	Entries []store.Entry // all entries in order, starting with sequence number 1; their Data is a json.RawMessage
}

// entryJSON is the JSON form of a store.Entry.
type entryJSON struct {
	Seq  int64           `json:"seq"`
	Type string          `json:"type"`
	Key  string          `json:"key,omitempty"`
	At   time.Time       `json:"at"`
	Data json.RawMessage `json:"data"`
}

// journalJSON is the JSON form of a Journal.
type journalJSON struct {
	Format  int          `json:"format"` // format of the entries
	Status  store.Status `json:"status"`
	Entries []entryJSON  `json:"entries"`
}

// MarshalJSON encodes the format, the status and the entries.
func (j Journal) MarshalJSON() ([]byte, error) {
	f := journalJSON{Format: max(j.Status.Format, store.Format), Status: j.Status, Entries: []entryJSON{}}
	for _, e := range j.Entries {
		raw, err := json.Marshal(e.Data)
		if err != nil {
			return nil, fmt.Errorf("encode entry %d: %w", e.Seq, err)
		}
		f.Entries = append(f.Entries, entryJSON{e.Seq, e.Type, e.Key, e.At, raw})
	}
	return json.Marshal(f)
}

// UnmarshalJSON decodes a journal. The error wraps a *debate.NewerFormat if the journal has a newer format.
func (j *Journal) UnmarshalJSON(b []byte) error {
	if err := checkFormat(b); err != nil {
		return err
	}
	var f journalJSON
	if err := json.Unmarshal(b, &f); err != nil {
		return fmt.Errorf("read journal: %w", err)
	}
	*j = Journal{Status: f.Status}
	for _, e := range f.Entries {
		j.Entries = append(j.Entries, store.Entry{Seq: e.Seq, Type: e.Type, Key: e.Key, At: e.At.UTC(), Data: e.Data})
	}
	return nil
}

// checkFormat returns an error if the JSON of a journal has another format than this version of the library reads.
func checkFormat(b []byte) error {
	var f struct {
		Format int `json:"format"`
		Status struct {
			ID string `json:"id"`
		} `json:"status"`
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return fmt.Errorf("read journal: %w", err)
	}
	if err := readsFormat(f.Status.ID, f.Format); err != nil {
		return fmt.Errorf("read journal: %w", err)
	}
	return nil
}

// readsFormat returns an error if this version of the library does not read the format of a journal: a *debate.NewerFormat if it is
// higher.
func readsFormat(id string, n int) error {
	switch {
	case n > store.Format:
		return &debate.NewerFormat{ID: id, Format: n}
	case n != store.Format:
		return fmt.Errorf("the format is %d, want %d", n, store.Format)
	}
	return nil
}

// check checks the order, the times and the keys of the entries, and each entry on its own. It returns the first error.
func (j *Journal) check() error {
	if len(j.Entries) == 0 {
		return errors.New("the journal has no entries")
	}
	keys, last := map[string]int64{}, time.Time{}
	for i, e := range j.Entries {
		if want := int64(i) + 1; e.Seq != want {
			return fmt.Errorf("entry %d is missing, entry %d is in its place", want, e.Seq)
		}
		if e.At.Before(last) || !e.At.Equal(e.At.Truncate(time.Microsecond)) {
			return fmt.Errorf("entry %d: time is %s, want whole microseconds and not before %s", e.Seq, e.At, last)
		}
		if before, twice := keys[e.Key]; twice && e.Key != "" {
			return fmt.Errorf("entry %d: turn %s is already in entry %d", e.Seq, e.Key, before)
		}
		keys[e.Key], last = e.Seq, e.At
		if err := checkEntry(e, j.Status.ID); err != nil {
			return fmt.Errorf("entry %d: %w", e.Seq, err)
		}
	}
	if end := int64(len(j.Entries)); j.Status.Seq > end {
		return fmt.Errorf("entry %d is missing: the journal ends at entry %d, but its status is at entry %d", end+1, end, j.Status.Seq)
	}
	return nil
}

// checkEntry checks that the fields of an entry agree with the event in its data, and that a configuration belongs to
// the debate with the given id.
func checkEntry(e store.Entry, id string) error {
	raw, ok := e.Data.(json.RawMessage)
	if !ok {
		return fmt.Errorf("data is a value of type %T, want JSON", e.Data)
	}
	ev, err := debate.ParseEvent(raw)
	if err != nil {
		return err
	}
	key := ""
	switch ev := ev.(type) {
	case debate.ConfigChanged:
		err = checkConfig(ev, id)
	case debate.TurnDone:
		key = ev.Turn.Key.String()
	}
	switch stamp := ev.Meta(); {
	case stamp.Live:
		return fmt.Errorf("an event of type %q is live, and live events are not stored", stamp.Type)
	case stamp.Seq != e.Seq || stamp.Type != e.Type:
		return fmt.Errorf("data is event %d of type %q, want event %d of type %q", stamp.Seq, stamp.Type, e.Seq, e.Type)
	case key != e.Key:
		return fmt.Errorf("key is %q, want the key of its turn, %q", e.Key, key)
	}
	return err
}

// checkConfig checks that a configuration belongs to the debate with the given id and has a format that the library reads.
func checkConfig(ev debate.ConfigChanged, id string) error {
	if err := readsFormat(id, ev.Format); err != nil {
		return err
	}
	var c struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(ev.Config, &c); err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	if c.ID != id {
		return fmt.Errorf("configuration belongs to debate %q", c.ID)
	}
	return nil
}
