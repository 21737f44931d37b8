package main

import "golang.org/x/sys/unix"

// useLargePages asks the system to use large pages for memory. A system that has none uses small ones.
func useLargePages(memory []byte) { _ = unix.Madvise(memory, unix.MADV_HUGEPAGE) }
