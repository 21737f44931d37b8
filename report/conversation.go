package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/internal/readmodel"
	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// rounds returns the transcript by round, without embedding vectors.
func (r *Report) rounds(speakers cast) (list []round) {
	assessed := map[int]*outcome.Assessed{}
	for _, a := range r.assessments() {
		assessed[a.Round] = &a
	}
	ids := map[string]int{}
	for i := range r.Result.Turns {
		t := &r.Result.Turns[i]
		if t.Kind == transcript.Embeddings {
			continue
		}
		title, id := readmodel.Part(t)
		n := len(list)
		if n == 0 || list[n-1].Title != title && t.Kind != transcript.Remark { // a remark belongs to no round
			ids[id]++
			if ids[id] > 1 {
				id += fmt.Sprintf("-%d", ids[id])
			}
			list = append(list, round{ID: id, Title: title})
		}
		last := &list[len(list)-1]
		e := r.turnEntry(t, i, speakers)
		if e.Aside {
			last.Assessments = append(last.Assessments, e)
			a, ok := assessed[t.Round]
			if ok && last.Scores == nil {
				last.Scores = scoresOf(a)
				last.Differences = differencesIn(a)
			}
		} else {
			last.Turns = append(last.Turns, e)
		}
	}
	return list
}

// turnEntry returns the entry of the turn with an index.
func (r *Report) turnEntry(t *transcript.Turn, i int, speakers cast) entry {
	e := entry{
		ID: fmt.Sprintf("turn-%d", i+1), Speaker: speakers.of(t.Actor), Title: t.Actor,
		Text: readmodel.Readable(&r.Result, readmodel.Text(t)), Note: turnDetails(t),
		Checked: append(sources.Read(t), sources.Describe(t.Citations, r.Result.Sources)...),
		Quiet:   t.Kind == transcript.Silence || t.Kind == transcript.Setup && isSystem(t.Actor) || t.Kind == transcript.Summary,
		Aside:   t.Kind == transcript.Assessment,
	}
	switch {
	case t.Kind == transcript.Remark: // the target of a remark is its id, which readers do not need
	case t.Target == judge.Swapped:
		e.Title += ", in reversed order"
	case speakers[t.Target] != nil:
		e.Title += " on " + t.Target
	case t.Target != "":
		e.Title += ", " + t.Target
	}
	return e
}

// isSystem reports whether an actor is neither a participant nor a judge.
func isSystem(actor string) bool {
	return slices.Contains([]string{protocol.PersonaAssigner, protocol.Summarizer, protocol.Retriever, protocol.Embedder}, actor)
}

// turnDetails returns the phase, the duration, the output tokens, the model and notes of a turn.
func turnDetails(t *transcript.Turn) string {
	if t.Kind == transcript.Remark {
		return "remark by a person"
	}
	if t.Kind == transcript.Silence {
		return readmodel.Words(t.Phase) + " · " + readmodel.Silent
	}
	notes := []string{readmodel.Words(t.Phase), formatDuration(t.Ended.Sub(t.Started))}
	if t.Usage.Output > 0 {
		notes = append(notes, formatTokens(t.Usage, t.Usage.Output)+" tokens")
	}
	if n := len(t.Attempts); n > 0 && t.Attempts[n-1].Model != "" {
		notes = append(notes, t.Attempts[n-1].Model)
	}
	return strings.Join(slices.Concat(notes, turnNotes(t)), " · ")
}
