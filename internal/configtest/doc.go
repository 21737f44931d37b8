// Package configtest has no code but tests. They write docs/configuration.md and docs/configuration.schema.json from
// the Go types of a configuration and their comments, and prove that the schema accepts what the library accepts.
package configtest
