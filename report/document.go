package report

// doc is the content of a report, independent of the format. Its texts are unescaped; each renderer escapes them.
type doc struct {
	Title    string
	Sections []section
}

type section struct {
	ID     string // unique; letters and dashes
	Title  string
	Blocks []block
}

// block is an element of a section. One of its fields is set, or Note and one other.
type block struct {
	Note   string // a sentence by the report
	Quote  string // a text by a model or a user; may have several paragraphs
	List   []string
	Table  *table
	Figure *figure // a drawing of data that a table contains too
	Folds  []fold
}

// table has row headers in its first column.
type table struct {
	Title string
	Head  []string
	Rows  [][]string
}

// fold is a collapsible part of a section.
type fold struct {
	Title string // by the report
	Parts []part
}

// part is one turn in the transcript.
type part struct {
	Title, Note, Text string
}

// rows returns a block with a table, or no block if there are no rows.
func rows(title string, head []string, list [][]string) []block {
	if len(list) == 0 {
		return nil
	}
	return []block{{Table: &table{title, head, list}}}
}

// list returns a block with a list below a sentence, or no block if there are no items.
func list(note string, items []string) []block {
	if len(items) == 0 {
		return nil
	}
	return []block{{Note: note, List: items}}
}
