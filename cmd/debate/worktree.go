package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// worktree is what Git says about the files of a folder: their places below it, with slashes.
type worktree struct {
	files   []string
	ignored []string // files, and folders whose names end with a slash
	// marked says for a file whether an attribute calls it generated or vendored, or denies it.
	generated, vendored map[string]bool
}

// worktreeOf returns the top folder of the Git work tree that a folder is part of, or "" if there is none.
func worktreeOf(folder string) string {
	for {
		mark := filepath.Join(folder, ".git")
		info, err := os.Stat(mark)
		if err == nil && info.IsDir() {
			_, err = os.Stat(filepath.Join(mark, "HEAD"))
		}
		if err == nil {
			return folder
		}
		above := filepath.Dir(folder)
		if above == folder {
			return ""
		}
		folder = above
	}
}

// readWorktree asks Git for the files of a folder: those that it tracks, and new ones that it does not ignore.
func readWorktree(ctx context.Context, folder string) (w worktree, err error) {
	all := &gitList{args: []string{"-t", "--cached", "--others", "--exclude-standard"}}
	ignored := &gitList{args: []string{"--others", "--ignored", "--exclude-standard", "--directory"}}
	marked := &gitList{args: []string{"--cached", "--", ":(exclude,attr:!" + generatedAttribute + " !" + vendoredAttribute + ")"}}
	lists := []*gitList{all, ignored, marked}
	var asked sync.WaitGroup
	for _, l := range lists {
		asked.Go(func() { l.read(ctx, folder) })
	}
	asked.Wait()
	for _, l := range lists {
		if l.err != nil {
			return w, l.err
		}
	}
	w.ignored = ignored.files
	mayHaveMarks := marked.files
	for _, line := range all.files {
		place, isNew := strings.CutPrefix(line, "? ")
		if isNew {
			mayHaveMarks = append(mayHaveMarks, place)
		} else {
			_, place, _ = strings.Cut(line, " ") // the letter says how Git tracks the file
		}
		w.files = append(w.files, place)
	}
	slices.Sort(w.files)
	w.files = slices.Compact(w.files) // during a merge, Git lists a file once for each side
	return w, w.readAttributes(ctx, folder, mayHaveMarks)
}

// A gitList holds files that Git lists.
type gitList struct {
	args  []string
	files []string
	err   error
}

// read asks Git.
func (l *gitList) read(ctx context.Context, folder string) {
	var out []byte
	out, l.err = git(ctx, folder, nil, append([]string{"ls-files", "-z"}, l.args...)...)
	l.files = splitNul(out)
}

// The attributes that services such as GitHub know, and Git keeps.
const (
	generatedAttribute = "linguist-generated"
	vendoredAttribute  = "linguist-vendored"
)

// readAttributes asks Git how .gitattributes marks the files that it may mark. All others have no marks: to ask for each file of a large
// repository takes as long as to read it.
func (w *worktree) readAttributes(ctx context.Context, folder string, files []string) error {
	w.generated = map[string]bool{}
	w.vendored = map[string]bool{}
	if len(files) == 0 {
		return nil
	}
	names := strings.Join(files, "\x00") + "\x00"
	out, err := git(ctx, folder, strings.NewReader(names), "check-attr", "-z", "--stdin", generatedAttribute, vendoredAttribute)
	if err != nil {
		return err
	}
	fields := splitNul(out)
	for len(fields) >= 3 {
		place := fields[0]
		name := fields[1]
		value := fields[2]
		fields = fields[3:]
		if value == "unspecified" {
			continue
		}
		isMarked := value == "set" || value == "true"
		if name == generatedAttribute {
			w.generated[place] = isMarked
		} else {
			w.vendored[place] = isMarked
		}
	}
	return nil
}

// unwanted returns why a file is no document, as far as its place tells, and "" if it may be one.
func (w *worktree) unwanted(place string) reason {
	vendored, known := w.vendored[place]
	if !known {
		vendored = isVendorPlace(place)
	}
	generated, known := w.generated[place]
	if !known {
		generated = isGeneratedName(place)
	}
	switch {
	case vendored:
		return isVendored
	case generated:
		return isGenerated
	case isLockName(place):
		return isLockFile
	}
	return ""
}

// saysItIsGenerated reports whether a text counts as generated because it says so. An attribute may deny it.
func (w *worktree) saysItIsGenerated(place string, text []byte) bool {
	_, known := w.generated[place]
	return !known && isGeneratedText(text)
}

// splitNul returns the texts that Git has ended with zero bytes.
func splitNul(b []byte) []string {
	if len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
}

// git runs Git in a folder. It runs no program that the configuration of the work tree names, and changes nothing.
func git(ctx context.Context, folder string, stdin *strings.Reader, args ...string) ([]byte, error) {
	args = append([]string{"-C", folder, "-c", "core.fsmonitor=false"}, args...)
	cmd := exec.CommandContext(ctx, "git", args...) //nolint:gosec // the arguments are the command's own
	if stdin != nil {
		cmd.Stdin = stdin
	}
	var out, said bytes.Buffer
	cmd.Stdout = &out
	cmd.Stderr = &said
	cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C")
	err := cmd.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, exitErrorf(exitInput, "%s is a Git work tree, but there is no program git to read it; install Git, or name files",
			folder)
	case err != nil:
		return nil, exitErrorf(exitInput, "git %s in %s: %w: %s", args[4], folder, err, printableLine(said.String()))
	}
	return out.Bytes(), nil
}
