package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/eval"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/report/progress"
	"github.com/elenchus-go/debate/store"
)

// evaluate compares one answer with a debate of three on the tasks of a file. Workers run all debates. When ctx ends, those in
// progress pause, and the same command continues them.
func evaluate(ctx context.Context, s store.Store, path string, stdout, stderr io.Writer) error {
	file, err := os.Open(path) //nolint:gosec // the user's own file
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it is only read
	tasks, err := eval.Format{}.Read(file)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	e := eval.Evaluation{
		Name: filepath.Base(path), Tasks: tasks, Stop: ctx.Done(),
		Progress: func(p progress.Tasks) {
			fmt.Fprintf(stderr, "%d of %d tasks, %d runs\n", p.Tasks, p.TotalTasks, p.Runs)
		},
	}
	for _, a := range []struct {
		name   string
		config debate.Config
	}{
		{"single", eval.Samples(debate.Participant{Name: "Ada"}, 1)},
		{"debate", debate.Config{
			Protocol:     vote.Protocol{Extract: "{{extract}}"},
			Participants: []debate.Participant{{Name: "Ada"}, {Name: "Bo"}, {Name: "Cy"}},
		}},
	} {
		config, err := eval.Template(a.config)
		if err != nil {
			return err
		}
		e.Arms = append(e.Arms, eval.Arm{Name: a.name, Config: config})
	}
	report, err := e.Run(context.WithoutCancel(ctx), debate.Options{Store: s}) // it needs no model
	if err != nil {
		return err
	}
	return report.Markdown(stdout)
}
