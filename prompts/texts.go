package prompts

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
)

// Texts holds templates as they are written, so that a set can be made again where the library or the program has others.
type Texts struct {
	Version string `json:"version"` // of the set; see Set.Version
	// Over names the version of the set whose templates these replace. It is empty for the templates of the library.
	Over  string            `json:"over,omitempty"`
	Files map[string]string `json:"files"` // texts by name of the file, such as "opening.tmpl"
}

// Texts returns the templates of the set: those of the library, and then those that replace them or were added.
func (s *Set) Texts() (list []Texts) {
	t := Texts{Version: s.version, Files: map[string]string{}}
	if s.over != nil {
		list, t.Over = s.over.Texts(), s.over.version
	}
	for _, f := range s.files {
		t.Files[f.name] = f.text
	}
	return append(list, t)
}

// Restore makes sets of templates again, and returns them by version. A set must follow the one whose templates it replaces.
// Only [Load] and the options of an engine can use the folders. Restore leaves out sets that this version of the library cannot
// use. It returns an error if texts do not have their version: it names the file if the library has that version.
func Restore(list []Texts) (map[string]fs.FS, error) {
	own, err := library()
	if err != nil {
		return nil, err
	}
	made, folders := map[string]*collection{own.set.version: own}, map[string]fs.FS{}
	for _, t := range list {
		files := t.sorted()
		if version := t.versionOf(files); version != t.Version {
			reason := "their texts have the version " + version
			if t.Version == own.set.version {
				reason = t.changedFile(own.set.files) + " is not that of this version"
			}
			return nil, fmt.Errorf("restore templates %.20q: %s", t.Version, reason)
		}
		if made[t.Version] == nil {
			made[t.Version] = t.restore(files, made[t.Over])
		}
		if c := made[t.Version]; c != nil {
			folders[t.Version] = restored{c.set}
		}
	}
	return folders, nil
}

// sorted returns the files by name.
func (t *Texts) sorted() (files []file) {
	for _, name := range slices.Sorted(maps.Keys(t.Files)) {
		files = append(files, file{name, t.Files[name]})
	}
	return files
}

// versionOf returns the version of a set with the given files.
func (t *Texts) versionOf(files []file) string {
	key := digest(files)
	return versionOf(append([]byte(t.Over), key[:]...))
}

// restore makes a set again. It returns nil if this version of the library cannot use it.
func (t *Texts) restore(files []file, over *collection) *collection {
	if t.Over == "" {
		over = emptyCollection()
	}
	if over == nil {
		return nil
	}
	c, err := over.overlaid(files)
	if err != nil {
		return nil
	}
	c.set.version, c.set.files = t.Version, files
	if t.Over != "" {
		c.set.over = over.set
	}
	return c
}

// changedFile returns the name of a file whose text is not the one in files.
func (t *Texts) changedFile(files []file) string {
	left := maps.Clone(t.Files)
	for _, f := range files {
		if text, has := left[f.name]; !has || text != f.text {
			return f.name
		}
		delete(left, f.name)
	}
	return slices.Sorted(maps.Keys(left))[0]
}
