// Package configtest has no code but tests. They write docs/reference/configuration.md and docs/reference/configuration.schema.json from
// the Go types of a configuration and their comments, and prove that the schema accepts what the library accepts.
package configtest
