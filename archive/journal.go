package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/store"
)

// Journal is a stored debate: all its entries, and a head that summarizes them. You can store it as JSON and import it
// into another store. It contains everything that went into prompts, including instructions, and cannot be redacted.
type Journal struct {
	Status  store.Status
	Entries []store.Entry // all entries, starting with number 1; Data is a json.RawMessage
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

// MarshalJSON encodes the format, the head and the entries.
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

// UnmarshalJSON decodes a journal. The error wraps debate.ErrUnsupported if the format is not store.Format.
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

// checkFormat returns an error if the format of a journal is not the one that this version reads.
func checkFormat(b []byte) error {
	var f struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return fmt.Errorf("read journal: %w", err)
	}
	if f.Format != store.Format {
		return fmt.Errorf("read journal: its format is %d, this version of the library reads format %d: %w",
			f.Format, store.Format, debate.ErrUnsupported)
	}
	return nil
}

// check returns the first error that no valid journal has.
func (j *Journal) check() error {
	if len(j.Entries) == 0 {
		return errors.New("it has no entries")
	}
	keys, last := map[string]int64{}, time.Time{}
	for i, e := range j.Entries {
		if want := int64(i) + 1; e.Seq != want {
			return fmt.Errorf("entry %d is missing, there is %d in its place", want, e.Seq)
		}
		if e.At.Before(last) || !e.At.Equal(e.At.Truncate(time.Microsecond)) {
			return fmt.Errorf("entry %d: its time is %s, want whole microseconds, and not before %s", e.Seq, e.At, last)
		}
		if before, twice := keys[e.Key]; twice && e.Key != "" {
			return fmt.Errorf("entry %d: turn %s stands already in entry %d", e.Seq, e.Key, before)
		}
		keys[e.Key], last = e.Seq, e.At
		if err := checkEntry(e, j.Status.ID); err != nil {
			return fmt.Errorf("entry %d: %w", e.Seq, err)
		}
	}
	return nil
}

// checkEntry checks an entry against the event in its data.
func checkEntry(e store.Entry, id string) error {
	raw, ok := e.Data.(json.RawMessage)
	if !ok {
		return fmt.Errorf("its data is %T, want JSON", e.Data)
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
		return fmt.Errorf("type %q is that of live events, which are not stored", stamp.Type)
	case stamp.Seq != e.Seq || stamp.Type != e.Type:
		return fmt.Errorf("its data is event %d of type %q, want %d of %q", stamp.Seq, stamp.Type, e.Seq, e.Type)
	case key != e.Key:
		return fmt.Errorf("its key is %q, that of its turn is %q", e.Key, key)
	}
	return err
}

// checkConfig checks that a configuration belongs to the debate and has the format that this version reads.
func checkConfig(ev debate.ConfigChanged, id string) error {
	if ev.Format != store.Format {
		return fmt.Errorf("its format is %d, this version of the library reads format %d: %w", ev.Format, store.Format, debate.ErrUnsupported)
	}
	var c struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(ev.Config, &c); err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	if c.ID != id {
		return fmt.Errorf("its configuration is of debate %q", c.ID)
	}
	return nil
}
