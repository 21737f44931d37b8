package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/transcript"
)

// form answers the assessment of a round of Ada and Bo, field by field, and an empty line for each that is optional.
var assessmentForm = []string{
	"", "", "3", "ten", "4", "5", "6", "7", "8", // Ada: no strengths, no weaknesses, six scores, one of them wrong at first
	"Short.", "", "Long.", "Vague.", "", "1", "2", "3", "4", "5", "6", // Bo
	"Ada was better.", "n", "", "y", "-", "7.5", "maybe", "n", "Be brief.", "",
}

func typed(lines ...string) string { return strings.Join(lines, "\n") }

func TestAPersonRepliesOnTheTerminal(t *testing.T) {
	folder(t, "long.json", `{"providers": {"p": {"kind": "offline"}}, "limits": {"min_rounds": 3}}`)
	code, stdout, stderr := answering(t, environment(), typed("Yes.", "Cars are loud.", "", "They still are.", "", "And big.", ""), "--me", "Ada", "--config", "long.json", "--rounds", "3", "--json", topic)
	require.Equal(t, 0, code, stderr)
	r := state(t, []byte(stdout)).Result
	var said []string
	for _, turn := range r.Turns {
		if turn.Actor == "Ada" {
			said = append(said, turn.Text)
			require.Equal(t, "Ada", turn.By)
		}
	}
	require.Equal(t, []string{"Yes.\nCars are loud.", "They still are.", "And big."}, said)
	require.Contains(t, stderr, "Round 1 of 3.")
	require.Equal(t, 2, strings.Count(stderr, "\nBo (respond):\n"), "each turn is shown once: %s", stderr)
	require.Less(t, strings.Index(stderr, "\nBo (respond):\n"), strings.LastIndex(stderr, "== Ada: respond =="))
	printable(t, stderr)
}

// A person reads documents at the terminal, private ones too.
func TestAPersonReadsDocumentsOnTheTerminal(t *testing.T) {
	folder(t, "law.md", "The law of the cities.", "contract.md", "The CONTRACT.", "c.json", `{"limits": {"max_rounds": 1}, "documents": [{"file": "law.md", "readers": ["*"]}, {"file": "contract.md", "readers": ["Ada"]}]}`)
	lines := []string{"/read contract.md", "/read none.md", "Yes.", "/read law.md", ""}
	code, _, stderr := answering(t, environment(), typed(lines...), "--me", "Ada", "--config", "c.json", "--json", topic)
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stderr, "document: contract.md (13 bytes)\n")
	require.Contains(t, stderr, "/read NAME shows a document")
	require.Contains(t, stderr, "The CONTRACT.")
	require.Contains(t, stderr, `"none.md" is no document that "Ada" reads`)
	require.Contains(t, stderr, "The law of the cities.")

	code, _, stderr = start(t, environment(), "--me", "Ada", "--config", "c.json", "--store", "d.db", topic)
	require.Equal(t, 1, code)
	code, _, stderr = answering(t, environment(), typed("/read contract.md", "Yes.", ""), "answer", "--store", "d.db", saved(t, stderr))
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stderr, "The CONTRACT.", "another process reads it again")
}

// A human judge enters names, numbers and answers, and never JSON. What is wrong is asked again.
func TestAHumanJudgeFillsInAForm(t *testing.T) {
	folder(t)
	lines := append(append([]string{}, assessmentForm...),
		"1", "Ada, because.", "80", "One point.", "", "/decline tired")
	code, stdout, stderr := answering(t, environment(), typed(lines...), "--me", "Judge", "--rounds", "1", "--json", topic)
	r := state(t, []byte(stdout)).Result
	require.NotEmpty(t, r.Assessments, stderr)
	got, err := transcript.Decode[judge.Assessment](r.Assessments[0])
	require.NoError(t, err)
	require.Equal(t, "Ada was better.", got.Reasoning)
	require.InDelta(t, 7.5, got.Quality, 0)
	require.Equal(t, []string{"Short."}, got.Participants[1].Strengths)
	require.InDelta(t, 8, got.Participants[0].Criteria[5].Score, 0)
	require.Equal(t, []string{"Be brief."}, got.Recommendations)
	require.Contains(t, stderr, `not valid: "ten" is not a number`)
	require.Contains(t, stderr, `not valid: "maybe" is not y or n`)
	require.NotContains(t, stderr, `"type"`)
	t.Log(stderr)
	require.Equal(t, 0, code)
}

// A human judge sees that the models have declined to speak.
func TestAHumanJudgeSeesRefusals(t *testing.T) {
	env := server(t, func(int, http.ResponseWriter, string) string { return "I'm sorry, but I can't help with that request." })
	folder(t)
	_, _, stderr := answering(t, env, typed("/decline tired"), "--me", "Judge", "--rounds", "1", topic)
	require.Contains(t, stderr, "\nAda (respond, a refusal: the model declined to speak):\nI'm sorry,")
	require.Contains(t, stderr, "\nBo (respond, a refusal: the model declined to speak):\nI'm sorry,")
}

// When a reply is not valid, the person sees the problems, and keeps what was right.
func TestAFormKeepsWhatWasEntered(t *testing.T) {
	folder(t)
	wrong := append([]string{}, assessmentForm...)
	wrong[2] = "30" // the contract allows at most 10
	again := make([]string, 2, 30)
	again = append(again, "3") // and Enter for all others
	code, stdout, stderr := answering(t, environment(), typed(append(append(wrong, again...), make([]string, 40)...)...), "--me", "Judge", "--rounds", "1", "--json", topic)
	r := state(t, []byte(stdout)).Result
	require.Contains(t, stderr, "not valid: ")
	require.Contains(t, strings.ReplaceAll(stderr, "\n", " "), "Enter keeps Ada was better.")
	require.NotEmpty(t, r.Assessments, "%d %s", code, stderr)
	got, err := transcript.Decode[judge.Assessment](r.Assessments[0])
	require.NoError(t, err)
	require.Equal(t, "Ada was better.", got.Reasoning)
	require.Equal(t, []string{"Long.", "Vague."}, got.Participants[1].Weaknesses)
}

func TestAPersonDeclines(t *testing.T) {
	folder(t)
	code, _, stderr := answering(t, environment(), typed("/decline no time"), "--me", "Ada", "--rounds", "1", topic)
	require.Equal(t, 1, code, "one participant is not enough")
	require.Contains(t, stderr, "Ada declined: no time")
}

// A person who is not at a terminal replies later. The command says who is waited for and how to go on.
func TestADebateWaitsForPeople(t *testing.T) {
	folder(t)
	args := []string{"--me", "Ada", "--me", "Judge", "--rounds", "1", "--store", "kept/d.db", topic}
	code, stdout, stderr := start(t, environment(), args...)
	require.Equal(t, 1, code)
	require.Empty(t, stdout)
	id := saved(t, stderr)
	require.True(t, strings.HasSuffix(stderr, "debate: waiting for the reply of Ada\ncontinue with: debate resume "+id+" --me Ada --store kept/d.db\n"), stderr)

	for _, again := range [][]string{{"resume", id}, {"resume", id, "--me", "Ada"}} {
		code, _, stderr = start(t, environment(), append(again, "--store", "kept/d.db")...)
		require.Equal(t, 1, code)
		require.Contains(t, stderr, "debate: waiting for the reply of Ada\n")
	}
	_, stdout, _ = start(t, environment(), "show", id, "--store", "kept/d.db")
	require.Contains(t, stdout, "waiting for the reply of Ada\n")
	for name, lines := range map[string]int{"Ada": 2, "Judge": 1} {
		_, stdout, _ = start(t, environment(), "list", "--waiting", name, "--store", "kept/d.db")
		require.Equal(t, lines, strings.Count(stdout, "\n"), stdout)
	}
	require.Contains(t, heads(t)[0].Waiting, "Ada")

	code, _, stderr = answering(t, environment(), "", "resume", id, "--me", "Ada", "--store", "kept/d.db")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "not valid: ", "the reply is blank")
	code, _, stderr = answering(t, environment(), typed("No.", ""), "resume", id, "--me", "Ada", "--store", "kept/d.db")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "debate: waiting for the reply of Judge\n")
	require.Equal(t, []string{"Judge"}, heads(t)[0].Waiting)

	code, _, stderr = start(t, environment(), "resume", id, "--me", "Bo", "--store", "kept/d.db")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "Bo is a model in this debate")
}

func TestAReplyIsWrittenInAnEditor(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the editor is a shell script")
	}
	folder(t)
	editor := filepath.Join(t.TempDir(), "editor")
	require.NoError(t, os.WriteFile(editor, []byte("#!/bin/sh\ntest \"$1\" = -w && printf '\\n\\nAnd more.\\n' >> \"$2\"\n"), 0o700)) //nolint:gosec // it is executable
	code, stdout, stderr := answering(t, environment("EDITOR", editor+" -w"), typed("Yes.", "/edit"), "--me", "Ada", "--rounds", "1", "--json", topic)
	require.Equal(t, 0, code, stderr)
	require.Equal(t, "Yes.\n\nAnd more.", state(t, []byte(stdout)).Result.Turns[0].Text)

	_, _, stderr = answering(t, environment(), typed("/edit"), "--me", "Ada", "--rounds", "1", topic)
	require.Contains(t, stderr, "EDITOR is not set")
	_, _, stderr = answering(t, environment("EDITOR", filepath.Join(t.TempDir(), "none")), typed("/edit"), "--me", "Ada", "--rounds", "1", topic)
	require.Contains(t, stderr, "edit reply: run ")
}

// Gates ask on the terminal. A remark is a text of several lines.
func TestGatesAskOnTheTerminal(t *testing.T) {
	folder(t, "gates.json", `{"providers": {"p": {"kind": "offline"}}, "ask_before_rounds": true, "ask_before_verdict": true}`)
	code, stdout, stderr := answering(t, environment(), typed("edit", "Mention trams.", "", "later", "approve", "approve"), "--config", "gates.json", "--rounds", "2", "--json", topic)
	require.Equal(t, 0, code, stderr)
	first := state(t, []byte(stdout)).Result.Turns[0]
	require.Equal(t, "Mention trams.", first.Text)
	require.Equal(t, remarkFrom, first.Actor)
	require.Contains(t, stderr, `not valid: `)

	args := []string{"--config", "gates.json", "--rounds", "2", "--store", "kept/d.db"}
	code, _, stderr = start(t, environment(), append(args, topic)...)
	require.Equal(t, 1, code)
	id := saved(t, stderr)
	require.Contains(t, stderr, "debate: waiting for a decision: ")
	code, _, stderr = start(t, environment(), "answer", id, "edit", "Mention trains.", "--store", "kept/d.db")
	require.Equal(t, 0, code, stderr)
	code, _, stderr = start(t, environment(), "resume", id, "--store", "kept/d.db", "--config", "gates.json")
	require.Equal(t, 1, code, "round 2")
	require.Contains(t, stderr, "round 2")
	code, _, stderr = answering(t, environment(), typed("stop"), "resume", id, "--store", "kept/d.db", "--config", "gates.json")
	require.Equal(t, 1, code, stderr)
	require.Contains(t, texts(t), "Mention trains.")
}

func TestSeatsThatCannotBeTaken(t *testing.T) {
	folder(t, "people.json", `{"participants": [{"name": "Ann Lee", "human": true}, {"name": "Bo"}]}`)
	for says, args := range map[string][]string{
		"--me Zoe is unknown, use one of Ada, Bo, Judge":     {"--me", "Zoe", "--store", "kept/d.db"},
		"Ada is a person: reply on a terminal with --me Ada": {"--me", "Ada"},
		"with --me 'Ann Lee', or keep":                       {"--config", "people.json"},
	} {
		code, _, stderr := start(t, environment(), append(args, topic)...)
		require.Equal(t, 2, code, stderr)
		require.Contains(t, stderr, says)
	}
}

// An interrupt while a person is asked leaves a stored debate as it is.
func TestAnInterruptWhileAPersonIsAsked(t *testing.T) {
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{"--store", "kept/d.db"}, "debate: waiting for the reply of Ada\ncontinue with: "},
		{nil, "debate: debate canceled"},
	} {
		folder(t)
		interrupted := make(chan struct{})
		in, out := io.Pipe()
		var stdout output
		var screen terminal
		screen.seen = func(all string) {
			if strings.HasSuffix(all, "empty line ends it\n> ") {
				close(interrupted)
			}
		}
		code := run(t.Context(), interrupted, append([]string{"--me", "Ada", "--plain", topic}, tt.args...), keyboard{Reader: in}, &stdout, &screen, environment())
		require.NoError(t, out.Close()) // the reader of the keyboard ends
		require.Equal(t, 1, code)
		require.Contains(t, screen.String(), tt.says)
	}
}

func TestFormsFollowTheirSchema(t *testing.T) {
	schema := `{"type": "object", "properties": {
		"ranking": {"type": "object", "description": "all answers", "properties": {
			"Debater_A": {"type": "object", "properties": {"reason": {"type": "string"}, "place": {"type": "integer", "enum": [1, 2]}}},
			"Debater_B": {"type": "object", "properties": {"reason": {"type": "string"}, "place": {"type": "integer", "enum": [1, 2]}}}}},
		"side": {"type": "string", "enum": ["for", "against"]},
		"issues": {"type": "array", "maxItems": 2, "items": {"type": "object", "properties": {"text": {"type": "string"}, "weight": {"type": "integer"}}}},
		"winner": {"anyOf": [{"type": "string", "enum": ["A", "B"]}, {"type": "null"}]}}}`
	p := &program{stdin: strings.NewReader(typed("Fine.", "second", "2", "Best.", "1", "against", "y", "Slow.", "x", "3", "n", "-")), stderr: &output{}, env: environment()}
	text, err := form{p, map[string]string{}}.read(debate.Asked{Schema: json.RawMessage(schema)})
	require.NoError(t, err)
	require.Contains(t, p.stderr.(*output).String(), "ranking: all answers\nranking, Debater A, reason\n> ranking, Debater A, place (a number)\n> not valid")
	require.JSONEq(t, `{"ranking": {"Debater_A": {"reason": "Fine.", "place": 2}, "Debater_B": {"reason": "Best.", "place": 1}}, "side": "against",
		"issues": [{"text": "Slow.", "weight": 3}], "winner": null}`, text)

	for schema, says := range map[string]string{ // of a journal that somebody else wrote
		`{"type": "array"}`: `the list "" has no items`,
		`{"type": "object", "properties": {"a": {"anyOf": [{"type": "array"}]}}}`: `the list "a" has no items`,
		`{"type": "object", "properties": [1]}`:                                   "read the form of assessment/1",
		`{"type": 3}`:                                                             "read the form of assessment/1",
	} {
		_, err := form{p, map[string]string{}}.read(debate.Asked{Schema: json.RawMessage(schema), Contract: "assessment/1"})
		require.ErrorContains(t, err, says)
	}
}

// A debate in which only people speak needs no model.
func TestADebateOfPeople(t *testing.T) {
	folder(t)
	code, stdout, stderr := answering(t, environment(), typed("Yes.", "", "No."), "--me", "Ada", "--me", "Bo", "--me", "Judge", "--rounds", "1", "--json", topic)
	require.Equal(t, 1, code, "the judge has left")
	require.Len(t, state(t, []byte(stdout)).Result.Turns, 2, stderr)
	require.NotContains(t, stderr, "offline demo model")
	require.Contains(t, stderr, "debate: waiting for the reply of Judge")
}

// The live display ends before a person is asked, and shows nothing that the person must not know yet.
func TestALiveDisplayGivesWayToQuestions(t *testing.T) {
	folder(t, "together.json", `{"providers": {"p": {"kind": "offline"}}, "protocol": {"name": "panel", "mode": "simultaneous"}}`)
	synctest.Test(t, func(t *testing.T) {
		var stdout output
		var screen terminal
		in := keyboard{Reader: strings.NewReader(typed("Yes.", ""))}
		args := []string{"--me", "Ada", "--rounds", "1", "--config", "together.json", topic}
		code := run(t.Context(), nil, args, in, &stdout, &screen, environment("TERM", "xterm"))
		require.Equal(t, 0, code, screen.String())
		before, after, asked := strings.Cut(screen.String(), "== Ada: respond ==")
		require.True(t, asked)
		require.Regexp(t, `writing, \d+ bytes`, before)
		require.NotContains(t, before, "My answer")
		require.Contains(t, before, "\x1b[?25h", "the cursor is visible")
		question, _, _ := strings.Cut(after, "> ")
		require.NotContains(t, question, "\x1b", "the display is closed")
		require.NotContains(t, question, "My answer")
	})
}

// A reply that is too long is asked for again, and the editor opens with it.
func TestAReplyThatIsTooLongIsAskedForAgain(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the editor is a shell program")
	}
	folder(t, "short.json", `{"providers": {"p": {"kind": "offline"}}, "limits": {"step_tokens": 20}}`)
	long := strings.Repeat("word ", 100)
	code, stdout, stderr := answering(t, environment("EDITOR", "truncate -s 9"), typed(long, "", "/edit"), "--config", "short.json", "--me", "Ada", "--rounds", "1", "--json", topic)
	require.Contains(t, stderr, "not valid: reply: about ")
	require.Equal(t, 0, code, stderr)
	require.Equal(t, "word word", state(t, []byte(stdout)).Result.Turns[0].Text)
}

// What somebody else has answered meanwhile is no error.
func TestSomebodyElseWasFaster(t *testing.T) {
	folder(t, "gates.json", `{"providers": {"p": {"kind": "offline"}}, "ask_before_rounds": true}`)
	code, _, stderr := start(t, environment(), "--config", "gates.json", "--me", "Ada", "--rounds", "1", "--store", "kept/d.db", topic)
	require.Equal(t, 1, code)
	again := []string{"resume", saved(t, stderr), "--me", "Ada", "--store", "kept/d.db", "--config", "gates.json"}
	others := map[string]string{"later): ": typed("approve"), "ends it\n> ": typed("Yes.", "")}
	var stdout output
	var screen terminal
	screen.seen = func(all string) {
		for prompt, lines := range others {
			if strings.HasSuffix(all, prompt) {
				delete(others, prompt)
				_, _, _ = answering(t, environment(), lines, again...)
			}
		}
	}
	in := keyboard{Reader: strings.NewReader(typed("stop", "No.", ""))}
	code = run(t.Context(), nil, append(again, "--json"), in, &stdout, &screen, environment("TERM", "dumb"))
	require.Equal(t, 0, code, screen.String())
	require.Empty(t, others)
	require.Contains(t, screen.String(), `not valid: action: `)
	require.Contains(t, screen.String(), "warning: ")
	require.Equal(t, "Yes.", state(t, []byte(stdout.String())).Result.Turns[0].Text)
}

// marked is a configuration with a marker in each text that a human judge must see.
const marked = `{"providers": {"main": {"kind": "offline"}}, "participants": [{"name": "Ada", "position": "POSITION-TEXT"}, {"name": "Bo"}], "judges": [{"name": "Judge"}],
	"background": "BACKGROUND-TEXT\nCriteria:", "limits": {"max_rounds": 1}, "rubric": [{"name": "policy_fit", "weight": 70,
	"description": "DESCRIPTION-TEXT", "zero": "ZERO-TEXT"}, {"name": "cost", "weight": 30}]}`

// A person reads the briefing before the first task, and again only if it changes. A judge enters scores in the rubric's order.
func TestPeopleAreBriefedOnTheTerminal(t *testing.T) {
	folder(t, "m.json", marked)
	_, _, stderr := answering(t, environment(), typed("", "", "3", "4", "/decline tired"), "--me", "Judge", "--config", "m.json", topic)
	for _, marker := range []string{"> BACKGROUND-TEXT\n> Criteria:", "- policy_fit (70 %): DESCRIPTION-TEXT", "0 means: ZERO-TEXT", "> POSITION-TEXT", "Be impartial"} {
		require.Equal(t, 1, strings.Count(stderr, marker), stderr)
	}
	require.Regexp(t, `(?s)criteria, policy fit: DESCRIPTION-TEXT.*criteria, cost`, stderr)
	require.NotContains(t, stderr, "<<<")

	_, _, stderr = answering(t, environment(), typed("Yes.", "", "No.", ""), "--me", "Ada", "--config", "m.json", "--plain", topic)
	require.Equal(t, 1, strings.Count(stderr, "BACKGROUND-TEXT"), stderr)
	require.NotContains(t, stderr, "ZERO-TEXT")
}
