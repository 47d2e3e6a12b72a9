package proof

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
	"github.com/intentplane/intentplane/provider/engines"
)

const (
	webAtE1  = "clusters/edge1/team-a/web"
	minutes5 = 5 * time.Minute
)

func wantedTree() string { return strings.Repeat("a", 40) }

func otherTree() string { return strings.Repeat("b", 40) }

func noon() time.Time { return time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC) }

func positionOf(revision int64, step int32) *ledger.Position {
	return &ledger.Position{Epoch: 1, Revision: revision, Step: step}
}

func aSite(change ...func(*catalogv1alpha1.Site)) *catalogv1alpha1.Site {
	s := &catalogv1alpha1.Site{ObjectMeta: metav1.ObjectMeta{Name: "edge1"}}
	s.Spec.Cluster.ControlPlane = &catalogv1alpha1.ControlPlaneCluster{}
	s.Spec.Engine.Type = catalogv1alpha1.EngineFlux
	for _, fn := range change {
		fn(s)
	}
	return s
}

// live returns the facts of a Site that runs its tree.
func live(change ...func(*SiteFacts)) SiteFacts {
	s := SiteFacts{
		Site:    aSite(),
		Engine:  engines.Observation{Commit: "c1", Attempted: "c1", Kind: "Kustomization", Generation: 1, Proof: v1alpha1.ProofExact, Root: webAtE1},
		Applied: Subtree{ID: wantedTree()},
	}
	for _, fn := range change {
		fn(&s)
	}
	return s
}

func says(reason string, change ...func(*SiteFacts)) SiteFacts {
	return live(append([]func(*SiteFacts){func(s *SiteFacts) { s.Engine.Reason, s.Engine.Message = reason, "it says" }}, change...)...)
}

// before is a status of a position, with one Site since noon.
func before(p *ledger.Position, state v1alpha1.SiteState) v1alpha1.SiteSyncObservation {
	timestamp := metav1.NewTime(noon())
	s := v1alpha1.SiteObservation{Name: "edge1", State: state, StartedAt: &timestamp}
	if state == v1alpha1.SiteLive {
		s.LiveSince, s.Tree, s.Proof, s.Commit = &timestamp, wantedTree(), v1alpha1.ProofExact, "c0"
	}
	return v1alpha1.SiteSyncObservation{Position: p, StartedAt: &timestamp, Sites: []v1alpha1.SiteObservation{s}}
}

func testFacts(s SiteFacts, change ...func(*Facts)) Facts {
	f := Facts{
		Namespace: "team-a",
		Spec: v1alpha1.SiteSyncParameters{
			ClaimRef: rolloutv1alpha1.ClaimReference{Namespace: "team-a", Name: "web"}, Position: positionOf(2, 0), SyncWaitTimeout: "5m", ClusterWaitTimeout: "7m",
			Sites: []v1alpha1.SiteTree{{Name: "edge1", Path: webAtE1, Tree: wantedTree()}},
		},
		Now:   noon().Add(time.Minute),
		Sites: []SiteFacts{s},
	}
	for _, fn := range change {
		fn(&f)
	}
	return f
}

func was(p *ledger.Position, state v1alpha1.SiteState) func(*Facts) {
	return func(f *Facts) { f.Last = before(p, state) }
}

// clustered is a live Site whose cluster is not ready.
func clustered(change ...func(*SiteFacts)) SiteFacts {
	s := live(func(s *SiteFacts) {
		blocker := readiness.Blocker{By: readiness.Subject{Kind: "DockerCluster", Name: "c1"}, Reason: "Provisioning", Message: "no quota"}
		s.Cluster = &ClusterFacts{UID: "uid-1", Blocker: blocker}
	})
	for _, fn := range change {
		if fn != nil {
			fn(&s)
		}
	}
	return s
}

func isReady(s *SiteFacts) { s.Cluster.Ready, s.Cluster.Blocker = true, readiness.Blocker{} }

// wasWaiting is a Site that waited for its cluster since noon.
func wasWaiting(state v1alpha1.SiteState) func(*Facts) {
	return func(f *Facts) {
		f.Last = before(positionOf(2, 0), state)
		f.Last.Sites[0].Cluster = &v1alpha1.SiteClusterObservation{UID: "uid-1"}
	}
}

// wasPassed is a live Site whose cluster was ready at noon.
func wasPassed(uid string) func(*Facts) {
	return func(f *Facts) {
		timestamp := metav1.NewTime(noon())
		f.Last = before(positionOf(2, 0), v1alpha1.SiteLive)
		f.Last.Sites[0].Cluster = &v1alpha1.SiteClusterObservation{UID: uid, PassedAt: &timestamp}
	}
}

func later(d time.Duration) func(*Facts) { return func(f *Facts) { f.Now = noon().Add(d) } }

func TestDecide(t *testing.T) {
	yes := true
	shared := func(s *SiteFacts) { s.Engine.Root = "clusters/edge1" }
	holds := func(s *SiteFacts) { s.Engine.StillApplied = true }
	broken := func(s *SiteFacts) { s.Engine.FinalFailure, s.Attempted = true, Subtree{ID: wantedTree()} }
	type want struct {
		ready  xpv2.ConditionReason
		state  v1alpha1.SiteState
		reason string
		live   int32
		// since is the start of the Site's wait, in minutes after noon. -1 means no wait.
		since int
		// deadline in minutes after noon. -1 means no deadline.
		deadline int
	}
	syncing := func(reason string) want {
		return want{ready: v1alpha1.ReasonSyncing, state: v1alpha1.SiteSyncing, reason: reason, since: 1, deadline: 6}
	}
	isLive := want{ready: v1alpha1.ReasonLive, state: v1alpha1.SiteLive, live: 1, since: 1, deadline: -1}
	waiting := func(state v1alpha1.SiteState, reason string) want {
		return want{ready: v1alpha1.ReasonWaiting, state: state, reason: reason, since: -1, deadline: -1}
	}
	cases := map[string]struct {
		reason string
		facts  Facts
		want   want
	}{
		"Live": {reason: "A Site is live when the commit of its engine holds the tree.", facts: testFacts(live()), want: isLive},
		"OtherTree": {
			reason: "A Site whose commit holds another tree is syncing.",
			facts:  testFacts(live(func(s *SiteFacts) { s.Applied.ID = otherTree() })), want: syncing(v1alpha1.SiteReasonOtherTree),
		},
		"NoTree": {
			reason: "A Site whose commit holds no tree is syncing.",
			facts:  testFacts(live(func(s *SiteFacts) { s.Applied.ID = "" })), want: syncing(v1alpha1.SiteReasonOtherTree),
		},
		"Unknown": {
			reason: "A Site whose tree is unknown has no proof.",
			facts:  testFacts(live(func(s *SiteFacts) { s.Applied = Subtree{Unknown: "no"} })), want: syncing(v1alpha1.SiteReasonProofUnknown),
		},
		"EngineBehind": {
			reason: "A Site whose engine has still to pass a commit with another tree is syncing.",
			facts:  testFacts(live(func(s *SiteFacts) { s.Gap.IsBehind = true })), want: syncing(v1alpha1.SiteReasonOtherTree),
		},
		"GapUnknown": {
			reason: "A Site has no proof if the commits that its engine has still to pass are unknown.",
			facts:  testFacts(live(func(s *SiteFacts) { s.Gap.Unknown = "no answer" })), want: syncing(v1alpha1.SiteReasonProofUnknown),
		},
		"Suspended": {
			reason: "A suspended engine with the right tree does not count as proof.",
			facts:  testFacts(says(v1alpha1.SiteReasonSuspended)), want: syncing(v1alpha1.SiteReasonSuspended),
		},
		"SuspendedAfter": {
			reason: "A Site that was live is syncing once its engine is suspended.",
			facts:  testFacts(says(v1alpha1.SiteReasonSuspended), was(positionOf(2, 0), v1alpha1.SiteLive)),
			want:   syncing(v1alpha1.SiteReasonSuspended),
		},
		"Problem": {
			reason: "A Site whose engine could not be read is syncing.",
			facts:  testFacts(SiteFacts{Site: aSite(), Problem: &Problem{Reason: v1alpha1.SiteReasonClusterUnreachable}}),
			want:   syncing(v1alpha1.SiteReasonClusterUnreachable),
		},
		"WeakProof": {
			reason: "An engine that transformed the applied files is a weak proof.",
			facts:  testFacts(live(func(s *SiteFacts) { s.Engine.Proof = v1alpha1.ProofTransformed })), want: syncing(v1alpha1.SiteReasonWeakProof),
		},
		"Overlaid": {
			reason: "A file above the directory that may change the applied objects is a weak proof.",
			facts:  testFacts(live(func(s *SiteFacts) { s.Applied.Overlaid = true })), want: syncing(v1alpha1.SiteReasonWeakProof),
		},
		"WeakAccepted": {reason: "A weak proof counts if the Site accepts it.", facts: testFacts(live(func(s *SiteFacts) {
			s.Engine.Proof, s.Site.Spec.Engine.AcceptProof = v1alpha1.ProofTransformed, "Hydrated"
		})), want: isLive},
		"TooWeak": {reason: "A proof that is weaker than the Site accepts does not count.", facts: testFacts(live(func(s *SiteFacts) {
			s.Engine.Proof, s.Site.Spec.Engine.AcceptProof = v1alpha1.ProofHydrated, "Transformed"
		})), want: syncing(v1alpha1.SiteReasonWeakProof)},
		"NoProof": {
			reason: "An engine without a proof does not count.",
			facts:  testFacts(live(func(s *SiteFacts) { s.Engine.Proof = "" })), want: syncing(v1alpha1.SiteReasonWeakProof),
		},
		"AtWork": {
			reason: "A Site that was live for this attempt stays live while its engine works on a newer commit.",
			facts:  testFacts(says(v1alpha1.SiteReasonProgressing, holds), was(positionOf(2, 0), v1alpha1.SiteLive)),
			want:   want{ready: v1alpha1.ReasonLive, state: v1alpha1.SiteLive, live: 1, since: 0, deadline: -1},
		},
		"AtWorkOnOther": {
			reason: "A Site that applied another tree meanwhile is syncing.",
			facts: testFacts(
				says(v1alpha1.SiteReasonProgressing, holds, func(s *SiteFacts) { s.Applied.ID = otherTree() }),
				was(positionOf(2, 0), v1alpha1.SiteLive),
			),
			want: syncing(v1alpha1.SiteReasonProgressing),
		},
		"AtWorkOnNext": {
			reason: "A Site that was live with an earlier tree of this attempt is syncing while its engine works on this tree.",
			facts: testFacts(says(v1alpha1.SiteReasonProgressing, holds), was(positionOf(2, 0), v1alpha1.SiteLive), func(f *Facts) {
				f.Last.Sites[0].Tree = otherTree()
			}),
			want: syncing(v1alpha1.SiteReasonProgressing),
		},
		"AtWorkBefore": {
			reason: "A Site that was live for another attempt is syncing while its engine works.",
			facts:  testFacts(says(v1alpha1.SiteReasonProgressing, holds), was(positionOf(1, 0), v1alpha1.SiteLive)),
			want:   syncing(v1alpha1.SiteReasonProgressing),
		},
		"NeverLive": {
			reason: "A Site that was never live is syncing while its engine works.",
			facts:  testFacts(says(v1alpha1.SiteReasonProgressing, holds), was(positionOf(2, 0), v1alpha1.SiteSyncing)),
			want:   want{ready: v1alpha1.ReasonSyncing, state: v1alpha1.SiteSyncing, reason: v1alpha1.SiteReasonProgressing, since: 0, deadline: 5},
		},
		"Broken": {
			reason: "An engine that failed with this very tree fails the Site.",
			facts:  testFacts(says(v1alpha1.SiteReasonEngineFailed, broken)),
			want:   want{ready: v1alpha1.ReasonFailed, state: v1alpha1.SiteFailed, reason: v1alpha1.SiteReasonEngineFailed, since: 1, deadline: -1},
		},
		"BrokenShared": {
			reason: "An engine object that reads several claims does not fail the Site.",
			facts:  testFacts(says(v1alpha1.SiteReasonEngineFailed, broken, shared)), want: syncing(v1alpha1.SiteReasonEngineFailed),
		},
		"BrokenBefore": {
			reason: "An engine that failed with another tree does not fail the Site.",
			facts:  testFacts(says(v1alpha1.SiteReasonEngineFailed, broken, func(s *SiteFacts) { s.Attempted.ID = otherTree() })),
			want:   syncing(v1alpha1.SiteReasonEngineFailed),
		},
		"BrokenInShift": {
			reason: "Pods of a track that loses its requests do not fail the Site before the steps of a revision.",
			facts:  testFacts(says(v1alpha1.SiteReasonEngineFailed, broken), splitAt(0), func(f *Facts) { f.Spec.Position.Stage = 2 }),
			want:   syncing(v1alpha1.SiteReasonEngineFailed),
		},
		"BrokenInSteps": {
			reason: "An engine that failed in a step of a canary fails the Site.",
			facts:  testFacts(says(v1alpha1.SiteReasonEngineFailed, broken), splitAt(0), func(f *Facts) { f.Spec.Position.Stage = 3 }),
			want:   want{ready: v1alpha1.ReasonFailed, state: v1alpha1.SiteFailed, reason: v1alpha1.SiteReasonEngineFailed, since: 1, deadline: -1},
		},
		"FailedStays": {
			reason: "A failed Site stays failed while its engine tries again.",
			facts:  testFacts(says(v1alpha1.SiteReasonProgressing), was(positionOf(2, 0), v1alpha1.SiteFailed)),
			want:   want{ready: v1alpha1.ReasonFailed, state: v1alpha1.SiteFailed, since: 0, deadline: -1},
		},
		"FailedThenLive": {
			reason: "A failed Site is live once its engine has applied the tree.",
			facts:  testFacts(live(), was(positionOf(2, 0), v1alpha1.SiteFailed)),
			want:   want{ready: v1alpha1.ReasonLive, state: v1alpha1.SiteLive, live: 1, since: 0, deadline: -1},
		},
		"FailedBefore": {
			reason: "A Site that failed for another position is syncing for the present position.",
			facts:  testFacts(says(v1alpha1.SiteReasonProgressing), was(positionOf(1, 0), v1alpha1.SiteFailed)),
			want:   syncing(v1alpha1.SiteReasonProgressing),
		},
		"JustInTime": {
			reason: "A Site is syncing until the last second of its timeout.",
			facts:  testFacts(says(v1alpha1.SiteReasonProgressing), was(positionOf(2, 0), v1alpha1.SiteSyncing), later(minutes5-time.Second)),
			want:   want{ready: v1alpha1.ReasonSyncing, state: v1alpha1.SiteSyncing, reason: v1alpha1.SiteReasonProgressing, since: 0, deadline: 5},
		},
		"TimedOut": {
			reason: "A Site times out when its timeout is over.",
			facts:  testFacts(says(v1alpha1.SiteReasonSuspended), was(positionOf(2, 0), v1alpha1.SiteSyncing), later(minutes5)),
			want:   want{ready: v1alpha1.ReasonTimedOut, state: v1alpha1.SiteTimedOut, reason: v1alpha1.SiteReasonSuspended, since: 0, deadline: -1},
		},
		"LateButLive": {
			reason: "A Site that timed out is live once it runs the tree.",
			facts:  testFacts(live(), was(positionOf(2, 0), v1alpha1.SiteTimedOut), later(time.Hour)),
			want:   want{ready: v1alpha1.ReasonLive, state: v1alpha1.SiteLive, live: 1, since: 0, deadline: -1},
		},
		"LostLater": {
			reason: "A Site that was live waits again from the start.",
			facts:  testFacts(says(v1alpha1.SiteReasonSuspended), was(positionOf(2, 0), v1alpha1.SiteLive), later(time.Hour)),
			want:   want{ready: v1alpha1.ReasonSyncing, state: v1alpha1.SiteSyncing, reason: v1alpha1.SiteReasonSuspended, since: 60, deadline: 65},
		},
		"NewPosition": {
			reason: "The wait for another position starts again.",
			facts:  testFacts(says(v1alpha1.SiteReasonProgressing), was(positionOf(1, 0), v1alpha1.SiteTimedOut), later(time.Hour)),
			want:   want{ready: v1alpha1.ReasonSyncing, state: v1alpha1.SiteSyncing, reason: v1alpha1.SiteReasonProgressing, since: 60, deadline: 65},
		},
		"NotDelivered": {
			reason: "A Site does not time out while its tree is not in Git.",
			facts:  testFacts(SiteFacts{Site: aSite(), Undelivered: true}, was(positionOf(2, 0), v1alpha1.SiteSyncing), later(time.Hour)),
			want:   waiting(v1alpha1.SitePending, v1alpha1.SiteReasonNotDelivered),
		},
		"WaveNotReached": {
			reason: "A Site of a later wave is pending.",
			facts:  testFacts(SiteFacts{}, func(f *Facts) { f.Spec.Sites[0].Wave = 1 }),
			want:   want{ready: v1alpha1.ReasonLive, state: v1alpha1.SitePending, reason: v1alpha1.SiteReasonWaveNotReached, since: -1, deadline: -1},
		},
		"WaveReached": {
			reason: "A Site of a wave that was reached is observed.",
			facts:  testFacts(live(), func(f *Facts) { f.Spec.Sites[0].Wave, f.Spec.Position.Step = 1, 1 }), want: isLive,
		},
		"Denied": {
			reason: "A Site that is denied is not read, and does not time out.",
			facts:  testFacts(SiteFacts{Denied: "no"}),
			want: want{
				ready: v1alpha1.ReasonPolicyDenied, state: v1alpha1.SitePending,
				reason: v1alpha1.SiteReasonPolicyDenied,
				since:  -1, deadline: -1,
			},
		},
		"Cluster": {
			reason: "A Site whose cluster is not ready waits for it, with a timeout of its own.",
			facts:  testFacts(clustered(nil)),
			want:   want{ready: v1alpha1.ReasonWaiting, state: v1alpha1.SiteWaitingForCluster, reason: "Provisioning", since: 1, deadline: 8},
		},
		"ClusterAgain": {
			reason: "The timeout of the cluster goes on from where the wait began.",
			facts:  testFacts(clustered(nil), wasWaiting(v1alpha1.SiteWaitingForCluster), later(2*time.Minute)),
			want:   want{ready: v1alpha1.ReasonWaiting, state: v1alpha1.SiteWaitingForCluster, reason: "Provisioning", since: 0, deadline: 7},
		},
		"ClusterTimedOut": {
			reason: "A Site whose cluster took too long times out.",
			facts:  testFacts(clustered(nil), wasWaiting(v1alpha1.SiteWaitingForCluster), later(7*time.Minute)),
			want:   want{ready: v1alpha1.ReasonClusterTimedOut, state: v1alpha1.SiteTimedOut, reason: "Provisioning", since: 0, deadline: -1},
		},
		"ClusterStillLate": {
			reason: "A Site whose cluster timed out stays so while the cluster is not ready.",
			facts:  testFacts(clustered(nil), wasWaiting(v1alpha1.SiteTimedOut), later(8*time.Minute)),
			want:   want{ready: v1alpha1.ReasonClusterTimedOut, state: v1alpha1.SiteTimedOut, reason: "Provisioning", since: 0, deadline: -1},
		},
		"ClusterLate": {
			reason: "A Site whose cluster timed out is live once the cluster is ready and runs the tree.",
			facts:  testFacts(clustered(isReady), wasWaiting(v1alpha1.SiteTimedOut), later(8*time.Minute)),
			want:   want{ready: v1alpha1.ReasonLive, state: v1alpha1.SiteLive, live: 1, since: 0, deadline: -1},
		},
		"ClusterReady": {
			reason: "A Site whose cluster is ready is syncing until it runs the tree.",
			facts: testFacts(
				clustered(isReady, func(s *SiteFacts) { s.Engine.Reason = v1alpha1.SiteReasonProgressing }), wasWaiting(v1alpha1.SiteWaitingForCluster),
			),
			want: syncing(v1alpha1.SiteReasonProgressing),
		},
		"ClusterUndelivered": {
			reason: "A Site whose cluster is ready is pending until its tree is delivered.",
			facts:  testFacts(clustered(isReady, func(s *SiteFacts) { s.Undelivered = true })),
			want:   waiting(v1alpha1.SitePending, v1alpha1.SiteReasonNotDelivered),
		},
		"ClusterDegraded": {
			reason: "A Site whose cluster passed does not wait for it again.",
			facts:  testFacts(clustered(nil), wasPassed("uid-1")),
			want:   want{ready: v1alpha1.ReasonLive, state: v1alpha1.SiteLive, live: 1, since: 0, deadline: -1},
		},
		"ClusterSilent": {
			reason: "A Site whose cluster passed does not wait for an unreadable cluster.",
			facts:  testFacts(clustered(func(s *SiteFacts) { s.Cluster.UID = "" }), wasPassed("uid-1")),
			want:   want{ready: v1alpha1.ReasonLive, state: v1alpha1.SiteLive, live: 1, since: 0, deadline: -1},
		},
		"ClusterGone": {
			reason: "A Site whose cluster was deleted waits for it again.",
			facts:  testFacts(clustered(func(s *SiteFacts) { s.Cluster.UID, s.Cluster.Deleted = "", true }), wasPassed("uid-1")),
			want:   want{ready: v1alpha1.ReasonWaiting, state: v1alpha1.SiteWaitingForCluster, reason: "Provisioning", since: 1, deadline: 8},
		},
		"ClusterReplaced": {
			reason: "A Site waits for another cluster of the same name.",
			facts:  testFacts(clustered(nil), wasPassed("uid-0")),
			want:   want{ready: v1alpha1.ReasonWaiting, state: v1alpha1.SiteWaitingForCluster, reason: "Provisioning", since: 1, deadline: 8},
		},
		"ClusterOtherPosition": {
			reason: "A cluster that passed for another position has not passed for the present position.",
			facts:  testFacts(clustered(nil), wasPassed("uid-1"), func(f *Facts) { f.Last.Position.Revision = 1 }),
			want:   want{ready: v1alpha1.ReasonWaiting, state: v1alpha1.SiteWaitingForCluster, reason: "Provisioning", since: 1, deadline: 8},
		},
		"Unobserved": {
			reason: "A Site without an engine is unobserved.",
			facts:  testFacts(SiteFacts{Site: aSite(func(s *catalogv1alpha1.Site) { s.Spec.Engine.Type = catalogv1alpha1.EngineNone })}),
			want: want{
				ready: v1alpha1.ReasonUnobserved, state: v1alpha1.SiteUnobserved,
				reason: v1alpha1.SiteReasonUnobserved,
				since:  -1, deadline: -1,
			},
		},
		"NotShownYet": {
			reason: "A wait starts when it is observed, before the status shows it.",
			facts: testFacts(
				says(v1alpha1.SiteReasonSuspended), was(positionOf(2, 0), v1alpha1.SiteLive), later(time.Minute),
				func(f *Facts) { f.Draft = before(positionOf(2, 0), v1alpha1.SiteSyncing) },
			),
			want: want{ready: v1alpha1.ReasonSyncing, state: v1alpha1.SiteSyncing, reason: v1alpha1.SiteReasonSuspended, since: 0, deadline: 5},
		},
		"DraftOfOther": {
			reason: "The draft of another position does not count.",
			facts: testFacts(
				says(v1alpha1.SiteReasonSuspended), was(positionOf(2, 0), v1alpha1.SiteLive),
				func(f *Facts) { f.Draft = before(positionOf(1, 0), v1alpha1.SiteSyncing) },
			),
			want: syncing(v1alpha1.SiteReasonSuspended),
		},
		"UnobservedIsLive": {reason: "An unobserved Site counts as live if its spec says so.", facts: testFacts(SiteFacts{Site: aSite(func(s *catalogv1alpha1.Site) {
			s.Spec.Engine.Type, s.Spec.Engine.UnobservedIsLive = catalogv1alpha1.EngineNone, &yes
		})}), want: want{ready: v1alpha1.ReasonLive, state: v1alpha1.SiteUnobserved, reason: v1alpha1.SiteReasonUnobserved, live: 1, since: -1, deadline: -1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := Decide(tc.facts)
			s := d.Next.Sites[0]
			minutesAfter := func(deadline time.Time) int { return int(deadline.Sub(noon()) / time.Minute) }
			got := want{ready: d.Reason, state: s.State, reason: s.Reason, live: d.Next.SitesLive, since: -1, deadline: -1}
			if s.StartedAt != nil {
				got.since = minutesAfter(s.StartedAt.Time)
			}
			if !d.Deadline.IsZero() {
				got.deadline = minutesAfter(d.Deadline)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nDecide(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.facts.Spec.Position, d.Next.Position); diff != "" {
				t.Errorf("\n%s\nposition of the status: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLowerPosition lets a SiteSync observe a position that is lower than its previous position.
func TestLowerPosition(t *testing.T) {
	d := Decide(testFacts(live(), was(positionOf(3, 1), v1alpha1.SiteLive)))
	if d.Reason != v1alpha1.ReasonLive || d.Next.ObservedPosition().Revision != 2 {
		t.Errorf("\nA SiteSync observes whatever position it is asked for.\nDecide(...): got %s about %+v", d.Reason, d.Next.ObservedPosition())
	}
}

func TestRefuse(t *testing.T) {
	cases := map[string]struct {
		reason string
		facts  Facts
		want   xpv2.ConditionReason
	}{
		"OtherNamespace": {
			reason: "A claim of another namespace is denied.",
			facts:  testFacts(live(), was(positionOf(2, 0), v1alpha1.SiteLive), func(f *Facts) { f.Spec.ClaimRef.Namespace = "team-b" }),
			want:   v1alpha1.ReasonPolicyDenied,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := Decide(tc.facts)
			if d.Reason != tc.want {
				t.Errorf("\n%s\nDecide(...): want reason %s, got %s", tc.reason, tc.want, d.Reason)
			}
			if diff := cmp.Diff(tc.facts.Last, d.Next); diff != "" {
				t.Errorf("\n%s\nDecide(...): the status changes: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLiveKeepsItsCommit(t *testing.T) {
	d := Decide(testFacts(live(func(s *SiteFacts) { s.Engine.Commit = "c2" }), was(positionOf(2, 0), v1alpha1.SiteLive)))
	if got := d.Next.Sites[0].Commit; got != "c0" {
		t.Errorf("An unmanaged commit on top changes nothing: want commit c0, got %s", got)
	}
}

// TestLiveReportsEngine has a live Site whose engine reported health at noon.
func TestLiveReportsEngine(t *testing.T) {
	reported := v1alpha1.EngineObservation{Kind: "Application", ObservedGeneration: 1, Health: "Healthy"}
	reports := func(health string, change ...func(*SiteFacts)) func(*SiteFacts) {
		return func(s *SiteFacts) {
			s.Engine.Kind, s.Engine.Health = "Application", health
			for _, fn := range change {
				fn(s)
			}
		}
	}
	cases := map[string]struct {
		reason string
		site   SiteFacts
		want   v1alpha1.EngineObservation
	}{
		"AtWork": {
			reason: "A Site that stays live while its engine is at work has the health of now.",
			site:   says(v1alpha1.SiteReasonProgressing, reports("Progressing", func(s *SiteFacts) { s.Engine.StillApplied = true })),
			want:   v1alpha1.EngineObservation{Kind: "Application", ObservedGeneration: 1, Health: "Progressing"},
		},
		"NoHealth": {
			reason: "An engine that ends to look at health reports none.",
			site:   live(reports("")), want: v1alpha1.EngineObservation{Kind: "Application", ObservedGeneration: 1},
		},
		"Mirror": {
			reason: "A mirror that the engine reads from now on is named.",
			site:   live(reports("Healthy", func(s *SiteFacts) { s.Mirror = "https://mirror.example.com/fleet.git" })),
			want:   v1alpha1.EngineObservation{Kind: "Application", ObservedGeneration: 1, Health: "Healthy", URL: "https://mirror.example.com/fleet.git"},
		},
		"Generation": {
			reason: "The generation is that of the engine's present object.", site: live(reports("Healthy", func(s *SiteFacts) { s.Engine.Generation = 2 })),
			want: v1alpha1.EngineObservation{Kind: "Application", ObservedGeneration: 2, Health: "Healthy"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := testFacts(tc.site, was(positionOf(2, 0), v1alpha1.SiteLive))
			f.Last.Sites[0].Engine = reported.DeepCopy()
			got := Decide(f).Next.Sites[0]
			if diff := cmp.Diff(&tc.want, got.Engine); diff != "" || got.State != v1alpha1.SiteLive || got.Commit != "c0" {
				t.Errorf("\n%s\nDecide(...): %s at %s, engine: -want, +got:\n%s", tc.reason, got.State, got.Commit, diff)
			}
		})
	}
}

func TestGravestReasonWins(t *testing.T) {
	f := testFacts(live())
	for i, s := range []SiteFacts{says(v1alpha1.SiteReasonSuspended), {Denied: "no"}, {Site: aSite(), Undelivered: true}, live()} {
		f.Spec.Sites = append(f.Spec.Sites, v1alpha1.SiteTree{Name: "edge" + string(rune('2'+i)), Path: webAtE1, Tree: wantedTree()})
		f.Sites = append(f.Sites, s)
	}
	d := Decide(f)
	want := `Site "edge2": Suspended; Site "edge3": PolicyDenied; Site "edge4": NotDelivered`
	if diff := cmp.Diff(want, d.Message); diff != "" || d.Reason != v1alpha1.ReasonPolicyDenied || d.Next.SitesLive != 2 {
		t.Errorf("reason %s, %d live, message: -want, +got:\n%s", d.Reason, d.Next.SitesLive, diff)
	}
}

// TestStartedAt checks that the wait for a position always has a start, since the function measures timeouts from it.
func TestStartedAt(t *testing.T) {
	firstStart, secondStart := metav1.NewTime(noon()), metav1.NewTime(noon().Add(time.Minute))
	withoutStart := func(p *ledger.Position) func(*Facts) {
		return func(f *Facts) { f.Last = v1alpha1.SiteSyncObservation{Position: p} }
	}
	nextStep := func(f *Facts) {
		f.Last, f.Spec.Position = before(positionOf(2, 0), v1alpha1.SiteLive), positionOf(2, 1)
	}
	cases := map[string]struct {
		reason string
		before func(*Facts)
		want   metav1.Time
	}{
		"First": {reason: "The wait for a first position starts when it is first observed.", before: func(*Facts) {}, want: secondStart},
		"Same": {
			reason: "The wait for a position that was observed before keeps its start.",
			before: was(positionOf(2, 0), v1alpha1.SiteSyncing), want: firstStart,
		},
		"NextStep":     {reason: "The wait for the next step has a start of its own.", before: nextStep, want: secondStart},
		"NextRevision": {reason: "The wait for another revision has a start of its own.", before: was(positionOf(1, 0), v1alpha1.SiteSyncing), want: secondStart},
		"Empty":        {reason: "A status of the same position without a start gets a start.", before: withoutStart(positionOf(2, 0)), want: secondStart},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := Decide(testFacts(says(v1alpha1.SiteReasonProgressing), tc.before))
			if diff := cmp.Diff(&tc.want, d.Next.StartedAt); diff != "" {
				t.Errorf("\n%s\nDecide(...): startedAt: -want, +got:\n%s", tc.reason, diff)
			}
			if d.Next.Sites[0].StartedAt == nil {
				t.Errorf("\n%s\nDecide(...): startedAt of the Site is empty", tc.reason)
			}
		})
	}
}

// TestMessagesAreCut has messages of servers that are longer than a status can have.
func TestMessagesAreCut(t *testing.T) {
	long := strings.Repeat("é", 2*maxMessage)
	cases := map[string]struct {
		reason string
		site   SiteFacts
	}{
		"Denied": {reason: "A refusal is cut.", site: live(func(s *SiteFacts) { s.Denied = long })},
		"Commit": {
			reason: "The reason for an unknown commit is cut, with the repository of the engine behind it.",
			site: live(func(s *SiteFacts) {
				s.Applied, s.Mirror = Subtree{Unknown: long}, "https://mirror.example.org/fleet.git"
			}),
		},
		"Cluster": {reason: "The message about a cluster is cut.", site: clustered(func(s *SiteFacts) { s.Cluster.Blocker.Message = long })},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := Decide(testFacts(tc.site)).Next.Sites[0]
			if got := utf8.RuneCountInString(o.Message); got != maxMessage {
				t.Errorf("\n%s\nmessage of the Site: want %d characters, got %d", tc.reason, maxMessage, got)
			}
			if o.Cluster != nil && utf8.RuneCountInString(o.Cluster.Message) > maxMessage {
				t.Errorf("\n%s\nmessage of the cluster: want at most %d characters, got %q", tc.reason, maxMessage, o.Cluster.Message)
			}
		})
	}
}
