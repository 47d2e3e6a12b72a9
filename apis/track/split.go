package track

import (
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/track/object"
	"github.com/intentplane/intentplane/apis/tree"
)

// A Selector names objects that the author of a Blueprint wants in each track, although neither the workload nor a route leads to them.
type Selector struct {
	// Group of the objects. Empty means the core group.
	Group string

	// Kind of the objects.
	Kind string

	// Name of the object. Empty means each object of the kind.
	Name string
}

// Parts are the objects of a rendered workload, sorted into objects per track and shared objects.
type Parts struct {
	members []*member
}

// A member is an object and where it goes. A Service that routes send requests to, and a ConfigMap that something shared names too, is in each track
// and shared as well.
type member struct {
	*unstructured.Unstructured

	file    string
	content []byte

	// perTrack objects are in the folder of each track.
	perTrack bool

	// shared objects are in the shared folder.
	shared bool

	// listed objects are per track because a Selector names them.
	listed bool

	// front is true for a shared Service that selects pods of the workload.
	front bool

	// routed is true for a route that sends requests to a front.
	routed bool
}

// Split sorts the objects of rendered files, each of which holds one. Per track are the Deployments that are marked, the ConfigMaps and Secrets that
// their pods name, the autoscalers that scale them, the disruption budgets for just their pods, and the objects that perTrack names. Services that select
// pods of the workload are shared, and routes send requests to copies of them in each track. It returns an error that names the object, and the field
// and the numbers where there are any, for a workload that cannot have two tracks.
func Split(files tree.Files, perTrack []Selector) (*Parts, error) {
	p := &Parts{}
	steps := []func() error{
		func() error { return p.readMembers(files) },
		p.selectMarked,
		func() error { return p.selectListed(perTrack) },
		p.selectNamedByPods,
		p.selectScalersAndBudgets,
		p.checkScalers,
		p.selectFronts,
		p.selectRoutes,
		p.selectShared,
		p.checkTrackNames,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *Parts) readMembers(files tree.Files) error {
	for _, name := range files.Names() {
		u, err := object.Decode(files[name])
		if err != nil {
			return errors.Wrap(err, name)
		}
		if hasTrackLabelKey(u.Object) {
			return errors.Errorf("%s: sets %s, which is reserved: leave it out", object.Of(u), LabelTrack)
		}
		p.members = append(p.members, &member{Unstructured: u, file: name, content: files[name]})
	}
	return nil
}

// hasTrackLabelKey reports whether a field has the name of our label.
func hasTrackLabelKey(value any) bool {
	switch v := value.(type) {
	case []any:
		return slices.ContainsFunc(v, hasTrackLabelKey)
	case map[string]any:
		for field, item := range v {
			if field == LabelTrack || hasTrackLabelKey(item) {
				return true
			}
		}
	}
	return false
}

func (m *member) hasGroupKind(group, kind string) bool {
	return m.GroupVersionKind().Group == group && m.GetKind() == kind
}

func (m *member) isGatewayRoute() bool { return isGatewayRoute(m.Unstructured) }

func (p *Parts) selectMarked() error {
	for _, m := range p.members {
		if m.GetLabels()[LabelWorkload] != WorkloadMain {
			continue
		}
		if err := m.checkCanHaveTracks(); err != nil {
			return err
		}
		// A CronJob may be marked for its resources, and is shared.
		m.perTrack = m.hasGroupKind("apps", "Deployment")
	}
	if len(p.workloadMembers()) == 0 {
		return errors.Errorf("spec.canary: no Deployment has the label %s: %s", LabelWorkload, WorkloadMain)
	}
	return nil
}

func (m *member) checkCanHaveTracks() error {
	if slices.Contains([]string{"StatefulSet", "DaemonSet", "ReplicaSet", "Job", "Pod"}, m.GetKind()) {
		return errors.Errorf("%s: cannot have two tracks: a canary needs a Deployment", object.Of(m.Unstructured))
	}
	return nil
}

// workloadMembers returns the Deployments that each track has.
func (p *Parts) workloadMembers() []*member {
	return p.selectMembers(func(m *member) bool { return m.perTrack && m.hasGroupKind("apps", "Deployment") })
}

func (p *Parts) selectMembers(choose func(*member) bool) []*member {
	return slices.DeleteFunc(slices.Clone(p.members), func(m *member) bool { return !choose(m) })
}

func (p *Parts) selectListed(selectors []Selector) error {
	for i, s := range selectors {
		found := p.selectMembers(func(m *member) bool {
			return m.hasGroupKind(s.Group, s.Kind) && (s.Name == "" || s.Name == m.GetName())
		})
		if len(found) == 0 {
			return errors.Errorf("spec.canary.perTrack[%d]: no %s %s is rendered", i, s.Kind, s.Name)
		}
		for _, m := range found {
			if err := m.selectAsListed(); err != nil {
				return errors.Wrapf(err, "spec.canary.perTrack[%d]", i)
			}
		}
	}
	return nil
}

func (m *member) selectAsListed() error {
	if m.isGatewayRoute() {
		return errors.Errorf("%s: a route is shared: its weights divide the requests between the tracks", object.Of(m.Unstructured))
	}
	m.perTrack, m.listed = true, true
	return m.checkCanHaveTracks()
}

// selectShared marks the objects without a track as shared, and also the ConfigMaps and Secrets of the tracks that a shared object names.
func (p *Parts) selectShared() error {
	for _, m := range p.members {
		m.shared = m.shared || !m.perTrack
	}
	shared := p.selectMembers(func(m *member) bool { return m.shared })
	for _, m := range p.members {
		if !m.hasGroupKind("", "ConfigMap") && !m.hasGroupKind("", "Secret") {
			continue
		}
		m.shared = m.shared || slices.ContainsFunc(shared, func(s *member) bool {
			return sharesNamespace(s, m) && object.RefersTo(s.Unstructured, m.GetKind(), m.GetName())
		})
	}
	return nil
}

// sharesNamespace is also true for an object without a namespace, which may name objects of each.
func sharesNamespace(a, b *member) bool {
	return a.GetNamespace() == "" || a.GetNamespace() == b.GetNamespace()
}
