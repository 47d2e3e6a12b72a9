package sites

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// forced is the number of calls of the function for a held revision.
const forced = 10

// claimForLabel is a claim for the Sites that a label chooses, judged by one measurement at edge1.
func (r *trial) claimForLabel(replicas int) *unstructured.Unstructured {
	r.T.Helper()
	o := r.Claim(claim, fmt.Sprintf(`{"service": "shop", "type": "web", "replicas": %d}`, replicas))
	r.Set(o, map[string]any{"matchLabels": map[string]any{"scene": r.Namespace}}, "spec", "deliveryConfig", "siteSelector")
	return r.claimWithChecks(o, 1)
}

// selectSiteByLabel chooses a Site by its label.
func (r *trial) selectSiteByLabel(name string) {
	r.T.Helper()
	site := r.Set(r.NewSite(name), map[string]any{"prometheus": map[string]any{"address": r.server.URL()}}, "spec", "metrics")
	r.Apply(r.Set(site, map[string]any{"scene": r.Namespace}, "metadata", "labels"))
}
