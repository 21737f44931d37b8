package sqlite

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// lockHolders returns the numbers of the processes that read or write the database with this -shm file, if it can find out.
// It does not open the file, because closing it would release the locks that this process has.
func lockHolders(shm string) []string {
	info, err := os.Stat(shm)
	if err != nil {
		return nil
	}
	file, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		return nil
	}
	return parseLocks(string(locks), file.Ino)
}

// The bytes of a -shm file that readers and writers of a database lock, see https://www.sqlite.org/walformat.html. A
// connection that is only open locks a later byte.
const firstLock, lastLock = 120, 127

// parseLocks returns the sorted numbers of the processes that lock one of these bytes of a file. locks is the content of
// Linux's /proc/locks, which names files by device and inode.
func parseLocks(locks string, inode uint64) (pids []string) {
	for line := range strings.Lines(locks) {
		// 1: POSIX  ADVISORY  READ 4711 08:01:393225 124 124
		f := strings.Fields(line)
		if len(f) != 8 || !strings.HasSuffix(f[5], ":"+strconv.FormatUint(inode, 10)) {
			continue
		}
		from, _ := strconv.Atoi(f[6])
		to, err := strconv.Atoi(f[7]) // "EOF" for the rest of a file
		if (err != nil || to >= firstLock) && from <= lastLock {
			pids = append(pids, f[4])
		}
	}
	slices.Sort(pids)
	return slices.Compact(pids)
}
