package proof

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
	"github.com/intentplane/intentplane/apis/oneline"
	"github.com/intentplane/intentplane/provider/engines"
	"github.com/intentplane/intentplane/provider/gatewayapi"
	"github.com/intentplane/intentplane/provider/instant"
)

const (
	defaultTimeout        = 10 * time.Minute
	defaultClusterTimeout = 30 * time.Minute

	// maxNamed is the number of Sites that a condition names.
	maxNamed = 5

	// maxUnproven is the number of unproven objects that the status of a Site names.
	maxUnproven = 16

	// maxMessage is the greatest length of a message in the status, in characters.
	maxMessage = 1024
)

// A Decision is the result of the facts.
type Decision struct {
	// Spec has the position and the pause that the decision is about.
	Spec v1alpha1.SiteSyncParameters
	// Next is the desired status.
	Next v1alpha1.SiteSyncObservation
	// Reason of the Ready condition, which is true with ReasonLive only, and its message.
	Reason  xpv2.ConditionReason
	Message string
	// Deadline is the time of the next timeout of a Site. Zero if no Site can time out.
	Deadline time.Time
	// Recheck is the time of the next change by time alone: of a cluster, an idle track, a final failure or the pause. Zero if none is due.
	Recheck time.Time
	// PauseEnd is the time when the pause ends by time alone. Zero if that is past, or without such a pause.
	PauseEnd time.Time
}

// Decide decides the status: the same facts give the same decision.
func Decide(f Facts) Decision {
	if d := refuseOtherNamespace(f); d != nil {
		return *d
	}
	d := Decision{Spec: f.Spec, Next: v1alpha1.SiteSyncObservation{Position: f.Spec.Position.DeepCopy(), StartedAt: f.PositionStart()}}
	for i, want := range f.Spec.Sites {
		o := f.observeSite(want, f.Sites[i])
		d.addObservedSite(f, f.Sites[i], o)
		d.Recheck = instant.Earliest(instant.Earliest(d.Recheck, nextIdleTime(want, o)), f.failureSettlesAt(want, f.Sites[i], o))
	}
	d.concludeReady(f)
	d.Next.Pause = f.observePause(d.Reason == v1alpha1.ReasonLive)
	d.PauseEnd = f.pauseEndTime(d.Next.Pause)
	d.Recheck = instant.Earliest(d.Recheck, d.PauseEnd)
	return d
}

// refuseOtherNamespace refuses the observation of a claim of another namespace.
func refuseOtherNamespace(f Facts) *Decision {
	c := f.Spec.ClaimRef
	if c.Namespace == f.Namespace {
		return nil
	}
	message := fmt.Sprintf("spec.forProvider.claimRef.namespace: %q is not the namespace of the SiteSync", c.Namespace)
	return &Decision{Spec: f.Spec, Next: *f.Last.DeepCopy(), Reason: v1alpha1.ReasonPolicyDenied, Message: message}
}

// PositionStart is the time when the position was first observed.
func (f Facts) PositionStart() *metav1.Time {
	for _, o := range []v1alpha1.SiteSyncObservation{f.Last, f.Draft} {
		if o.ObservedPosition() == f.askedPosition() && o.StartedAt != nil {
			return o.StartedAt.DeepCopy()
		}
	}
	return f.nowTimestamp()
}

// nowTimestamp has no more precision than a status can hold.
func (f Facts) nowTimestamp() *metav1.Time { return instant.Timestamp(f.Now) }

// observeSite returns the observation of one Site and of its cluster.
func (f Facts) observeSite(want v1alpha1.SiteTree, s SiteFacts) v1alpha1.SiteObservation {
	o := f.observeEngine(want, s)
	o.Cluster = f.observeCluster(want, s)
	o.Traffic = f.observeTraffic(want, s)
	if o.DesiredTree = ""; f.IsAhead && want.Tree != o.Tree && want.Wave <= f.askedPosition().Step {
		o.DesiredTree = want.Tree
	}
	return cutMessages(o)
}

// cutMessages cuts messages with texts of servers. The API server refuses a whole status with a longer message, and it is about all Sites of a claim.
func cutMessages(o v1alpha1.SiteObservation) v1alpha1.SiteObservation {
	o.Message = oneline.Cut(o.Message, maxMessage)
	if o.Cluster != nil {
		o.Cluster.Message = oneline.Cut(o.Cluster.Message, maxMessage)
	}
	return o
}

func (f Facts) observeEngine(want v1alpha1.SiteTree, s SiteFacts) v1alpha1.SiteObservation {
	o := v1alpha1.SiteObservation{Name: want.Name, State: v1alpha1.SitePending}
	switch {
	case want.Wave > f.askedPosition().Step:
		o.Reason = v1alpha1.SiteReasonWaveNotReached
	case s.Denied != "":
		o.Reason, o.Message = v1alpha1.SiteReasonPolicyDenied, s.Denied
	case f.IsAwaitingCluster(want, s):
		return f.awaitCluster(want, s, o)
	case s.Undelivered:
		o.Reason = v1alpha1.SiteReasonNotDelivered
	case s.Site.Spec.Engine.Type == catalogv1alpha1.EngineNone:
		o.State, o.Reason = v1alpha1.SiteUnobserved, v1alpha1.SiteReasonUnobserved
	default:
		return f.waitForTree(want, f.judgeFailure(want, s, judgeTraffic(want, s, f.judgeEngineReport(want, s, o))))
	}
	return o
}

// judgeEngineReport judges the report of the engine.
func (f Facts) judgeEngineReport(want v1alpha1.SiteTree, s SiteFacts, o v1alpha1.SiteObservation) v1alpha1.SiteObservation {
	o.State = v1alpha1.SiteSyncing
	if s.Problem != nil {
		o.Reason, o.Message = s.Problem.Reason, s.Problem.Message
		return o
	}
	o.Commit, o.Tree = s.Engine.Commit, s.Applied.ID
	o.Engine = &v1alpha1.EngineObservation{
		Kind: s.Engine.Kind, ObservedGeneration: s.Engine.Generation, URL: s.Mirror, Health: f.reportedHealth(want, s), Target: s.Engine.Target,
	}
	o.Proof = proofOfSite(s)
	if o.Unproven = firstUnproven(s.Coverage.Unproven); s.Engine.Reason != "" {
		o.Unproven = f.lastObservation(want.Name).Unproven // The engine does not report the changes of a newer commit yet.
	}
	o.Reason, o.Message = s.Engine.Reason, s.Engine.Message
	if o.Reason != "" && !f.isStillLive(want, s) {
		if isTreeBroken(want, s) && !f.movesRequests(want) {
			o.State = v1alpha1.SiteFailed
		}
		return o
	}
	switch {
	case s.Applied.Unknown != "":
		o.Reason, o.Message = v1alpha1.SiteReasonProofUnknown, explainUnknown(s)
	case s.Gap.Unknown != "":
		o.Reason, o.Message = v1alpha1.SiteReasonProofUnknown, s.Gap.Unknown
	case s.Gap.IsBehind:
		o.Reason, o.Message = v1alpha1.SiteReasonOtherTree, "the engine is at an earlier commit with the same files, and has still to pass one with others"
	case s.Applied.ID != want.Tree:
		o.Reason, o.Message = v1alpha1.SiteReasonOtherTree, ""
	case s.Coverage.Unknown != "":
		o.Reason, o.Message = v1alpha1.SiteReasonProofUnknown, s.Coverage.Unknown
	case s.Coverage.Missing != "":
		o.Reason, o.Message = v1alpha1.SiteReasonNotApplied, s.Coverage.Missing
	case !acceptsProof(s.Site.Spec.Engine.AcceptProof, o.Proof):
		o.Reason = v1alpha1.SiteReasonWeakProof
		o.Message = fmt.Sprintf("the proof is %s, and the Site accepts nothing weaker than %s", o.Proof, proofOrExact(s.Site.Spec.Engine.AcceptProof))
	default:
		o.State, o.Reason, o.Message = v1alpha1.SiteLive, "", ""
	}
	return o
}

// reportedHealth returns the health that the engine reports, or "" for an engine that leaves out a workload of the directory. Which it leaves
// out is read once the engine has the tree: before, the last answer holds.
func (f Facts) reportedHealth(want v1alpha1.SiteTree, s SiteFacts) string {
	if s.Engine.Reason == "" && s.Applied.ID == want.Tree {
		return s.Engine.ProvenHealth(s.Coverage.Coverage)
	}
	last := f.lastObservation(want.Name).Engine
	switch {
	case !engines.IsHealthy(s.Engine.Health):
		return s.Engine.Health
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
func explainUnknown(s SiteFacts) string {
	if s.Mirror == "" {
		return s.Applied.Unknown
	}
	return fmt.Sprintf("%s; the engine reads %s", s.Applied.Unknown, s.Mirror)
}

// isTreeBroken is true if the engine failed with exactly this tree, and no other directory can be the cause: an engine that reads all of a Site
// may have stumbled over another claim. A stalled engine tries no tree: pendingFailure decides whether that is final.
func isTreeBroken(want v1alpha1.SiteTree, s SiteFacts) bool {
	return s.Engine.FinalFailure && s.Engine.Reason != v1alpha1.SiteReasonStalled && s.Engine.Root == want.Path && s.Attempted.ID == want.Tree
}

// movesRequests is true for a Site with tracks before the steps of its revision. The Site has pods of a track that loses its requests, which
// another revision delivered: their failure does not count against the requested revision.
func (f Facts) movesRequests(want v1alpha1.SiteTree) bool {
	return want.Traffic != nil && f.askedPosition().Stage < ledger.StageSteps
}

// waitForTree adds the start of the wait and its timeout. A Site that failed or took too long stays so until it is live.
func (f Facts) waitForTree(want v1alpha1.SiteTree, o v1alpha1.SiteObservation) v1alpha1.SiteObservation {
	last := f.lastObservation(want.Name)
	if o.State == v1alpha1.SiteLive {
		return f.withLiveSince(last, o)
	}
	o.StartedAt = f.waitStartTime(want.Name)
	if last.State == v1alpha1.SiteFailed {
		last.StartedAt = o.StartedAt
		return last
	}
	return f.withTimeout(o)
}

// withTimeout is a Site that took too long, if it did.
func (f Facts) withTimeout(o v1alpha1.SiteObservation) v1alpha1.SiteObservation {
	if countsForTimeout(o) && !f.Now.Before(o.StartedAt.Add(f.waitTimeoutOf(o.State))) {
		o.State = v1alpha1.SiteTimedOut
	}
	return o
}

// countsForTimeout is true for a Site whose clock runs.
func countsForTimeout(o v1alpha1.SiteObservation) bool {
	return o.StartedAt != nil && (o.State == v1alpha1.SiteSyncing || o.State == v1alpha1.SiteWaitingForCluster)
}

// addObservedSite adds a Site to the decision.
func (d *Decision) addObservedSite(f Facts, s SiteFacts, o v1alpha1.SiteObservation) {
	d.Next.Sites = append(d.Next.Sites, o)
	if isSiteLive(s, o) {
		d.Next.SitesLive++
	}
	if s.Cluster != nil {
		d.Recheck = instant.Earliest(d.Recheck, s.Cluster.Recheck)
	}
	if countsForTimeout(o) {
		d.Deadline = instant.Earliest(d.Deadline, o.StartedAt.Add(f.waitTimeoutOf(o.State)))
	}
}

func isSiteLive(s SiteFacts, o v1alpha1.SiteObservation) bool {
	if o.State == v1alpha1.SiteUnobserved {
		return s.Site.Spec.Engine.UnobservedIsLive != nil && *s.Site.Spec.Engine.UnobservedIsLive
	}
	return o.State == v1alpha1.SiteLive
}

// concludeReady sums up the states of all Sites of the step. The gravest wins.
func (d *Decision) concludeReady(f Facts) {
	d.Reason = v1alpha1.ReasonLive
	named := []string{}
	for i, want := range f.Spec.Sites {
		o := d.Next.Sites[i]
		if want.Wave > f.askedPosition().Step || isSiteLive(f.Sites[i], o) {
			continue
		}
		if r := readyReasonOf(o); reasonGravity(r) > reasonGravity(d.Reason) {
			d.Reason = r
		}
		named = append(named, fmt.Sprintf("Site %q: %s", o.Name, explainSite(o)))
	}
	if remaining := len(named) - maxNamed; remaining > 0 {
		named = append(named[:maxNamed], fmt.Sprintf("and %d more", remaining))
	}
	d.Message = strings.Join(named, "; ")
}

// explainSite names a Site's state and reason, once where they are the same.
func explainSite(o v1alpha1.SiteObservation) string {
	switch {
	case hasAwaitedCluster(o):
		return string(o.State) + ", " + strings.TrimSuffix(o.Reason+": "+o.Message, ": ")
	case o.State == v1alpha1.SiteFailed, o.State == v1alpha1.SiteTimedOut:
		return string(o.State) + ", " + waitEndReason(o)
	}
	return o.Reason
}

// waitEndReason names the reason that ended the wait for a Site, and with it the failed object of the claim. The message of an engine stays in the
// status of its Site.
func waitEndReason(o v1alpha1.SiteObservation) string {
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
func proofOfSite(s SiteFacts) v1alpha1.Proof {
	if s.Applied.Overlaid && s.Engine.Proof == v1alpha1.ProofExact {
		return v1alpha1.ProofTransformed
	}
	return s.Engine.Proof
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
