// Package crashtest kills processes that drive debates, and looks at what is left.
//
// A [Trial] starts a test binary again and again as a child, which drives debates until it is killed: at a named point
// of a step by itself, or from outside at a random moment. Children write to a ledger, a file that survives them, each
// call of a model as it begins and each commit as it was acknowledged. In the end children are let be until all debates
// have ended, and the trial compares the journals with the ledger and with debates that nobody disturbed.
package crashtest
