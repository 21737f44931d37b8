//go:build !linux

package main

// useLargePages does nothing: the system chooses the size of its pages.
func useLargePages([]byte) {}
