package job

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// TestRefuseForeign has Jobs with texts of a hostile cluster.
func TestRefuseForeign(t *testing.T) {
	long := strings.Repeat("x", maxUIDBytes+1)
	cases := map[string]struct {
		reason   string
		recorded *v1alpha1.CheckJobReference
		uid      types.UID
		labels   map[string]any
		want     string
	}{
		"Known": {
			reason: "A Job of the recorded UID is the provider's own.", recorded: &v1alpha1.CheckJobReference{UID: "one"}, uid: "one",
		},
		"Replaced": {
			reason: "The message about another UID is one line.", recorded: &v1alpha1.CheckJobReference{UID: "one"}, uid: "t\nw\x1bo",
			want: "the Job was replaced: the cluster has another Job of this name, with UID t w o",
		},
		"LongUID": {
			reason: "No status can have a longer UID.", uid: types.UID(long), want: "the cluster gives the Job a UID that is too long",
		},
		"RecordedLongUID": {
			reason: "A status of an earlier version may have no such UID either.", recorded: &v1alpha1.CheckJobReference{UID: long}, uid: types.UID(long),
			want: "the cluster gives the Job a UID that is too long",
		},
		"Other": {
			reason: "A Job of another Gate is not the provider's own.", uid: "one", labels: map[string]any{LabelGate: "other"},
			want: "the cluster has another Job of this name, which differs in metadata.labels[rollout.intentplane.dev/gate]",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"labels": tc.labels}}}
			got := RefuseForeign(Input{Gate: "gate"}, tc.recorded, o, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: tc.uid}})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nRefuseForeign(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestUsableUID(t *testing.T) {
	for uid, want := range map[types.UID]types.UID{
		"0f8fad5b-d9cb-469f-a165-70867728950e": "0f8fad5b-d9cb-469f-a165-70867728950e", types.UID(strings.Repeat("x", maxUIDBytes+1)): "",
	} {
		if got := UsableUID(uid); got != want {
			t.Errorf("A UID that no status can have is not used: UsableUID(%q): want %q, got %q", uid, want, got)
		}
	}
}
