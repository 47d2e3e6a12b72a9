package workload

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/gobuffalo/flect"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/intentplane/intentplane/apis/instruction"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/track"
)

// maxListings is how many lists a Site costs in one pass, each of a kind in a namespace. Of a directory with more, the kinds whose states are named here come
// first, which are workloads, then routes, then the others by group and kind. An object of a kind that is left out is waited for until the timeout.
const maxListings = 16

// A Listing is a list of the delivered objects of one kind in one namespace, whose statuses may declare a failure final.
type Listing struct {
	// Resource of the kind, in the version in which it was delivered.
	Resource schema.GroupVersionResource

	// Namespace of the objects.
	Namespace string

	// Names of the delivered objects.
	Names map[string]bool

	kind schema.GroupKind
}

// Listings returns the lists of the objects of a directory whose statuses may declare a failure final, at most 16, workloads and routes first. Objects without
// a namespace are left out: deployments of other namespaces have them, too.
func Listings(delivered []instruction.Manifest) []Listing {
	type place struct {
		kind      schema.GroupKind
		namespace string
	}
	all := map[place]Listing{}
	for _, m := range delivered {
		p := place{kind: schema.GroupKind{Group: m.Object.Group, Kind: m.Object.Kind}, namespace: m.Object.Namespace}
		if p.namespace == "" || !mayDeclareFailure(p.kind) {
			continue
		}
		if _, isListed := all[p]; !isListed {
			all[p] = Listing{Resource: resourceOfKind(p.kind.WithVersion(m.Version)), Namespace: p.namespace, Names: map[string]bool{}, kind: p.kind}
		}
		all[p].Names[m.Object.Name] = true
	}
	out := slices.SortedFunc(maps.Values(all), compareListings)
	return out[:min(len(out), maxListings)]
}

// resourceOfKind returns the resource of a kind without a request to the cluster: its plural is the plural that controller-gen gives to the definition of a kind. A
// definition may choose another plural: the cluster then answers that it does not serve the resource, as it does for a kind without a definition.
func resourceOfKind(gvk schema.GroupVersionKind) schema.GroupVersionResource {
	return gvk.GroupVersion().WithResource(flect.Pluralize(strings.ToLower(gvk.Kind)))
}

// mayDeclareFailure reports whether objects of a kind may declare a failure final: the named kinds, the routes of the Gateway API, and any kind that is not one of
// Kubernetes' own. Secrets, for one, are never listed.
func mayDeclareFailure(gk schema.GroupKind) bool {
	if gk.Group == track.GatewayGroup {
		return isGatewayRoute(gk)
	}
	return isNamedKind(gk) || !policy.IsBuiltIn(gk)
}

func isNamedKind(gk schema.GroupKind) bool {
	return slices.ContainsFunc(finalStates(), func(f finalState) bool { return f.includesKind(gk) })
}

func isGatewayRoute(gk schema.GroupKind) bool {
	return gk.Group == track.GatewayGroup && strings.HasSuffix(gk.Kind, "Route")
}

func compareListings(a, b Listing) int {
	return cmp.Or(
		cmp.Compare(kindPriority(a.kind), kindPriority(b.kind)), cmp.Compare(a.kind.Group, b.kind.Group), cmp.Compare(a.kind.Kind, b.kind.Kind),
		cmp.Compare(a.Namespace, b.Namespace),
	)
}

// kindPriority orders kinds: workloads come before routes, and routes before others.
func kindPriority(gk schema.GroupKind) int {
	switch {
	case isNamedKind(gk):
		return 0
	case isGatewayRoute(gk):
		return 1
	}
	return 2
}
