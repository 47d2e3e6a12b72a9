package workload

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/provider/gatewayapi"
)

func TestTrackReason(t *testing.T) {
	const name = "Deployment shop/web-green"
	deployment := func(spec, status string) string {
		return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web-green, namespace: shop, generation: 2}\nspec: {" + spec + "}\nstatus: {" + status + "}\n"
	}
	cases := map[string]struct {
		reason      string
		found       string
		minReplicas int64
		message     string
	}{
		"Scaling": {
			reason:      "An autoscaler that has not made its pods yet leaves too few for the requests.",
			found:       deployment("replicas: 1", "observedGeneration: 2, replicas: 1, updatedReplicas: 1, availableReplicas: 1"),
			minReplicas: 3, message: name + ": 1 of 3 pods are of the present template and available",
		},
		"ScaledOff": {
			reason: "An autoscaler leaves a Deployment alone that asks for no pods.",
			found:  deployment("replicas: 0", "observedGeneration: 2"), minReplicas: 3,
		},
		"Available": {
			reason: "A Deployment with all pods it asks for is available.",
			found:  deployment("replicas: 2", "observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2"),
		},
		"More": {
			reason: "An autoscaler may have made more pods.",
			found:  deployment("replicas: 2", "observedGeneration: 3, replicas: 4, updatedReplicas: 4, availableReplicas: 4"),
		},
		"None":    {reason: "A Deployment that asks for no pods has all of them.", found: deployment("replicas: 0", "observedGeneration: 2")},
		"Missing": {reason: "A Deployment that does not exist has no pods.", message: name + " does not exist or is being deleted"},
		"Default": {
			reason: "A Deployment without a number asks for one pod.", found: deployment("", "observedGeneration: 2"),
			message: name + ": 0 of 1 pods are of the present template and available",
		},
		"OldGeneration": {
			reason:  "A status of an earlier generation counts pods of another template.",
			found:   deployment("replicas: 2", "observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 2"),
			message: name + ": its controller has not seen its current generation",
		},
		"Starting": {
			reason:  "A pod that is not available gets no requests.",
			found:   deployment("replicas: 2", "observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 1"),
			message: name + ": 1 of 2 pods are of the present template and available",
		},
		"OldPods": {
			reason:  "Pods of the template before answer requests as long as they are there.",
			found:   deployment("replicas: 2", "observedGeneration: 2, replicas: 4, updatedReplicas: 2, availableReplicas: 4"),
			message: name + ": 2 pods are of an earlier template",
		},
		"BadType": {
			reason: "A field of another type proves nothing.",
			found:  deployment("replicas: many", ""), message: "cannot read Deployment: a field has an unexpected type",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			reason, message := TrackReason(TrackDeployment{Namespace: "shop", Name: "web-green", MinReplicas: tc.minReplicas}, decodeFound(t, tc.found))
			want := gatewayapi.ReasonCanaryNotAvailable
			if tc.message == "" {
				want = ""
			}
			if diff := cmp.Diff([]string{want, tc.message}, []string{reason, message}); diff != "" {
				t.Errorf("\n%s\nTrackReason(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// decodeFound returns an object as a client of the API server does, or nil for an empty text.
func decodeFound(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	if text == "" {
		return nil
	}
	b, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(b); err != nil {
		t.Fatal(err)
	}
	return u
}
