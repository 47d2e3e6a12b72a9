package workloadcluster

import (
	"maps"
	"regexp"
	"slices"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1alpha1 "github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/workloadcluster/v1alpha1"
)

var (
	now = metav1.NewTime(time.Date(2031, 12, 17, 13, 14, 15, 0, time.UTC))

	// timeOrCounter matches texts that would change a message without a change of state.
	timeOrCounter = regexp.MustCompile(`\d{2}:\d{2}|\d+(\.\d+)?(ms|s|m|h)\b|resourceVersion`)

	statuses = []corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown}

	// verdicts are the reasons of Ready that a ManagedCluster may have. The first one is that before the first observation.
	verdicts = []xpv2.ConditionReason{
		"", clusterv1alpha1.ReasonReady, "Provisioning", clusterv1alpha1.ReasonDegraded, clusterv1alpha1.ReasonPolicyDenied, clusterv1alpha1.ReasonNameTaken,
		clusterv1alpha1.ReasonTemplateMissing, clusterv1alpha1.ReasonObjectsGone, clusterv1alpha1.ReasonSiteGone, clusterv1alpha1.ReasonChangeIgnored,
		clusterv1alpha1.ReasonInfrastructureTimedOut, clusterv1alpha1.ReasonControlPlaneTimedOut, clusterv1alpha1.ReasonDeleting,
	}

	allPhases = []v1alpha1.Phase{
		"", v1alpha1.PhasePending, v1alpha1.PhaseProvisioning, v1alpha1.PhaseProvisioned, v1alpha1.PhaseDegraded, v1alpha1.PhaseDeleting, v1alpha1.PhaseFailed,
	}
)

// evidence is one combination of all values that the phase depends on.
type evidence struct {
	infrastructure, controlPlane, endpoint                     corev1.ConditionStatus
	plane                                                      xpv2.ConditionReason
	kubeconfig                                                 corev1.ConditionStatus
	deleting                                                   xpv2.Condition
	verdict                                                    xpv2.ConditionReason
	uid, latch                                                 string
	behind, matchesDesired, synced, deletionRequested, problem bool
}

func (e evidence) toFacts() *facts {
	f := &facts{Digest: "d", matchesDesired: e.matchesDesired, Spec: v1alpha1.WorkloadClusterSpec{ClusterDescription: clusterv1alpha1.ClusterDescription{Type: clusterv1alpha1.TypeExisting}}}
	if e.problem {
		f.Problem, f.ProblemReason = "spec.clusterName: it is wrong", v1alpha1.ReasonInvalidSpec
	}
	mc := &clusterv1alpha1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1", Generation: 2}}
	if e.deletionRequested {
		mc.DeletionTimestamp = &now
	}
	mc.Status.AtProvider.UID = e.uid
	if e.latch != "" {
		mc.Status.AtProvider.Provisioned = &clusterv1alpha1.Latch{UID: e.latch, At: now}
	}
	say := func(conditionType xpv2.ConditionType, s corev1.ConditionStatus, reason xpv2.ConditionReason) {
		mc.SetConditions(xpv2.Condition{Type: conditionType, Status: s, Reason: reason, Message: "words"}.WithObservedGeneration(2 - map[bool]int64{true: 1}[e.behind]))
	}
	say(xpv2.TypeSynced, map[bool]corev1.ConditionStatus{true: "True", false: "False"}[e.synced], "R")
	if e.verdict != "" {
		say(xpv2.TypeReady, map[bool]corev1.ConditionStatus{true: "True", false: "False"}[e.verdict == clusterv1alpha1.ReasonReady], e.verdict)
		say(clusterv1alpha1.TypeInfrastructureReady, e.infrastructure, "R")
		say(clusterv1alpha1.TypeControlPlaneReady, e.controlPlane, e.plane)
		say(clusterv1alpha1.TypeKubeconfigReady, e.kubeconfig, "R")
		say(clusterv1alpha1.TypeEndpointKnown, e.endpoint, "R")
		say(clusterv1alpha1.TypeDeleting, e.deleting.Status, e.deleting.Reason)
	}
	f.Observed = mc
	return f
}

// forEachEvidence calls do with all combinations of evidence, and returns how many there are.
func forEachEvidence(do func(evidence)) int {
	n := 0
	deletings := []xpv2.Condition{{Status: "False", Reason: "NotDeleting"}, {Status: "True", Reason: "DeletionRequested"}, {Status: "False", Reason: "ObjectMissing"}, {Status: "Unknown", Reason: "ManagementUnreachable"}}
	planes := []evidence{
		{controlPlane: "True", plane: "R", kubeconfig: "True"},
		{controlPlane: "False", plane: "R", kubeconfig: "True"},
		{controlPlane: "Unknown", plane: "R", kubeconfig: "True"},
		{controlPlane: "False", plane: "RollingOut", kubeconfig: "True"},
		{controlPlane: "False", plane: "RollingOut", kubeconfig: "False"},
		{controlPlane: "Unknown", plane: "RollingOut", kubeconfig: "True"},
	}
	for _, infrastructure := range statuses {
		for _, plane := range planes {
			for _, endpoint := range statuses {
				for _, deleting := range deletings {
					for _, verdict := range verdicts {
						for _, uids := range [][2]string{{"", ""}, {"u1", ""}, {"u1", "u1"}, {"u2", "u1"}} {
							for flags := range 32 {
								do(evidence{
									infrastructure: infrastructure, controlPlane: plane.controlPlane, plane: plane.plane, kubeconfig: plane.kubeconfig,
									endpoint: endpoint, deleting: deleting, verdict: verdict,
									uid: uids[0], latch: uids[1],
									behind: flags&1 != 0, matchesDesired: flags&2 == 0, synced: flags&4 == 0, deletionRequested: flags&8 != 0, problem: flags&16 != 0,
								})
								n++
							}
						}
					}
				}
			}
		}
	}
	return n
}

// matchingPhases returns the phases of all rows that match, of which the first one counts.
func (e evidence) matchingPhases() []v1alpha1.Phase {
	three := e.infrastructure == "True" && e.controlPlane == "True" && e.endpoint == "True"
	looked, judged := e.verdict != "", e.verdict != "" && e.matchesDesired && !e.behind
	ours := e.verdict != clusterv1alpha1.ReasonNameTaken && e.verdict != clusterv1alpha1.ReasonObjectsGone
	isRefused := slices.Contains([]xpv2.ConditionReason{"PolicyDenied", "NameTaken", "ChangeIgnoredByProvider", "InfrastructureTimedOut", "ControlPlaneTimedOut"}, e.verdict)
	var out []v1alpha1.Phase
	add := func(p v1alpha1.Phase, isMatch bool) {
		if isMatch {
			out = append(out, p)
		}
	}
	going := e.deletionRequested || looked && (e.deleting.Status == "True" || e.deleting.Reason == "ObjectMissing")
	add("Deleting", e.uid != "" && e.verdict != "NameTaken" && going)
	add("Provisioned", looked && ours && three)
	rolls := e.controlPlane == "False" && e.plane == "RollingOut" && e.kubeconfig == "True"
	add("Provisioned", looked && ours && e.uid != "" && e.latch == e.uid && rolls && e.infrastructure == "True" && e.endpoint == "True")
	add("Degraded", e.uid != "" && e.latch == e.uid)
	add("Failed", e.problem || judged && isRefused)
	add("Provisioning", looked)
	return append(out, "Pending")
}

// TestPhaseOfAllEvidence checks all combinations of evidence: each has one phase, which is that of the first row that matches, and each
// transition to it is legal.
func TestPhaseOfAllEvidence(t *testing.T) {
	ways, reached, messages := map[[2]string]bool{}, map[v1alpha1.Phase]int{}, map[string]bool{}
	n := forEachEvidence(func(e evidence) {
		f := e.toFacts()
		p := f.currentPhase()
		if want := e.matchingPhases()[0]; p != want {
			t.Fatalf("phase of %+v: want %s, got %s", e, want, p)
		}
		if repeated := e.toFacts().currentPhase(); repeated != p {
			t.Fatalf("phase of %+v: %s, and then %s", e, p, repeated)
		}
		reached[p]++
		checkConditions(t, e, f, messages)
		if key := [2]string{string(p), e.uid}; !ways[key] {
			ways[key] = true
			checkTransitionsFromEachPhase(t, f)
		}
	})
	if diff := cmp.Diff(len(allPhases)-1, len(reached)); diff != "" {
		t.Errorf("phases that some evidence leads to: -want, +got:\n%s", diff)
	}
	for m := range messages {
		if timeOrCounter.MatchString(m) {
			t.Errorf("a message changes by itself: %q", m)
		}
	}
	t.Logf("%d combinations of evidence, in %v; %d ways to be in a phase, from each other one", n, reached, len(ways))
}

// checkTransitionsFromEachPhase comes from each phase, with the same Cluster and with another one.
func checkTransitionsFromEachPhase(t *testing.T, f *facts) {
	t.Helper()
	for _, from := range allPhases {
		for _, uid := range []string{"", "u1"} {
			last := &v1alpha1.WorkloadClusterStatus{Phase: from, Cluster: &v1alpha1.ObservedCluster{UID: uid}}
			checkTransitions(t, last, projectStatus(f, last, now))
		}
	}
}

func checkConditions(t *testing.T, e evidence, f *facts, messages map[string]bool) {
	t.Helper()
	statusByType, all := map[string]corev1.ConditionStatus{}, projectConditions(f)
	for _, c := range all {
		statusByType[c.Type] = c.Status
		messages[c.Message] = true
		if c.Reason == "" {
			t.Fatalf("conditions of %+v: %+v", e, c)
		}
	}
	messages[f.phaseMessage()] = true
	ready, phase := f.isClusterReady(), f.currentPhase()
	switch {
	case len(statusByType) != 12 || len(all) != 12:
		t.Fatalf("conditions of %+v: want all twelve, got %v", e, slices.Sorted(maps.Keys(statusByType)))
	case statusByType[v1alpha1.TypeStalled] == "True" && statusByType[v1alpha1.TypeReconciling] == "True":
		t.Fatalf("conditions of %+v: both Stalled and Reconciling", e)
	case ready && (statusByType[v1alpha1.TypeStalled] == "True" || statusByType[v1alpha1.TypeReconciling] == "True" || phase != v1alpha1.PhaseProvisioned):
		t.Fatalf("%+v: ready, phase %s, conditions %v", e, phase, statusByType)
	case ready && e.controlPlane != "True":
		t.Fatalf("%+v: ready without a control plane", e)
	case ready && (e.behind || !e.matchesDesired || !e.synced || e.problem || e.verdict != clusterv1alpha1.ReasonReady):
		t.Fatalf("%+v: ready without evidence", e)
	case !ready && statusByType[v1alpha1.TypeStalled] != "True" && statusByType[v1alpha1.TypeReconciling] != "True":
		t.Fatalf("%+v: not ready, and neither Stalled nor Reconciling", e)
	case phase == v1alpha1.PhaseFailed && statusByType[v1alpha1.TypeStalled] != "True":
		t.Fatalf("%+v: failed, and not stalled", e)
	case f.phaseMessage() == "":
		t.Fatalf("%+v: message %q", e, f.phaseMessage())
	}
}

// legalChanges are the changes of the phase that are allowed. Any phase starts again at Pending for another Cluster.
func legalChanges() map[v1alpha1.Phase][]v1alpha1.Phase {
	return map[v1alpha1.Phase][]v1alpha1.Phase{
		"":             {"Pending"},
		"Pending":      {"Provisioning", "Failed"},
		"Provisioning": {"Provisioned", "Deleting", "Failed"},
		"Provisioned":  {"Degraded", "Deleting"},
		"Degraded":     {"Provisioned", "Deleting"},
		"Failed":       {"Provisioning", "Provisioned", "Deleting"},
		"Deleting":     {},
	}
}

func checkTransitions(t *testing.T, last, next *v1alpha1.WorkloadClusterStatus) {
	t.Helper()
	phase := last.Phase
	for _, transition := range next.Transitions {
		if transition.From != phase || transition.To != "Pending" && !slices.Contains(legalChanges()[transition.From], transition.To) {
			t.Fatalf("from %q to %q: illegal transition %q to %q", last.Phase, next.Phase, transition.From, transition.To)
		}
		phase = transition.To
	}
	isReplaced := last.Cluster.UID != "" && next.Cluster.UID != "" && last.Cluster.UID != next.Cluster.UID
	switch {
	case phase != next.Phase:
		t.Fatalf("from %q to %q: transitions end at %q", last.Phase, next.Phase, phase)
	case isReplaced && next.Transitions[0].To != "Pending":
		t.Fatalf("another Cluster does not start again: %v", next.Transitions)
	case last.Phase == next.Phase && !isReplaced && len(next.Transitions) > 0:
		t.Fatalf("nothing changed, and transitions are %v", next.Transitions)
	}
}
