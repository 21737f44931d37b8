package prompting

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/delimit"
	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/transcript"
)

// maxShown limits the verdicts below a statement.
const maxShown = 32

// checkedText returns the lines below a statement that say that it is a refusal, and what the check of its citations has found. They
// have no word of the statement or of a source, so that neither can imitate them. It is empty if there is nothing to say.
func checkedText(t *transcript.Turn, nonce string) string {
	return refusedText(t, nonce) + citedText(t, nonce)
}

// refusedText returns the line that tells readers of a turn that it is a refusal.
func refusedText(t *transcript.Turn, nonce string) string {
	if !slices.Contains(t.Flags, transcript.Refused) {
		return ""
	}
	return "\n<<<" + nonce + " refused: the speaker declined to speak, so this is no argument>>>"
}

// citedText returns the line with the verdicts about citations.
func citedText(t *transcript.Turn, nonce string) string {
	if len(t.Citations) == 0 {
		return ""
	}
	var list []string
	quotes := 0
	for _, c := range t.Citations {
		if c.Quote != "" {
			quotes++
		}
		if c.Verdict == "" || len(list) == maxShown {
			continue
		}
		text := "no source"
		if c.Source > 0 {
			text = fmt.Sprintf("[%d]", c.Source)
		}
		if c.Quote != "" {
			text = fmt.Sprintf("quote %d of %s", quotes, text)
		}
		text += " " + strings.ReplaceAll(string(c.Verdict), "_", " ")
		if c.Omitted > 0 {
			text += fmt.Sprintf(", with %d words left out", c.Omitted)
		}
		if c.Line > 0 {
			text += " in " + sources.Lines(&c)
		}
		list = append(list, text)
	}
	if list == nil {
		return ""
	}
	return "\n<<<" + nonce + " checked: " + strings.Join(list, "; ") + ">>>"
}

// checkedTokens returns the tokens of the lines below a statement.
func checkedTokens(t *transcript.Turn, nonce string) int {
	if text := checkedText(t, nonce); text != "" {
		return window.Estimate(text)
	}
	return 0
}

// citationsFor returns the citations of a turn with the names that a reader sees.
func citationsFor(t *transcript.Turn, m *judge.Pseudonyms) (list []transcript.Citation) {
	for _, c := range t.Citations {
		c.Quote = m.Hide(c.Quote)
		c.File = m.Hide(c.File)
		list = append(list, c)
	}
	return list
}

// numbersText says which numbers documents have as sources.
func numbersText(l *sources.List, documents []evidence.Document, m *judge.Pseudonyms) string {
	var list []string
	for i := range documents {
		if n := l.NumberOf(documents[i].Name); n > 0 {
			list = append(list, fmt.Sprintf("[%d] %s", n, delimit.Line(m.Nonce(), m.Hide(documents[i].Name))))
		}
	}
	return " As sources, they have these numbers: " + strings.Join(list, "; ") + "."
}
