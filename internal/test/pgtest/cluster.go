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

// Cluster is a PostgreSQL server for tests, with its data in a temporary folder. It listens only on a Unix socket, and
// accepts everyone who can open the socket.
type Cluster struct {
	DSN      string // the same after a restart
	programs string
	dir      string
	settings []string
	server   *exec.Cmd
	guard    io.WriteCloser // standard input of the guard process, see guarded
	log      bytes.Buffer   // server log; read it only after the server has ended
	killed   int            // process ID of the killed server
}

// Start starts a cluster that ends with the test. A durable cluster flushes commits to the disk, like a production
// server. Without durable it is faster.
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

// Restart starts the server again after [Cluster.Kill], with the same data and address, and waits until it accepts
// connections.
func (c *Cluster) Restart(t testing.TB) {
	t.Helper()
	if err := c.start(); err != nil {
		t.Fatal(err)
	}
}

// Kill ends the server as a crash does. It kills the main process, and the others end when they notice that. Kill waits
// until all have ended.
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

// newCluster creates a cluster without starting it.
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
		settings: []string{"-clisten_addresses=", "-cunix_socket_directories=" + dir, "-cmax_connections=500"},
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

// guarded is a shell script that runs the server until its standard input ends or has a line. The input also ends if
// this process dies for any reason. Unless it read a line, the script removes the cluster's folder.
const guarded = `dir=$1; shift; "$@" & read -r keep; read=$?; kill -QUIT $!; wait; [ $read = 0 ] || rm -rf "$dir"`

// start runs the server and waits until it accepts connections.
func (c *Cluster) start() (err error) {
	c.log.Reset()
	server := c.command("postgres", append(c.settings, "-D"+c.data())...)
	c.server = c.command("sh", append([]string{"-c", guarded, "sh", c.dir}, server.Args...)...)
	c.server.Stdout, c.server.Stderr = &c.log, &c.log
	c.guard, err = c.server.StdinPipe()
	if err == nil {
		err = c.server.Start()
	}
	if err != nil {
		return fmt.Errorf("start PostgreSQL: %w", err)
	}
	for range 6000 {
		if pid, ready := c.pid(); ready && pid != c.killed {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	c.stop()
	return fmt.Errorf("start PostgreSQL: not ready after 5 minutes: %s", c.log.String())
}

// stop waits until all processes of the server have ended: they keep its output open.
func (c *Cluster) stop() {
	_ = c.guard.Close()
	_ = c.server.Wait()
}

// remove stops the cluster if it runs, and removes its folder.
func (c *Cluster) remove() {
	if c.server != nil {
		c.stop()
	}
	_ = os.RemoveAll(c.dir)
}

func (c *Cluster) data() string { return filepath.Join(c.dir, "data") }

// pid returns the server's process ID, and whether the server accepts connections.
func (c *Cluster) pid() (pid int, ready bool) {
	text, _ := os.ReadFile(filepath.Join(c.data(), "postmaster.pid"))
	first, rest, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	return pid, err == nil && strings.Contains(rest, "\nready")
}

// command returns a command for one of PostgreSQL's programs or for the shell.
func (c *Cluster) command(program string, args ...string) *exec.Cmd {
	path := filepath.Join(c.programs, program)
	if program == "sh" {
		path = "/bin/sh"
	}
	cmd := exec.CommandContext(context.Background(), path, args...)
	unprivileged(cmd)
	return cmd
}
