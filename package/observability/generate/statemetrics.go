package main

import (
	"strings"

	applicationv1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	bundlev1alpha1 "github.com/intentplane/intentplane/apis/bundle/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	workloadclusterv1alpha1 "github.com/intentplane/intentplane/apis/workloadcluster/v1alpha1"
)

// Labels by which Crossplane says which claim a composite is behind.
const (
	labelClaimName      = "crossplane.io/claim-name"
	labelClaimNamespace = "crossplane.io/claim-namespace"
)

// A stateMetrics is the configuration of kube-state-metrics.
type stateMetrics struct {
	Kind string `json:"kind"`
	Spec struct {
		Resources []stateResource `json:"resources"`
	} `json:"spec"`
}

// A stateResource says which metrics the objects of one kind have.
type stateResource struct {
	GroupVersionKind struct {
		Group   string `json:"group"`
		Version string `json:"version"`
		Kind    string `json:"kind"`
	} `json:"groupVersionKind"`
	MetricNamePrefix string              `json:"metricNamePrefix"`
	LabelsFromPath   map[string][]string `json:"labelsFromPath"`
	Metrics          []stateMetric       `json:"metrics"`
}

// A stateMetric is one metric of each object.
type stateMetric struct {
	Name string     `json:"name"`
	Help string     `json:"help"`
	Each stateValue `json:"each"`
}

// A stateValue says where value and labels are in an object.
type stateValue struct {
	Type  string      `json:"type"`
	Info  *stateInfo  `json:"info,omitempty"`
	Gauge *stateGauge `json:"gauge,omitempty"`
}

// A stateInfo is a metric that is 1, with labels.
type stateInfo struct {
	LabelsFromPath map[string][]string `json:"labelsFromPath"`
}

// A stateGauge is a metric for each item of a list.
type stateGauge struct {
	Path           []string            `json:"path"`
	LabelsFromPath map[string][]string `json:"labelsFromPath"`
	ValueFrom      []string            `json:"valueFrom"`
}

// newStateMetrics returns what kube-state-metrics serves of our kinds.
func newStateMetrics() stateMetrics {
	out := stateMetrics{Kind: "CustomResourceStateMetrics"}
	for _, group := range []string{deploymentv1alpha1.GroupNamespaced, deploymentv1alpha1.GroupClaims} {
		out.addKindMetrics(group, deploymentv1alpha1.Kind, "intentdeployment", "Stalled", map[string][]string{
			"phase": {"status", "phase"}, "outcome": {"status", "outcome"}, "revision": {"status", "revision"}, "live_revision": {"status", "liveRevision"},
		})
		out.addKindMetrics(group, applicationv1alpha1.Kind, "application", "Stalled", map[string][]string{"phase": {"status", "phase"}, "image": {"status", "shortImage"}, "available": {"status", "available"}})
		out.addKindMetrics(group, workloadclusterv1alpha1.Kind, "workloadcluster", "Stalled", map[string][]string{"phase": {"status", "phase"}, "version": {"status", "version"}})
		out.addKindMetrics(group, bundlev1alpha1.Kind, "bundle", "Stalled", map[string][]string{"phase": {"status", "phase"}, "version": {"status", "version"}})
	}
	for _, kind := range claimedComposites() {
		out.addComposite(kind)
	}
	for _, kind := range []string{"GitDelivery", "SiteSync"} {
		out.addKindMetrics(deliveryv1alpha1.GroupVersion.Group, kind, strings.ToLower(kind), "Ready", map[string][]string{"deployment": {"spec", "forProvider", "claimRef", "name"}})
	}
	out.addKindMetrics(rolloutv1alpha1.GroupVersion.Group, "Gate", "gate", "Ready", map[string][]string{"deployment": {"spec", "forProvider", "claimRef", "name"}})
	for _, kind := range []string{"ClusterProviderConfig", "ProviderConfig"} {
		out.addKindMetrics(configv1alpha1.Group, kind, strings.ToLower(kind), "Ready", map[string][]string{"control_plane": {"spec", "controlPlane"}})
	}
	return out
}

// claimedComposites returns the kinds of the composites behind claims.
func claimedComposites() []string {
	return []string{deploymentv1alpha1.KindComposite, applicationv1alpha1.KindComposite, workloadclusterv1alpha1.KindComposite, bundlev1alpha1.KindComposite}
}

// addComposite adds the kind of a composite behind a claim, with the conditions that Crossplane sets on it and not on the claim. Its labels name the claim.
func (m *stateMetrics) addComposite(kind string) {
	r := newStateResource(deploymentv1alpha1.GroupClaims, kind, strings.ToLower(kind))
	r.LabelsFromPath = map[string][]string{
		"name": {"metadata", "labels", labelClaimName}, "namespace": {"metadata", "labels", labelClaimNamespace}, "composite": {"metadata", "name"},
	}
	r.Metrics = []stateMetric{newConditionMetric(kind)}
	m.Spec.Resources = append(m.Spec.Resources, r)
}

// addKindMetrics adds a kind with two metrics: info, which is 1 and has labels, and condition, which is 1 where the condition is True and 0 where it is not.
func (m *stateMetrics) addKindMetrics(group, kind, prefix, reasonOf string, labels map[string][]string) {
	labels["reason"] = []string{"status", "conditions", "[type=" + reasonOf + "]", "reason"}
	r := newStateResource(group, kind, prefix)
	r.LabelsFromPath = map[string][]string{"name": {"metadata", "name"}, "namespace": {"metadata", "namespace"}}
	r.Metrics = []stateMetric{
		newConditionMetric(kind),
		{Name: "info", Help: "Each " + kind + ", with where it is. The reason is that of condition " + reasonOf + ".", Each: stateValue{Type: "Info", Info: &stateInfo{LabelsFromPath: labels}}},
	}
	m.Spec.Resources = append(m.Spec.Resources, r)
}

func newStateResource(group, kind, prefix string) stateResource {
	r := stateResource{MetricNamePrefix: prefix}
	r.GroupVersionKind.Group, r.GroupVersionKind.Version, r.GroupVersionKind.Kind = group, "v1alpha1", kind
	return r
}

func newConditionMetric(kind string) stateMetric {
	return stateMetric{Name: "condition", Help: "Each condition of each " + kind + ": 1 for True, 0 for False and Unknown.", Each: stateValue{Type: "Gauge", Gauge: &stateGauge{
		Path: []string{"status", "conditions"}, LabelsFromPath: map[string][]string{"type": {"type"}, "reason": {"reason"}}, ValueFrom: []string{"status"},
	}}}
}
