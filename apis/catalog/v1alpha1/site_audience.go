package v1alpha1

import (
	"maps"

	"k8s.io/apimachinery/pkg/util/validation"
)

// LabelUsableFrom is a label of every Site, which the provider keeps equal to Site.UsableFrom. The function requests Sites by it, so that a
// response holds only Sites that the namespace of the deployment may use. It grants nothing: spec.allowedNamespaces does.
const LabelUsableFrom = "catalog.intentplane.dev/usable-from"

// Values of LabelUsableFrom that are not the name of a namespace. They begin with an upper-case character, which no namespace does.
const (
	// UsableFromSeveral is the value for a Site that more than one namespace may use.
	UsableFromSeveral = "Several"

	// UsableFromNone is the value for a Site that no namespace may use.
	UsableFromNone = "None"
)

// UsableFrom returns the value of LabelUsableFrom for spec.allowedNamespaces: the only namespace that may use the Site,
// UsableFromSeveral or UsableFromNone. A value that cannot be the name of a namespace counts as several.
func (s *Site) UsableFrom() string {
	switch allowed := s.Spec.AllowedNamespaces; {
	case len(allowed) == 0:
		return UsableFromNone
	case len(allowed) == 1 && len(validation.IsDNS1123Label(allowed[0])) == 0:
		return allowed[0]
	}
	return UsableFromSeveral
}

// SetUsableFrom sets LabelUsableFrom to the value for spec.allowedNamespaces. It returns true if the label had another value.
func (s *Site) SetUsableFrom() bool {
	want := s.UsableFrom()
	if s.GetLabels()[LabelUsableFrom] == want {
		return false
	}
	labels := maps.Clone(s.GetLabels())
	if labels == nil {
		labels = map[string]string{}
	}
	labels[LabelUsableFrom] = want
	s.SetLabels(labels)
	return true
}
