// Package samples has deployments in states that people look at, for tests of the output. The function's own projection makes each status, so
// that a sample has the same status as on a control plane.
package samples

import (
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/phase"
)

// Now is when people look at the samples.
func Now() time.Time { return time.Date(2031, 5, 6, 14, 3, 40, 0, time.UTC) }

// timeBeforeNow returns a time before Now.
func timeBeforeNow(d time.Duration) metav1.Time { return metav1.NewTime(Now().Add(-d)) }

const (
	namespace  = "team-a"
	name       = "shop"
	generation = 4
	newCommit  = "8d21c0e4b0a1f2c3d4e5f60718293a4b5c6d7e8f"
	oldCommit  = "5f77a90fedcba98765432100123456789abcdef0"
	newTree    = "1111111111111111111111111111111111111111"
	oldTree    = "2222222222222222222222222222222222222222"
)

// A Sample is a deployment with its composed objects. A test changes it, and lets the function's projection say the rest.
type Sample struct {
	// Group is the API group of the deployment: one shape or the other.
	Group string

	// Labels of the deployment.
	Labels map[string]string

	Input    phase.Input
	Delivery *deliveryv1alpha1.GitDelivery
	Sync     *deliveryv1alpha1.SiteSync
	Gate     *rolloutv1alpha1.Gate
	Requests []rolloutv1alpha1.RolloutRequest
	Spec     deploymentv1alpha1.IntentDeploymentSpec
}

// New returns a deployment whose revision 7 was recorded, delivered, and runs at two Sites. Revision 5 was verified before it, and 6 was withdrawn.
func New() *Sample {
	s := &Sample{Group: "intentplane.dev", Spec: deploymentv1alpha1.IntentDeploymentSpec{Expectation: &deploymentv1alpha1.Expectation{Service: name, Sites: []deploymentv1alpha1.SiteName{"edge1", "edge2"}}}}
	request := ledger.Request{Intent: "intent", Sources: "sources", Scheme: 1, Renderer: 1}
	earlier, edited := request, request
	earlier.Intent, edited.Intent = "earlier", "edited"
	verified := &ledger.Verdict{Result: ledger.VerdictVerified}
	trees := []ledger.SiteTree{{Site: "edge1", ID: oldTree}, {Site: "edge2", ID: oldTree}}
	s.Input.State = ledger.State{
		Head: ledger.Head{Ledger: "l", Epoch: 1, Seq: 21}, Home: "fleet", LastNumber: 7, Stable: 5,
		Current: &ledger.Revision{
			Number: 7, Request: request, Plan: []ledger.Step{{Sites: []string{"edge1", "edge2"}}},
			Parts: []ledger.Part{{Delivery: "shop-fleet", ConfigRef: "fleet", Sites: []string{"edge1", "edge2"}}},
		},
		History: []ledger.Past{
			{Number: 5, Request: earlier, Verdict: verified, EndedAt: timeBeforeNow(136 * time.Minute), Trees: trees},
			{Number: 6, Request: edited, Verdict: verified, EndedAt: timeBeforeNow(43 * time.Minute), Withdrawn: true},
		},
	}
	s.Input.Claim = rolloutv1alpha1.ClaimReference{APIGroup: s.Group, Kind: "IntentDeployment", Namespace: namespace, Name: name}
	s.Input.Unobserved = map[string]bool{}
	return s
}

// Facts returns the objects as a reader of the cluster sees them. The objects follow the state of the ledger, unless the test made them.
func (s *Sample) Facts() *cause.Facts {
	s.Input.Claim.APIGroup = s.Group
	s.Input.Recorded = s.Input.State
	s.makeDelivery()
	s.makeSiteSync()
	s.completeGate()
	// The shape may have been chosen after these were made.
	s.Delivery.Spec.ForProvider.ClaimRef, s.Sync.Spec.ForProvider.ClaimRef = s.Input.Claim, s.Input.Claim
	s.Input.Desired = map[string]*deliveryv1alpha1.GitDelivery{"shop-fleet": s.Delivery}
	s.Input.Observed = map[string]*deliveryv1alpha1.GitDelivery{"shop-fleet": s.Delivery}
	s.Input.Sync, s.Input.ObservedSync = s.Sync, s.Sync
	s.Input.Gates = map[string]*rolloutv1alpha1.Gate{}
	f := &cause.Facts{Requests: s.Requests, Deliveries: []deliveryv1alpha1.GitDelivery{*s.Delivery}, Syncs: []deliveryv1alpha1.SiteSync{*s.Sync}}
	if s.Gate != nil {
		s.Input.Gates["gate"] = s.Gate
		f.Gates = []rolloutv1alpha1.Gate{*s.Gate}
	}
	f.Deployment = s.makeDeployment()
	f.SpecDigest = f.Deployment.Status.IntentDigest
	return f
}

// makeDeployment returns the root, with the status that the function would project.
func (s *Sample) makeDeployment() cause.Deployment {
	out := cause.Deployment{Spec: cause.DeploymentSpec{IntentDeploymentSpec: s.Spec}}
	out.APIVersion, out.Kind = s.Group+"/v1alpha1", "IntentDeployment"
	out.Metadata = metav1.ObjectMeta{Namespace: namespace, Name: name, Generation: generation, Labels: s.Labels}
	// A spec of these types can be encoded.
	s.Input.Digest, _ = digest.Spec(&s.Spec)
	status := phase.Status(&s.Input, &deploymentv1alpha1.IntentDeploymentStatus{}, timeBeforeNow(41*time.Second))
	out.Status.IntentDeploymentStatus = *status
	transitionTime := timeBeforeNow(41 * time.Second)
	for _, c := range phase.Conditions(&s.Input) {
		out.Status.Conditions = append(out.Status.Conditions, cause.Condition{
			Type: c.Type, Status: metav1.ConditionStatus(c.Status), Reason: c.Reason, Message: c.Message, LastTransitionTime: &transitionTime,
		})
	}
	ready := metav1.ConditionFalse
	if phase.Ready(&s.Input) {
		ready = metav1.ConditionTrue
	}
	out.Status.Conditions = append(
		out.Status.Conditions,
		cause.Condition{Type: "Ready", Status: ready, Reason: "Available", LastTransitionTime: &transitionTime},
		cause.Condition{Type: "Synced", Status: metav1.ConditionTrue, Reason: "ReconcileSuccess", LastTransitionTime: &transitionTime},
		cause.Condition{Type: "Responsive", Status: metav1.ConditionTrue, Reason: "WatchCircuitClosed", LastTransitionTime: &transitionTime},
	)
	return out
}

// siteDirectories are the directories of the Sites.
func siteDirectories() map[string]string {
	return map[string]string{"edge1": "clusters/edge1/team-a/shop", "edge2": "clusters/edge2/team-a/shop"}
}

// isRollback is true once an attempt of a rollback began.
func (s *Sample) isRollback() bool { return s.Input.State.Cursor.Attempt > 0 }

// makeDelivery makes the GitDelivery that the ledger asks for, carried out.
func (s *Sample) makeDelivery() {
	if s.Delivery != nil {
		return
	}
	action, tree, commit := deliveryv1alpha1.ActionDesired, newTree, newCommit
	if s.isRollback() {
		action, tree, commit = deliveryv1alpha1.ActionRestore, oldTree, oldCommit
	}
	d := &deliveryv1alpha1.GitDelivery{}
	d.APIVersion, d.Kind = deliveryv1alpha1.GroupVersion.String(), "GitDelivery"
	d.ObjectMeta = metav1.ObjectMeta{Namespace: namespace, Name: "shop-fleet", Generation: generation, Labels: map[string]string{compose.LabelClaim: name}}
	position := s.Input.State.Position()
	parameters, observation := &d.Spec.ForProvider, &d.Status.AtProvider
	parameters.ClaimRef, parameters.Position, parameters.Ledger = s.Input.Claim, &position, &deliveryv1alpha1.LedgerUpdate{After: s.Input.State.Head}
	d.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ClusterProviderConfig", Name: "fleet"}
	for _, site := range []string{"edge1", "edge2"} {
		parameters.Trees = append(parameters.Trees, deliveryv1alpha1.Tree{Site: site, Branch: "main", Path: siteDirectories()[site], Action: action, Tree: tree})
		observation.Trees = append(observation.Trees, deliveryv1alpha1.DeliveredTree{Site: site, Path: siteDirectories()[site], Tree: tree, Revision: position.Revision})
	}
	state := s.Input.State
	observation.Ledger, observation.Record = &state, &deliveryv1alpha1.LedgerRecord{Home: "fleet", Head: state.Head, Position: position}
	observation.Remote = &deliveryv1alpha1.Remote{URL: "https://git.example.org/fleet", Branch: "main", Commit: commit}
	observation.History = []deliveryv1alpha1.HistoryEntry{
		{Revision: 5, Commit: oldCommit}, {Revision: 6, Commit: "11b9e02aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}, {Revision: 7, Commit: newCommit},
	}
	d.SetConditions(readyCondition("Delivered"), syncedCondition())
	s.Delivery = d
}

// makeSiteSync makes the SiteSync, which reports that the Sites are live.
func (s *Sample) makeSiteSync() {
	if s.Sync != nil {
		return
	}
	tree, commit := newTree, newCommit
	if s.isRollback() {
		tree, commit = oldTree, oldCommit
	}
	y := &deliveryv1alpha1.SiteSync{}
	y.APIVersion, y.Kind = deliveryv1alpha1.GroupVersion.String(), "SiteSync"
	y.ObjectMeta = metav1.ObjectMeta{Namespace: namespace, Name: "shop-sites", Generation: generation, Labels: map[string]string{compose.LabelClaim: name}}
	position, liveSince := s.Input.State.Position(), timeBeforeNow(30*time.Second)
	y.Spec.ForProvider.ClaimRef, y.Spec.ForProvider.Position, y.Status.AtProvider.Position = s.Input.Claim, &position, &position
	for _, site := range []string{"edge1", "edge2"} {
		y.Spec.ForProvider.Sites = append(y.Spec.ForProvider.Sites, deliveryv1alpha1.SiteTree{Name: site, Path: siteDirectories()[site], Tree: tree, RepositoryRef: deliveryv1alpha1.RepositoryReference{Name: "fleet"}})
		y.Status.AtProvider.Sites = append(y.Status.AtProvider.Sites, deliveryv1alpha1.SiteObservation{
			Name: site, State: deliveryv1alpha1.SiteLive, Commit: commit, Tree: tree, LiveSince: &liveSince, Engine: &deliveryv1alpha1.EngineObservation{Kind: "Kustomization"},
		})
	}
	y.Status.AtProvider.SitesLive = 2
	y.SetConditions(readyCondition("Live"), syncedCondition())
	s.Sync = y
}

// completeGate completes the Gate of the present step, if the sample has one.
func (s *Sample) completeGate() {
	if s.Gate == nil {
		return
	}
	g, position := s.Gate, s.Input.State.Position()
	position.Attempt = 0
	g.APIVersion, g.Kind = rolloutv1alpha1.GroupVersion.String(), "Gate"
	g.ObjectMeta = metav1.ObjectMeta{
		Namespace: namespace, Name: "shop-gate", Generation: 1, Labels: map[string]string{compose.LabelClaim: name},
		Annotations: map[string]string{evidence.AnnotationRevision: evidence.RevisionID(s.Input.State)},
	}
	g.Spec.ForProvider.ClaimRef, g.Spec.ForProvider.Position, g.Status.AtProvider.Position = s.Input.Claim, &position, &position
}

func readyCondition(reason string) xpv2.Condition {
	return xpv2.Condition{Type: xpv2.TypeReady, Status: corev1.ConditionTrue, Reason: xpv2.ConditionReason(reason), ObservedGeneration: generation, LastTransitionTime: timeBeforeNow(40 * time.Second)}
}

// NotReady returns the condition of a managed resource that is not Ready, observed at its current generation.
func NotReady(reason, message string) xpv2.Condition {
	c := readyCondition(reason)
	c.Status, c.Message = corev1.ConditionFalse, message
	return c
}

func syncedCondition() xpv2.Condition {
	c := xpv2.ReconcileSuccess()
	c.ObservedGeneration, c.LastTransitionTime = generation, timeBeforeNow(40*time.Second)
	return c
}
