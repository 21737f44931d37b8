//go:build !unix

package acp

import (
	"os"
	"os/exec"
	"strconv"
)

// command returns the command that runs a program. The system has no process groups that end together, so the agent ends when its
// input does.
func command(path string, args []string) (*exec.Cmd, *os.File, error) {
	watch, hold, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	_ = watch.Close()
	return exec.Command(path, args...), hold, nil //nolint:gosec,noctx // the configuration names the program, which outlives a call
}

// kill ends the process and its children.
func kill(cmd *exec.Cmd) {
	err := exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run() //nolint:gosec,noctx // a number
	if err != nil {
		_ = cmd.Process.Kill()
	}
}
