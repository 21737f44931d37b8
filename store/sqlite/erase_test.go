package sqlite_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/store/sqlite"
)

const secret = "SECRETSECRET"

// writeSecrets stores a debate with the secret in each of its texts: in short and long entries, keys, labels, and in each of the
// statuses that replace one another.
func writeSecrets(t *testing.T, s *sqlite.Store, id string) {
	t.Helper()
	for i := range int64(20) {
		c := change(id, i, fmt.Sprint(secret, i))
		c.Entries[0].Data = map[string]string{"text": strings.Repeat(secret+" ", 1<<(i%12))}
		c.Status.Topic = strings.Repeat("x", int(i)*300) + secret
		c.Status.Labels = map[string]string{"customer": fmt.Sprint(secret, i)}
		c.Status.Waiting = []string{secret}
		commit(t, s, c)
	}
}

// findSecrets returns the files of a database that have the secret.
func findSecrets(t *testing.T, path string) (found []string) {
	t.Helper()
	files, err := filepath.Glob(path + "*")
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		if bytes.Contains(text, []byte(secret)) {
			found = append(found, strings.TrimPrefix(file, path))
		}
	}
	return found
}

func TestDeletedTextsAreNotInTheFiles(t *testing.T) {
	for name, remove := range map[string]func(context.Context, *sqlite.Store) error{
		"Delete": func(ctx context.Context, s *sqlite.Store) error { return s.Delete(ctx, "d", 0) },
		"Query.Delete": func(ctx context.Context, s *sqlite.Store) error {
			_, err := store.Query{Labels: map[string]string{"customer": secret + "19"}}.Delete(ctx, s)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "debates.db")
			s, other := open(t, path), open(t, path)
			commit(t, other, change("kept", 0, "a"))
			writeSecrets(t, s, "d")
			require.NotEmpty(t, findSecrets(t, path))

			require.NoError(t, remove(t.Context(), s))
			require.Empty(t, findSecrets(t, path))
			_, entries, err := other.Load(t.Context(), "kept", 0)
			require.NoError(t, err)
			require.Len(t, entries, 1)
		})
	}
}

func TestAReaderThatKeepsDeletedTextsIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "debates.db")
	s := open(t, path)
	writeSecrets(t, s, "d")
	pid, stop := readElsewhere(t, path)

	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	err := s.Delete(ctx, "d", 0)
	require.ErrorContains(t, err, "delete debate d: "+path+"-wal still has texts of deleted debates until the next deletion, because ")
	if runtime.GOOS == "linux" {
		require.ErrorContains(t, err, fmt.Sprintf("because process %d uses the database", pid))
	}
	_, _, err = s.Load(t.Context(), "d", 0)
	require.ErrorIs(t, err, store.ErrNotFound)
	require.Contains(t, findSecrets(t, path), "-wal")

	stop()
	require.ErrorIs(t, s.Delete(t.Context(), "d", 0), store.ErrNotFound)
	require.Empty(t, findSecrets(t, path), "the next deletion removes them, whatever it deletes")
}

// readElsewhere starts a process that reads the database until stop is called.
func readElsewhere(t *testing.T, path string) (pid int, stop func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestReadUntilTheInputEnds$")
	cmd.Env = append(os.Environ(), "DEBATE_READ_DATABASE="+path)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "reading\n", line)
	return cmd.Process.Pid, func() {
		require.NoError(t, in.Close())
		_ = cmd.Wait() // its output is cut
	}
}

// This is the process that readElsewhere starts.
func TestReadUntilTheInputEnds(t *testing.T) {
	path := os.Getenv("DEBATE_READ_DATABASE")
	if path == "" {
		t.Skip("another test starts a process that runs this one")
	}
	tx, err := raw(t, path).BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	require.NoError(t, err)
	defer tx.Rollback() //nolint:errcheck // it has only read
	var n int
	require.NoError(t, tx.QueryRowContext(t.Context(), `SELECT count(*) FROM entries`).Scan(&n))
	fmt.Println("reading")
	_, err = io.Copy(io.Discard, os.Stdin)
	require.NoError(t, err)
}
