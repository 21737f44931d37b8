package main

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/evidence/extract"
)

// document is a file that a debate reads.
type document struct {
	path, text string // the path is empty for standard input
	hash       string // the SHA-256 of the text, or empty if nobody has computed it yet
	place      string // its path below the folder of all documents of the debate, with slashes; its name in the debate
	readers    []string
	named      bool // the user has named the file, and not only its folder
}

// sha256 returns the SHA-256 of the text in hexadecimal digits.
func (d *document) sha256() string {
	if d.hash == "" {
		return evidence.Hash(d.text)
	}
	return d.hash
}

// joinFirst returns the first texts of a list, and the number of the others.
func joinFirst(list []string, n int) string {
	if len(list) <= n {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:n], ", "), len(list)-n)
}

// isExtracted reports whether a file holds a text in another format, which is extracted.
func isExtracted(path string) bool {
	return slices.Contains(extract.Endings(), strings.ToLower(filepath.Ext(path)))
}

// A reason says why a file of a folder is no document.
type reason string

// The reasons, as they stand behind a number of files.
const (
	isIgnored   reason = "ignored by Git"
	isBinary    reason = "not UTF-8 text"
	isBlank     reason = "blank"
	isGenerated reason = "generated"
	isVendored  reason = "vendored"
	isLockFile  reason = "lock files"
	isLarge     reason = "larger than 4 MiB"
	isLink      reason = "symbolic links"
	isOther     reason = "no regular files"
	isGone      reason = "deleted"
	isUnnamed   reason = "without a valid name"
)

// leftOut holds the files of a folder that are no documents, by the reason.
type leftOut map[reason][]string

// say tells about the files, with the first names of each reason, or with all.
func (l leftOut) say(p *program) {
	shown := 5
	if p.verbose {
		shown = len(l[isIgnored]) + 1<<20
	}
	for _, why := range slices.Sorted(maps.Keys(l)) {
		list := slices.Clone(l[why])
		slices.Sort(list)
		for i := range list {
			list[i] = printableLine(list[i])
		}
		p.warnf("left out, %s: %s", countOf(len(list), string(why)), joinFirst(list, shown))
	}
}

// summary returns how many files there are of each reason, for errors.
func (l leftOut) summary() string {
	var parts []string
	for _, why := range slices.Sorted(maps.Keys(l)) {
		parts = append(parts, countOf(len(l[why]), string(why)))
	}
	if parts == nil {
		return ""
	}
	return "; left out: " + strings.Join(parts, "; ")
}

// countOf returns a number of files with the reason why they are left out.
func countOf(n int, why string) string {
	if n == 1 {
		return "1 file, " + why
	}
	return fmt.Sprintf("%d files, %s", n, why)
}

// lockFiles lists the names of files in which tools record exact versions, apart from those with the ending ".lock".
var lockFiles = []string{
	"go.sum", "go.work.sum", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "packages.lock.json", "project.assets.json",
	"package.resolved", "gradle.lockfile", "bun.lockb", ".terraform.lock.hcl", "cargo.lock", "mix.lock", "deno.lock", "uv.lock",
}

// isLockName reports whether a file of this name is a lock file.
func isLockName(place string) bool {
	base := strings.ToLower(path.Base(place))
	return slices.Contains(lockFiles, base) || path.Ext(base) == ".lock"
}

// vendorFolders lists the names of folders into which tools copy the code of others.
var vendorFolders = []string{"vendor", "node_modules", "third_party", "bower_components", "jspm_packages", "pods", "carthage"}

// isVendorPlace reports whether a file is below a folder with the code of others.
func isVendorPlace(place string) bool {
	for folder := range strings.SplitSeq(path.Dir(place), "/") {
		if slices.Contains(vendorFolders, strings.ToLower(folder)) {
			return true
		}
	}
	return false
}

// generatedNames lists how names of files end that programs write.
var generatedNames = []string{
	".min.js", ".min.css", ".js.map", ".css.map", ".pb.go", ".pb.cc", ".pb.h", "_pb2.py", "_pb2_grpc.py",
	".g.dart", ".designer.cs",
}

// isGeneratedName reports whether programs write files of this name.
func isGeneratedName(place string) bool {
	base := strings.ToLower(path.Base(place))
	return slices.ContainsFunc(generatedNames, func(end string) bool { return strings.HasSuffix(base, end) })
}

// generatedMarks matches a comment that says that a program has written the file: that of Go and of many other generators, the tag that
// several services know, and that of .NET.
var generatedMarks = regexp.MustCompile(`(?im)^[^\pL\n]{0,8}(?:code )?generated\b.*\bdo not (?:edit|modify)\b` +
	`|^[^\pL\n]{0,8}do not (?:edit|modify)\b.*\bgenerated\b` +
	`|^[^\pL\n]{0,8}this file (?:is|was) (?:auto(?:matically)?[ -]?)?generated\b` +
	`|^[^\pL\n]{0,8}@generated\b` +
	`|^[^\pL\n]{0,8}<auto-generated`)

// maxHead limits, in bytes, the beginning of a file in which such a comment stands.
const maxHead = 2 << 10

// isGeneratedText reports whether a text says at its beginning that a program has written it.
func isGeneratedText(text []byte) bool {
	head := text[:min(len(text), maxHead)]
	if !bytes.Contains(head, []byte("enerated")) && !bytes.Contains(head, []byte("ENERATED")) { // most texts, which the expression need not read
		return false
	}
	return generatedMarks.Match(head)
}
