package main

// code is what is mutated, and what tests it. Fast packages are first, because a mutant is run until a test notices it.
type code struct {
	root      string   // folder of the module
	folder    string   // folder of the mutated package, relative to root
	files     []string // mutated files of that package
	functions string   // regular expression for the functions that are mutated
	packages  []string // packages whose tests run
}

// engine is the code that controls debates, commits turns, and drops work that another process has superseded.
var engine = code{
	root: ".", folder: ".",
	files: []string{"background.go", "control.go", "debate.go", "driver.go", "execution.go", "journal.go", "perform.go", "policy.go", "transition.go", "watch.go"},
	functions: `^(Debate\.(Pause|Resume|Stop|Cancel|Retry|Reset|Decide|Inject|Edit|Answer|Decline|Recover|reply|control|controlAndDrive|Start|showNews)|startBackground|takeOver|` +
		`driver\.(wake|recheck|review|behind|outdated|writing|perform|commitTurn|handleFailures?)|execution\.isWanted|` +
		`journal\.(change|attempt|commit)|transaction\.(begin|fire|settle|stop|stopWaiting|resume|start|askPeople|inject|decide|goOn|applyDeclines?))$`,
	packages: []string{"./internal/peopletest", "./internal/observertest", "./internal/forktest", ".", "./internal/faulttest", "./internal/enginetest"},
}

// mutant is one change of the code.
type mutant struct {
	number   int // from 1
	name     string
	file     string
	line     int
	survived bool
	noticed  string // how a test noticed it
}
