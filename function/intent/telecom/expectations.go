package telecom

import (
	"slices"
	"strings"

	"github.com/intentplane/intentplane/function/intent/document"
)

// intentTypes returns the subjects of a list of expectations, which their other fields name as well.
func intentTypes() []string {
	return []string{
		"ManagedElementIntentExpectation", "SubNetworkIntentExpectation", "NetworkSliceIntentExpectation", "ServiceIntentExpectation",
	}
}

// ReadExpectations reads a list of expectations, each in one of the two ways that they are written in. All are about one object: it returns a
// problem for expectations that contradict each other, too.
func ReadExpectations(d *Draft, root document.Node) *document.Problem {
	r := &expectationReader{Draft: d}
	return root.Each(FormExpectations, map[string]document.Reader{"intentExpectations": func(n document.Node) *document.Problem {
		items, ok := n.Value.([]document.Node)
		if !ok || len(items) == 0 {
			return document.Problemf(n.Path, "must be a list of expectations")
		}
		for _, item := range items {
			if prob := r.readListItem(item); prob != nil {
				return prob
			}
		}
		return nil
	}})
}

func (r *expectationReader) readListItem(n document.Node) *document.Problem {
	members, prob := n.Members()
	if prob != nil {
		return prob
	}
	if slices.ContainsFunc(members, func(m document.Member) bool { return strings.HasPrefix(m.Name, "intentExpectation") }) {
		return r.readFlatForm(n)
	}
	return r.readNestedForm(n)
}

func (r *expectationReader) readNestedForm(n document.Node) *document.Problem {
	var kind string
	prob := n.Each(FormExpectation, map[string]document.Reader{
		"intentType":       document.Into(&kind),
		"targets":          r.readTargets,
		"context":          r.readContexts,
		"intentParameters": r.readCharacteristics,
	})
	if prob == nil && !slices.Contains(intentTypes(), kind) {
		return document.Problemf(document.Child(n.Path, "intentType"), "must be one of %s", strings.Join(intentTypes(), ", "))
	}
	return prob
}

// readTargets reads the subject of the expectation: one target, which names the service.
func (r *expectationReader) readTargets(n document.Node) *document.Problem {
	items, ok := n.Value.([]document.Node)
	if !ok || len(items) != 1 {
		return document.Problemf(n.Path, "must be a list of one target: each deployment has one service")
	}
	var name string
	if prob := items[0].Each(FormExpectation, map[string]document.Reader{"name": document.Into(&name)}); prob != nil {
		return prob
	}
	return r.setTextOnce("service", &r.Service, &r.service, name, document.Child(items[0].Path, "name"))
}

func (r *expectationReader) readContexts(n document.Node) *document.Problem {
	items, ok := n.Value.([]document.Node)
	if !ok {
		return document.Problemf(n.Path, "must be a list")
	}
	for _, item := range items {
		if prob := r.readNestedContext(item); prob != nil {
			return prob
		}
	}
	return nil
}

func (r *expectationReader) readNestedContext(n document.Node) *document.Problem {
	var kind, slice string
	var sites []string
	prob := n.Each(FormExpectation, map[string]document.Reader{
		"contextType": document.Into(&kind),
		"sliceType":   document.Into(&slice),
		"sites":       readTextsInto(&sites),
	})
	switch {
	case prob != nil:
		return prob
	case kind == "SliceContext" && sites == nil:
		return r.setSliceType(slice, document.Child(n.Path, "sliceType"))
	case kind == "SiteContext" && slice == "" && len(sites) > 0:
		return r.setSiteNames(sites, document.Child(n.Path, "sites"))
	}
	return document.Problemf(document.Child(n.Path, "contextType"), "must be SliceContext, with sliceType, or SiteContext, with sites")
}
