package sites

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/gitops"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// transitionsOfSuccess are the transitions of a revision that goes well, from a phase on.
func transitionsOfSuccess(revision, from string) []string {
	return transitionLines(revision, from, "Pending", "Compiling", "Rendering", "Delivering", "Validating", "Succeeded")
}

// transitionsOfRollback are the transitions of a revision that is rejected by its Gate and rolled back.
func transitionsOfRollback(revision, from string) []string {
	return transitionLines(revision, from, "Pending", "Compiling", "Rendering", "Delivering", "Validating", "Failed", "RollingBack", "Succeeded")
}

func transitionLines(revision string, phases ...string) []string {
	var out []string
	for i, target := range phases[1:] {
		out = append(out, revision+": "+phases[i]+">"+target)
	}
	return out
}

// transitionEvents are the events about the transitions of a deployment, without events about other objects.
func (s *stage) transitionEvents(o *unstructured.Unstructured) []string {
	s.T.Helper()
	l := &corev1.EventList{}
	s.Must(s.Client.List(s.T.Context(), l, client.InNamespace(s.Namespace)))
	var out []string
	for _, e := range l.Items {
		if strings.HasPrefix(e.Message, "Transitioned ") && e.InvolvedObject.UID == o.GetUID() {
			phases, _, _ := strings.Cut(e.Message, ": ") // Why follows.
			out = append(out, phases)
		}
	}
	slices.Sort(out)
	return out
}

// wantTransitionEvents fails the test unless an event reports each transition of the status, and no other does.
func (s *stage) wantTransitionEvents(u *unstructured.Unstructured) {
	s.T.Helper()
	var want []string
	for _, entry := range s.logOfTransitions(u) {
		_, phases, _ := strings.Cut(entry, ": ")
		source, target, _ := strings.Cut(phases, ">")
		if source == "" {
			want = append(want, "Transitioned to "+target)
			continue
		}
		want = append(want, "Transitioned from "+source+" to "+target)
	}
	slices.Sort(want)
	s.Until("each transition has its event", patience.Limit, func() bool { return len(s.transitionEvents(u)) >= len(want) })
	if diff := cmp.Diff(want, s.transitionEvents(u)); diff != "" {
		s.T.Errorf("events: -want (status), +got:\n%s", diff)
	}
}

// awaitOutcome waits until this very spec came to a phase and an outcome.
func (s *stage) awaitOutcome(o *unstructured.Unstructured, phase, outcome string) *unstructured.Unstructured {
	s.T.Helper()
	return s.Reach(o, phase+" "+outcome, func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "phase") == phase && scene.Field(u, "status", "outcome") == outcome
	})
}

// logOfTransitions returns the transitions of a deployment, each as "revision: from to".
func (s *stage) logOfTransitions(u *unstructured.Unstructured) []string {
	s.T.Helper()
	all, _, err := unstructured.NestedSlice(u.Object, "status", "transitions")
	s.Must(err)
	var out []string
	for _, logEntry := range all {
		entry, _ := logEntry.(map[string]any)
		out = append(out, fmt.Sprintf("%v: %v>%v", entry["revision"], valueOrDefault(entry["from"], ""), entry["to"]))
	}
	return out
}

func valueOrDefault(v any, otherwise string) any {
	if v == nil {
		return otherwise
	}
	return v
}

// awaitRequestDone waits until a RolloutRequest was carried out.
func (s *stage) awaitRequestDone(name string) {
	s.T.Helper()
	s.Inside("wait", "--timeout="+patience.Limit.String(), "--for=condition=Completed", "rolloutrequests.rollout.intentplane.dev/"+name)
}

// wantHealthStatus compares the health of an object by the library of Flux, and by Argo CD with the script that we ship.
func (s *stage) wantHealthStatus(u *unstructured.Unstructured, kstatus, argoCD string) {
	s.T.Helper()
	result, err := status.Compute(u)
	s.Must(err)
	health, message, err := gitops.ArgoCDHealth(u)
	s.Must(err)
	s.WantEqual(fmt.Sprintf("health of %s (%s; %s)", u.GetName(), result.Message, message), [2]string{kstatus, argoCD}, [2]string{result.Status.String(), health})
}
