// Package debateriver runs debates as jobs of River, a job queue on PostgreSQL. Debates run on many machines and survive
// the death of any of them.
//
//	s, err := debateriver.NewStore(pool, debateriver.Config{})
//	if err != nil {
//		return err
//	}
//	workers := river.NewWorkers()
//	if _, err := debateriver.AddWorker(workers, s, debate.Options{Providers: providers}); err != nil {
//		return err
//	}
//	client, err := river.NewClient(riverpgxv5.New(pool), debateriver.Defaults(&river.Config{Workers: workers}))
//	if err != nil {
//		return err
//	}
//	return client.Start(ctx)
//
// A job is one plan: all that may run next in a debate, one step or the parallel steps of a phase. Each turn is committed
// by itself; the last one together with the transition, the next plan's job and the completion of this job, in one
// transaction. So there is always exactly one job for what a debate is to do next, and none for a debate that is paused
// or has ended, once what was in flight has come down.
//
// The journal decides, never the job: a turn is accepted only if its step may still run. A job that comes twice or late
// finds its plan done, and changes nothing. A worker that dies leaves a job that River gives to another worker: after the
// timeout of the debate's steps and [GracePeriod], but no sooner than RescueStuckJobsAfter, 90 s by [Defaults]; and then within
// the interval of River's rescuer, 30 s, a wait of a second that doubles with each attempt up to a minute, the interval of
// River's scheduler, 5 s, and the 15 s in which River replaces a leader that has died. Calls that were in flight are made
// again; nothing else is. A job that somebody cancels or deletes in River leaves its debate waiting until it is started
// again.
//
// A program that submits debates makes a [Store] and an engine over it, and calls Create and Start, then Watch, Pause and
// Stop as with any store. A worker adds [AddWorker] to its own River workers, as above.
//
// Run over such a store drives as well, beside the workers: both are paid.
//
// River's rescuer discards jobs of a kind that its own client has no worker for. So give each client that works in the
// same River schema this worker, or debates a River schema of their own.
package debateriver
