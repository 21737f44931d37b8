package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/elenchus-go/debate/internal/characters"
)

// A table has text in columns. Each is as wide as its widest cell is on a terminal, where a Chinese character takes two columns.
type table struct {
	rows [][]string
}

// add adds a row with a cell for each value.
func (t *table) add(values ...any) {
	row := make([]string, len(values))
	for i, v := range values {
		row[i] = fmt.Sprint(v)
	}
	t.rows = append(t.rows, row)
}

// print writes the rows in lines, with two blanks between columns.
func (t *table) print(to io.Writer) error {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], characters.Width(cell))
		}
	}
	var b strings.Builder
	for _, row := range t.rows {
		last := len(row) - 1
		for i, cell := range row[:last] {
			b.WriteString(cell)
			b.WriteString(strings.Repeat(" ", widths[i]-characters.Width(cell)+2))
		}
		b.WriteString(row[last] + "\n")
	}
	_, err := io.WriteString(to, b.String())
	return err
}
