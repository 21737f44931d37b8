package pgtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Cluster is a PostgreSQL server of a test's own, with its data in a temporary folder. It listens on a Unix socket only,
// and lets in everybody who can reach that.
type Cluster struct {
	DSN      string // stays through restarts
	programs string
	dir      string
	settings []string
	server   *exec.Cmd
	guard    io.WriteCloser // of the server
	log      bytes.Buffer   // to be read when the server has ended
	killed   int            // the process that was
}

// Start gives a test a running cluster, which ends with the test. One that is durable writes through to the disk, as
// servers in use do; else it is faster.
func Start(t testing.TB, durable bool) *Cluster {
	t.Helper()
	require(t)
	c, err := newCluster(installed(), durable)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.remove)
	c.Restart(t)
	return c
}

// Restart starts the server again after [Cluster.Kill], on the same data and at the same address, and waits until it
// takes connections.
func (c *Cluster) Restart(t testing.TB) {
	t.Helper()
	if err := c.start(); err != nil {
		t.Fatal(err)
	}
}

// Kill ends the server as a crash does: its first process is killed, and the others end without a word when they notice.
// It waits for that.
func (c *Cluster) Kill(t testing.TB) {
	t.Helper()
	c.killed, _ = c.pid()
	server, err := os.FindProcess(c.killed)
	if err == nil {
		err = server.Kill()
	}
	if err == nil {
		_, err = io.WriteString(c.guard, "keep the data\n")
	}
	if err != nil {
		t.Fatalf("kill PostgreSQL: %v", err)
	}
	c.stop()
}

// newCluster makes a cluster that does not run yet.
func newCluster(programs string, durable bool) (*Cluster, error) {
	dir, err := os.MkdirTemp("", "pgtest")
	if err != nil {
		return nil, fmt.Errorf("make PostgreSQL's folder: %w", err)
	}
	if err := own(dir); err != nil {
		return nil, fmt.Errorf("make PostgreSQL's folder: %w", err)
	}
	c := &Cluster{
		DSN:      "postgres:///postgres?user=postgres&host=" + url.QueryEscape(dir),
		programs: programs, dir: dir,
		settings: []string{"-clisten_addresses=", "-cunix_socket_directories=" + dir, "-cmax_connections=200"},
	}
	if !durable {
		c.settings = append(c.settings, "-cfsync=off")
	}
	cmd := c.command("initdb", "--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C", "--pgdata="+c.data())
	if text, err := cmd.CombinedOutput(); err != nil {
		c.remove()
		return nil, fmt.Errorf("run initdb: %w: %s", err, text)
	}
	return c, nil
}

// guarded runs the server until its input ends or has a line. The input ends also when this process dies, however that
// comes; then nothing of the cluster is left.
const guarded = `dir=$1; shift; "$@" & read -r keep; read=$?; kill -QUIT $!; wait; [ $read = 0 ] || rm -rf "$dir"`

// start runs the server, and waits until it takes connections.
func (c *Cluster) start() (err error) {
	c.log.Reset()
	server := c.command("postgres", append(c.settings, "-D"+c.data())...)
	c.server = c.command("sh", append([]string{"-c", guarded, "sh", c.dir}, server.Args...)...)
	c.server.Stdout, c.server.Stderr = &c.log, &c.log
	if c.guard, err = c.server.StdinPipe(); err == nil {
		err = c.server.Start()
	}
	if err != nil {
		return fmt.Errorf("start PostgreSQL: %w", err)
	}
	for range 600 {
		if pid, ready := c.pid(); ready && pid != c.killed {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	c.stop()
	return fmt.Errorf("start PostgreSQL: it is not ready after 30 seconds: %s", c.log.String())
}

// stop waits for all processes of the server: they hold its output.
func (c *Cluster) stop() {
	_ = c.guard.Close()
	_ = c.server.Wait()
}

// remove ends the cluster where it runs, and removes its folder.
func (c *Cluster) remove() {
	if c.server != nil {
		c.stop()
	}
	_ = os.RemoveAll(c.dir)
}

func (c *Cluster) data() string { return filepath.Join(c.dir, "data") }

// pid is the server's process, and whether that took connections.
func (c *Cluster) pid() (pid int, ready bool) {
	text, _ := os.ReadFile(filepath.Join(c.data(), "postmaster.pid"))
	first, rest, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	return pid, err == nil && strings.Contains(rest, "\nready")
}

// command is one of PostgreSQL's programs, or the shell.
func (c *Cluster) command(program string, args ...string) *exec.Cmd {
	path := filepath.Join(c.programs, program)
	if program == "sh" {
		path = "/bin/sh"
	}
	cmd := exec.CommandContext(context.Background(), path, args...)
	unprivileged(cmd)
	return cmd
}
