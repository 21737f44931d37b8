package report

// document is the content of a report, independent of the format. Its texts are unescaped; each renderer escapes them.
type document struct {
	Title    string
	Sections []section
}

type section struct {
	ID     string // unique in the document; consists of letters and dashes
	Title  string
	Blocks []block
}

// block is an element of a section. One of its fields is set, or Note and one other.
type block struct {
	Note         string // a sentence of the report itself
	Quote        string // text by a model or a user; may have several paragraphs
	List         []string
	Table        *table
	Figure       *figure // a drawing; a table contains the same data
	Collapsibles []collapsible
}

// table has row headers in its first column.
type table struct {
	Title  string
	Header []string
	Rows   [][]string
}

// collapsible is a collapsible part of a section.
type collapsible struct {
	Title   string // never text by a model or a user
	Entries []entry
}

// entry is one turn in the transcript.
type entry struct {
	Title, Note, Text string
}

// tableBlock returns a block with a table, or no block if the table has no rows.
func tableBlock(title string, head []string, list [][]string) []block {
	if len(list) == 0 {
		return nil
	}
	return []block{{Table: &table{title, head, list}}}
}

// listBlock returns a block with a list below a sentence, or no block if the list has no items.
func listBlock(note string, items []string) []block {
	if len(items) == 0 {
		return nil
	}
	return []block{{Note: note, List: items}}
}
