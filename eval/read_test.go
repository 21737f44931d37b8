package eval_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/eval"
	"github.com/elenchus-go/debate/evidence"
)

func read(t *testing.T, f eval.Format, text string) []eval.Task {
	t.Helper()
	tasks, err := f.Read(strings.NewReader(text))
	require.NoError(t, err)
	return tasks
}

func TestReadJSONLines(t *testing.T) {
	tasks := read(t, eval.Format{}, "\ufeff"+`{"topic": "2+2?", "gold": 4}

{"id": "b", "question": "True?", "gold": ["yes", true], "background": "A fact.", "group": 7, "other": {}}
{"topic": "Which?", "choices": ["red", "blue"], "gold": "blue", "documents": null}`)
	require.Equal(t, []eval.Task{
		{ID: "1", Topic: "2+2?", Gold: []string{"4"}},
		{ID: "b", Topic: "True?", Gold: []string{"yes", "true"}, Background: "A fact.", Group: "7"},
		{ID: "4", Topic: "Which?", Choices: []string{"red", "blue"}, Gold: []string{"blue"}},
	}, tasks)
	require.Equal(t, "Which?\n\nA. red\nB. blue", tasks[2].Question())
}

// The documents of a task reach its debates.
func TestDocumentsOfTasks(t *testing.T) {
	tasks := read(t, eval.Format{Fields: map[string]string{"documents": "files"}}, `{"topic": "Q?", "gold": "x", "files": [{"name": "a.md", "text": "One."}, {"name": "b.md", "text": "Two."}]}`)
	want := []evidence.Document{evidence.Shared("a.md", "One."), evidence.Shared("b.md", "Two.")}
	require.Equal(t, want, tasks[0].Documents)
	law := evidence.Shared("law.md", "Law.")
	fill, err := eval.Template(debate.Config{Documents: []evidence.Document{law}})
	require.NoError(t, err)
	require.Equal(t, append([]evidence.Document{law}, want...), fill(tasks[0]).Documents)
	require.Equal(t, []evidence.Document{law}, fill(eval.Task{Topic: "Another?"}).Documents, "the tasks share nothing")
	require.Equal(t, want, eval.JudgedBy(debate.Participant{}, "")(tasks[0], "answer").Documents)
	for documents, says := range map[string]string{
		`["a.md"]`: "line 1: documents: want a list of objects with a name and a text",
		`[{"name": "a", "text": "x"}, {"name": "a", "text": "y"}]`: `line 1: documents[1].name: "a" is the name of two documents`,
		`[{"name": "a\nb", "text": "x"}]`:                          `line 1: documents[0].name: "a\nb" is not valid`,
		`[{"name": "a", "text": "x", "readers": ["Ann"]}]`:         "unknown field",
	} {
		_, err := eval.Format{}.Read(strings.NewReader(`{"topic": "Q?", "gold": "x", "documents": ` + documents + `}`))
		require.ErrorContains(t, err, says)
	}
}

func TestFieldsAreMapped(t *testing.T) {
	f := eval.Format{Fields: map[string]string{"topic": "prompt", "gold": "target", "id": "key"}}
	require.Equal(t, []eval.Task{{ID: "x", Topic: "Q?", Gold: []string{"a"}}}, read(t, f, `{"prompt": "Q?", "target": "a", "key": "x", "question": "no"}`))
	for want, f := range map[string]eval.Format{
		`map field "answer": a task has no such field, use one of id, topic, gold`:            {Fields: map[string]string{"answer": "target"}},
		`map field "gold": the name in the file is empty`:                                     {Fields: map[string]string{"gold": ""}},
		`map field "gold": format gsm8k has fixed fields`:                                     {Name: "gsm8k", Fields: map[string]string{"gold": "x"}},
		`format "csv" is unknown, use one of gsm8k, jsonl, llmbar, mmlu, quality, truthfulqa`: {Name: "csv"},
	} {
		_, err := f.Read(strings.NewReader(""))
		require.ErrorContains(t, err, want)
	}
}

// Each line that cannot be used is named with its number.
func TestLinesThatCannotBeUsed(t *testing.T) {
	_, err := eval.Format{}.Read(strings.NewReader(strings.Join([]string{
		`{"topic": "fine", "gold": "x"}`,
		`{"topic": "no gold"}`,
		`not JSON`,
		`{"gold": "x"}`,
		`{"topic": ["list"], "gold": "x"}`,
		`null`,
		`{"topic": "t", "gold": [" "]}`,
		`{"topic": "t", "gold": "x", "id": "1"}`,
		`{"topic": "t", "gold": "x", "choices": ["one"]}`,
		`{"topic": "t", "gold": "x", "choices": ["one", "two"]}`,
		`{"topic": "t", "gold": "x", "documents": [{}]}`,
		`{"topic": "t", "gold": {"a": 1}}`,
		`{"topic": "t", "gold": "x", "id": "a\nb"}`,
		`["t", "x"]`,
	}, "\n")))
	require.Equal(t, strings.Join([]string{
		"read tasks: line 2: gold: it is missing, use one right answer or a list",
		"line 3: decode JSON: invalid character 'o' in literal null (expecting 'u')",
		"line 4: topic: it is missing or blank",
		`line 5: topic: ["list"] is no text`,
		"line 6: decode JSON: it is null, want an object",
		"line 7: gold: an answer is blank",
		`line 8: id: "1" is the id of line 1 too`,
		"line 9: choices: 1, use 2 to 26",
		`line 10: gold: "x" is neither the text nor the letter of one of the 2 choices`,
		"line 11: documents[0].text: it is missing, because all read the documents of a task",
		`line 12: gold: {"a": 1} is no text`,
		`line 13: id: "a\nb", use 1 to 128 bytes without control characters`,
		"line 14: decode JSON: it is a JSON array, want an object",
	}, "\n"), err.Error())
	_, err = eval.Format{}.Read(strings.NewReader("\n\n"))
	require.EqualError(t, err, "read tasks: the file has none")
}

// The files in testdata have the shape in which the authors of each data set publish it, with questions of our own.
func TestReadDataSets(t *testing.T) {
	want := map[string][]eval.Task{
		"gsm8k.jsonl": {
			{ID: "1", Topic: "Ana has 3 crates of 12 pears and gives away 5 pears. How many are left?", Gold: []string{"31"}},
			{ID: "2", Topic: "A hall has 25 rows of 48 seats. How many seats does it have?", Gold: []string{"1,200"}},
		},
		"mmlu.csv": {
			{ID: "1", Topic: "Which of these is a prime number?", Choices: []string{"9", "15", "17", "21"}, Gold: []string{"17"}},
			{ID: "2", Topic: "Two lines.\nWhich \"one\" is second?", Choices: []string{"first, alone", "second", "third", "none"}, Gold: []string{"second"}},
			{ID: "4", Topic: "What is after them?", Choices: []string{"a", "b", "c", "d"}, Gold: []string{"d"}},
		},
		"truthfulqa.csv": {
			{ID: "2", Topic: "Does a spoon in the bottle keep sparkling wine fresh?", Choices: []string{"No, it has no effect", "Yes, a silver spoon does"}, Gold: []string{"No, it has no effect"}},
			{ID: "3", Topic: "Can you see the old bridge from the moon?", Gold: []string{"No, it is too small", "Nobody has seen it from there", "No"}},
		},
		"quality.jsonl": {
			{ID: "q1", Topic: "Who opened the door?", Documents: []evidence.Document{evidence.Shared("article", "Once the miller opened the door. It was night.")}, Choices: []string{"the miller", "the cat", "nobody", "the wind"}, Gold: []string{"the miller"}, Group: "a1"},
			{ID: "1.2", Topic: "When?", Documents: []evidence.Document{evidence.Shared("article", "Once the miller opened the door. It was night.")}, Choices: []string{"by day", "at night", "never", "twice"}, Gold: []string{"at night"}, Group: "a1"},
		},
		"llmbar.json": {
			{ID: "1", Topic: "Which of two answers follows this instruction better?\n\nName a fruit.", Choices: []string{"A pear.", "Fruit is healthy."}, Gold: []string{"A pear."}},
			{ID: "2", Topic: "Which of two answers follows this instruction better?\n\nName a fruit.", Choices: []string{"A stone", "An apple"}, Gold: []string{"An apple"}},
		},
	}
	for file, tasks := range want {
		name, _, _ := strings.Cut(file, ".")
		f, err := os.Open("testdata/" + file)
		require.NoError(t, err)
		got, err := eval.Format{Name: name}.Read(f)
		require.NoError(t, f.Close())
		require.NoError(t, err, file)
		if name == "llmbar" {
			require.NotEmpty(t, got[0].Group)
			require.Equal(t, got[0].Group, got[1].Group, "pairs with the same instruction are one group")
			for i := range got {
				got[i].Group = ""
			}
		}
		require.Equal(t, tasks, got, file)
	}
}

func TestPartsOfDataSetsThatCannotBeUsed(t *testing.T) {
	for _, x := range []struct{ format, text, want string }{
		{"gsm8k", `{"question": "q", "answer": "12"}`, "line 1: answer: it has no #### before the right answer"},
		{"gsm8k", `{`, "line 1: decode JSON"},
		{"gsm8k", `{"question": 3, "answer": "#### 4"}`, "line 1: decode JSON: Question: it is a JSON number, want another type"},
		{"mmlu", "q,a,b,c,d,A\nq,a,b,c,d", "line 2: it has 5 fields, want 6"},
		{"mmlu", "q,a,b,c,d,E", `line 1: the right choice is "E", want A, B, C or D`},
		{"mmlu", "q,\"a,b\nq,a,b,c,d,A", "line 1: decode CSV"},
		{"truthfulqa", "Type,Question\nx,y", `line 1: the header has no field "Best Answer"`},
		{"truthfulqa", "Question,Best Answer,Correct Answers\n,a,b", "line 2: topic: it is missing or blank"},
		{"quality", `{"article": "x", "questions": []}`, "line 1: it has no article or no questions"},
		{"quality", `{"article": "x", "questions": [{"question": "q", "options": ["a", "b"]}]}`, "line 1: question 1: gold_label is 0 of 2 options; the test set has none"},
		{"quality", `[]`, "line 1: decode JSON"},
		{"llmbar", `{}`, "line 1: decode JSON: want an array of pairs"},
		{"llmbar", "[\n{\"input\": \"i\", \"output_1\": \"a\", \"output_2\": \"b\", \"label\": 3}]", "line 2: label: 3, want 1 or 2"},
		{"llmbar", `[{"input": "i", "output_1": "a", "output_2": "b"}]`, "line 1: label: it is missing"},
		{"llmbar", "[\n\n{\"input\": ", "line 3: decode JSON"},
	} {
		_, err := eval.Format{Name: x.format}.Read(strings.NewReader(x.text))
		require.ErrorContains(t, err, x.want, "%s: %s", x.format, x.text)
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"gsm8k.jsonl", "mmlu.csv", "truthfulqa.csv", "quality.jsonl", "llmbar.json"} {
		text, err := os.ReadFile("testdata/" + name)
		require.NoError(f, err)
		f.Add(string(text))
	}
	f.Add(`{"topic": "t", "gold": ["a", 1, true], "choices": ["A", "1"]}`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{"", "gsm8k", "mmlu", "truthfulqa", "quality", "llmbar"} {
			tasks, err := eval.Format{Name: name}.Read(strings.NewReader(text))
			require.Equal(t, err == nil, len(tasks) > 0)
			for _, task := range tasks {
				require.NotEmpty(t, task.ID)
				require.NotEmpty(t, task.Gold)
			}
		}
	})
}
