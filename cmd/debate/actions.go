package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/report/printer"
)

// Variables of the environment that GitHub Actions sets.
const (
	actionsVariable = "GITHUB_ACTIONS"
	summaryVariable = "GITHUB_STEP_SUMMARY"
)

// inActions reports whether the command runs in a step of GitHub Actions.
func inActions(env func(string) string) bool { return env(actionsVariable) == "true" }

// harmlessWriter is an output of a step of GitHub Actions. The runner takes a line that begins with two colons for a command, and also
// two number signs and a bracket anywhere. Texts of models must not be commands, so a backslash parts these characters, which Markdown
// does not show.
type harmlessWriter struct {
	io.Writer

	begun  []byte // a character of which only the first bytes have come
	inLine bool   // something other than white space has been written since the line began
	signs  int    // number signs at the end of what was written
	colon  bool   // a colon at the beginning of a line is the last that was written
}

// Write implements io.Writer.
func (w *harmlessWriter) Write(b []byte) (int, error) {
	var out bytes.Buffer
	rest := slices.Concat(w.begun, b)
	for utf8.FullRune(rest) {
		r, size := utf8.DecodeRune(rest)
		if r == ':' && w.colon || r == '[' && w.signs >= 2 {
			out.WriteByte('\\')
		}
		out.Write(rest[:size])
		rest = rest[size:]
		w.follow(r)
	}
	w.begun = bytes.Clone(rest)
	if _, err := w.Writer.Write(out.Bytes()); err != nil {
		return 0, err //nolint:wrapcheck // a transparent writer
	}
	return len(b), nil
}

// follow notes a character that was written.
func (w *harmlessWriter) follow(r rune) {
	w.colon = r == ':' && !w.inLine
	switch {
	case r == '\n' || r == '\r':
		w.inLine = false
	case !unicode.IsSpace(r):
		w.inLine = true
	}
	if r == '#' {
		w.signs++
	} else {
		w.signs = 0
	}
}

// tellActions shows a debate in GitHub Actions: its report as the summary of the step, and findings as annotations.
func (p *program) tellActions(all *report.Report, findings []report.Finding) {
	if !inActions(p.env) {
		return
	}
	for i := range findings {
		fmt.Fprintln(p.commands, annotation(&findings[i]))
	}
	path := p.env(summaryVariable)
	if path == "" {
		return
	}
	if err := appendSummary(path, all); err != nil {
		p.warnf("cannot write the summary of the step: %v", err)
	}
}

// maxSummary limits, in bytes, the summary of a step. GitHub takes no more than 1 MiB.
const maxSummary = 1 << 20

// appendSummary appends a report to the summary of a step, which may have texts of other programs.
func appendSummary(path string, all *report.Report) error {
	var b bytes.Buffer
	if err := report.Markdown(&b, all); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600) //nolint:gosec // the runner names the file
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // Write reports errors
	info, err := f.Stat()
	if err != nil {
		return err
	}
	_, err = f.WriteString(cutSummary(b.String(), maxSummary-int(info.Size())))
	return err
}

// cutSummary cuts a summary between two lines, and says so.
func cutSummary(text string, most int) string {
	const cut = "\n\nThe rest has no room in this summary.\n"
	if len(text) <= most {
		return text
	}
	if most < len(cut) {
		return ""
	}
	text = text[:most-len(cut)]
	end := strings.LastIndexByte(text, '\n')
	return text[:max(end, 0)] + cut
}

// annotationLevels maps severities to the commands of the runner.
var annotationLevels = map[string]string{"error": "error", "warning": "warning"}

// annotation returns the command of the runner that shows a finding at its lines.
func annotation(f *report.Finding) string {
	level, known := annotationLevels[f.Severity]
	if !known {
		level = "notice"
	}
	properties := []string{"file=" + escapeProperty(f.File)}
	if f.Line > 0 {
		properties = append(properties, fmt.Sprintf("line=%d", f.Line), fmt.Sprintf("endLine=%d", max(f.Line, f.EndLine)))
	}
	if f.Title != "" {
		properties = append(properties, "title="+escapeProperty(f.Title))
	}
	return fmt.Sprintf("::%s %s::%s", level, strings.Join(properties, ","), escapeData(messageOf(f)))
}

// messageOf returns the text of a finding, with how to show it.
func messageOf(f *report.Finding) string {
	parts := []string{f.Text}
	if f.Text == "" {
		parts = []string{f.Title}
	}
	if f.Show != "" {
		parts = append(parts, "How to show it: "+f.Show)
	}
	for _, x := range f.Dissent {
		parts = append(parts, "Dissent: "+x)
	}
	return strings.Join(parts, "\n\n")
}

var (
	dataEscapes     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	propertyEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// escapeData returns a text as the message of a command, in which it cannot begin another one.
func escapeData(text string) string { return dataEscapes.Replace(safeText(text)) }

// escapeProperty returns a text as a property of a command.
func escapeProperty(text string) string { return propertyEscapes.Replace(safeText(text)) }

// safeText returns a text without control characters.
func safeText(text string) string {
	var b strings.Builder
	fmt.Fprint(printer.SafeWriter{Writer: &b}, text)
	return b.String()
}
