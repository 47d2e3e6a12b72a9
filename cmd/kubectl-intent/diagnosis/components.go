package diagnosis

import (
	"slices"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/function/render"
)

// A Component is a part of the installation that has a version.
type Component struct {
	Kind string `json:"kind"`
	Name string `json:"name"`

	// Version is empty where no tag says it.
	Version string `json:"version,omitempty"`

	// Renderer of a function is the version of the rules by which it renders. It is empty where the FunctionRevision does not say it, or was not read.
	Renderer string `json:"renderer,omitempty"`
}

// KindFunction is the kind of a Component that renders.
const KindFunction = "function"

// Components returns all parts whose versions were read, and the unreadable ones.
func (f *Facts) Components() ([]Component, []cause.Unread) {
	var out []Component
	var unread []cause.Unread
	for _, p := range []struct {
		kind string
		Part[Package]
	}{{KindFunction, f.Functions}, {"provider", f.Providers}, {"configuration", f.Configurations}} {
		for i := range p.Items {
			out = append(out, Component{Kind: p.kind, Name: p.Items[i].Metadata.Name, Version: p.Items[i].Version(), Renderer: f.rendererVersion(&p.Items[i])})
		}
		if p.Unread != nil {
			unread = append(unread, *p.Unread)
		}
	}
	for i := range f.Crossplane.Items {
		w := &f.Crossplane.Items[i]
		out = append(out, Component{Kind: "crossplane", Name: w.Metadata.Namespace + "/" + w.Metadata.Name, Version: w.Version()})
	}
	for _, u := range []*cause.Unread{f.Crossplane.Unread, f.FunctionRevisions.Unread} {
		if u != nil {
			unread = append(unread, *u)
		}
	}
	return out, unread
}

// rendererVersion returns the renderer's version in the annotation of a package's current revision, or "".
func (f *Facts) rendererVersion(p *Package) string {
	i := slices.IndexFunc(f.FunctionRevisions.Items, func(o cause.Object) bool { return o.Metadata.Name == p.Status.CurrentRevision })
	if i < 0 {
		return ""
	}
	return f.FunctionRevisions.Items[i].Metadata.Annotations[render.AnnotationVersion]
}
