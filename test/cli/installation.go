package cli

import (
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
)

// Installation returns the objects of an installation that is well.
func Installation(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	all, err := readInstallation()
	if err != nil {
		t.Fatal(err)
	}
	var out []*unstructured.Unstructured
	for _, o := range all {
		out = append(out, o.DeepCopy())
	}
	return out
}

// readInstallation decodes the sample once: it is large.
var readInstallation = sync.OnceValues(samples.Installation)

// SetConditions sets the conditions of the objects of a kind.
func SetConditions(all []*unstructured.Unstructured, kind string, conditions ...any) {
	for _, o := range all {
		if o.GetKind() == kind {
			o.Object["status"] = map[string]any{"conditions": conditions}
		}
	}
}

// Crossplane returns the objects of an installation that is well, beside the composite of a claim.
func Crossplane(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	return []*unstructured.Unstructured{
		Parse(t, `{apiVersion: pkg.crossplane.io/v1, kind: Provider, metadata: {name: provider-intentplane}, spec: {package: r/provider-intentplane}, status: {conditions: [{type: Healthy, status: "True", reason: Healthy}]}}`),
		Parse(t, `{apiVersion: pkg.crossplane.io/v1, kind: Provider, metadata: {name: provider-aws}, spec: {package: r/aws}, status: {conditions: [{type: Healthy, status: "False", reason: Sick}]}}`),
		Parse(t, `{apiVersion: pkg.crossplane.io/v1, kind: Function, metadata: {name: function-intentplane}, spec: {package: r/function-intentplane}, status: {conditions: [{type: Healthy, status: "True", reason: Healthy}]}}`),
		Parse(t, `{apiVersion: apiextensions.crossplane.io/v1, kind: CompositeResourceDefinition, metadata: {name: xintentdeployments.claims.intentplane.dev}, status: {conditions: [{type: Established, status: "True", reason: Watching}]}}`),
		Parse(t, `{apiVersion: claims.intentplane.dev/v1alpha1, kind: XIntentDeployment, metadata: {name: shop-x}, status: {conditions: [{type: Responsive, status: "True", reason: WatchCircuitClosed}]}}`),
		Parse(t, `{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {namespace: crossplane-system, name: intentplane-provider}, spec: {renewTime: "2031-05-06T14:03:38.000000Z"}}`),
	}
}
