package cluster

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster/server"
)

// A Mirror has the objects of a cluster as watches show them, so that reading them sends no request.
type Mirror struct {
	namespace string
	watches   *server.Watches
}

// MirrorParts select the objects that a Mirror has beside the objects that users made.
type MirrorParts struct {
	// IsComposedWanted selects their composed objects, and IsBeneathWanted the objects that ReadBeneath reads.
	IsComposedWanted, IsBeneathWanted bool
}

// Mirror watches the Bundles, Applications, deployments and clusters of a namespace, or of AllNamespaces, and the parts that are wanted. It returns an error
// when the context ends before all that can be read was.
func (c *Cluster) Mirror(ctx context.Context, namespace string, parts MirrorParts) (*Mirror, error) {
	m := &Mirror{namespace: namespace, watches: server.NewWatches(c.api)}
	if err := m.watches.Add(ctx, namespace, parts.resourcesInNamespaces()); err != nil {
		return nil, err
	}
	if parts.IsBeneathWanted {
		if err := m.watches.Add(ctx, AllNamespaces, beneathResources()); err != nil {
			return nil, err
		}
	}
	if !m.watches.WaitForObjects(ctx) {
		return nil, errors.New("cannot read all objects before the time was up")
	}
	return m, nil
}

// resourcesInNamespaces are the kinds to watch that are in namespaces.
func (p MirrorParts) resourcesInNamespaces() []schema.GroupVersionResource {
	out := []schema.GroupVersionResource{}
	for _, g := range claimGroups() {
		out = append(out, subjectResources(g)...)
	}
	if p.IsComposedWanted {
		out = append(append(out, composedResources()...), managedResource(), healthsResource(), statesResource())
	}
	return out
}

// Changed has a signal when an object changed since the signal before.
func (m *Mirror) Changed() <-chan struct{} { return m.watches.Changed() }

// Subject returns the objects of a name, as Cluster.Subject does.
func (m *Mirror) Subject(ctx context.Context, name string) (*Subjects, error) {
	return reader{Source: m.watches, namespace: m.namespace}.findSubjects(ctx, name)
}

// All returns the Bundles, Applications, deployments and clusters, as Cluster.All does.
func (m *Mirror) All(ctx context.Context) (*Subjects, error) {
	return reader{Source: m.watches, namespace: m.namespace}.readAllSubjects(ctx)
}
