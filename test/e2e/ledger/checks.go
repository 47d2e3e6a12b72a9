package ledger

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/state"
	"github.com/intentplane/intentplane/test/scene"
)

// A summary has the expected fields of a ledger.
type summary struct {
	Home     string
	Epoch    int64
	Revision int64
	Attempt  int32
	Step     int32
	Result   ledger.Result
	Target   int64
	Restored bool
	Stable   int64
}

func summaryOfLedger(s ledger.State) summary {
	p := s.Position()
	out := summary{Home: s.Home, Epoch: p.Epoch, Revision: p.Revision, Attempt: p.Attempt, Step: p.Step, Target: s.Target, Restored: s.Restored, Stable: s.Stable}
	if s.Verdict != nil {
		out.Result = s.Verdict.Result
	}
	return out
}

// ledgerAfterVerified is the ledger after a revision that was verified, in the first epoch.
func (d *deployment) ledgerAfterVerified(revision int64) summary {
	s := summary{Home: d.homeRepository(), Epoch: 1, Revision: revision, Result: ledger.VerdictVerified, Stable: revision}
	if d.form.waves {
		s.Step = int32(len(d.repositories)) - 1
	}
	return s
}

// ledgerAfterRollback is the ledger after a revision that was rejected and rolled back, in the first epoch.
func (d *deployment) ledgerAfterRollback(revision, target int64) summary {
	return summary{Home: d.homeRepository(), Epoch: 1, Revision: revision, Attempt: 1, Result: ledger.VerdictRejected, Target: target, Restored: true, Stable: target}
}

// summaryInEpoch is the summary in another epoch.
func (s summary) summaryInEpoch(epoch int64) summary {
	s.Epoch = epoch
	return s
}

// wantLedgerOf compares the ledger of the home, the replicas in the files of each Site, and the number of commits in each repository. It
// checks all that holds at any time too.
func (d *deployment) wantLedgerOf(ledger summary, replicas string, commits ...int) {
	d.T.Helper()
	d.wantLedgerSummary(ledger)
	d.wantReplicas(strings.Repeat(replicas+" ", len(d.repositories)))
	d.wantCommits(commits...)
	d.wantInvariants()
}

func (d *deployment) wantLedgerSummary(want summary) {
	d.T.Helper()
	d.WantEqual("ledger", want, summaryOfLedger(d.recordedLedger().State))
}

// wantReplicas compares the replicas in the files of the Sites, in the order of the repositories.
func (d *deployment) wantReplicas(want string) {
	d.T.Helper()
	got := make([]string, len(d.repositories))
	for i := range d.repositories {
		got[i] = d.replicasInFile(i)
	}
	d.WantEqual("replicas in each repository", strings.Fields(want), got)
}

func (d *deployment) wantCommits(want ...int) {
	d.T.Helper()
	got := make([]int, len(d.repositories))
	for i, repository := range d.repositories {
		got[i] = d.commitsOnBranch(repository)
	}
	d.WantEqual("commits in each repository", want, got)
}

// wantPushes compares the pushes since the last call, in order.
func (d *deployment) wantPushes(want ...string) {
	d.T.Helper()
	d.WantEqual("pushes", want, d.pushes.listPushes())
	d.pushes.forgetPushes()
}

// wantUntouched compares the refs of repositories with their earlier refs.
func (d *deployment) wantUntouched(previous map[string]map[string]string, repositories ...string) {
	d.T.Helper()
	now := d.refsOfRepositories()
	for _, repository := range repositories {
		d.WantEqual("refs of "+repository, previous[repository], now[repository])
	}
}

// wantInvariants checks the rules that hold for each deployment at any time.
func (d *deployment) wantInvariants() {
	d.T.Helper()
	for _, fault := range d.pushes.brokenRules() {
		d.T.Error(fault)
	}
	file := d.recordedLedger()
	for _, fault := range faultsOfEvents(file) {
		d.T.Error(fault)
	}
	for _, repository := range d.repositories {
		stored := d.storedRecord(repository)
		if repository != d.homeRepository() && isLedgerOpen(stored.ledger) {
			d.T.Errorf("two repositories hold an open ledger: %s and %s", d.homeRepository(), repository)
		}
		d.checkRecord(repository, stored.record, file.State)
		d.checkHistory(repository)
	}
}

func isLedgerOpen(f *state.LedgerFile) bool {
	return f != nil && f.State.Successor == "" && !f.State.IsClosed
}

// checkRecord fails the test if a repository has a later position than the ledger, or follows another ledger.
func (d *deployment) checkRecord(repository string, r *state.RecordFile, s ledger.State) {
	d.T.Helper()
	switch {
	case r == nil:
		d.T.Errorf("%s has no record", repository)
	case r.Home != s.Home:
		d.T.Errorf("%s follows the ledger in %s, and not the ledger in %s", repository, r.Home, s.Home)
	case r.Position.Compare(s.Position()) > 0, r.Head.Compare(s.Head) > 0:
		d.T.Errorf("%s is at %+v, which is after %+v of the ledger", repository, r.Position, s.Position())
	case r.Position.Revision != s.Position().Revision && !d.form.waves:
		d.T.Errorf("%s is at %+v, and the ledger at %+v", repository, r.Position, s.Position())
	}
}

// checkHistory fails the test unless the branch of a repository is linear, and each commit changes a file and has unique trailers.
func (d *deployment) checkHistory(repository string) {
	d.T.Helper()
	log, err := d.Git.Log(d.T.Context(), repository, "main")
	d.Must(err)
	commits := map[string]string{}
	for i, c := range log[:len(log)-1] {
		if parent := log[i+1]; !slices.Equal(c.Parents, []string{parent.ID}) || c.Tree == parent.Tree {
			d.T.Errorf("%s: commit %s does not follow %s, or changes nothing", repository, c.ID, parent.ID)
		}
		delivered := c.Trailers["Intentplane-Revision"] + " " + c.Trailers["Intentplane-Attempt"] + " " + c.Trailers["Intentplane-Step"] + " " + c.Tree
		if otherCommit, twice := commits[delivered]; twice {
			d.T.Errorf("%s: commits %s and %s deliver the same: %s", repository, c.ID, otherCommit, delivered)
		}
		commits[delivered] = c.ID
	}
}

// faultsOfEvents returns the faults of the list of events: numbers that are used twice, and verdicts that follow a verdict.
func faultsOfEvents(f state.LedgerFile) []string {
	var faults []string
	number, last, judged := int64(0), f.State.Seq-int64(len(f.Events)), map[int64]ledger.Result{}
	for _, e := range f.Events {
		if last++; e.Seq != last {
			faults = append(faults, fmt.Sprintf("event %d stands where event %d should", e.Seq, last))
		}
		switch {
		case e.Ordered != nil && e.Ordered.Revision.Number <= number:
			faults = append(faults, fmt.Sprintf("revision %d is ordered after revision %d", e.Ordered.Revision.Number, number))
		case e.Ordered != nil:
			number = e.Ordered.Revision.Number
		case e.Recovered != nil:
			number = max(number, e.Recovered.Copy.LastNumber, e.Recovered.LastNumber)
		case e.Judged != nil && judged[number] != "":
			faults = append(faults, fmt.Sprintf("revision %d was %s, and is judged again", number, judged[number]))
		case e.Judged != nil:
			judged[number] = e.Judged.Verdict.Result
		}
	}
	return faults
}

// statusOfRevision returns the claim's status of its revision.
func (d *deployment) statusOfRevision() string {
	d.T.Helper()
	u := d.Now(d.describeShop(1))
	return scene.Field(u, "status", "phase") + " " + scene.Field(u, "status", "outcome") + " " + strconv.FormatInt(scene.Number(u, "status", "revision"), 10)
}
