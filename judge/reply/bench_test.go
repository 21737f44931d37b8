package reply_test

import (
	"strings"
	"testing"
)

// BenchmarkHostile parses texts that are designed to be slow, each at half and at full size. In linear time, the second
// takes twice as long.
func BenchmarkHostile(b *testing.B) {
	for _, bm := range []struct{ name, unit string }{
		{"objects", `{"a":{"b":1}}`},
		{"braces", `{`},
		{"keys", `{"a":`},
		{"quotes", `{"`},
		{"escapes", `{"\"`},
		{"spaced braces", `{        `},
		{"lists in lists", `{"a":[[[[]]]],`},
		{"reasoning", `</think><think>`},
		{"fences", "```\n"},
		{"texts in texts", `"\\`},
		{"lists", `[`},
		{"list of one, broken", `[{'a`},
		{"single quotes", `{'`},
		{"typographic quotes", `{“`},
		{"words", `{a`},
		{"words with colons", `{a:`},
		{"broken objects", `{"a":1,,}`},
	} {
		for _, size := range []struct {
			name  string
			bytes int
		}{{"32 KiB", 32 << 10}, {"64 KiB", 64 << 10}} {
			text := strings.Repeat(bm.unit, size.bytes/len(bm.unit))
			b.Run(bm.name+"/"+size.name, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					_, _ = votes.Parse(text, names)
				}
			})
		}
	}
}

// BenchmarkRepair parses objects of maximum length that are slow to repair, and one that is twice as long.
func BenchmarkRepair(b *testing.B) {
	for _, bm := range []struct{ name, unit string }{
		{"quotes", `""`},
		{"keys without values", `"":`},
		{"backticks", "`..`"},
		{"escaped quotes", `\"'`},
		{"words", "e\n"},
		{"calls", "\nNone'x("},
		{"comments", `//`},
	} {
		for _, size := range []struct {
			name  string
			bytes int
		}{{"2 KiB", 2 << 10}, {"4 KiB", 4 << 10}, {"8 KiB", 8 << 10}, {"16 KiB", 16 << 10}} {
			text := `{"choice":` + strings.Repeat(bm.unit, (size.bytes-12)/len(bm.unit)/2*2) + "}"
			b.Run(bm.name+"/"+size.name, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					_, _ = votes.Parse(text, names)
				}
			})
		}
	}
}
