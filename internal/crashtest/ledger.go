package crashtest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// ledger is a file that outlives all who write to it. Each line is a run of a child and a word: a "call" of a debate by
// an actor, an "ack" of a debate's entry with its seq and key, "dead" of a run, "down" and "up" of the database.
type ledger struct{ file *os.File }

func openLedger(path string) (ledger, error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_RDWR|os.O_CREATE, 0o600)
	return ledger{f}, err
}

// append adds a line, at once and whole.
func (l ledger) append(run int, words ...any) error {
	_, err := fmt.Fprintln(l.file, append([]any{run}, words...)...) // one write
	return err
}

// size is where the next line will stand.
func (l ledger) size() (int64, error) {
	info, err := l.file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

type ledgerLine struct {
	run  int
	kind string
	args []string
}

// key is that of the turn whose commit was acknowledged; empty: the entry was no turn.
func (l ledgerLine) key() string {
	if l.kind != "ack" || len(l.args) < 3 {
		return ""
	}
	return l.args[2]
}

// actor is whose turn was acknowledged.
func (l ledgerLine) actor() string {
	if parts := strings.Split(l.key(), "/"); len(parts) > 3 {
		return parts[3]
	}
	return ""
}

// readFrom reads the lines after a place.
func (l ledger) readFrom(offset int64) (lines []ledgerLine, err error) {
	text, err := io.ReadAll(io.NewSectionReader(l.file, offset, 1<<62))
	if err != nil {
		return nil, err
	}
	for row := range bytes.Lines(text) {
		words := strings.Fields(string(row))
		if len(words) < 2 {
			return nil, fmt.Errorf("read ledger: line %q has no word", row)
		}
		run, err := strconv.Atoi(words[0])
		if err != nil {
			return nil, fmt.Errorf("read ledger: %w", err)
		}
		lines = append(lines, ledgerLine{run, words[1], words[2:]})
	}
	return lines, nil
}
