// Package scenariotest contains only a test. It runs the debates in testdata/scenarios, one for each rule of the
// protocols.
package scenariotest
