package v1alpha1

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// reservedDomains are the domains whose labels and annotations mean something to Cluster API and to Intentplane: a tenant who sets one of
// them could pause a Cluster, or pass it off as another tenant's.
func reservedDomains() []string { return []string{"cluster.x-k8s.io", "intentplane.dev"} }

// Reserved returns the path of a label or an annotation that users may not set, below the description, or "".
func (d *ClusterDescription) Reserved() string {
	for _, key := range slices.Sorted(maps.Keys(d.Labels)) {
		if isReservedKey(key) {
			return fmt.Sprintf("labels[%s]", key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(d.Annotations)) {
		if isReservedKey(key) {
			return fmt.Sprintf("annotations[%s]", key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(d.Site.Labels)) {
		if isReservedKey(key) {
			return fmt.Sprintf("site.labels[%s]", key)
		}
	}
	return ""
}

func isReservedKey(key string) bool {
	domain, _, found := strings.Cut(key, "/")
	return found && slices.ContainsFunc(reservedDomains(), func(r string) bool { return domain == r || strings.HasSuffix(domain, "."+r) })
}
