//go:build unix

package main

import (
	"os"
	"syscall"
)

// openFlags opens a file of a folder. Without the second flag, Go asks the system for the mode of each file and changes it.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK
