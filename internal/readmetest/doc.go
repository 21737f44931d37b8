// Package readmetest has no code but tests: the first program of README.md compiles and is as short as it says, and its
// diagram is that of the lifecycle.
package readmetest
