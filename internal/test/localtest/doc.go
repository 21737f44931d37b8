// Package localtest contains only tests. They run debates as local models run them: with models that follow a schema and
// know nothing else, and in small windows. They generate the sections with measurements in docs/measured/local.md.
package localtest
