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
	"github.com/intentplane/intentplane/apis/oneline"
	"github.com/intentplane/intentplane/provider/clusters/desired"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
	"github.com/intentplane/intentplane/provider/instant"
)

const (
	maxMessage = 1024

	// progressInterval is the long-term interval of progress writes. Urgent changes are written at once.
	progressInterval = time.Minute

	// progressBurst is the number of progress steps that are written without delay: a cluster that is being built takes a few steps, a flapping cluster takes
	// more.
	progressBurst = 10

	// progressPace is the delay of a step, in which it is combined with the next step: Cluster API writes several objects for one step. Each step costs six
	// tokens of Crossplane's circuit breaker, which gets one per second: the write itself, and the write of the WorkloadCluster's status.
	progressPace = 5 * time.Second
)

// updateStatus writes facts and decision into the status, now or a little later: the progress of a cluster that flaps is written once in a
// while.
func (e *external) updateStatus(mc *v1alpha1.ManagedCluster, f facts, d decision) {
	next := mc.Status.DeepCopy()
	next.AtProvider = newObservation(f, mc.Status.AtProvider)
	next.SetConditions(buildConditions(mc, f, d)...)
	n, now := e.note, f.now
	n.next = instant.Earliest(d.deadline, f.again)
	if !n.observed && !meta.FinalizerExists(mc, managed.FinalizerName) {
		// The write of the finalizer comes next, and discards the status. There may be no other event for a long time.
		n.next = now
	}
	n.observed = true
	if isSameStatus(mc.Status, *next) {
		return
	}
	if !isChangeUrgent(mc, f, *next) {
		if due := n.reserveProgressWrite(now, e.quick); now.Before(due) {
			n.next = instant.Earliest(n.next, due)
			return
		}
	}
	mc.Status = *next
}

func isSameStatus(a, b v1alpha1.ManagedClusterStatus) bool {
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

// isChangeUrgent reports whether a change is written at once: another generation, readiness, the UIDs of its objects, the deletion of the
// Cluster, and the Site. During a deletion every change is, since there may be no later reconcile.
func isChangeUrgent(mc *v1alpha1.ManagedCluster, f facts, next v1alpha1.ManagedClusterStatus) bool {
	if meta.WasDeleted(mc) {
		return true
	}
	a, b := mc.Status, next
	previousReady, nextReady := a.GetCondition(xpv2.TypeReady), b.GetCondition(xpv2.TypeReady)
	if previousReady.Status != nextReady.Status || previousReady.ObservedGeneration != nextReady.ObservedGeneration {
		return true
	}
	if !equality.Semantic.DeepEqual(a.AtProvider.Provisioned, b.AtProvider.Provisioned) {
		return true
	}
	if isTopologyUrgent(a.AtProvider.Topology, b.AtProvider.Topology) {
		return true
	}
	if a.AtProvider.UID != b.AtProvider.UID || !equality.Semantic.DeepEqual(a.AtProvider.Initialized, b.AtProvider.Initialized) {
		return true
	}
	if isClusterDeleting(b) && !isClusterDeleting(a) || isClusterMissing(b) != isClusterMissing(a) || a.AtProvider.SiteName != b.AtProvider.SiteName || a.AtProvider.SiteUID != b.AtProvider.SiteUID {
		return true
	}
	if hasRolledOut(a, b) {
		return true
	}
	// Objects that other owners made are not recorded.
	for _, p := range f.parts {
		kind, name := p.want.GetKind(), p.want.GetName()
		if findRecordedUID(a.AtProvider, kind, name) != findRecordedUID(b.AtProvider, kind, name) {
			return true
		}
	}
	return false
}

// hasRolledOut reports whether a rollout of the control plane that was reported has ended.
func hasRolledOut(a, b v1alpha1.ManagedClusterStatus) bool {
	return a.GetCondition(v1alpha1.TypeControlPlaneReady).Reason == readiness.ReasonRollingOut && b.GetCondition(v1alpha1.TypeControlPlaneReady).Status == corev1.ConditionTrue
}

// isClusterDeleting reports whether the Cluster is being deleted.
func isClusterDeleting(s v1alpha1.ManagedClusterStatus) bool {
	return s.GetCondition(v1alpha1.TypeDeleting).Status == corev1.ConditionTrue
}

func isClusterMissing(s v1alpha1.ManagedClusterStatus) bool {
	return s.GetCondition(v1alpha1.TypeDeleting).Reason == readiness.ReasonObjectMissing
}

func findRecordedUID(o v1alpha1.ManagedClusterObservation, kind, name string) string {
	for _, object := range o.Objects {
		if object.Kind == kind && object.Name == name {
			return object.UID
		}
	}
	return ""
}

func buildConditions(mc *v1alpha1.ManagedCluster, f facts, d decision) []xpv2.Condition {
	status := corev1.ConditionFalse
	if d.reason == v1alpha1.ReasonReady {
		status = corev1.ConditionTrue
	}
	ready := newCondition(mc, xpv2.TypeReady, status, d.reason, d.message)
	if meta.WasDeleted(mc) {
		// The managed reconciler sets this condition after each observation. The blocker of the deletion is in the condition Deleting of the
		// Cluster.
		ready = xpv2.Deleting().WithObservedGeneration(mc.GetGeneration())
	}
	out := []xpv2.Condition{ready}
	for _, c := range f.report.Conditions {
		message := readiness.Blocker{By: c.By, Message: c.Message}.String()
		if c.Message == "" {
			message = ""
		}
		out = append(out, newCondition(mc, xpv2.ConditionType(c.Type), corev1.ConditionStatus(c.Status), xpv2.ConditionReason(c.Reason), message))
	}
	return out
}

func newCondition(mc *v1alpha1.ManagedCluster, conditionType xpv2.ConditionType, s corev1.ConditionStatus, reason xpv2.ConditionReason, message string) xpv2.Condition {
	return xpv2.Condition{
		Type: conditionType, Status: s, Reason: reason, Message: oneline.Cut(message, maxMessage), LastTransitionTime: metav1.Now(),
	}.WithObservedGeneration(mc.GetGeneration())
}

// newObservation returns the observed state, and the retained part of the status. The state of another Cluster of that name is not kept.
func newObservation(f facts, previous v1alpha1.ManagedClusterObservation) v1alpha1.ManagedClusterObservation {
	r := f.report
	if r.UID == "" || describeLostObjects(f) != "" || f.taken != "" || isClusterReplaced(f, previous) {
		return absentObservation(f, previous)
	}
	out := v1alpha1.ManagedClusterObservation{
		UID: r.UID, ClusterAPIVersion: r.APIVersion, Phase: r.Phase, Version: r.Version,
		Contracts:      v1alpha1.Contracts{Infrastructure: string(r.Infrastructure), ControlPlane: string(r.ControlPlane)},
		Objects:        statusObjects(f, previous),
		FailureDomains: failureDomains(r),
		Replicas:       v1alpha1.Replicas{ControlPlane: machineCounts(r.ControlPlanes), Workers: machineCounts(r.Workers)},
		StartedAt:      instant.Timestamp(f.now),
	}
	var topology *v1alpha1.ObservedTopology
	if previous.UID == r.UID {
		out.StartedAt, out.InfrastructureReadyAt = timeoutClocks(f)
		out.ReadySince, out.WasReady = previous.ReadySince, previous.WasReady
		out.Provisioned, topology = previous.Provisioned, previous.Topology
	}
	out.Topology = topologyStatus(f, topology)
	if out.StartedAt == nil {
		out.StartedAt = instant.Timestamp(f.now)
	}
	latchStatusTimes(&out, f)
	if r.Endpoint != (readiness.Endpoint{}) {
		out.Endpoint = &v1alpha1.Endpoint{Host: r.Endpoint.Host, Port: int32(r.Endpoint.Port)} //nolint:gosec // A port above the range is reported as unknown, and is cut here.
	}
	if r.KubeconfigDigest != "" {
		ref := v1alpha1.SecretReference{Name: readiness.SecretName(f.mc.Spec.ForProvider.Cluster.Name), Key: readiness.SecretKey}
		out.Kubeconfig = &v1alpha1.Kubeconfig{SecretRef: ref, Digest: r.KubeconfigDigest}
		if !r.KubeconfigExpires.IsZero() {
			out.Kubeconfig.Expires = instant.Timestamp(r.KubeconfigExpires)
		}
	}
	if b := r.Blocker(); b.Reason != "" {
		out.Blocker = &v1alpha1.Blocker{Kind: b.By.Kind, Name: b.By.Name, Reason: b.Reason, Message: oneline.Cut(b.Message, maxMessage)}
	}
	out.SiteUID = previous.SiteUID
	if f.site.ours {
		out.SiteName, out.SiteUID = desired.SiteName(f.mc), f.site.uid
	}
	return out
}

// latchStatusTimes sets the times that are kept once they are reached.
func latchStatusTimes(out *v1alpha1.ManagedClusterObservation, f facts) {
	r := f.report
	if i := r.Initialized; i.UID != "" {
		out.Initialized = &v1alpha1.Latch{UID: i.UID, At: *instant.Timestamp(i.At)}
	}
	if out.InfrastructureReadyAt == nil && r.Is(readiness.TypeInfrastructureReady, readiness.True) {
		out.InfrastructureReadyAt = instant.Timestamp(f.now)
	}
	if out.Provisioned == nil && isProvisioned(r) {
		out.Provisioned = &v1alpha1.Latch{UID: r.UID, At: *instant.Timestamp(f.now)}
	}
	if !f.ready {
		out.ReadySince = nil
		return
	}
	if out.ReadySince == nil {
		out.ReadySince = instant.Timestamp(f.now)
	}
	if out.WasReady == nil {
		out.WasReady = &v1alpha1.Latch{UID: r.UID, At: *instant.Timestamp(f.now)}
	}
}

// isProvisioned reports whether infrastructure, control plane and endpoint are ready. The kubeconfig need not be.
func isProvisioned(r readiness.Report) bool {
	return r.Is(readiness.TypeInfrastructureReady, readiness.True) && r.Is(readiness.TypeControlPlaneReady, readiness.True) && r.Is(readiness.TypeEndpointKnown, readiness.True)
}

// absentObservation returns the retained part of the status when our Cluster does not exist or could not be read: the objects that existed.
func absentObservation(f facts, previous v1alpha1.ManagedClusterObservation) v1alpha1.ManagedClusterObservation {
	out := *previous.DeepCopy()
	out.ReadySince = nil
	if b := f.report.Blocker(); b.Reason != "" {
		out.Blocker = &v1alpha1.Blocker{Kind: b.By.Kind, Name: b.By.Name, Reason: b.Reason, Message: oneline.Cut(b.Message, maxMessage)}
	}
	if f.taken == "" { // An object of another owner is not recorded, otherwise its loss would be reported.
		out.Objects = statusObjects(f, previous)
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

func machineCounts(r readiness.Replicas) v1alpha1.Machines {
	return v1alpha1.Machines{Desired: int32(r.Desired), Ready: int32(r.Ready)} //nolint:gosec // No cluster has that many machines.
}

func recordedInitialized(mc *v1alpha1.ManagedCluster) readiness.Initialized {
	if l := mc.Status.AtProvider.Initialized; l != nil {
		return readiness.Initialized{UID: l.UID, At: l.At.UTC()}
	}
	return readiness.Initialized{}
}

func stabilizationPeriod(mc *v1alpha1.ManagedCluster) time.Duration {
	if s := mc.Spec.ForProvider.Readiness.StabilizationSeconds; s != nil {
		return time.Duration(*s) * time.Second
	}
	return readiness.Stabilization
}
