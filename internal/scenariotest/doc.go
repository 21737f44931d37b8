// Package scenariotest has no code but a test: it plays the debates in testdata/scenarios, one for each rule of the
// protocols.
package scenariotest
