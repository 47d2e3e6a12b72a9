package v1alpha1_test

import (
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/admission"
)

// readDefinition returns the definition of a kind, by its plural name.
func readDefinition(t *testing.T, plural string) []byte {
	t.Helper()
	crd, err := os.ReadFile("../../../package/provider/crds/rollout.intentplane.dev_" + plural + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	if crd, err = yaml.YAMLToJSON(crd); err != nil {
		t.Fatal(err)
	}
	return crd
}

// contentOf returns an object as the API server gets it.
func contentOf(t *testing.T, o any) map[string]any {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// problemsOf returns the errors of an API server for an object, as far as they are about its spec.
func problemsOf(t *testing.T, plural string, o any) string {
	t.Helper()
	server, err := admission.Of(readDefinition(t, plural))
	if err != nil {
		t.Fatal(err)
	}
	content := contentOf(t, o)
	delete(content, "status")
	var out []string
	for _, p := range server.Check(t.Context(), content) {
		if strings.Contains(p.String(), "spec") {
			out = append(out, p.String())
		}
	}
	return strings.Join(out, "\n")
}

// TestMoveLedgerFields checks which requests to move a ledger the API server takes.
func TestMoveLedgerFields(t *testing.T) {
	target := &v1alpha1.ConfigReference{Name: "regional"}
	cases := map[string]struct {
		reason string
		change func(*v1alpha1.RolloutRequestSpec)
		want   string
	}{
		"Moves": {reason: "A request may move the ledger to another repository.", change: func(s *v1alpha1.RolloutRequestSpec) { s.ToConfigRef = target }},
		"Forced": {
			reason: "A request may move a ledger whose home is gone.",
			change: func(s *v1alpha1.RolloutRequestSpec) { s.ToConfigRef, s.Force = target, new(true) },
		},
		"Nowhere": {
			reason: "A move without a repository is refused.",
			change: func(*v1alpha1.RolloutRequestSpec) {}, want: "toConfigRef goes with action MoveLedger, and only with it",
		},
		"Unnamed": {
			reason: "A repository without a name is refused.",
			change: func(s *v1alpha1.RolloutRequestSpec) { s.ToConfigRef = &v1alpha1.ConfigReference{} }, want: "toConfigRef.name",
		},
		"OtherKind": {reason: "A kind that holds no repository is refused.", change: func(s *v1alpha1.RolloutRequestSpec) {
			s.ToConfigRef = &v1alpha1.ConfigReference{Kind: "Secret", Name: "a"}
		}, want: "toConfigRef.kind"},
		"Retry": {
			reason: "No other action moves a ledger.",
			change: func(s *v1alpha1.RolloutRequestSpec) { s.Action, s.ToConfigRef = v1alpha1.ActionRetry, target },
			want:   "toConfigRef goes with action MoveLedger, and only with it",
		},
		"RetryForce": {
			reason: "No other action can be forced.",
			change: func(s *v1alpha1.RolloutRequestSpec) { s.Action, s.Force = v1alpha1.ActionRetry, new(true) },
			want:   "force goes with action MoveLedger only",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := &v1alpha1.RolloutRequest{
				TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "RolloutRequest"},
				ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "shop-move"},
			}
			r.Spec = v1alpha1.RolloutRequestSpec{
				DeploymentRef: v1alpha1.DeploymentReference{APIGroup: "claims.intentplane.dev", Kind: "IntentDeployment", Name: "shop"},
				Action:        v1alpha1.ActionMoveLedger, Revision: 1,
			}
			tc.change(&r.Spec)
			got := problemsOf(t, "rolloutrequests", r)
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("\n%s\nCheck(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

// TestPromoteFields checks which requests to release steps the API server takes.
func TestPromoteFields(t *testing.T) {
	step := new(int32(2))
	cases := map[string]struct {
		reason string
		change func(*v1alpha1.RolloutRequestSpec)
		want   string
	}{
		"Step": {reason: "A request may release one step.", change: func(s *v1alpha1.RolloutRequestSpec) { s.Step = step }},
		"Zero": {
			reason: "Steps count from 1, as in the status of a deployment.",
			change: func(s *v1alpha1.RolloutRequestSpec) { s.Step = new(int32(0)) }, want: "spec.step",
		},
		"Full": {reason: "A request may release all steps.", change: func(s *v1alpha1.RolloutRequestSpec) { s.Full = new(true) }},
		"Neither": {
			reason: "A request that releases nothing is refused.",
			change: func(*v1alpha1.RolloutRequestSpec) {}, want: "step or full goes with action Promote, and only with it",
		},
		"Both": {
			reason: "A request that releases one step and all is refused.",
			change: func(s *v1alpha1.RolloutRequestSpec) { s.Step, s.Full = step, new(true) }, want: "step and full exclude each other",
		},
		"NotFull": {
			reason: "A request that says no is refused.",
			change: func(s *v1alpha1.RolloutRequestSpec) { s.Full = new(false) }, want: "full is true or absent",
		},
		"FullRetry": {
			reason: "No other action releases steps.",
			change: func(s *v1alpha1.RolloutRequestSpec) { s.Action, s.Full = v1alpha1.ActionRetry, new(true) },
			want:   "step or full goes with action Promote",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := &v1alpha1.RolloutRequest{
				TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "RolloutRequest"},
				ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "shop-promote"},
			}
			r.Spec = v1alpha1.RolloutRequestSpec{
				DeploymentRef: v1alpha1.DeploymentReference{APIGroup: "claims.intentplane.dev", Kind: "IntentDeployment", Name: "shop"},
				Action:        v1alpha1.ActionPromote, Revision: 1,
			}
			tc.change(&r.Spec)
			got := problemsOf(t, "rolloutrequests", r)
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("\n%s\nCheck(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
