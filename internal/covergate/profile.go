package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// module is the prefix of file paths in profiles.
const module = "github.com/elenchus-go/debate/"

// A profile maps each file, by its path in the repository, to its blocks.
type profile map[string]map[string]block

// A block is a run of statements with one count.
type block struct {
	statements int
	covered    bool
}

// ratio counts covered and total statements.
type ratio struct {
	covered, total int
}

// readFile adds the profile in a file.
func (p profile) readFile(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read profile: %w", err)
	}
	if err := p.read(bytes.NewReader(text)); err != nil {
		return fmt.Errorf("parse profile %s: %w", path, err)
	}
	return nil
}

// read adds a profile. A block may occur several times, if the tests of several packages measure the same package. It
// counts once, and is covered if any occurrence is covered.
func (p profile) read(r io.Reader) error {
	sc := bufio.NewScanner(r)
	if !sc.Scan() || !strings.HasPrefix(sc.Text(), "mode: ") {
		return fmt.Errorf("line 1: not a coverage profile: it does not begin with mode")
	}
	for n := 2; sc.Scan(); n++ {
		if err := p.add(sc.Text()); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return sc.Err()
}

// add adds a line of the form "file:from,to statements count".
func (p profile) add(line string) error {
	fields := strings.Fields(line)
	if len(fields) != 3 {
		return fmt.Errorf("%q: want 3 fields", line)
	}
	colon := strings.LastIndex(fields[0], ":")
	if colon < 0 {
		return fmt.Errorf("%q: no position", line)
	}
	statements, err := strconv.Atoi(fields[1])
	if err != nil {
		return fmt.Errorf("parse statements: %w", err)
	}
	count, err := strconv.ParseUint(fields[2], 10, 64)
	if err != nil {
		return fmt.Errorf("parse count: %w", err)
	}
	p.merge(strings.TrimPrefix(fields[0][:colon], module), fields[0][colon+1:], statements, count > 0)
	return nil
}

func (p profile) merge(file, position string, statements int, covered bool) {
	if p[file] == nil {
		p[file] = map[string]block{}
	}
	was := p[file][position]
	p[file][position] = block{statements: statements, covered: covered || was.covered}
}

// sum counts the statements of all files that match.
func (p profile) sum(match func(file string) bool) ratio {
	var sum ratio
	for file, blocks := range p {
		if match(file) {
			sum.add(blocks)
		}
	}
	return sum
}

func (r *ratio) add(blocks map[string]block) {
	for _, b := range blocks {
		r.total += b.statements
		if b.covered {
			r.covered += b.statements
		}
	}
}

// reaches reports whether the ratio is at least a percentage. It compares integers, so that rounding never helps.
func (r ratio) reaches(percent int) bool { return r.covered*100 >= r.total*percent }

func (r ratio) String() string {
	if r.total == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(r.covered)/float64(r.total))
}
