package report

import "slices"

// document is the content of a report in the order in which readers need it, independent of the format. Its texts are
// unescaped; each renderer escapes them.
type document struct {
	Title    string
	Topic    string   // the whole topic, in Markdown, if the title is only its beginning
	About    string   // the kind of debate, its size and its date
	Notices  []string // what a reader should know before the answer
	Answer   string   // the answer in one sentence
	Result   []block  // the picture, and the text of the answer
	Sections []section
	Rounds   []round
	Details  []section
	NoDebate bool // it is not about one debate: it has neither rounds nor details
}

type section struct {
	ID     string // unique in the document; consists of letters and dashes
	Title  string
	Blocks []block
}

// block is an element of a section. A heading or a note may stand before one of the others. A figure has a table with the
// same data.
type block struct {
	Heading string
	Note    string // a sentence of the report itself
	Text    string // Markdown by a model or a user
	List    []string
	Points  []points
	Table   *table
	Figure  *figure
	Code    string
}

// points are reasons by models, in Markdown. A speaker's have the speaker's color.
type points struct {
	Speaker *speaker
	Items   []string
}

// table has row headers in its first column.
type table struct {
	Title  string
	Header []string
	Rows   [][]string
}

// round is a part of the transcript: what was said, and what judges and moderators said about it.
type round struct {
	ID, Title   string
	Turns       []entry
	Scores      *table
	Differences []string // where the judges differ
	Assessments []entry
}

// entry is one turn in the transcript.
type entry struct {
	ID      string
	Speaker *speaker
	Title   string   // the speaker, and whom the turn is for
	Text    string   // Markdown
	Checked []string // what its model has read by itself, and what it cites and quotes, and whether rightly
	Note    string   // how the turn came about
	Quiet   bool     // not part of the conversation, such as a summary
	Aside   bool     // next to the conversation, such as an assessment
}

// newTable returns a table without the columns that say nothing in any row.
func newTable(title string, head []string, rows [][]string) *table {
	t := &table{Title: title, Rows: make([][]string, len(rows))}
	for i, name := range head {
		if i > 0 && !slices.ContainsFunc(rows, func(row []string) bool { return row[i] != "" && row[i] != unknownCost }) {
			continue
		}
		t.Header = append(t.Header, name)
		for n, row := range rows {
			t.Rows[n] = append(t.Rows[n], row[i])
		}
	}
	return t
}

// tableBlock returns a block with a table, or no block if the table has no rows.
func tableBlock(title string, head []string, list [][]string) []block {
	if len(list) == 0 {
		return nil
	}
	return []block{{Table: newTable(title, head, list)}}
}

// listBlock returns a block with a list below a sentence, or no block if the list has no items.
func listBlock(note string, items []string) []block {
	if len(items) == 0 {
		return nil
	}
	return []block{{Note: note, List: items}}
}

// Texts that several places have.
const (
	topicTitle       = "The whole topic"
	noticesTitle     = "Before you rely on the answer:"
	differencesTitle = "Where the judges differ:"
	noTurns          = "There are no turns yet."
)
