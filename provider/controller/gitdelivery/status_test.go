package gitdelivery

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/delivery/decision"
	"github.com/intentplane/intentplane/provider/remote"
	"github.com/intentplane/intentplane/provider/repository"
	"github.com/intentplane/intentplane/provider/state"
)

// unanswered reconciles while the server does not answer.
func (w *world) unanswered(times int) {
	w.Helper()
	w.git.Fail(repo, http.StatusServiceUnavailable)
	for range times {
		_ = w.try("web")
	}
	w.git.Fail(repo, 0)
}

func TestClock(t *testing.T) {
	t.Parallel()
	tell(t, map[string]story{
		"Trouble": {reason: "Trouble is trouble until it took too long, and then it is not over", run: func(w *world) {
			w.create(w.first())
			w.unanswered(10)
			w.expect("web", v1alpha1.ReasonMemoryUnknown)
			w.unanswered(1)
			w.expect("web", v1alpha1.ReasonDeliveryTimedOut)
			if c := w.get("web").GetCondition(xpv2.TypeReady); !strings.HasPrefix(c.Message, "MemoryUnknown: ") {
				w.Errorf("the message does not have the first reason: %q", c.Message)
			}
			previous := w.get("web")
			w.unanswered(2)
			previous.ResourceVersion = w.get("web").ResourceVersion
			if diff := cmp.Diff(previous, w.get("web")); diff != "" {
				w.Errorf("the same trouble moves the status: -before, +after:\n%s", diff)
			}
			w.pass(time.Hour)
			w.recovers("web")
			w.count(1)
			if observed := w.get("web").Status.AtProvider; observed.Waiting != nil {
				w.Errorf("nothing is waited for: %v", observed.Waiting)
			}
		}},
		"Restart": {reason: "The clock outlives the provider", run: func(w *world) {
			w.create(w.first())
			w.unanswered(6)
			w.restart()
			w.unanswered(5)
			w.expect("web", v1alpha1.ReasonDeliveryTimedOut)
		}},
		"Next": {reason: "Another order has its own timeout, and an applied order has none.", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			w.pass(time.Hour)
			w.unanswered(2)
			w.expect("web", v1alpha1.ReasonUnreachable)
			w.change(func(d *v1alpha1.GitDelivery) { setWish(d, order(2, "b")) })
			w.unanswered(3)
			w.expect("web", v1alpha1.ReasonUnreachable)
			w.unanswered(8)
			w.expect("web", v1alpha1.ReasonDeliveryTimedOut)
		}},
		"Recorded": {reason: "Trees have their time from when their revision was recorded, however long the home did not answer before.", run: func(w *world) {
			w.verifiedRevision()
			w.reset("main~1")
			w.writeProposal(w.ledgerOf("web"), []v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "b")}, orderedEvent(2, "b", "edge1"))
			w.unanswered(12)
			w.expect("web", v1alpha1.ReasonDeliveryTimedOut)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDiverged)
			w.positionIs(w.ledgerOf("web"), ledger.Position{Epoch: 1, Revision: 2})
			for range 11 {
				_ = w.try("web") // It is in the condition.
			}
			w.expect("web", v1alpha1.ReasonDeliveryTimedOut)
		}},
		"Verdict": {reason: "A verdict that is not recorded in time is late, and waits for nothing once it is recorded.", run: func(w *world) {
			w.firstRevision()
			w.writeProposal(w.ledgerOf("web"), []v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "a")}, verifiedEvent("a", "edge1"))
			w.unanswered(10)
			w.expect("web", v1alpha1.ReasonUnreachable)
			w.unanswered(1)
			w.expect("web", v1alpha1.ReasonDeliveryTimedOut)
			w.pass(time.Hour)
			w.recovers("web")
			if observed := w.get("web").Status.AtProvider; observed.Waiting != nil || !observed.Ledger.IsVerified() {
				w.Errorf("the verdict is recorded, and nothing is waited for: %v, %v", observed.Ledger, observed.Waiting)
			}
		}},
		"Missing": {reason: "A Site that is missing stops the clock", run: func(w *world) {
			w.create(w.first())
			w.must(w.kube.Delete(w.Context(), site("edge1")))
			for range 12 {
				w.reconcile("web")
			}
			w.expect("web", v1alpha1.ReasonSiteMissing)
		}},
	})
}

// TestMore lets an applied revision request a directory that it retained before: a Site's cluster got ready.
func TestMore(t *testing.T) {
	t.Parallel()
	for _, policy := range []v1alpha1.DriftPolicy{v1alpha1.DriftReport, v1alpha1.DriftRestore} {
		tell(t, map[string]story{
			string(policy): {reason: "A late attempt is not drift, under any policy for drift.", run: func(w *world) {
				d := w.first()
				d.Spec.ForProvider.DriftPolicy = policy
				want := d.Spec.ForProvider.Trees
				d.Spec.ForProvider.Trees = []v1alpha1.Tree{{Site: "edge1", Branch: "main", Path: webAtE1, Action: v1alpha1.ActionKeep}}
				w.create(d)
				w.reconcile("web")
				w.expect("web", v1alpha1.ReasonDelivered)
				w.holds(nil, nil)
				w.change(func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Trees = want })
				w.reconcile("web")
				w.expect("web", v1alpha1.ReasonDelivered)
				w.count(1)
			}},
		})
	}
}

// TestVerdict records how a revision was judged: in the state, and not in the branch.
func TestVerdict(t *testing.T) {
	t.Parallel()
	judge := func(v ledger.Verdict) func(*v1alpha1.GitDelivery) {
		return func(d *v1alpha1.GitDelivery) { setVerdict(d, v) }
	}
	verified := ledger.Verdict{Result: ledger.VerdictVerified}
	rejected := ledger.Verdict{Result: ledger.VerdictRejected, Reason: rolloutv1alpha1.RejectedSyncFailed, Message: "as the test has it"}
	recorded := func(w *world, want ledger.Verdict) {
		w.Helper()
		w.expect("web", v1alpha1.ReasonDelivered)
		observed := w.get("web").Status.AtProvider
		if diff := cmp.Diff(&want, observed.Ledger.Verdict); diff != "" {
			w.Errorf("ledger in status: -want, +got:\n%s", diff)
		}
	}
	tell(t, map[string]story{
		"Verified": {reason: "A verdict alone makes no commit of the branch, and is remembered in Git", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			w.change(judge(verified))
			w.reconcile("web")
			w.count(1)
			recorded(w, verified)
			w.lose("web")
			w.create(w.first())
			w.must(w.try("web"))
			w.expect("web", v1alpha1.ReasonOrderBehind)
			if diff := cmp.Diff(true, w.ledgerOf("web").IsVerified()); diff != "" {
				w.Errorf("recorded verdict: -want, +got:\n%s", diff)
			}
		}},
		"Rejected": {reason: "A rejected revision leaves the directories unchanged.", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			w.change(judge(rejected))
			w.change(func(d *v1alpha1.GitDelivery) {
				for i := range d.Spec.ForProvider.Trees {
					d.Spec.ForProvider.Trees[i] = v1alpha1.Tree{Site: "edge1", Branch: "main", Path: webAtE1, Action: v1alpha1.ActionKeep}
				}
			})
			w.reconcile("web")
			w.count(1)
			recorded(w, rejected)
			w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)
		}},
		"Drift": {reason: "A change of others that comes with the verdict is still theirs", run: func(w *world) {
			w.create(w.first())
			w.reconcile("web")
			w.push(map[string]string{webAtE1 + "/configmap.yaml": "theirs\n"})
			w.change(func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.DriftPolicy = v1alpha1.DriftReport })
			w.change(judge(verified))
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDrifted)
			w.count(2)
		}},
	})
}

// A logbook records log lines, without commits, which differ.
type logbook struct {
	logging.Logger

	lines *[]string
}

// Info keeps a line.
func (l logbook) Info(message string, values ...any) {
	for i := 0; i+1 < len(values); i += 2 {
		switch values[i] {
		case "commit":
			message += fmt.Sprintf(" commit=%t", values[i+1] != "")
		case "group", "delivery":
		default:
			message += fmt.Sprintf(" %v=%v", values[i], values[i+1])
		}
	}
	*l.lines = append(*l.lines, message)
}

// TestProgressLog follows a verified revision and a rolled back revision, with an observation and a restart after each step.
func TestProgressLog(t *testing.T) {
	w := newWorld(t)
	lines := []string{}
	w.log = logbook{Logger: logging.NewNopLogger(), lines: &lines}
	wantUnchanged := func() {
		t.Helper()
		n := len(lines)
		w.restart()
		w.pass(inTime)
		w.reconcile("web")
		w.reconcile("web")
		if diff := cmp.Diff([]string{}, lines[n:]); diff != "" {
			t.Errorf("a look that finds nothing new: -want, +got:\n%s", diff)
		}
	}
	w.create(w.first())
	w.reconcile("web")
	wantUnchanged()
	w.ask(verified(order(1, "a")), desired(t, "edge1", webAtE1, "a"))
	wantUnchanged()
	requested := order(2, "b")
	requested.RequestRef = &ledger.RequestReference{Name: "again", UID: "u"}
	w.ask(requested, desired(t, "edge1", webAtE1, "b"))
	wantUnchanged()
	w.ask(back(2, "b", 1, 1), restore("edge1", webAtE1, "a"))
	w.expect("web", v1alpha1.ReasonDelivered)
	wantUnchanged()
	firstLine, secondLine := "claim=team-a/web revision=1 step=0 request=", "claim=team-a/web revision=2 step=0 request="
	want := []string{
		loggedDelivered + " " + firstLine + stateAt(order(1, "a")).Current.Request.Digest() + " commit=true",
		loggedVerdict + " " + firstLine + stateAt(order(1, "a")).Current.Request.Digest() + " commit=true verdict=Verified reason=",
		loggedDelivered + " " + secondLine + stateAt(order(2, "b")).Current.Request.Digest() + " commit=true rolloutRequest=again",
		loggedRollback + " " + secondLine + stateAt(order(2, "b")).Current.Request.Digest() + " commit=true rolloutRequest=again verdict=Rejected reason=GateFailed attempt=1 target=1",
	}
	if diff := cmp.Diff(strings.Join(want, "\n"), strings.Join(lines, "\n")); diff != "" {
		t.Errorf("log: -want, +got:\n%s", diff)
	}
}

func TestConcealedFailureIsLogged(t *testing.T) {
	lines := []string{}
	logConcealed(logbook{Logger: logging.NewNopLogger(), lines: &lines})(repository.ConcealedFailure{Namespace: "team-a", URL: "https://10.0.0.1/x.git", Cause: "connection refused"})
	want := []string{"Cannot read a repository at a private address namespace=team-a url=https://10.0.0.1/x.git cause=connection refused"}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("The administrator finds the cause in the log.\nlogConcealed(...): -want, +got:\n%s", diff)
	}
}

const (
	mostSites     = 500
	mostRevisions = 12

	// roomForStatus is the size of a status that leaves most of the 1.5 MiB of an etcd object to the spec, which has 900 KiB at most.
	roomForStatus = 560 << 10
	roomForState  = 2 << 20
)

// wide is a revision with the longest names at most Sites, in a directory below prefix.
func wide(revision int64, prefix string) state.Delivery {
	name := strings.Repeat("n", 63)
	timestamp := metav1.NewTime(time.Date(2026, 11, 1, 12, int(revision), 0, 0, time.UTC))
	d := state.Delivery{
		Attempt: &rolloutv1alpha1.Attempt{Revision: revision, StartedAt: timestamp},
		Commit:  strings.Repeat("c", 40), Base: strings.Repeat("b", 40), At: timestamp,
	}
	step := ledger.Step{}
	for i := range mostSites {
		site := fmt.Sprintf("%s%03d", strings.Repeat("s", 60), i)
		step.Sites = append(step.Sites, site)
		d.Trees = append(d.Trees, state.Tree{Branch: "main", DeliveredTree: v1alpha1.DeliveredTree{
			Site: site, Path: prefix + "/clusters/" + site + "/" + name + "/" + name, Tree: fmt.Sprintf("%040d", i), Revision: revision,
		}})
	}
	d.Applied = stateAt(order(revision, strings.Repeat("r", 70)))
	d.Applied.Current.Plan = []ledger.Step{step}
	return d
}

func TestSize(t *testing.T) {
	cases := map[string]struct {
		reason string
		prefix string
		// moved is true if all Sites have moved with the last revision.
		moved bool
	}{
		"Usual":        {reason: "A history never makes a delivery too large", prefix: "fleet"},
		"Longest":      {reason: "An object with the longest paths fits.", prefix: strings.Repeat("p", 430)},
		"Moved":        {reason: "An object fits while all directories are there twice.", prefix: "fleet", moved: true},
		"LongestMoved": {reason: "With the longest paths, too", prefix: strings.Repeat("p", 430), moved: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := state.RecordFile{Header: state.Header{Claim: delivery("web", order(1, "a")).Spec.ForProvider.ClaimRef, ClusterUID: "cluster-1"}}
			for revision := range int64(mostRevisions) {
				d := wide(revision+1, tc.prefix)
				if revision >= mostRevisions-2 {
					d.Applied.Verdict = &ledger.Verdict{Result: ledger.VerdictVerified}
				}
				if tc.moved && revision == mostRevisions-1 {
					d.Left = wide(revision, "before"+tc.prefix).Trees
				}
				r = r.After(d)
			}
			content, err := r.Encode()
			if err != nil {
				t.Fatalf("\n%s\nEncode(): %v", tc.reason, err)
			}
			back, err := state.DecodeRecord(content)
			if err != nil {
				t.Fatalf("\n%s\nDecode(...): %v", tc.reason, err)
			}
			treeCount := 0
			for _, h := range back.Revisions {
				treeCount += len(h.Trees)
			}
			t.Logf("state: %d bytes, %d revisions, %d trees of the history", len(content), len(back.Revisions), treeCount)
			if len(content) > roomForState || len(back.Revisions) != 10 || treeCount < mostSites {
				t.Errorf("\n%s\nstate: %d bytes, %d revisions, %d trees of the history", tc.reason, len(content), len(back.Revisions), treeCount)
			}
			shown(t, tc.reason, back)
		})
	}
}

// shown checks the status that shows a record.
func shown(t *testing.T, reason string, r state.RecordFile) {
	t.Helper()
	e := &external{config: remote.Config{Spec: &configv1alpha1.ProviderConfigSpec{}}, connector: &connector{now: time.Now, logger: logging.NewNopLogger()}}
	d := newHome("web")
	e.facts.Spec, e.facts.Ledger = d.Spec.ForProvider, decision.LedgerFacts{Record: &r}
	e.showLedger(d)
	e.showDelivered(d, r)
	b, err := json.Marshal(d.Status)
	if err != nil {
		t.Fatal(err)
	}
	trees := 0
	for _, h := range d.Status.AtProvider.History {
		trees += len(h.Trees)
	}
	rebuilt := decision.Facts{LastStatus: d.Status.AtProvider, Config: &configv1alpha1.ProviderConfigSpec{}}.BaseRecord()
	if got := rebuilt.Revisions[len(rebuilt.Revisions)-1]; len(got.Trees) != mostSites {
		t.Errorf("\n%s\nhistory after the state was lost: want the trees of the newest good revision, got %d", reason, len(got.Trees))
	}
	t.Logf("status: %d bytes, %d revisions, %d trees of the history", len(b), len(d.Status.AtProvider.History), trees)
	if len(b) > roomForStatus || trees != 2*mostSites || len(d.Status.AtProvider.Trees) != mostSites {
		t.Errorf("\n%s\nstatus: %d bytes, %d trees of the history", reason, len(b), trees)
	}
}
