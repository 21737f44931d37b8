package report

// doc is what a report shows, whatever it is rendered as. All texts in it are as they came: a renderer escapes each.
type doc struct {
	Title    string
	Sections []section
}

type section struct {
	ID     string // unique, of letters and dashes
	Title  string
	Blocks []block
}

// block is one of the things that a section is made of.
type block struct {
	Note   string // a sentence of the report's own
	Quote  string // what somebody said, with its paragraphs
	List   []string
	Table  *table
	Figure *figure // a drawing of what stands in a table as well
	Folds  []fold
}

// table has a name for each row in its first column.
type table struct {
	Title string
	Head  []string
	Rows  [][]string
}

// fold is a part that a reader can fold away.
type fold struct {
	Title string // of the report's own words
	Parts []part
}

// part is a turn.
type part struct {
	Title, Note, Text string
}

// rows is a table as a block; none where it has no rows.
func rows(title string, head []string, list [][]string) []block {
	if len(list) == 0 {
		return nil
	}
	return []block{{Table: &table{title, head, list}}}
}

// list is a list under a sentence; none where it has no items.
func list(note string, items []string) []block {
	if len(items) == 0 {
		return nil
	}
	return []block{{Note: note, List: items}}
}
