// Package debateriver runs debates as jobs of River, a job queue on PostgreSQL. Debates run on many machines and
// survive the failure of any of them.
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
// A job runs a plan: everything that may run next in a debate, which is one step or the parallel steps of a phase. Each
// turn is committed on its own. For [Config.JobTime], the job goes on to the next plans. Then the last commit of a plan
// also contains the job of the next plan and the completion of this job, in one transaction. So a debate that can continue
// has a job at all times: one for its plan, or a running one, which looks for what others have planned before it ends. A
// debate that is paused or has ended has none, as soon as its calls in progress have finished.
//
// The journal is authoritative, not the job: a turn is accepted only if its step may still run. A duplicate or late job
// finds that its plan is done, and changes nothing. If a worker dies, River gives its job to another worker. This
// happens after the timeout of the debate's steps plus [GracePeriod], but not before RescueStuckJobsAfter, which is 90
// seconds with [Defaults]. To this add the interval of River's rescuer (30 s), a delay of one second that doubles with
// each attempt up to a minute, the interval of River's scheduler (5 s), and about 17 s in which River replaces a leader
// that has died. Until then River takes the job for running, so what a control plans waits too. The new worker repeats
// only the calls that were in progress. If you cancel or delete a job in River, its debate waits until you call Start
// after the job has ended.
//
// A program that submits debates makes a [Store] and an engine on it. It calls Create and Start, and then Watch, Pause
// and Stop as with any store. A worker program calls [AddWorker] with its own River workers, as above.
//
// Run with such a store runs the debate too, in addition to the workers, and you pay for both.
//
// River's rescuer discards jobs of kinds that its own client has no worker for. So add this worker to every client that
// works in the same River schema, or use a separate River schema for debates.
package debateriver
