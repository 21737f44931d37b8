// Package windowtest has no code but tests: they hold debates in small windows, with and without summaries, and measure what
// their prompts repeat and cost. It writes the section on that of docs/windows.md.
package windowtest
