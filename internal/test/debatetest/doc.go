// Package debatetest provides configurations, protocols and scripted models for tests of several packages. A function that
// takes a testing.TB and returns no error requires that there is none.
package debatetest
