// Package readmetest contains only tests of documents. README.md must begin with a short program that compiles, stay short
// before its tables, and show the diagram of the lifecycle. Documents must link to files that exist.
package readmetest
