package crashtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/store"
)

// Trial is a crash test of a store.
type Trial struct {
	Store           store.Store   // store of the debates, as opened by this process
	StoreAddress    string        // address at which children open the store
	Children        int           // number of concurrent children
	Points          []string      // points of a step at which children kill themselves
	KillsPerPoint   int           // kills at each point; overridden by the environment variable DEBATE_KILLS_EACH
	RandomKills     int           // effective kills from outside at random times; overridden by DEBATE_KILLS_RANDOM
	MaxLifetime     time.Duration // longest time from a child's first call to its kill from outside
	FinishTimeout   time.Duration // time for the debates to end after the last kill
	RestartDatabase func() error  // called after every 25th kill; may be nil
	ExpireTimeouts  func() error  // expires the timeouts of dead children at the end; if nil, the trial waits for them

	path       string
	ledger     ledger
	restarting sync.Mutex

	mu      sync.Mutex
	runs    int
	pending []string // points still to be tried; random stands for a kill at a random time
}

const (
	randomPoint  = "random"         // a kill from outside
	childTimeout = 60 * time.Second // time for a child to reach its point
)

// Run kills children, waits until the debates have ended, and checks the stored data.
func (tr *Trial) Run(t *testing.T) {
	t.Helper()
	var err error
	tr.path = filepath.Join(t.TempDir(), "ledger")
	tr.ledger, err = openLedger(tr.path)
	require.NoError(t, err)
	defer func() { require.NoError(t, tr.ledger.file.Close()) }()
	for range intFromEnv(t, "DEBATE_KILLS_EACH", tr.KillsPerPoint) {
		tr.pending = append(tr.pending, tr.Points...)
	}
	for range intFromEnv(t, "DEBATE_KILLS_RANDOM", tr.RandomKills) {
		tr.pending = append(tr.pending, randomPoint)
	}
	rand.Shuffle(len(tr.pending), func(i, j int) { tr.pending[i], tr.pending[j] = tr.pending[j], tr.pending[i] })
	errs := make([]error, tr.Children)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = tr.killInTurn() })
	}
	all.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	tr.finish(t)
	verify(t, tr.Store, tr.ledger)
}

// intFromEnv returns a number from the environment, or otherwise if it is not set.
func intFromEnv(t *testing.T, name string, otherwise int) int {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, name)
	return n
}

// killInTurn runs and kills one child after another, until no point is left.
func (tr *Trial) killInTurn() error {
	for {
		point, left := tr.nextPoint()
		if point == "" {
			return nil
		}
		hit, err := tr.kill(point)
		if err != nil {
			return err
		}
		if !hit { // try the point again later
			tr.mu.Lock()
			tr.pending = append(tr.pending, point)
			tr.mu.Unlock()
		}
		if hit && tr.RestartDatabase != nil && left%25 == 0 {
			if err := tr.restartDatabase(); err != nil {
				return err
			}
		}
	}
}

// nextPoint returns the next point to try, or "" if none is left, and the number of points left.
func (tr *Trial) nextPoint() (point string, left int) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if len(tr.pending) == 0 {
		return "", 0
	}
	point, tr.pending = tr.pending[0], tr.pending[1:]
	return point, len(tr.pending)
}

func (tr *Trial) restartDatabase() error {
	tr.restarting.Lock()
	defer tr.restarting.Unlock()
	if err := tr.ledger.append(0, "down"); err != nil {
		return err
	}
	if err := tr.RestartDatabase(); err != nil {
		return err
	}
	return tr.ledger.append(0, "up")
}

// kill runs a child until it is killed. It reports whether the child reached its point, or was killed during a step.
func (tr *Trial) kill(point string) (hit bool, err error) {
	o := ChildConfig{Visit: 1 + rand.Int64N(8)}
	if point != randomPoint {
		o.Point = point
	}
	c, err := tr.spawn(o)
	if err != nil {
		return false, err
	}
	late := childTimeout
	if point == randomPoint {
		if err := c.waitForCall(); err != nil {
			return false, err
		}
		late = time.Duration(rand.Int64N(int64(tr.MaxLifetime)))
	}
	select {
	case <-c.exited:
		hit = point != randomPoint
	case <-time.After(late):
		_ = c.cmd.Process.Kill()
		<-c.exited
		calls, acks, err := c.countCalls()
		hit = point == randomPoint && calls > acks
		if err != nil {
			return false, err
		}
	}
	if c.cmd.ProcessState.Exited() { // exited by itself, not by a signal
		return false, fmt.Errorf("child %d, to be killed at %s, failed: %s", c.run, point, c.stderr)
	}
	return hit, tr.ledger.append(c.run, "dead", point, hit)
}

// process is a child as seen by its parent.
type process struct {
	run    int
	cmd    *exec.Cmd
	stop   func() error // closes standard input, so that the child exits
	exited chan struct{}
	stderr *bytes.Buffer
	ledger ledger
	offset int64 // offset of its first line in the ledger
}

func (tr *Trial) spawn(o ChildConfig) (p *process, err error) {
	tr.mu.Lock()
	tr.runs++
	o.Run = tr.runs
	o.Ledger = tr.path
	o.StoreAddress = tr.StoreAddress
	tr.mu.Unlock()
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	p = &process{run: o.Run, cmd: exec.CommandContext(context.Background(), os.Args[0]), exited: make(chan struct{}), stderr: &bytes.Buffer{}, ledger: tr.ledger}
	p.cmd.Env, p.cmd.Stderr = append(os.Environ(), configVariable+"="+string(text)), p.stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.offset, err = tr.ledger.size()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a child: %w", err)
	}
	p.stop = in.Close
	go func() {
		_ = p.cmd.Wait() // ProcessState has the result
		close(p.exited)
	}()
	return p, nil
}

// waitForCall waits until the child has made its first call.
func (p *process) waitForCall() error {
	for deadline := time.Now().Add(childTimeout); time.Now().Before(deadline); {
		if calls, _, err := p.countCalls(); calls > 0 || err != nil {
			return err
		}
		select {
		case <-p.exited:
			return nil
		case <-time.After(2 * time.Millisecond):
		}
	}
	return nil
}

// countCalls returns the number of calls that the child began, and of their turns whose commits were acknowledged. The
// turns of people need no call.
func (p *process) countCalls() (calls, acks int, err error) {
	lines, err := p.ledger.readFrom(p.offset)
	called := map[actorOfDebate]bool{}
	for _, l := range lines {
		switch {
		case l.run != p.run:
		case l.kind == "call":
			calls++
			called[actorOfDebate{l.args[0], l.args[1]}] = true
		case l.kind == "failed", l.key() != "" && called[actorOfDebate{l.args[0], l.actor()}]:
			acks++
		}
	}
	return calls, acks, err
}

// finish runs children undisturbed until all debates have ended.
func (tr *Trial) finish(t *testing.T) {
	if tr.ExpireTimeouts != nil {
		require.NoError(t, tr.ExpireTimeouts())
	}
	var children []*process
	for range tr.Children {
		p, err := tr.spawn(ChildConfig{Finish: true})
		require.NoError(t, err)
		children = append(children, p)
	}
	left, last := tr.unfinished(t)
	for deadline := time.Now().Add(tr.FinishTimeout); left > 0 && time.Now().Before(deadline); left, last = tr.unfinished(t) {
		time.Sleep(100 * time.Millisecond)
	}
	for _, p := range children {
		_ = p.stop() // it may have failed
		<-p.exited
		require.True(t, p.cmd.ProcessState.Success(), "child %d, which was to finish, failed: %s", p.run, p.stderr)
	}
	require.Zero(t, left, "after %v %s", tr.FinishTimeout, last)
}

// unfinished returns the number of debates that have not ended, and a description of one of them.
func (tr *Trial) unfinished(t *testing.T) (n int, last string) {
	for h, err := range tr.Store.List(t.Context(), store.Query{}) {
		require.NoError(t, err)
		if !h.State.Final() {
			n++
			last = fmt.Sprintf("debate %s is in state %s with plan %q", h.ID, h.State, h.Plan.Key)
		}
	}
	return n, last
}
