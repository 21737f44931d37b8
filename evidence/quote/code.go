package quote

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// codeEndings lists how names of files end that hold code, configuration or diffs.
var codeEndings = strings.Fields(`.go .mod .c .h .cc .cpp .cxx .hpp .m .mm .cs .java .kt .kts .scala .groovy .gradle .swift .rs .zig .d .nim
	.py .pyi .rb .php .pl .pm .lua .r .jl .ex .exs .erl .hrl .hs .ml .mli .fs .fsx .clj .cljs .el .lisp .scm .rkt .dart .v .sv .vhd
	.js .jsx .mjs .cjs .ts .tsx .vue .svelte .css .scss .sass .less .sql .sh .bash .zsh .fish .ps1 .bat .cmd .awk .sed .asm .s .f90
	.json .jsonl .yaml .yml .toml .ini .cfg .conf .xml .proto .graphql .tf .hcl .nix .cmake .mk .bzl .diff .patch .sol .wat`)

// codeNames lists names of files that hold code and do not show it by their ending.
var codeNames = strings.Fields("makefile dockerfile containerfile jenkinsfile rakefile gemfile procfile vagrantfile cmakelists.txt")

// IsCode reports whether a document with this name holds code, configuration or a diff.
func IsCode(name string) bool {
	base := strings.ToLower(path.Base(strings.ReplaceAll(name, `\`, "/")))
	return slices.Contains(codeEndings, path.Ext(base)) || slices.Contains(codeNames, base)
}

// codeToken matches a name or number, or another character that is no space.
var codeToken = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\pL\pM\p{Nd}_]+|[^\s\x{a0}]`) })

// reduceCode reduces a text that is code: all of it counts but white space.
func reduceCode(text string) reduced { return reduceParts(text, []Place{{0, len(text)}}) }

// reduceQuoted reduces a quote of code. Whoever quotes may put it between backticks.
func reduceQuoted(quote string) reduced {
	return reduceCode(strings.Trim(quote, "` \t\r\n"))
}

// reduceParts reduces the parts of a text that are code. No quote goes from one to another, unless nothing is between them.
func reduceParts(text string, parts []Place) reduced {
	r := &reducer{text: text}
	end := 0
	for _, part := range parts {
		if part.Start > end {
			r.letters.WriteByte(0)
		}
		end = part.End
		for _, at := range codeToken().FindAllStringIndex(text[part.Start:part.End], -1) {
			r.begin(part.Start + at[0])
			r.write(text[part.Start+at[0]:part.Start+at[1]], part.Start+at[1])
		}
	}
	return reduced{text, r.letters.String(), r.words, nil}
}

// codeIn returns the parts of a Markdown text that are code: lines between fences, and spans between backticks. Lines behind a fence
// that no other one ends are prose.
func codeIn(text string) (list []Place) {
	var fenced []Place // since the fence that was not ended yet
	fence := ""
	start := 0
	for line := range strings.Lines(text) {
		place := Place{start, start + len(line)}
		mark := fenceOf(line)
		switch {
		case fence == "" && mark != "":
			fence = mark
		case fence == "":
			list = append(list, spansIn(line, start)...)
		case strings.HasPrefix(mark, fence) && strings.TrimSpace(line) == mark:
			list = append(list, fenced...)
			fence = ""
			fenced = nil
		default:
			fenced = append(fenced, place)
		}
		start = place.End
	}
	return list
}

// fenceOf returns the mark that begins or ends lines of code, if a line has one.
func fenceOf(line string) string {
	line = strings.TrimLeft(line, " \t>")
	mark := line[:len(line)-len(strings.TrimLeft(line, "`"))]
	if len(mark) < 3 {
		return ""
	}
	return mark
}

var codeSpan = regexp.MustCompile("`[^`]+`")

func spansIn(line string, start int) (list []Place) {
	for _, at := range codeSpan.FindAllStringIndex(line, -1) {
		list = append(list, Place{start + at[0] + 1, start + at[1] - 1})
	}
	return list
}

// bare returns code without white space, and without the marks around it.
func bare(code string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) || c == '`' {
			return -1
		}
		return c
	}, code)
}
