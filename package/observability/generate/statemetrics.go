package main

import (
	"strings"

	applicationv1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	workloadclusterv1alpha1 "github.com/intentplane/intentplane/apis/workloadcluster/v1alpha1"
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
		out.add(group, deploymentv1alpha1.Kind, "intentdeployment", "Stalled", map[string][]string{
			"phase": {"status", "phase"}, "outcome": {"status", "outcome"}, "revision": {"status", "revision"}, "live_revision": {"status", "liveRevision"},
		})
		out.add(group, applicationv1alpha1.Kind, "application", "Stalled", map[string][]string{"phase": {"status", "phase"}, "image": {"status", "shortImage"}, "available": {"status", "available"}})
		out.add(group, workloadclusterv1alpha1.Kind, "workloadcluster", "Stalled", map[string][]string{"phase": {"status", "phase"}, "version": {"status", "version"}})
	}
	for _, kind := range []string{"GitDelivery", "SiteSync"} {
		out.add(deliveryv1alpha1.GroupVersion.Group, kind, strings.ToLower(kind), "Ready", map[string][]string{"deployment": {"spec", "forProvider", "claimRef", "name"}})
	}
	out.add(rolloutv1alpha1.GroupVersion.Group, "Gate", "gate", "Ready", map[string][]string{"deployment": {"spec", "forProvider", "claimRef", "name"}})
	for _, kind := range []string{"ClusterProviderConfig", "ProviderConfig"} {
		out.add(configv1alpha1.Group, kind, strings.ToLower(kind), "Ready", map[string][]string{"control_plane": {"spec", "controlPlane"}})
	}
	return out
}

// add a kind with two metrics: info, which is 1 and has labels, and condition, which is 1 where the condition is True and 0 where it is not.
func (m *stateMetrics) add(group, kind, prefix, reasonOf string, labels map[string][]string) {
	labels["reason"] = []string{"status", "conditions", "[type=" + reasonOf + "]", "reason"}
	r := stateResource{MetricNamePrefix: prefix, LabelsFromPath: map[string][]string{"name": {"metadata", "name"}, "namespace": {"metadata", "namespace"}}}
	r.GroupVersionKind.Group, r.GroupVersionKind.Version, r.GroupVersionKind.Kind = group, "v1alpha1", kind
	r.Metrics = []stateMetric{
		{Name: "info", Help: "Each " + kind + ", with where it is. The reason is that of condition " + reasonOf + ".", Each: stateValue{Type: "Info", Info: &stateInfo{LabelsFromPath: labels}}},
		{Name: "condition", Help: "Each condition of each " + kind + ": 1 for True, 0 for False and Unknown.", Each: stateValue{Type: "Gauge", Gauge: &stateGauge{
			Path: []string{"status", "conditions"}, LabelsFromPath: map[string][]string{"type": {"type"}, "reason": {"reason"}}, ValueFrom: []string{"status"},
		}}},
	}
	m.Spec.Resources = append(m.Spec.Resources, r)
}
