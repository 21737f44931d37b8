//go:build unix

package debatehttp

import "syscall"

// maxConnections returns the largest number of connections of a server. A quarter of the files that the process may open is
// left for stores and for connections to models.
func maxConnections() int {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return mostConnections
	}
	return int(max(1, min(uint64(files.Cur)/4*3, mostConnections))) //nolint:gosec,unconvert // it is small, and an int64 on some systems
}
