//go:build unix

package acp

import (
	"os"
	"os/exec"
	"syscall"
)

// watched runs a command in a process group. A second process of the group waits for the end of the pipe whose other end this
// program holds, and then kills the group. So the agent and its children end with this program, whatever ends it.
const watched = `(read -r _ <&3; kill -KILL 0) </dev/null >/dev/null 2>&1 & exec "$@" 3<&-`

// command returns the command that runs a program in a process group of its own. Close the returned file to end the group.
func command(path string, args []string) (*exec.Cmd, *os.File, error) {
	watch, hold, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	args = append([]string{"-c", watched, "sh", path}, args...)
	cmd := exec.Command("/bin/sh", args...) //nolint:gosec,noctx // the configuration names the program, which outlives a call
	cmd.ExtraFiles = []*os.File{watch}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd, hold, nil
}

// kill ends the process and its whole group.
func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
