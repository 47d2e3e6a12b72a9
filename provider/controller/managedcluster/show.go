package managedcluster

import (
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
)

const (
	maxMessage = 1024

	// progressInterval is how often progress is written in the long run. What somebody waits for is written at once.
	progressInterval = time.Minute

	// progressBurst is how many steps of progress are written at once: a cluster that is built takes a few, and one that flaps more.
	progressBurst = 10

	// progressPace is how long one step waits for the next: who builds a cluster writes several objects for one step. Each step costs
	// six tokens of Crossplane's circuit breaker, which gets one each second: the step, and what its WorkloadCluster tells of it.
	progressPace = 5 * time.Second
)

// show the decision in the status, now or a little later: a cluster that flaps is written once in a while.
func (e *external) show(mc *v1alpha1.ManagedCluster, f facts, d decision) {
	next := mc.Status.DeepCopy()
	next.AtProvider = observation(f, mc.Status.AtProvider)
	next.SetConditions(conditions(mc, f, d)...)
	n, now := e.note, f.now
	n.next = soonest(d.deadline, f.again)
	if !n.known && !meta.FinalizerExists(mc, managed.FinalizerName) {
		// The finalizer is written next, and takes with it what stands in the status. Nothing may happen for long after that.
		n.next = now
	}
	n.known = true
	if same(mc.Status, *next) {
		return
	}
	if !urgent(mc, f, *next) {
		if due := n.due(now, e.glance); now.Before(due) {
			n.next = soonest(n.next, due)
			return
		}
	}
	mc.Status = *next
}

func same(a, b v1alpha1.ManagedClusterStatus) bool {
	if !equality.Semantic.DeepEqual(a.AtProvider, b.AtProvider) || len(a.Conditions) != len(b.Conditions) {
		return false
	}
	for _, c := range b.Conditions {
		if !a.GetCondition(c.Type).Equal(c) {
			return false
		}
	}
	return true
}

// urgent is true for what somebody waits for, and for what has to be remembered: another generation, readiness, which of its objects
// there are, whether the Cluster goes, and the Site. During a deletion it is all of it, since nobody comes back when progress is due.
func urgent(mc *v1alpha1.ManagedCluster, f facts, next v1alpha1.ManagedClusterStatus) bool {
	if meta.WasDeleted(mc) {
		return true
	}
	a, b := mc.Status, next
	before, after := a.GetCondition(xpv2.TypeReady), b.GetCondition(xpv2.TypeReady)
	if before.Status != after.Status || before.ObservedGeneration != after.ObservedGeneration {
		return true
	}
	if !equality.Semantic.DeepEqual(a.AtProvider.Provisioned, b.AtProvider.Provisioned) {
		return true
	}
	if rebased(a.AtProvider.Topology, b.AtProvider.Topology) {
		return true
	}
	if a.AtProvider.UID != b.AtProvider.UID || !equality.Semantic.DeepEqual(a.AtProvider.Initialized, b.AtProvider.Initialized) {
		return true
	}
	if leaving(b) && !leaving(a) || missing(b) != missing(a) || a.AtProvider.SiteName != b.AtProvider.SiteName || a.AtProvider.SiteUID != b.AtProvider.SiteUID {
		return true
	}
	if rolled(a, b) {
		return true
	}
	// Those that others made are not missed when they go.
	for _, p := range f.parts {
		kind, name := p.want.GetKind(), p.want.GetName()
		if uidOf(a.AtProvider, kind, name) != uidOf(b.AtProvider, kind, name) {
			return true
		}
	}
	return false
}

// rolled is true if it was told that the control plane is rolled out, and it is well again.
func rolled(a, b v1alpha1.ManagedClusterStatus) bool {
	return a.GetCondition(v1alpha1.TypeControlPlaneReady).Reason == readiness.ReasonRollingOut && b.GetCondition(v1alpha1.TypeControlPlaneReady).Status == corev1.ConditionTrue
}

// leaving is true for a Cluster that is being deleted, and missing for one that is known not to be there.
func leaving(s v1alpha1.ManagedClusterStatus) bool {
	return s.GetCondition(v1alpha1.TypeDeleting).Status == corev1.ConditionTrue
}

func missing(s v1alpha1.ManagedClusterStatus) bool {
	return s.GetCondition(v1alpha1.TypeDeleting).Reason == readiness.ReasonObjectMissing
}

func uidOf(o v1alpha1.ManagedClusterObservation, kind, name string) string {
	for _, one := range o.Objects {
		if one.Kind == kind && one.Name == name {
			return one.UID
		}
	}
	return ""
}

func conditions(mc *v1alpha1.ManagedCluster, f facts, d decision) []xpv2.Condition {
	status := corev1.ConditionFalse
	if d.reason == v1alpha1.ReasonReady {
		status = corev1.ConditionTrue
	}
	ready := condition(mc, xpv2.TypeReady, status, d.reason, d.message)
	if meta.WasDeleted(mc) {
		// Whoever calls us says this after each look. What it waits for is in another condition.
		ready = xpv2.Deleting().WithObservedGeneration(mc.GetGeneration())
	}
	out := []xpv2.Condition{ready}
	for _, c := range f.report.Conditions {
		message := readiness.Blocker{By: c.By, Message: c.Message}.String()
		if c.Message == "" {
			message = ""
		}
		out = append(out, condition(mc, xpv2.ConditionType(c.Type), corev1.ConditionStatus(c.Status), xpv2.ConditionReason(c.Reason), message))
	}
	return out
}

func condition(mc *v1alpha1.ManagedCluster, of xpv2.ConditionType, s corev1.ConditionStatus, reason xpv2.ConditionReason, message string) xpv2.Condition {
	return xpv2.Condition{
		Type: of, Status: s, Reason: reason, Message: cut(message), LastTransitionTime: metav1.Now(),
	}.WithObservedGeneration(mc.GetGeneration())
}

func cut(message string) string {
	if r := []rune(message); len(r) > maxMessage {
		return string(r[:maxMessage])
	}
	return message
}

// observation is what is remembered, and what is seen. What was seen of another Cluster of that name says nothing of this one.
func observation(f facts, before v1alpha1.ManagedClusterObservation) v1alpha1.ManagedClusterObservation {
	r := f.report
	if r.UID == "" || lost(f) != "" || f.taken != "" || replaced(f, before) {
		return absent(f, before)
	}
	out := v1alpha1.ManagedClusterObservation{
		UID: r.UID, ClusterAPIVersion: r.APIVersion, Phase: r.Phase, Version: r.Version,
		Contracts:      v1alpha1.Contracts{Infrastructure: string(r.Infrastructure), ControlPlane: string(r.ControlPlane)},
		Objects:        objectsOf(f, before),
		FailureDomains: failureDomains(r),
		Replicas:       v1alpha1.Replicas{ControlPlane: machines(r.ControlPlanes), Workers: machines(r.Workers)},
		StartedAt:      stamp(f.now),
	}
	var was *v1alpha1.ObservedTopology
	if before.UID == r.UID {
		out.StartedAt, out.InfrastructureReadyAt = clocks(f)
		out.ReadySince, out.WasReady = before.ReadySince, before.WasReady
		out.Provisioned, was = before.Provisioned, before.Topology
	}
	out.Topology = topologyOf(f, was)
	if out.StartedAt == nil {
		out.StartedAt = stamp(f.now)
	}
	latch(&out, f)
	if r.Endpoint != (readiness.Endpoint{}) {
		out.Endpoint = &v1alpha1.Endpoint{Host: r.Endpoint.Host, Port: int32(r.Endpoint.Port)} //nolint:gosec // A port that is too large is not known, and shown as it is cut.
	}
	if r.KubeconfigDigest != "" {
		ref := v1alpha1.SecretReference{Name: readiness.SecretName(f.mc.Spec.ForProvider.Cluster.Name), Key: readiness.SecretKey}
		out.Kubeconfig = &v1alpha1.Kubeconfig{SecretRef: ref, Digest: r.KubeconfigDigest}
		if !r.KubeconfigExpires.IsZero() {
			out.Kubeconfig.Expires = stamp(r.KubeconfigExpires)
		}
	}
	if b := r.Blocker(); b.Reason != "" {
		out.Blocker = &v1alpha1.Blocker{Kind: b.By.Kind, Name: b.By.Name, Reason: b.Reason, Message: cut(b.Message)}
	}
	out.SiteUID = before.SiteUID
	if f.site.ours {
		out.SiteName, out.SiteUID = siteName(f.mc), f.site.uid
	}
	return out
}

// latch what is remembered of a Cluster.
func latch(out *v1alpha1.ManagedClusterObservation, f facts) {
	r := f.report
	if i := r.Initialized; i.UID != "" {
		out.Initialized = &v1alpha1.Latch{UID: i.UID, At: *stamp(i.At)}
	}
	if out.InfrastructureReadyAt == nil && r.Is(readiness.TypeInfrastructureReady, readiness.True) {
		out.InfrastructureReadyAt = stamp(f.now)
	}
	if out.Provisioned == nil && provisioned(r) {
		out.Provisioned = &v1alpha1.Latch{UID: r.UID, At: *stamp(f.now)}
	}
	if !f.ready {
		out.ReadySince = nil
		return
	}
	if out.ReadySince == nil {
		out.ReadySince = stamp(f.now)
	}
	if out.WasReady == nil {
		out.WasReady = &v1alpha1.Latch{UID: r.UID, At: *stamp(f.now)}
	}
}

// provisioned is true for a cluster that is all there, be there a kubeconfig or not.
func provisioned(r readiness.Report) bool {
	return r.Is(readiness.TypeInfrastructureReady, readiness.True) && r.Is(readiness.TypeControlPlaneReady, readiness.True) && r.Is(readiness.TypeEndpointKnown, readiness.True)
}

// absent is what stays when there is no Cluster of ours, or nobody can tell: which objects there were.
func absent(f facts, before v1alpha1.ManagedClusterObservation) v1alpha1.ManagedClusterObservation {
	out := *before.DeepCopy()
	out.ReadySince = nil
	if b := f.report.Blocker(); b.Reason != "" {
		out.Blocker = &v1alpha1.Blocker{Kind: b.By.Kind, Name: b.By.Name, Reason: b.Reason, Message: cut(b.Message)}
	}
	if f.taken == "" { // What is somebody else's is not remembered, or it would be missed when it goes.
		out.Objects = objectsOf(f, before)
	}
	return out
}

func failureDomains(r readiness.Report) []v1alpha1.FailureDomain {
	var out []v1alpha1.FailureDomain
	for _, d := range r.FailureDomains {
		out = append(out, v1alpha1.FailureDomain{Name: d.Name, ControlPlane: d.ControlPlane})
	}
	return out
}

func machines(r readiness.Replicas) v1alpha1.Machines {
	return v1alpha1.Machines{Desired: int32(r.Desired), Ready: int32(r.Ready)} //nolint:gosec // Nobody has as many machines.
}

// stamp has no more precision than a status can hold.
func stamp(t time.Time) *metav1.Time {
	out := metav1.NewTime(t.UTC().Truncate(time.Second))
	return &out
}

func soonest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func initialized(mc *v1alpha1.ManagedCluster) readiness.Initialized {
	if l := mc.Status.AtProvider.Initialized; l != nil {
		return readiness.Initialized{UID: l.UID, At: l.At.UTC()}
	}
	return readiness.Initialized{}
}

func stabilization(mc *v1alpha1.ManagedCluster) time.Duration {
	if s := mc.Spec.ForProvider.Readiness.StabilizationSeconds; s != nil {
		return time.Duration(*s) * time.Second
	}
	return readiness.Stabilization
}
