// Package crashtest kills processes that run debates, and checks what is stored afterwards.
//
// A [Trial] starts a test binary repeatedly as a child process, which runs debates until it is killed. A child kills
// itself at a named point of a step, or is killed from outside at a random time. Children write to a ledger, a file
// that survives them. It records each model call when it begins, and each commit when it is acknowledged. At the end,
// children run undisturbed until all debates have ended. The trial then compares the journals with the ledger and with
// undisturbed debates.
package crashtest
