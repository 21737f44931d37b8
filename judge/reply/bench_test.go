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

// BenchmarkRepair parses objects that are not repaired, each at half and at full size. In linear time, the second takes twice
// as long.
func BenchmarkRepair(b *testing.B) {
	for _, bm := range []struct{ name, unit string }{
		{"strings", `'a',`},
		{"escaped quotes", `\'`},
		{"words", `None `},
		{"commas", `,  `},
		{"space", `        `},
	} {
		for _, size := range []struct {
			name  string
			bytes int
		}{{"32 KiB", 32 << 10}, {"64 KiB", 64 << 10}} {
			text := `{"choice":[` + strings.Repeat(bm.unit, (size.bytes-16)/len(bm.unit)) + "1,,]}"
			b.Run(bm.name+"/"+size.name, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					_, _ = votes.Parse(text, names)
				}
			})
		}
	}
}

// BenchmarkWrapped parses objects that have many parts inside, of which none is a reply, each at half and at full size. In
// linear time, the second takes twice as long.
func BenchmarkWrapped(b *testing.B) {
	for _, bm := range []struct{ name, unit string }{
		{"objects", `{"x":1},`},
		{"texts", `"{\"x\":1}",`},
		{"texts that are no JSON", `"{{{{{{{{",`},
		{"texts with another key", `"{\"choices\":1,}",`},
		{"texts in texts", `"[\"{\\\"x\\\":1}\"]",`},
		{"lists", `[[[[]]]],`},
	} {
		for _, size := range []struct {
			name  string
			bytes int
		}{{"32 KiB", 32 << 10}, {"64 KiB", 64 << 10}} {
			text := `{"` + strings.Repeat("z", 1000) + `":[` + strings.Repeat(bm.unit, (size.bytes-1100)/len(bm.unit)) + "1]}"
			b.Run(bm.name+"/"+size.name, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					_, _ = votes.Parse(text, names)
				}
			})
		}
	}
}
