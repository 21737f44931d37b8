package main

import (
	"fmt"
	"os"
	"strings"
)

// equivalents maps the names of mutants that may survive to the reasons.
type equivalents map[string]string

// readEquivalents reads a list of mutants. A line that begins with a file's name is a mutant; the indented lines after it
// are the reason. Empty lines, and lines that begin with #, are ignored.
func readEquivalents(path string) (equivalents, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read equivalent mutants: %w", err)
	}
	list, name := equivalents{}, ""
	for n, line := range strings.Split(string(b), "\n") {
		text := strings.TrimSpace(line)
		switch {
		case text == "" || strings.HasPrefix(line, "#"):
		case text == line:
			if _, twice := list[text]; twice {
				return nil, fmt.Errorf("read %s: line %d lists a mutant again", path, n+1)
			}
			name, list[text] = text, ""
		case name == "":
			return nil, fmt.Errorf("read %s: line %d is a reason without a mutant", path, n+1)
		default:
			list[name] = strings.TrimSpace(list[name] + " " + text)
		}
	}
	for name, reason := range list {
		if reason == "" {
			return nil, fmt.Errorf("read %s: no reason for %s", path, name)
		}
	}
	return list, nil
}

// check returns an error if a listed mutant does not exist.
func (e equivalents) check(mutants []*mutant) error {
	exists := map[string]bool{}
	for _, m := range mutants {
		exists[m.name] = true
	}
	for name := range e {
		if !exists[name] {
			return fmt.Errorf("the code has changed, and an equivalent mutant is gone: %s", name)
		}
	}
	return nil
}
