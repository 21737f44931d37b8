package main

import (
	"path/filepath"
	"runtime"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/store/sqlite"
)

// memoryStore names a store that keeps nothing after the command.
const memoryStore = "memory"

// heartbeatInterval applies to all commands on a database. After a few of them, a server continues the debates of a
// process that has died.
const heartbeatInterval = 2 * time.Second

// chooseStore sets storePath and storeWords: --store, or else the store of the configuration file, DEBATE_STORE in the
// environment, or a database in the user's data folder.
func (p *program) chooseStore(s configFile) {
	switch {
	case p.store != "":
		p.storePath = p.store
	case s.store != "":
		p.storePath = s.relative(s.store)
	case p.env("DEBATE_STORE") != "":
		p.storePath = p.env("DEBATE_STORE")
	default:
		p.storePath = dataFile(runtime.GOOS, p.env)
		if p.storePath == "" {
			p.warnf("your data folder is unknown, because HOME is not set; use --store FILE to keep debates")
		}
	}
	p.storeWords = ""
	if p.store != "" || s.store != "" {
		p.storeWords = " --store " + shellWord(p.storePath)
	}
	if p.storePath == memoryStore || s.store == memoryStore && p.store == "" {
		p.storePath, p.storeWords = "", ""
	}
}

// dataFile returns the default database, or an empty string if the environment does not name the user's folder.
func dataFile(system string, env func(string) string) string {
	folder := ""
	home := env("HOME")
	switch {
	case system == "windows":
		folder = env("LOCALAPPDATA")
	case filepath.IsAbs(env("XDG_DATA_HOME")): // the specification tells programs to ignore relative paths
		folder = env("XDG_DATA_HOME")
	case home != "" && system == "darwin":
		folder = filepath.Join(home, "Library", "Application Support")
	case home != "":
		folder = filepath.Join(home, ".local", "share")
	}
	if folder == "" {
		return ""
	}
	return filepath.Join(folder, "debate", "debates.db")
}

// cacheFolder returns the folder for what can be computed again, or an empty string if the user's folder is unknown.
func cacheFolder(env func(string) string) string {
	if data := dataFile(runtime.GOOS, env); data != "" {
		return filepath.Join(filepath.Dir(data), "cache")
	}
	return ""
}

// openStore opens the store, if there is one. It returns a function that closes the store.
func (p *program) openStore(o *debate.Options) (done func(), err error) {
	if p.storePath == "" {
		return func() {}, nil
	}
	if err := createPrivate(p.storePath); err != nil {
		return nil, err
	}
	kept, err := sqlite.Open(p.storePath)
	if err != nil {
		return nil, err
	}
	p.makePrivate(p.storePath) // not before: the file may be something else than a database
	o.Store, o.HeartbeatInterval = kept, heartbeatInterval
	return func() {
		if err := kept.Close(); err != nil {
			p.warnf("%v", err)
		}
	}, nil
}
