//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Only regular files are documents, and nothing waits for what others would write.
func TestOtherFilesOfAFolderAreLeftOut(t *testing.T) {
	folder(t, "a.md", "Some text.\n", "sub/b.md", "More text.\n")
	require.NoError(t, unix.Mkfifo("pipe.md", 0o600))
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = unix.Close(fd) })
	require.NoError(t, unix.Bind(fd, &unix.SockaddrUnix{Name: "socket.md"}))
	require.NoError(t, os.Symlink("a.md", "link.md"))
	require.NoError(t, os.Symlink("sub", "folder.md"))
	texts, left, err := documentsOf(t, ".")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a.md": "Some text.\n", "sub/b.md": "More text.\n"}, texts)
	require.Equal(t, leftOut{isOther: {"pipe.md", "socket.md"}, isLink: {"folder.md", "link.md"}}, left)
}

// A file may have another length than the system says when it is opened, as those of /proc do, and at most some bytes of it are read.
func TestFilesAreReadUpToALength(t *testing.T) {
	text := strings.Repeat("0123456789", 1000)
	for _, size := range []int64{0, 1, 9_999, 10_000, 10_001, 50_000} { // as the system says
		for _, most := range []int64{1, 512, 9_999, 10_000, 10_001, 100_000} {
			path := filepath.Join(t.TempDir(), "a.txt")
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			file, err := os.Open(path)
			require.NoError(t, err)
			var read bytes.Buffer
			require.NoError(t, readTo(&read, int(file.Fd()), "a.txt", size, most))
			require.NoError(t, file.Close())
			require.Equal(t, text[:min(most, 10_000)], read.String(), "size %d, at most %d", size, most)
		}
	}
}
