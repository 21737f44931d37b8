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

// PostgreSQL refuses to run as root: then it runs as another user.

// asOther has a command run apart from this process's terminal, in no folder of this user, and not as root.
func asOther(cmd *exec.Cmd) {
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if uid, gid, ok := other(); ok {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uid, Gid: gid}
	}
}

// giveToOther gives a folder to the user whom commands run as.
func giveToOther(dir string) error {
	if uid, gid, ok := other(); ok {
		return os.Chown(dir, int(uid), int(gid))
	}
	return nil
}

// other is the user to run as where this process is root's.
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
