// Package observertest contains only tests of what an engine tells its observer, its log, and the providers that it calls.
package observertest
