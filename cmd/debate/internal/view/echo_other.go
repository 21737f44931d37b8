//go:build !unix

package view

import "os"

// muteEcho does nothing on this system: what is typed is shown.
func muteEcho(*os.File) (restore func()) { return func() {} }

func inForeground(*os.File) bool { return true }
