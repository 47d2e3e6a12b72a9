package track

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/apis/track/object"
)

// Bounds of the names of objects.
const (
	maxName        = 253
	maxServiceName = 63
)

// checkTrackNames returns an error for an object whose name with a suffix is too long, or is the name of another object. Both tracks count, so that the result does
// not depend on the track.
func (p *Parts) checkTrackNames() error {
	reserved := map[object.Object]bool{}
	for _, m := range p.members {
		reserved[object.Of(m.Unstructured)] = true
	}
	for _, m := range p.members {
		if !m.perTrack {
			continue
		}
		if err := m.checkNameInTracks(reserved); err != nil {
			return err
		}
	}
	return p.checkRefsNameNoTrack()
}

func (m *member) checkNameInTracks(reserved map[object.Object]bool) error {
	bound := maxName
	if m.hasGroupKind("", "Service") {
		bound = maxServiceName
	}
	for _, t := range []string{Blue, Green} {
		named := object.Of(m.Unstructured)
		named.Name = nameInTrack(t, m.GetName())
		if len(named.Name) > bound {
			return errors.Errorf("%s: the name has %d characters with the suffix of track %s, more than %d", object.Of(m.Unstructured), len(named.Name), t, bound)
		}
		if reserved[named] {
			return errors.Errorf("%s: has the name that %s gets in track %s: choose another one", named, object.Of(m.Unstructured), t)
		}
	}
	return nil
}

// checkRefsNameNoTrack returns an error for a backendRef that already names the copy of a Service in a track.
func (p *Parts) checkRefsNameNoTrack() error {
	f := p.frontsOfWorkload()
	for _, m := range p.selectMembers((*member).isGatewayRoute) {
		for i, rule := range rulesOfRoute(m.Unstructured) {
			for j, ref := range backendRefs(rule) {
				if front, t := f.frontOfBackendRef(m.GetNamespace(), ref); front != "" && t != Plain {
					return errors.Errorf("%s: %s is the copy of Service %s in track %s: name %s", backendRefField(m, i, j), object.TextAt(ref, "name"), front, t, front)
				}
			}
		}
	}
	return nil
}

// frontsOfWorkload returns the Services that select pods of the workload. A backendRef that names one gives each track a copy of it.
func (p *Parts) frontsOfWorkload() fronts {
	out := fronts{}
	for _, m := range p.selectMembers(func(m *member) bool { return m.front }) {
		out[types.NamespacedName{Namespace: m.GetNamespace(), Name: m.GetName()}] = true
	}
	return out
}
