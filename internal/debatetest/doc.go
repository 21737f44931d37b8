// Package debatetest has the configurations, protocols and scripted models that tests of several packages debate with.
package debatetest
