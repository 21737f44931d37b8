// Package housetest tests rules about the repository that no linter knows: files of a package do not refer to one another in a
// circle, dependencies have reasons, and no text has a path of one machine.
package housetest
