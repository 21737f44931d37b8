// Package debatetest provides configurations, protocols and scripted models for tests of several packages.
package debatetest
