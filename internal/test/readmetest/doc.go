// Package readmetest contains only tests of documents. README.md has a short program that compiles and output that is real, commands
// work as they stand in documents, documents are short and link to files and sections that exist, and docs/how-it-runs.md names
// functions that exist.
package readmetest
