// Package faulttest has no code but tests: they make calls of models fail at every place of a debate, and disturb debates
// at random. It writes the section on faults of docs/reliability.md.
package faulttest
