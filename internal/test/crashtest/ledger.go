package crashtest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// ledger is a file that survives the processes that write to it. Each line has the number of a child's run, a kind,
// arguments, and the word end. The kinds are "call" and "failed" with a debate and an actor, "ack" with a debate and an
// entry's seq and key, "round" with a debate and an actor, "tool" and "result" with a debate and the ID of a call of a tool, "stopped" with a debate and the cause, "try" and "done" with a debate, a control and a word, "dead"
// when a run has ended, and "down" and "up" for the database.
//
// A reader may see a part of a line that is being written, and a killed process may leave a part of one. So each line
// also begins with a line break, and a line without the last word does not count.
type ledger struct{ file *os.File }

func openLedger(path string) (ledger, error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_RDWR|os.O_CREATE, 0o600)
	return ledger{f}, err
}

const lastWord = "end"

// append adds a line in a single write.
func (l ledger) append(run int, words ...any) error {
	line := fmt.Appendf(nil, "\n%d", run)
	for _, word := range append(words, lastWord) {
		line = fmt.Appendf(line, "\t%v", word) // a key may contain spaces
	}
	_, err := l.file.Write(append(line, '\n'))
	return err
}

// size returns the offset of the next line.
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

// key returns the key of the turn whose commit was acknowledged, or "" if the entry was not a turn.
func (l ledgerLine) key() string {
	if l.kind != "ack" || len(l.args) < 3 {
		return ""
	}
	return l.args[2]
}

// actor returns the actor of the acknowledged turn.
func (l ledgerLine) actor() string {
	if parts := strings.Split(l.key(), "/"); len(parts) > 3 {
		return parts[3]
	}
	return ""
}

// readFrom reads the whole lines after an offset.
func (l ledger) readFrom(offset int64) (lines []ledgerLine, err error) {
	text, err := io.ReadAll(io.NewSectionReader(l.file, offset, 1<<62))
	if err != nil {
		return nil, err
	}
	_, text, _ = bytes.Cut(text, []byte("\n")) // the offset may be inside a line
	for row := range bytes.Lines(text) {
		words := strings.Split(strings.TrimSuffix(string(row), "\n"), "\t")
		if words[len(words)-1] != lastWord {
			continue
		}
		if len(words) < 3 {
			return nil, fmt.Errorf("read ledger: line %q has no kind", row)
		}
		run, err := strconv.Atoi(words[0])
		if err != nil {
			return nil, fmt.Errorf("read ledger: %w", err)
		}
		lines = append(lines, ledgerLine{run, words[1], words[2 : len(words)-1]})
	}
	return lines, nil
}
