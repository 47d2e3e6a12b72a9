package controlplane

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestFalseConditions(t *testing.T) {
	established := map[string]any{"type": "Established", "status": "True"}
	refused := map[string]any{"type": "Established", "status": "False", "reason": "TooExpensive", "message": "rule"}
	cases := map[string]struct {
		reason string
		xrd    *unstructured.Unstructured
		want   []string
	}{
		"Composite": {reason: "An XRD without a claim need not be offered.", xrd: xrd(false, established)},
		"Claim":     {reason: "An XRD with a claim should be offered.", xrd: xrd(true, established), want: []string{"XRD x is not Offered:  "}},
		"Silent":    {reason: "A condition without a message does not count as met.", xrd: xrd(false), want: []string{"XRD x is not Established:  "}},
		"Refused": {
			reason: "The reason of the refusal should be in the message.",
			xrd:    xrd(false, refused), want: []string{"XRD x is not Established: TooExpensive rule"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := expectation{kind: "XRD", conditions: expectUsable}.falseConditions(tc.xrd)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\ncomplaints(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func xrd(claims bool, conditions ...any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": conditions}}}
	u.SetName("x")
	if claims {
		u.Object["spec"] = map[string]any{"claimNames": map[string]any{"kind": "X"}}
	}
	return u
}
