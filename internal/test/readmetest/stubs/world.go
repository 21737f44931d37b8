package stubs

// Variable is the environment variable with the World, in JSON.
const Variable = "READMETEST_WORLD"

// A World is what the programs know about the test that runs a snippet.
type World struct {
	Root     string // of the checkout
	Programs string // folder with the command and the examples, built
	Path     string // without the stubs
	Log      string // file with a line for each run
	Servers  string // file with a line for each server
	Service  string // URL of a service with the protocol of OpenAI
}

// Ran is how a program went.
type Ran struct {
	Args  []string
	Code  int
	Said  string // on stderr
	Check string // what was done in place of the command, if it was not run
}

// A Server is a program that serves until the snippet ends.
type Server struct {
	PID int
	URL string
}
