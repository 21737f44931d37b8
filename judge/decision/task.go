package decision

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate/internal/contract"
	"github.com/elenchus-go/debate/internal/naming"
)

// Task is what judges decide. The zero Task is none.
type Task struct {
	Options []string `json:"options,omitzero"` // two to sixteen, one line each; the judges choose one by its number, from 1
	// Contract is the name of a contract in Options.Contracts of the engine, such as "refund/1". It is the form of the
	// judges' replies if there are no options.
	Contract string `json:"contract,omitempty"`
}

// The limits of options.
const (
	minOptions, maxOptions = 2, 16
	maxOptionBytes         = 400
)

// IsZero reports whether nothing is decided. An empty list of options is not nothing: Check says that it is too short.
func (t Task) IsZero() bool { return t.Options == nil && t.Contract == "" }

// Check returns a description of everything that is wrong. judges is the number of judges, and twice says that each replies
// twice.
func (t Task) Check(judges int, twice bool) []string {
	switch {
	case t.Options != nil && t.Contract != "":
		return []string{"it has options and a contract, use one of them"}
	case t.Options != nil:
		return CheckOptions(t.Options)
	}
	of, known := contract.Of(t.Contract)
	if !known { // the engine knows whether it lacks the contract
		return nil
	}
	field, problem := choiceOf(of)
	switch {
	case problem != "":
		return []string{fmt.Sprintf("the contract %q: %s", t.Contract, problem)}
	case field == "" && judges > 1:
		return []string{fmt.Sprintf(`the contract %q marks no field with decision:"choice" by which %d judges could agree, use one judge or mark a field`, t.Contract, judges)}
	case field == "" && twice:
		return []string{fmt.Sprintf(`the contract %q marks no field with decision:"choice" by which the two replies of a judge could agree, mark a field or do not ask twice`, t.Contract)}
	}
	return nil
}

// CheckOptions returns a description of everything that is wrong with a list of options.
func CheckOptions(options []string) (problems []string) {
	if n := len(options); n < minOptions || n > maxOptions {
		problems = append(problems, fmt.Sprintf("the number of options is %d, use %d to %d", n, minOptions, maxOptions))
	}
	for i, o := range options {
		switch {
		case strings.TrimSpace(o) == "":
			problems = append(problems, fmt.Sprintf("option %d is blank", i+1))
		case len(o) > maxOptionBytes:
			problems = append(problems, fmt.Sprintf("option %d has %d bytes, use at most %d", i+1, len(o), maxOptionBytes))
		case strings.ContainsAny(o, "\r\n"):
			problems = append(problems, fmt.Sprintf("option %d has several lines, use one", i+1))
		case slices.ContainsFunc(options[:i], func(before string) bool { return naming.Same(before, o) }):
			problems = append(problems, fmt.Sprintf("option %d, %q, appears twice", i+1, o))
		}
	}
	return problems
}

// ContractName returns the name of the contract of the judges' replies.
func (t Task) ContractName() string {
	if t.Contract != "" {
		return t.Contract
	}
	return Contract.Name()
}

// Vars returns the parameters of prompts: "decision", and "options" with a numbered line for each option.
func (t Task) Vars() map[string]string {
	return map[string]string{"decision": "yes", "options": Outline(t.Options)}
}

// Outline returns a numbered line for each option.
func Outline(options []string) string {
	lines := make([]string, len(options))
	for i, o := range options {
		lines[i] = strconv.Itoa(i+1) + ". " + strings.TrimSpace(o)
	}
	return strings.Join(lines, "\n")
}

// CheckReply returns the check of a judge's reply to a task with options, after the given number of rounds. The check also
// sets the text of the option. It is nil for a contract, which has its own.
func (t Task) CheckReply(rounds int) func(v any) []string {
	if len(t.Options) == 0 {
		return nil
	}
	return func(v any) (findings []string) {
		c, ok := v.(*Choice)
		if !ok || c.isDefault() {
			return nil
		}
		if c.Option < 1 || c.Option > len(t.Options) {
			findings = append(findings, fmt.Sprintf("/option: %d is no option, give a number from 1 to %d", c.Option, len(t.Options)))
		} else {
			c.Chosen = strings.TrimSpace(t.Options[c.Option-1])
		}
		for i, x := range c.Reasons {
			if x.Round > rounds {
				findings = append(findings, fmt.Sprintf("/reasons/%d/round: %d is no round of the debate, give a number from 1 to %d", i, x.Round, rounds))
			}
		}
		return findings
	}
}

// choiceOf returns the name in JSON of the field of a type that decides, or "" if none does. It also returns what is wrong.
func choiceOf(t reflect.Type) (field, problem string) {
	for f := range t.Fields() {
		tag, tagged := f.Tag.Lookup("decision")
		if !tagged {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case tag != "choice":
			return field, fmt.Sprintf(`field %s has the tag decision:%q, use decision:"choice"`, f.Name, tag)
		case !slices.Contains(choiceKinds, f.Type.Kind()):
			return field, fmt.Sprintf(`field %s is marked as the choice and has the type %s, use a text, a whole number or a boolean`, f.Name, f.Type)
		case field != "":
			return field, "several fields are marked as the choice, mark one"
		case name == "-":
			return field, fmt.Sprintf("field %s is marked as the choice but is not part of the reply", f.Name)
		case name == "":
			name = f.Name
		}
		field = name
	}
	return field, ""
}

var choiceKinds = []reflect.Kind{
	reflect.String, reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
	reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
}
