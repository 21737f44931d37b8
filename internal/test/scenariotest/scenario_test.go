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
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// Each rule of the protocols has a scenario, testdata/scenarios/*.txtar: a comment that states the rule, and the files
//
//	config.json    the debate's configuration. One provider plays all actors and tells them apart by the model's name,
//	               which defaults to the actor's name. A retriever or embedder needs "provider": "m".
//	replies        the models' replies; see scriptedProvider.
//	show           paths into the data of the debate's answer, one per line, such as scores.0.after, or text for the whole
//	               text of the answer.
//	want.events    the expected events, written by -update.
//	want.problems  instead of want.events, the expected problems with the configuration.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/scenarios/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			require.NoError(t, err)
			require.NotEmpty(t, a.Comment, "a scenario must state its rule")
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
			require.Equal(t, archiveFile(a, name), is, "run go test ./internal/test/scenariotest -update and read the diff")
		})
	}
}

// archiveFile returns the content of a file of an archive, or "" if it is missing.
func archiveFile(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

// runScenario runs a scenario. It returns the name of the file with the expected output, and the actual output.
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
	s.config.ID = "scenario" // a constant ID, because judges' pseudonyms depend on it
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
		require.True(t, l.used, "no request matched %s %s %s", l.actor, l.phase, l.round)
	}
	is = describeEvents(events)
	if err != nil {
		is += "error: " + err.Error() + "\n"
	}
	return "want.events", is + describeAnswer(t, debatetest.Result(t, d), show)
}

// scriptedProvider plays all actors. It answers each request with the last matching line of the script:
//
//	A: Ban them.                  A's reply to every request
//	A respond: Ban them.          in one phase
//	A respond 2: Ban them.        in one round of a phase
//	A critique>B 1: Hm.           in a step whose target is B
//	* * 2: Ban them.              everyone's reply in round 2
//	J verdict: {"winner": "A"}    the default reply with these fields; "scores" sets all scores of an assessment
//	A: ~600                       the default reply, padded to 600 characters; may follow text or fields
//	A: So I say !network          an error of this kind after some text, at each attempt
//	A: !hang once                 no reply to the first attempt only
//
// By default, free-text replies list the speakers in the prompt, and structured replies are the simplest valid ones.
type scriptedProvider struct {
	config debate.Config

	mu    sync.Mutex
	lines []scriptLine
	tried map[string]int // attempts by step
}

type scriptLine struct {
	actor, phase, round, say string

	used bool
}

// lines parses a script.
func lines(t *testing.T, text string) (list []scriptLine) {
	t.Helper()
	for row := range strings.Lines(text) {
		row = strings.TrimSpace(row)
		who, say, ok := strings.Cut(row, ":")
		if row == "" || strings.HasPrefix(row, "#") {
			continue
		}
		words := append(strings.Fields(who), "*", "*")
		require.True(t, ok && len(words) > 2 && len(words) < 6, "read line %q: want ACTOR [PHASE [ROUND]]: REPLY", row)
		list = append(list, scriptLine{actor: words[0], phase: words[1], round: words[2], say: strings.TrimSpace(say)})
	}
	return list
}

// scriptStep identifies the step of a request.
type scriptStep struct{ actor, phase, round string }

var (
	stepMark       = regexp.MustCompile(`Step (\S+) (\d+)(?: (\S+))?\.`)
	paddingPattern = regexp.MustCompile(`~(\d+)$`)
	errorPattern   = regexp.MustCompile(`!(\w+)$`)
	speakerPattern = regexp.MustCompile(`^<<<\d+ begin: (.+?)(?:, round \d+)?>>>`)
)

// Generate implements providers.Provider.
func (s *scriptedProvider) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	step := scriptStep{actor: r.Model}
	for _, m := range r.Messages {
		if found := stepMark.FindStringSubmatch(m.Text); found != nil {
			step.phase, step.round = found[1], found[2]
			if found[3] != "" {
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
	reply.Latency = time.Second + time.Duration(s.position(r.Model))*time.Millisecond // so that simultaneous speakers finish in order
	p := scripted.Provider{Replies: []scripted.Reply{reply}}
	return p.Generate(ctx, r)
}

// fits reports whether the line matches a step.
func (l *scriptLine) fits(s scriptStep) bool {
	phase, _, _ := strings.Cut(s.phase, ">")
	return (l.actor == "*" || l.actor == s.actor) && (l.phase == "*" || l.phase == s.phase || l.phase == phase) && (l.round == "*" || l.round == s.round)
}

// names returns the participants' names in the order of the configuration.
func (s *scriptedProvider) names() (list []string) {
	for _, p := range s.config.Participants {
		list = append(list, p.Name)
	}
	return list
}

// position returns the position of an actor among the participants, from 1, or 0 if it is none of them.
func (s *scriptedProvider) position(actor string) int { return slices.Index(s.names(), actor) + 1 }

// reply converts the text of a script line to a reply, at attempt n, counted from 0.
func (s *scriptedProvider) reply(r providers.Request, say string, n int) (reply scripted.Reply, err error) {
	say, once := strings.CutSuffix(say, " once")
	if once && n > 0 {
		say = ""
	}
	if fault := errorPattern.FindStringSubmatch(say); fault != nil {
		reply.Text = strings.TrimSpace(strings.TrimSuffix(say, fault[0]))
		reply.Hang = fault[1] == "hang"
		if !reply.Hang {
			reply.Err = &providers.Error{Kind: providers.ErrorKind(fault[1]), Err: errors.New("made to fail")}
		}
		return reply, nil
	}
	words := speakersShown(r)
	if size := paddingPattern.FindStringSubmatch(say); size != nil {
		say = strings.TrimSpace(strings.TrimSuffix(say, size[0]))
		if say != "" && say[0] != '{' {
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

// withFields returns a JSON object with the given fields replaced.
func (s *scriptedProvider) withFields(object, contract, fields string) (string, error) {
	var all, own map[string]any
	if err := errors.Join(json.Unmarshal([]byte(object), &all), json.Unmarshal([]byte(fields), &own)); err != nil {
		return "", fmt.Errorf("add fields %s to reply: %w", fields, err)
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

// speakersShown returns the speakers in a prompt, or their number if the prompt shows pseudonyms.
func speakersShown(r providers.Request) string {
	var names []string
	labels := map[string]bool{}
	for _, m := range r.Messages[1:max(len(r.Messages)-1, 1)] {
		name := "itself"
		if m.Role == providers.User {
			found := speakerPattern.FindStringSubmatch(m.Text)
			switch {
			case found == nil:
				continue // a request to correct the reply
			case strings.HasPrefix(found[1], "Debater "):
				labels[found[1]] = true
				continue
			case found[1] == "Summary of what was said before":
				name = "a summary"
			default:
				name = found[1]
			}
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(labels) > 0 {
		names = append(names, fmt.Sprintf("%d under pseudonyms", len(labels)))
	}
	return "heard " + cmp.Or(strings.Join(names, ", "), "nobody")
}

// padText pads a text to the given size in characters.
func padText(words, size string) string {
	n, _ := strconv.Atoi(size)
	for i := 1; len(words) < n; i++ {
		words += fmt.Sprintf(" %d", i)
	}
	return words[:n]
}

// answerLine returns the answer in the line "Answer: ..." of a speech.
func answerLine(t transcript.Turn) string {
	_, answer, _ := strings.Cut("\n"+t.Text, "\nAnswer: ")
	answer, _, _ = strings.Cut(answer, "\n")
	return answer
}

// describeEvents summarizes the durable events: chains of transitions, phases, and turns in the order of their steps.
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
		turns = nil
		if len(path) > 0 {
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
			at = change
			path = append(path, string(change.On))
			notes = append(notes, describeTransition(change)...)
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

// turnLine summarizes a turn: actor, target, remarks on the call, and text.
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
		how = append(how, fmt.Sprintf("%d turns omitted", w.Omitted))
	}
	if len(how) > 0 {
		who += " [" + strings.Join(how, ", ") + "]"
	}
	text := t.Text
	if t.Contract == judge.AssessmentContract.Name() { // the lines that follow list the scores
		text, _, _ = strings.Cut(text, "\n")
	}
	return who + ": " + firstLine(text)
}

// firstLine returns the beginning of a text on one line.
func firstLine(text string) string {
	const most = 80
	line := []rune(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }), " / "))
	if len(line) > most {
		return string(line[:most]) + "..."
	}
	return string(line)
}

// describeTransition returns the details of a transition.
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

// describeAnswer returns the beginning of the answer, and the values at the paths in show.
func describeAnswer(t *testing.T, r *debate.Result, show string) string {
	t.Helper()
	text := "no answer\n"
	if r.Answer.Text != "" {
		text = "answer: " + firstLine(r.Answer.Text) + "\n"
	}
	for _, w := range r.Answer.Warnings {
		text += "warning: " + w + "\n"
	}
	for path := range strings.FieldsSeq(show) {
		if path == "text" {
			text += "text: " + strings.ReplaceAll(r.Answer.Text, "\n", "\n  ") + "\n"
			continue
		}
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
