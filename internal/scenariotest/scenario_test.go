package scenariotest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/debatetest"
	"github.com/elenchus-go/debate/internal/enginetest"
	"github.com/elenchus-go/debate/internal/golden"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// Each rule of the protocols has a scenario, testdata/scenarios/*.txtar: a comment that says the rule, and the files
//
//	config.json    the debate's configuration. One provider serves all, and asks who is who by the model's name, which
//	               is the actor's where the configuration gives none. A retriever or embedder needs "provider": "m".
//	replies        what models say; see script.
//	show           paths into the data of the debate's answer, one a line, such as scores.0.after.
//	want.events    what happens, written by -update.
//	want.problems  or what is wrong with the configuration.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/scenarios/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			require.NoError(t, err)
			require.NotEmpty(t, a.Comment, "a scenario says its rule")
			name, is := "", ""
			synctest.Test(t, func(t *testing.T) {
				name, is = runScenario(t, archiveFile(a, "config.json"), archiveFile(a, "replies"), archiveFile(a, "show"))
			})
			if golden.Update() {
				a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return strings.HasPrefix(f.Name, "want.") })
				a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(is)})
				require.NoError(t, os.WriteFile(file, txtar.Format(a), 0o644))
				return
			}
			require.Equal(t, archiveFile(a, name), is, "run go test ./internal/scenariotest -update, and read the difference")
		})
	}
}

// archiveFile is a file of an archive; empty: there is none.
func archiveFile(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

// runScenario runs a scenario, and gives the name of the file that it is compared with, and what should stand there.
func runScenario(t *testing.T, config, replies, show string) (name, is string) {
	t.Helper()
	s := &scriptedProvider{lines: lines(t, replies), tried: map[string]int{}}
	e, err := debate.NewEngine(debate.Options{
		Providers: map[string]providers.Provider{"m": s}, ExtractAnswer: answerLine,
		Prompts: fstest.MapFS{"_scenario.tmpl": {Data: []byte(`{{define "reply-format"}}Step {{.Phase}} {{.Round}}{{with .Target}} {{.Name}}{{end}}.{{end}}`)}},
	})
	require.NoError(t, err)
	s.config, err = e.ParseConfig([]byte(config))
	require.NoError(t, err)
	s.config.ID = "scenario" // by which judges see other labels
	for _, list := range [][]debate.Participant{s.config.Participants, s.config.Judges} {
		for i := range list {
			list[i].Model = cmp.Or(list[i].Model, list[i].Name)
		}
	}
	s.config.PersonaAssigner.Model, s.config.Summarizer.Model = protocol.PersonaAssigner, protocol.Summarizer
	for name, helper := range map[string]*debate.Participant{protocol.Retriever: &s.config.Retriever, protocol.Embedder: &s.config.Embedder} {
		if helper.Provider != "" {
			helper.Model = name
		}
	}
	d, err := e.Create(t.Context(), s.config)
	if wrong, ok := errors.AsType[*debate.Problems](err); ok {
		for _, p := range wrong.List {
			is += p.String() + "\n"
		}
		return "want.problems", is
	}
	require.NoError(t, err)
	events, err := debatetest.Run(t, d)
	for _, l := range s.lines {
		require.True(t, l.used, "nobody was asked for %s %s %s", l.actor, l.phase, l.round)
	}
	is = describeEvents(events)
	if err != nil {
		is += "error: " + err.Error() + "\n"
	}
	return "want.events", is + describeAnswer(t, debatetest.Result(t, d), show)
}

// scriptedProvider is a model that plays all actors. It answers each request as its lines say, of which the last that fits counts:
//
//	A: Ban them.                  A says this, wherever it speaks
//	A respond: Ban them.          in a phase
//	A respond 2: Ban them.        in a round of a phase
//	A critique>B 1: Hm.           in a step that is about B
//	* * 2: Ban them.              anybody, in round 2
//	J verdict: {"winner": "A"}    the default reply, with these fields; "scores" stands for all marks of an assessment
//	A: ~600                       the default reply, of 600 characters; also after words or fields
//	A: So I say !network          an error of this kind after some words, at each attempt
//	A: !hang once                 no answer, but at the first attempt alone
//
// By default everyone says whom it has heard, and structured replies are the plainest there are.
type scriptedProvider struct {
	config debate.Config

	mu    sync.Mutex
	lines []scriptLine
	tried map[string]int // by step
}

type scriptLine struct {
	actor, phase, round, say string

	used bool
}

// lines reads a script.
func lines(t *testing.T, text string) (list []scriptLine) {
	t.Helper()
	for row := range strings.Lines(text) {
		row = strings.TrimSpace(row)
		who, say, ok := strings.Cut(row, ":")
		if row == "" || strings.HasPrefix(row, "#") {
			continue
		}
		words := append(strings.Fields(who), "*", "*")
		require.True(t, ok && len(words) > 2 && len(words) < 6, "read the line %q: want who, phase and round, and after a colon what is said", row)
		list = append(list, scriptLine{actor: words[0], phase: words[1], round: words[2], say: strings.TrimSpace(say)})
	}
	return list
}

// step is what a request is for.
type scriptStep struct{ actor, phase, round string }

var (
	stepMark       = regexp.MustCompile(`Step (\S+) (\d+)(?: (\S+))?\.`)
	paddingPattern = regexp.MustCompile(`~(\d+)$`)
	errorPattern   = regexp.MustCompile(`!(\w+)$`)
	speakerPattern = regexp.MustCompile(`^(?:<<<\w+ begin: (.+), round \d+>>>|(\w+): )`)
)

// Generate implements providers.Provider.
func (s *scriptedProvider) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	step := scriptStep{actor: r.Model}
	for _, m := range r.Messages {
		if found := stepMark.FindStringSubmatch(m.Text); found != nil {
			if step.phase, step.round = found[1], found[2]; found[3] != "" {
				step.phase += ">" + found[3]
			}
		}
	}
	say := ""
	s.mu.Lock()
	for i := range s.lines {
		if l := &s.lines[i]; l.fits(step) {
			say, l.used = l.say, true
		}
	}
	n := s.tried[fmt.Sprint(step)]
	s.tried[fmt.Sprint(step)]++
	s.mu.Unlock()
	reply, err := s.reply(r, say, n)
	if err != nil {
		return providers.Response{}, &providers.Error{Kind: providers.InvalidRequest, Err: err}
	}
	reply.Latency = time.Second + time.Duration(s.position(r.Model))*time.Millisecond // so that those who speak at once come in order
	p := scripted.Provider{Replies: []scripted.Reply{reply}}
	return p.Generate(ctx, r)
}

func (l *scriptLine) fits(s scriptStep) bool {
	phase, _, _ := strings.Cut(s.phase, ">")
	return (l.actor == "*" || l.actor == s.actor) && (l.phase == "*" || l.phase == s.phase || l.phase == phase) && (l.round == "*" || l.round == s.round)
}

// names are the participants', as they are configured.
func (s *scriptedProvider) names() (list []string) {
	for _, p := range s.config.Participants {
		list = append(list, p.Name)
	}
	return list
}

func (s *scriptedProvider) position(actor string) int { return slices.Index(s.names(), actor) + 1 }

// reply is what the words of a script mean, at the nth attempt from 0.
func (s *scriptedProvider) reply(r providers.Request, say string, n int) (reply scripted.Reply, err error) {
	say, once := strings.CutSuffix(say, " once")
	if once && n > 0 {
		say = ""
	}
	if fault := errorPattern.FindStringSubmatch(say); fault != nil {
		reply.Text = strings.TrimSpace(strings.TrimSuffix(say, fault[0]))
		if reply.Hang = fault[1] == "hang"; !reply.Hang {
			reply.Err = &providers.Error{Kind: providers.ErrorKind(fault[1]), Err: errors.New("made to fail")}
		}
		return reply, nil
	}
	words := speakersShown(r)
	if size := paddingPattern.FindStringSubmatch(say); size != nil {
		if say = strings.TrimSpace(strings.TrimSuffix(say, size[0])); say != "" && say[0] != '{' {
			say, words = "", say
		}
		words = padText(words, size[1])
	}
	if say != "" && say[0] != '{' {
		return scripted.Reply{Text: say}, nil
	}
	reply.Text = enginetest.Reply(r, s.names(), words, 0)
	if r.SchemaName == judge.AssessmentContract.Name() || say != "" {
		reply.Text, err = s.withFields(reply.Text, r.SchemaName, cmp.Or(say, "{}"))
	}
	return reply, err
}

// withFields is an object with the fields of another.
func (s *scriptedProvider) withFields(object, contract, fields string) (string, error) {
	var all, own map[string]any
	if err := errors.Join(json.Unmarshal([]byte(object), &all), json.Unmarshal([]byte(fields), &own)); err != nil {
		return "", fmt.Errorf("put %s into a reply: %w", fields, err)
	}
	if contract == judge.AssessmentContract.Name() {
		mark, ok := own["scores"].(float64)
		if delete(own, "scores"); !ok {
			mark = 6
		}
		for _, p := range all["participants"].([]any) {
			p.(map[string]any)["criteria"] = s.config.Rubric.UniformScores(mark)
		}
	}
	maps.Copy(all, own)
	b, err := json.Marshal(all)
	return string(b), err
}

// speakersShown says whose words a prompt shows; of those under labels, how many.
func speakersShown(r providers.Request) string {
	var names []string
	labels := map[string]bool{}
	for _, m := range r.Messages[1:max(len(r.Messages)-1, 1)] {
		name := "itself"
		if m.Role == providers.User {
			found := speakerPattern.FindStringSubmatch(m.Text)
			switch {
			case strings.HasPrefix(m.Text, "Summary of what was said before"):
				name = "a summary"
			case found == nil:
				continue // it asks again
			case found[1] != "":
				labels[found[1]] = true
				continue
			default:
				name = found[2]
			}
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(labels) > 0 {
		names = append(names, fmt.Sprintf("%d under labels", len(labels)))
	}
	return "heard " + cmp.Or(strings.Join(names, ", "), "nobody")
}

// padText makes words as long as is wanted, in characters.
func padText(words, size string) string {
	n, _ := strconv.Atoi(size)
	for i := 1; len(words) < n; i++ {
		words += fmt.Sprintf(" %d", i)
	}
	return words[:n]
}

// answerLine is what a speech answers, in its line "Answer: ...".
func answerLine(t transcript.Turn) string {
	_, answer, _ := strings.Cut("\n"+t.Text, "\nAnswer: ")
	answer, _, _ = strings.Cut(answer, "\n")
	return answer
}

// describeEvents are the durable events in short: transitions that follow one another, phases, and turns in the order of their steps.
func describeEvents(events []debate.Event) string {
	var b strings.Builder
	var path, notes []string
	var turns []transcript.Turn
	var at debate.StateChanged
	flush := func() {
		slices.SortStableFunc(turns, func(x, y transcript.Turn) int { return x.Order - y.Order })
		for _, t := range turns {
			b.WriteString("  " + turnLine(t) + "\n")
		}
		if turns = nil; len(path) > 0 {
			fmt.Fprintf(&b, "%s -> %s\n%s", strings.Join(path, ", "), at.To, strings.Join(notes, ""))
		}
		path, notes = nil, nil
	}
	for _, ev := range events {
		if done, ok := ev.(debate.TurnDone); ok {
			turns = append(turns, done.Turn)
			continue
		} else if ev.Meta().Live {
			continue
		}
		if change, ok := ev.(debate.StateChanged); ok {
			if len(turns) > 0 {
				flush()
			}
			at, path, notes = change, append(path, string(change.On)), append(notes, describeTransition(change)...)
			continue
		}
		flush()
		switch ev := ev.(type) {
		case debate.PhaseStarted:
			how := ""
			if ev.Parallel {
				how = ", in parallel"
			}
			fmt.Fprintf(&b, "%s, round %d of %d%s\n", ev.Phase, ev.Round, ev.Rounds, how)
		case debate.Dropped:
			fmt.Fprintf(&b, "  %s drops out: %s in %s, %d attempts\n", ev.Name, ev.Failure.Kind, ev.Failure.Key.Phase, ev.Failure.Attempts)
		}
	}
	flush()
	return b.String()
}

// turnLine is who speaks, about whom, how it went, and what is said.
func turnLine(t transcript.Turn) string {
	who := t.Actor
	if t.Target != "" {
		who += " > " + t.Target
	}
	var how []string
	for _, a := range t.Attempts {
		if a.ErrorKind != "" {
			how = append(how, a.ErrorKind)
		}
	}
	for _, f := range t.Flags {
		how = append(how, string(f))
	}
	if w := t.Window; w != nil && w.Omitted > 0 {
		how = append(how, fmt.Sprintf("%d turns left out", w.Omitted))
	}
	if len(how) > 0 {
		who += " [" + strings.Join(how, ", ") + "]"
	}
	text := t.Text
	if t.Contract == judge.AssessmentContract.Name() { // what follows are marks
		text, _, _ = strings.Cut(text, "\n")
	}
	return who + ": " + firstLine(text)
}

// firstLine is the begin of a text in one line.
func firstLine(text string) string {
	const most = 80
	line := []rune(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }), " / "))
	if len(line) > most {
		return string(line[:most]) + "..."
	}
	return string(line)
}

// describeTransition are what a transition says beside.
func describeTransition(ev debate.StateChanged) (list []string) {
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf("  "+format+"\n", args...)) }
	for _, f := range ev.Findings {
		add("measured, to %s: %s", f.Effect, firstLine(f.String()))
	}
	if ev.Ending.Outcome != "" {
		add("%s in round %d: %s", ev.Ending.Outcome, ev.Ending.Round, ev.Ending.Evidence)
	}
	if ev.Failure != nil {
		add("%s failed in %s: %s, %d attempts", ev.Failure.Key.Actor, ev.Failure.Key.Phase, ev.Failure.Kind, ev.Failure.Attempts)
	}
	if ev.Question != nil {
		add("question: %s", firstLine(ev.Question.Cause))
	}
	return list
}

// describeAnswer is what the debate came to, and what a path into its data shows.
func describeAnswer(t *testing.T, r *debate.Result, show string) string {
	t.Helper()
	text := "no answer\n"
	if r.Answer.Text != "" {
		text = "answer: " + firstLine(r.Answer.Text) + "\n"
	}
	for path := range strings.FieldsSeq(show) {
		var at any
		require.NoError(t, json.Unmarshal(r.Answer.Data, &at))
		for key := range strings.SplitSeq(path, ".") {
			switch in := at.(type) {
			case map[string]any:
				at = in[key]
			case []any:
				i, err := strconv.Atoi(key)
				require.NoError(t, err, path)
				at = in[i]
			default:
				at = nil
			}
		}
		text += path + ": " + debatetest.Encode(t, at) + "\n"
	}
	return text
}
