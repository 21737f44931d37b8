package report

// Summarize derives the summary of a report.
func Summarize(r *Report) Summary { return r.summarize() }
