// Package windowtest contains only tests. They run debates in small windows, with and without summaries, and measure
// what the prompts repeat and cost. They generate the section on this in docs/measured/windows.md.
package windowtest
