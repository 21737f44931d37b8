package report

import "github.com/elenchus-go/debate/internal/readmodel"

// Notices returns what a reader should know before relying on the answer, one sentence for each: that the debate ended
// early, that there is no verdict or only a default, what the answer warns of, who dropped out, whose quotes are not in their
// sources, and which replies are refusals, incomplete, a default, by a substitute or edited in a fork, or how many if they are many. It
// returns none if nothing of this happened. The sentences contain names of participants and judges, but no text of models.
func (r *Report) Notices() []string { return readmodel.Notices(&r.Result, r.Dropped) }
