package sitesync

import (
	"fmt"
	"slices"
	"strings"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/engines"
	"github.com/intentplane/intentplane/provider/gatewayapi"
	"github.com/intentplane/intentplane/provider/instant"
)

const (
	defaultTimeout        = 10 * time.Minute
	defaultClusterTimeout = 30 * time.Minute

	// maxNamed is how many Sites a condition names.
	maxNamed = 5

	// maxUnproven is how many unproven objects the status of a Site names.
	maxUnproven = 16
)

// A decision is the result of the facts.
type decision struct {
	// spec has the position and the pause that the decision is about.
	spec v1alpha1.SiteSyncParameters
	// next is the desired status.
	next v1alpha1.SiteSyncObservation
	// reason of the Ready condition, which is true with ReasonLive only.
	reason  xpv2.ConditionReason
	message string
	// deadline is when the next Site will have taken too long. Zero if none can.
	deadline time.Time
	// again is the time of the next observation of a cluster, since its readiness changes with time alone.
	again time.Time
	// pauseEnd is when the pause ends by time alone. Zero if that is past, or there is none.
	pauseEnd time.Time
}

// decideStatus decides the status. It is pure: the same facts give the same decision.
func decideStatus(f facts) decision {
	if d := refuseOtherNamespace(f); d != nil {
		return *d
	}
	d := decision{spec: f.spec, next: v1alpha1.SiteSyncObservation{Position: f.spec.Position.DeepCopy(), StartedAt: f.positionStart()}}
	for i, want := range f.spec.Sites {
		o := f.observeSite(want, f.sites[i])
		d.addSite(f, f.sites[i], o)
		d.again = instant.Earliest(instant.Earliest(d.again, nextIdleTime(want, o)), f.failureSettlesAt(want, f.sites[i], o))
	}
	d.concludeReady(f)
	d.next.Pause = f.observePause(d.reason == v1alpha1.ReasonLive)
	d.pauseEnd = f.pauseEnd(d.next.Pause)
	d.again = instant.Earliest(d.again, d.pauseEnd)
	return d
}

// refuseOtherNamespace refuses the observation of a claim of another namespace.
func refuseOtherNamespace(f facts) *decision {
	c := f.spec.ClaimRef
	if c.Namespace == f.namespace {
		return nil
	}
	message := fmt.Sprintf("spec.forProvider.claimRef.namespace: %q is not the namespace of the SiteSync", c.Namespace)
	return &decision{spec: f.spec, next: *f.before.DeepCopy(), reason: v1alpha1.ReasonPolicyDenied, message: message}
}

// positionStart is when the position was first seen.
func (f facts) positionStart() *metav1.Time {
	for _, o := range []v1alpha1.SiteSyncObservation{f.before, f.draft} {
		if o.ObservedPosition() == f.askedPosition() && o.StartedAt != nil {
			return o.StartedAt.DeepCopy()
		}
	}
	return f.nowTimestamp()
}

// nowTimestamp has no more precision than a status can hold.
func (f facts) nowTimestamp() *metav1.Time { return instant.Timestamp(f.now) }

// observeSite returns the observation of one Site and of its cluster.
func (f facts) observeSite(want v1alpha1.SiteTree, s siteFacts) v1alpha1.SiteObservation {
	o := f.observeEngine(want, s)
	o.Cluster = f.clusterOf(want, s)
	o.Traffic = f.trafficOf(want, s)
	if o.DesiredTree = ""; f.isAhead && want.Tree != o.Tree && want.Wave <= f.askedPosition().Step {
		o.DesiredTree = want.Tree
	}
	return o
}

func (f facts) observeEngine(want v1alpha1.SiteTree, s siteFacts) v1alpha1.SiteObservation {
	o := v1alpha1.SiteObservation{Name: want.Name, State: v1alpha1.SitePending}
	switch {
	case want.Wave > f.askedPosition().Step:
		o.Reason = v1alpha1.SiteReasonWaveNotReached
	case s.denied != "":
		o.Reason, o.Message = v1alpha1.SiteReasonPolicyDenied, s.denied
	case f.isAwaitingCluster(want, s):
		return f.awaitCluster(want, s, o)
	case s.undelivered:
		o.Reason = v1alpha1.SiteReasonNotDelivered
	case s.site.Spec.Engine.Type == catalogv1alpha1.EngineNone:
		o.State, o.Reason = v1alpha1.SiteUnobserved, v1alpha1.SiteReasonUnobserved
	default:
		return f.waitForTree(want, f.judgeFailure(want, s, judgeTraffic(want, s, f.judgeProof(want, s, o))))
	}
	return o
}

// judgeProof judges the report of the engine.
func (f facts) judgeProof(want v1alpha1.SiteTree, s siteFacts, o v1alpha1.SiteObservation) v1alpha1.SiteObservation {
	o.State = v1alpha1.SiteSyncing
	if s.problem != nil {
		o.Reason, o.Message = s.problem.reason, s.problem.message
		return o
	}
	o.Commit, o.Tree = s.seen.Commit, s.applied.id
	o.Engine = &v1alpha1.EngineObservation{Kind: s.seen.Kind, ObservedGeneration: s.seen.Generation, URL: s.mirror, Health: f.reportedHealth(want, s)}
	o.Proof = proofOfSite(s)
	if o.Unproven = firstUnproven(s.coverage.Unproven); s.seen.Reason != "" {
		o.Unproven = f.lastObservation(want.Name).Unproven // The engine does not report the changes of a newer commit yet.
	}
	o.Reason, o.Message = s.seen.Reason, s.seen.Message
	if o.Reason != "" && !f.isStillLive(want, s) {
		if isBroken(want, s) && !f.movesRequests(want) {
			o.State = v1alpha1.SiteFailed
		}
		return o
	}
	switch {
	case s.applied.unknown != "":
		o.Reason, o.Message = v1alpha1.SiteReasonProofUnknown, explainUnknown(s)
	case s.gap.unknown != "":
		o.Reason, o.Message = v1alpha1.SiteReasonProofUnknown, s.gap.unknown
	case s.gap.isBehind:
		o.Reason, o.Message = v1alpha1.SiteReasonOtherTree, "the engine is at an earlier commit with the same files, and has still to pass one with others"
	case s.applied.id != want.Tree:
		o.Reason, o.Message = v1alpha1.SiteReasonOtherTree, ""
	case s.coverage.unknown != "":
		o.Reason, o.Message = v1alpha1.SiteReasonProofUnknown, s.coverage.unknown
	case s.coverage.Missing != "":
		o.Reason, o.Message = v1alpha1.SiteReasonNotApplied, s.coverage.Missing
	case !acceptsProof(s.site.Spec.Engine.AcceptProof, o.Proof):
		o.Reason, o.Message = v1alpha1.SiteReasonWeakProof, fmt.Sprintf("the proof is %s, and the Site accepts nothing weaker than %s", o.Proof, proofOrExact(s.site.Spec.Engine.AcceptProof))
	default:
		o.State, o.Reason, o.Message = v1alpha1.SiteLive, "", ""
	}
	return o
}

// reportedHealth returns the health that the engine reports, or "" for an engine that leaves out a workload of the directory. Which it leaves
// out is read once the engine has the tree: before, the last answer holds.
func (f facts) reportedHealth(want v1alpha1.SiteTree, s siteFacts) string {
	if s.seen.Reason == "" && s.applied.id == want.Tree {
		return s.coverage.Health(s.seen.Health)
	}
	last := f.lastObservation(want.Name).Engine
	switch {
	case !engines.IsHealthy(s.seen.Health):
		return s.seen.Health
	case last == nil:
		return ""
	}
	return last.Health
}

// firstUnproven returns the unproven objects that a status names, and the number of omitted objects.
func firstUnproven(all []string) []string {
	if len(all) <= maxUnproven {
		return all
	}
	return append(slices.Clone(all[:maxUnproven-1]), fmt.Sprintf("and %d more", len(all)-maxUnproven+1))
}

// explainUnknown returns the reason why the commit of the engine is unknown, with the engine's repository if its URL differs from the
// configuration's.
func explainUnknown(s siteFacts) string {
	if s.mirror == "" {
		return s.applied.unknown
	}
	return fmt.Sprintf("%s; the engine reads %s", s.applied.unknown, s.mirror)
}

// isStillLive is true for a Site that was live, and whose engine is at work on a newer revision: the last applied tree still runs.
func (f facts) isStillLive(want v1alpha1.SiteTree, s siteFacts) bool {
	return s.seen.StillApplied && f.lastObservation(want.Name).State == v1alpha1.SiteLive && s.applied.id == want.Tree
}

// isBroken is true if the engine failed with exactly this tree, and no other directory can be the cause: an engine that reads all of a Site
// may have stumbled over another claim. A stalled engine tries no tree: pendingFailure decides whether that is final.
func isBroken(want v1alpha1.SiteTree, s siteFacts) bool {
	return s.seen.FinalFailure && s.seen.Reason != v1alpha1.SiteReasonStalled && s.seen.Root == want.Path && s.attempted.id == want.Tree
}

// movesRequests is true for a Site with tracks before the steps of its revision. The Site has pods of a track that loses its requests, which
// another revision delivered: their failure does not count against the requested revision.
func (f facts) movesRequests(want v1alpha1.SiteTree) bool {
	return want.Traffic != nil && f.askedPosition().Stage < ledger.StageSteps
}

// waitForTree adds the start of the wait and its timeout. A Site that failed or took too long stays so until it is live.
func (f facts) waitForTree(want v1alpha1.SiteTree, o v1alpha1.SiteObservation) v1alpha1.SiteObservation {
	last := f.lastObservation(want.Name)
	if o.State == v1alpha1.SiteLive {
		return f.withLiveSince(last, o)
	}
	o.StartedAt = f.waitStart(want.Name)
	if last.State == v1alpha1.SiteFailed {
		last.StartedAt = o.StartedAt
		return last
	}
	return f.withTimeout(o)
}

// withTimeout is a Site that took too long, if it did.
func (f facts) withTimeout(o v1alpha1.SiteObservation) v1alpha1.SiteObservation {
	if countsForTimeout(o) && !f.now.Before(o.StartedAt.Add(f.waitTimeoutOf(o.State))) {
		o.State = v1alpha1.SiteTimedOut
	}
	return o
}

// countsForTimeout is true for a Site whose clock runs.
func countsForTimeout(o v1alpha1.SiteObservation) bool {
	return o.StartedAt != nil && (o.State == v1alpha1.SiteSyncing || o.State == v1alpha1.SiteWaitingForCluster)
}

// withLiveSince keeps the commit that proved the Site, so that later commits of other writers do not change it. The engine's report is always the
// present one: Gates judge by its health.
func (f facts) withLiveSince(last, o v1alpha1.SiteObservation) v1alpha1.SiteObservation {
	if o.StartedAt = last.StartedAt.DeepCopy(); o.StartedAt == nil {
		o.StartedAt = f.waitStart(o.Name)
	}
	if last.State != v1alpha1.SiteLive || last.Proof != o.Proof || last.Tree != o.Tree {
		o.LiveSince = f.nowTimestamp()
		return o
	}
	last.Unproven, last.Engine = o.Unproven, o.Engine
	return last
}

// addSite adds a Site to the decision.
func (d *decision) addSite(f facts, s siteFacts, o v1alpha1.SiteObservation) {
	d.next.Sites = append(d.next.Sites, o)
	if isSiteLive(s, o) {
		d.next.SitesLive++
	}
	if s.cluster != nil {
		d.again = instant.Earliest(d.again, s.cluster.again)
	}
	if countsForTimeout(o) {
		d.deadline = instant.Earliest(d.deadline, o.StartedAt.Add(f.waitTimeoutOf(o.State)))
	}
}

func isSiteLive(s siteFacts, o v1alpha1.SiteObservation) bool {
	if o.State == v1alpha1.SiteUnobserved {
		return s.site.Spec.Engine.UnobservedIsLive != nil && *s.site.Spec.Engine.UnobservedIsLive
	}
	return o.State == v1alpha1.SiteLive
}

// concludeReady sums up the states of all Sites of the step. The gravest wins.
func (d *decision) concludeReady(f facts) {
	d.reason = v1alpha1.ReasonLive
	named := []string{}
	for i, want := range f.spec.Sites {
		o := d.next.Sites[i]
		if want.Wave > f.askedPosition().Step || isSiteLive(f.sites[i], o) {
			continue
		}
		if r := readyReasonOf(o); reasonGravity(r) > reasonGravity(d.reason) {
			d.reason = r
		}
		named = append(named, fmt.Sprintf("Site %q: %s", o.Name, explainSite(o)))
	}
	if remaining := len(named) - maxNamed; remaining > 0 {
		named = append(named[:maxNamed], fmt.Sprintf("and %d more", remaining))
	}
	d.message = strings.Join(named, "; ")
}

// explainSite names a Site's state and reason, once where they are the same.
func explainSite(o v1alpha1.SiteObservation) string {
	switch {
	case hasAwaitedCluster(o):
		return string(o.State) + ", " + strings.TrimSuffix(o.Reason+": "+o.Message, ": ")
	case o.State == v1alpha1.SiteFailed, o.State == v1alpha1.SiteTimedOut:
		return string(o.State) + ", " + explainEnd(o)
	}
	return o.Reason
}

// explainEnd names the reason that ended the wait for a Site, and with it the object of the claim that is to blame. The message of an engine stays in the status
// of its Site.
func explainEnd(o v1alpha1.SiteObservation) string {
	if o.Reason == gatewayapi.ReasonObjectFailed || o.Reason == gatewayapi.ReasonRouteNotAccepted {
		return strings.TrimSuffix(o.Reason+": "+o.Message, ": ")
	}
	return o.Reason
}

func readyReasonOf(o v1alpha1.SiteObservation) xpv2.ConditionReason {
	switch o.State {
	case v1alpha1.SiteFailed:
		return v1alpha1.ReasonFailed
	case v1alpha1.SiteTimedOut:
		if hasAwaitedCluster(o) {
			return v1alpha1.ReasonClusterTimedOut
		}
		return v1alpha1.ReasonTimedOut
	case v1alpha1.SiteUnobserved:
		return v1alpha1.ReasonUnobserved
	case v1alpha1.SiteSyncing:
		return v1alpha1.ReasonSyncing
	}
	if o.Reason == v1alpha1.SiteReasonPolicyDenied {
		return v1alpha1.ReasonPolicyDenied
	}
	return v1alpha1.ReasonWaiting
}

func reasonGravity(r xpv2.ConditionReason) int {
	return map[xpv2.ConditionReason]int{
		v1alpha1.ReasonWaiting:         1,
		v1alpha1.ReasonSyncing:         2,
		v1alpha1.ReasonUnobserved:      3,
		v1alpha1.ReasonPolicyDenied:    4,
		v1alpha1.ReasonClusterTimedOut: 5,
		v1alpha1.ReasonTimedOut:        6,
		v1alpha1.ReasonFailed:          7,
	}[r]
}

// proofOfSite is the engine's, weaker where a file above the claim's directory has a say.
func proofOfSite(s siteFacts) v1alpha1.Proof {
	if s.applied.overlaid && s.seen.Proof == v1alpha1.ProofExact {
		return v1alpha1.ProofTransformed
	}
	return s.seen.Proof
}

func acceptsProof(weakest string, p v1alpha1.Proof) bool {
	rank := map[v1alpha1.Proof]int{v1alpha1.ProofExact: 1, v1alpha1.ProofTransformed: 2, v1alpha1.ProofHydrated: 3}
	return rank[p] > 0 && rank[p] <= rank[proofOrExact(weakest)]
}

func proofOrExact(weakest string) v1alpha1.Proof {
	if weakest == "" {
		return v1alpha1.ProofExact
	}
	return v1alpha1.Proof(weakest)
}
