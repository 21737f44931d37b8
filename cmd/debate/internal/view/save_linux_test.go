package view

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// newTerminal returns a terminal for another process, and the side that its user has.
func newTerminal(t *testing.T) (terminal, user *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("the system has no terminals for programs: ", err)
	}
	t.Cleanup(func() { _ = user.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(user.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = terminal.Close() })
	return terminal, user
}

// A process that ends while a view is live gives back the terminal: what is typed is shown, and the cursor too.
func TestAnAbandonedTerminalIsRestored(t *testing.T) {
	terminal, user := newTerminal(t)
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = []string{demoVariable + "=abandoned", "TERM=xterm"}
	cmd.Stdin = terminal
	cmd.Stdout = terminal
	cmd.Stderr = terminal
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, cmd.Start())
	require.NoError(t, cmd.Wait())
	state, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	require.NoError(t, err)
	require.NotZero(t, state.Lflag&unix.ECHO)
	require.NoError(t, terminal.Close())
	shown, _ := io.ReadAll(user) // fails at the end, because nobody has the terminal
	require.Contains(t, string(shown), hideCursor)
	require.Greater(t, strings.LastIndex(string(shown), showCursor), strings.LastIndex(string(shown), hideCursor))
}
