package debateriver

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/transcript"
)

// panelWithB returns a panel in which B is a person, with a gate before the verdict.
func panelWithB() debate.Config {
	c := sequentialPanel()
	c.AskBeforeVerdict = true
	c.Participants[1] = debate.Participant{Name: "B", Human: true}
	return c
}

// keyOfB returns the step that a debate asks B for.
func keyOfB(t testing.TB, d *debate.Debate) transcript.Key {
	t.Helper()
	list := debatetest.Waiting(t, d)
	require.Len(t, list, 1)
	require.Equal(t, "B", list[0].Key.Actor)
	return list[0].Key
}

// The commit that pauses a debate for people ends its job, and the commit of their reply inserts the next job. This test
// has no worker.
func TestTheCommitOfAReplyHasTheNextJob(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	submitter, driver := s.submitter(t), s.engine(t, &digestModel{})
	d := submitter.submit(t, panelWithB())
	for round := 1; round <= 2; round++ {
		for more := true; more; {
			s.exec(t, "delete from {jobs}")
			var err error
			more, err = driver.on(t, d).RunOnce(t.Context())
			require.NoError(t, err)
		}
		require.Equal(t, fsm.Paused, statusOf(t, d).State)
		require.Empty(t, statusOf(t, d).Plan.Key)
		require.Empty(t, s.jobs(t, d))
		require.NoError(t, submitter.Recover(t.Context()))
		require.NoError(t, driver.Recover(t.Context()))
		require.Empty(t, s.jobs(t, d), "Recover leaves it alone")
		key := keyOfB(t, d)
		require.NoError(t, submitter.on(t, d).Answer(t.Context(), key, "No.", "Bea"))
		jobs := s.activeJobs(t, d)
		require.Len(t, jobs, 1)
		require.Equal(t, statusOf(t, d).Plan.Key, jobs[0].Plan)
		require.NoError(t, submitter.on(t, d).Answer(t.Context(), key, "No.", "Bea"), "again the same")
		require.Len(t, s.activeJobs(t, d), 1)
	}
}

// Workers drive a debate with people to its end. While it waits, no job is left.
func TestWorkersDriveADebateWithPeople(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	m := &digestModel{}
	s.worker(t, m)
	d := s.submitter(t).submit(t, panelWithB())
	seen := int64(0)
	for round := 1; round <= 2; round++ {
		seen = watchUntil(t, d, seen, transitionTo(fsm.Paused)).Meta().Seq
		s.waitForNoJobs(t, d)
		require.NoError(t, s.submitter(t).on(t, d).Answer(t.Context(), keyOfB(t, d), "No.", "Bea"))
	}
	watchUntil(t, d, seen, transitionTo(fsm.Paused))
	s.waitForNoJobs(t, d)
	require.NoError(t, s.submitter(t).on(t, d).Decide(t.Context(), debatetest.Result(t, d).Question.ID, "approve"))
	r := watchToEnd(t, d)
	require.Equal(t, fsm.Completed, r.State)
	require.Equal(t, len(r.Turns)-2, m.callCount(), "each other turn is one call")
	s.waitForNoJobs(t, d)
}

// A person who declines stops the debate, and is asked again after Retry.
func TestAPersonOfAWorkersDebateDeclines(t *testing.T) {
	t.Parallel()
	s := newTestSchema(t)
	s.worker(t, &digestModel{})
	d := s.submitter(t).submit(t, panelWithB())
	watchUntil(t, d, 0, transitionTo(fsm.Paused))
	require.NoError(t, s.submitter(t).on(t, d).Decline(t.Context(), keyOfB(t, d), "no time", "Bea"))
	watchUntil(t, d, 0, transitionTo(fsm.Error))
	s.waitForNoJobs(t, d)
	require.NoError(t, s.submitter(t).on(t, d).Retry(t.Context()))
	require.NoError(t, s.submitter(t).on(t, d).Start(t.Context()))
	eventually(t, func() bool { return len(statusOf(t, d).Waiting) == 1 && statusOf(t, d).State == fsm.Paused }, "B is asked again")
	s.waitForNoJobs(t, d)
}
