package workloadcluster

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/intentplane/intentplane/apis/workloadcluster/v1alpha1"
	"github.com/intentplane/intentplane/function/catalog"
)

// TestNameConflict has a claim and a composite of one name, which want one ManagedCluster: the first one keeps it.
func TestNameConflict(t *testing.T) {
	const need = "managedcluster/team-a/north"
	owned := func(fields string) []json.RawMessage {
		return []json.RawMessage{json.RawMessage(`{"metadata": {"name": "north", "namespace": "team-a"` + fields + `}}`)}
	}
	const theirs = `, "ownerReferences": [{"apiVersion": "a/v1", "kind": "K", "name": "n", "uid": "theirs", "controller": true}]`
	cases := map[string]struct {
		reason  string
		answers catalog.Answers
		asked   bool
		phase   v1alpha1.Phase
		stalled string
		message string
	}{
		"Unanswered": {
			reason: "Crossplane calls again with the answer.",
			asked:  true, phase: v1alpha1.PhasePending, message: "The provider has not observed the ManagedCluster yet.",
		},
		"None": {
			reason:  "A ManagedCluster is requested if none has its name.",
			answers: catalog.Answers{need: {}}, asked: true, phase: v1alpha1.PhasePending,
			message: "The provider has not observed the ManagedCluster yet.",
		},
		"Ours": {
			reason:  "A ManagedCluster of this composite is requested although it is not observed yet.",
			answers: catalog.Answers{need: owned(strings.ReplaceAll(theirs, "theirs", "ours"))}, asked: true, phase: v1alpha1.PhasePending,
			message: "The provider has not observed the ManagedCluster yet.",
		},
		"Nobodys": {
			reason:  "A ManagedCluster without a controller is requested, since Crossplane takes it over.",
			answers: catalog.Answers{need: owned("")}, asked: true, phase: v1alpha1.PhasePending,
			message: "The provider has not observed the ManagedCluster yet.",
		},
		"Theirs": {
			reason:  "A ManagedCluster of another composite is not taken over.",
			answers: catalog.Answers{need: owned(theirs)}, phase: v1alpha1.PhaseFailed, stalled: "NameTaken",
			message: "ManagedCluster north belongs to another WorkloadCluster: a claim and a namespaced composite cannot have one name in one namespace.",
		},
		"Going": {
			reason:  "A ManagedCluster of another composite that is being deleted is waited for.",
			answers: catalog.Answers{need: owned(theirs + `, "deletionTimestamp": "2026-11-01T12:00:00Z"`)}, phase: v1alpha1.PhasePending,
			message: "ManagedCluster north of another WorkloadCluster is still being deleted: ours is created once it is gone.",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := Input{Namespace: "team-a", Name: "north", UID: "ours", Spec: topologySpec(), Now: now, Answers: tc.answers}
			out, err := Run(in)
			if err != nil {
				t.Fatal(err)
			}
			w := &world{T: t, in: in, out: out}
			doing := v1alpha1.ReasonProgressing
			if tc.stalled != "" {
				doing = ""
			}
			w.checkState(tc.reason, tc.phase, false, tc.stalled, doing)
			_, isRequested := out.Resources[Name]
			want := []catalog.Need{{Name: need, APIVersion: "cluster.intentplane.dev/v1alpha1", Kind: "ManagedCluster", MatchName: "north", Namespace: "team-a"}}
			if diff := cmp.Diff(want, out.Needs); diff != "" || isRequested != tc.asked || out.Status.Message != tc.message {
				t.Errorf("\n%s\nasked %t, message %q, needs: -want, +got:\n%s", tc.reason, isRequested, out.Status.Message, diff)
			}
			if c := w.condition(v1alpha1.TypeValid); (c.Reason == "NameTaken") != (tc.stalled != "") {
				t.Errorf("\n%s\nValid: %+v", tc.reason, c)
			}
		})
	}
	if w := newReadyWorld(t); len(w.out.Needs) > 0 {
		t.Errorf("a composite that has its ManagedCluster still asks for one of the same name: %v", w.out.Needs)
	}
}
