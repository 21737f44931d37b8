package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/elenchus-go/debate/report/printer"
	"github.com/elenchus-go/debate/transcript"
)

// stageTitle returns a title for a stage, or for its round if the stage has rounds.
func stageTitle(stage transcript.Kind, round int) string {
	if stage == transcript.Setup || stage == transcript.Conclusion {
		return string(stage)
	}
	return fmt.Sprintf("round %d", round)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }

// printableLine returns a text on one line, without characters that could control a terminal.
func printableLine(text string) string {
	var b strings.Builder
	fmt.Fprint(printer.SafeWriter{Writer: &b}, strings.Join(strings.Fields(text), " "))
	return b.String()
}

// truncateTopic returns a topic on one line, shortened to at most 60 characters.
func truncateTopic(topic string) string {
	r := []rune(printableLine(topic))
	if len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return string(r)
}
