package v1alpha1

import "testing"

func TestReserved(t *testing.T) {
	cases := map[string]struct {
		reason string
		labels []string
		notes  []string
		want   string
	}{
		"Own": {reason: "Labels and annotations of other domains are for users.", labels: []string{"env", "example.org/cni"}, notes: []string{"a.b/c"}},
		"Paused": {
			reason: "The annotation that pauses a Cluster is reserved, since it would stop its controllers.",
			notes:  []string{"a", "cluster.x-k8s.io/paused"}, want: "annotations[cluster.x-k8s.io/paused]",
		},
		"Below": {
			reason: "The subdomains of Cluster API are reserved.",
			labels: []string{"topology.cluster.x-k8s.io/owned"}, want: "labels[topology.cluster.x-k8s.io/owned]",
		},
		"Owner": {reason: "The label that marks objects of the provider is reserved.", labels: []string{LabelOwner}, want: "labels[" + LabelOwner + "]"},
		"First": {
			reason: "One is named, and always the same.",
			labels: []string{"z", "intentplane.dev/b", "intentplane.dev/a"}, want: "labels[intentplane.dev/a]",
		},
		"OtherDomain": {reason: "A domain that only ends alike is another one.", labels: []string{"mycluster.x-k8s.io/a", "notintentplane.dev/b"}},
		"NoDomain":    {reason: "A key without a domain is not reserved.", labels: []string{"cluster.x-k8s.io"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := ClusterDescription{Labels: map[string]LabelValue{}, Annotations: map[string]AnnotationValue{}}
			for _, key := range tc.labels {
				d.Labels[key] = ""
			}
			for _, key := range tc.notes {
				d.Annotations[key] = ""
			}
			if got := d.Reserved(); got != tc.want {
				t.Errorf("\n%s\nReserved(): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
