package intent

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/intent/objective"
	"github.com/intentplane/intentplane/function/intent/telecom"
)

// FromExpectation reads a claim's spec.expectation. It returns an error that names the field for a value that cannot be carried
// out: the schema refuses most of them, but not everything that is read has passed through one.
func FromExpectation(e *deploymentv1alpha1.Expectation) (Intent, error) {
	if e == nil {
		return Intent{}, errors.New("spec.expectation: must be set")
	}
	return expectationIntoDraft(e, newIntentDraft(defaultIntent()))
}

func expectationIntoDraft(e *deploymentv1alpha1.Expectation, d *draft) (Intent, error) {
	d.fillFromExpectation(e)
	out, prob := d.normalizeDraft()
	if prob != nil {
		return Intent{}, errors.Errorf("spec.expectation.%s: %s", prob.Path, prob.Message)
	}
	return out, nil
}

func (d *draft) fillFromExpectation(e *deploymentv1alpha1.Expectation) {
	d.Service, d.Image = e.Service, e.Image
	d.Resources = Resources{CPU: string(e.Resources.CPU), Memory: string(e.Resources.Memory)}
	d.Parameters = convertValues(e.Parameters, func(v deploymentv1alpha1.ParameterValue) string { return string(v) })
	d.SiteReplicas = convertValues(e.SiteReplicas, func(n deploymentv1alpha1.Replicas) int32 { return int32(n) })
	if e.Type != "" {
		d.Type = e.Type
	}
	if e.Priority != "" {
		d.Priority = e.Priority
	}
	if e.Replicas != nil {
		d.Replicas = int32(*e.Replicas)
	}
	for _, s := range e.Sites {
		d.Sites = append(d.Sites, string(s))
	}
	for _, p := range e.Endpoints {
		d.Endpoints = append(d.Endpoints, Endpoint{Name: p.Name, Port: p.Port, Protocol: p.Protocol})
	}
	d.Runtime = e.Runtime.DeepCopy()
	d.fillNetwork(e)
}

func (d *draft) fillNetwork(e *deploymentv1alpha1.Expectation) {
	if e.QoS != nil {
		d.QoS = qosOfExpectation(e.QoS)
	}
	if s := e.Slice; s != nil {
		d.Slice = telecom.Slice{SST: new(s.SST), SD: s.SD, PLMN: s.PLMN}
	}
}

func qosOfExpectation(q *deploymentv1alpha1.QoS) objective.QoS {
	return objective.QoS{
		DownlinkMbps: string(q.DownlinkMbps), UplinkMbps: string(q.UplinkMbps), LatencyMs: string(q.LatencyMs),
		JitterMs: string(q.JitterMs), PacketLossRate: string(q.PacketLossRate),
	}
}

func convertValues[A, B any](in map[string]A, f func(A) B) map[string]B {
	out := make(map[string]B, len(in))
	for k, v := range in {
		out[k] = f(v)
	}
	return out
}
