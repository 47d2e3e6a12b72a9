package intent

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// FromExpectation reads a claim's spec.expectation. Fields of it that an Intent does not have are left out. It returns an error that
// names the field for a value that cannot be carried out: the schema refuses most of them, but not everything that is read has
// passed through one.
func FromExpectation(e *deploymentv1alpha1.Expectation) (Intent, error) {
	if e == nil {
		return Intent{}, errors.New("spec.expectation: must be set")
	}
	d := draft{replicasPath: "siteReplicas", sitesPath: "sites", Intent: Intent{
		Service:      e.Service,
		Type:         e.Type,
		Replicas:     1,
		Image:        e.Image,
		Resources:    Resources{CPU: string(e.Resources.CPU), Memory: string(e.Resources.Memory)},
		Parameters:   convert(e.Parameters, func(v deploymentv1alpha1.ParameterValue) string { return string(v) }),
		SiteReplicas: convert(e.SiteReplicas, func(n deploymentv1alpha1.Replicas) int32 { return int32(n) }),
	}}
	if d.Type == "" {
		d.Type = DefaultType
	}
	if e.Replicas != nil {
		d.Replicas = int32(*e.Replicas)
	}
	for _, s := range e.Sites {
		d.Sites = append(d.Sites, string(s))
	}
	out, prob := d.normal()
	if prob != nil {
		return Intent{}, errors.Errorf("spec.expectation.%s: %s", prob.path, prob.message)
	}
	return out, nil
}

func convert[A, B any](in map[string]A, f func(A) B) map[string]B {
	out := make(map[string]B, len(in))
	for k, v := range in {
		out[k] = f(v)
	}
	return out
}
