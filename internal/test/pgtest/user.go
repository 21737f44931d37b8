//go:build unix

package pgtest

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

func init() { unprivileged, own = asOther, giveToOther }

// PostgreSQL refuses to run as root, so root runs it as another user.

// asOther makes a command run detached from the terminal, outside this user's folders, and not as root.
func asOther(cmd *exec.Cmd) {
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if uid, gid, ok := other(); ok {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uid, Gid: gid}
	}
}

// giveToOther makes the user that runs the commands the owner of a folder.
func giveToOther(dir string) error {
	if uid, gid, ok := other(); ok {
		return os.Chown(dir, int(uid), int(gid))
	}
	return nil
}

// other returns the user to run commands as. ok is false unless this process runs as root.
func other() (uid, gid uint32, ok bool) {
	if os.Geteuid() != 0 {
		return 0, 0, false
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			uid, _ := strconv.ParseUint(u.Uid, 10, 32)
			gid, _ := strconv.ParseUint(u.Gid, 10, 32)
			return uint32(uid), uint32(gid), true
		}
	}
	return 0, 0, false
}
