//go:build unix

package view

import (
	"os"

	"github.com/charmbracelet/x/term"
	"github.com/charmbracelet/x/termios"
	"golang.org/x/sys/unix"
)

// muteEcho makes a terminal not show what is typed. It returns a function that restores the terminal. It does nothing in
// the background, where the system would stop the process.
func muteEcho(in *os.File) (restore func()) {
	fd := int(in.Fd())
	if !inForeground(in) {
		return func() {}
	}
	before, err := term.GetState(in.Fd())
	if err != nil {
		return func() {}
	}
	now, err := termios.GetTermios(fd)
	if err != nil {
		return func() {}
	}
	off := map[termios.L]bool{termios.ECHO: false}
	if termios.SetTermios(fd, uint32(now.Ispeed), uint32(now.Ospeed), nil, nil, nil, nil, off) != nil { //nolint:unconvert // other systems have other types
		return func() {}
	}
	return func() { _ = term.SetState(in.Fd(), before) }
}

// inForeground reports whether this process may change a terminal.
func inForeground(terminal *os.File) bool {
	group, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
