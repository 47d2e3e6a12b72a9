package leftover

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/track/object"
)

// targets are the objects of a directory that a reference by selector may mean.
type targets struct {
	// pods are the objects that make pods. The pods of the workload have the label of their track.
	pods []placed

	// fronts keep their names and have the pods of one track at a time. copies are the Services of a track.
	fronts, copies []placed
}

func readTargets(all []placed) targets {
	out := targets{}
	for _, o := range all {
		_, hasPods := object.PodLabels(o.content)
		switch {
		case hasPods:
			out.pods = append(out.pods, o)
		case isService(o) && o.perTrack:
			out.copies = append(out.copies, o)
		case isService(o) && track.IsFront(o.content):
			out.fronts = append(out.fronts, o)
		}
	}
	return out
}

func isService(o placed) bool { return o.object.Group == "" && o.object.Kind == "Service" }

// mirrorField is the field of a filter by which a route sends copies of requests to another Service.
const mirrorField = "requestMirror"

// findFrontNames returns the mentions of fronts: policies that attach to a Service whose requests go to its copies, and routes and Ingresses that send
// requests past the weights, as a mirror of a route with weights does. In a track it returns mentions of a Service without copies, by its kind. Other
// callers use a front by its name.
func (t targets) findFrontNames(o placed) []Leftover {
	out := []Leftover{}
	for _, m := range append(mentionsInObject(o.content), nameMentions(o)...) {
		isOther := !m.isExplicit && (o.perTrack || !sendsRequests(o.object.Kind, m.path))
		if isOther || o.isRouted && !strings.Contains(m.path, mirrorField) {
			continue
		}
		for _, front := range t.fronts {
			if m.mentionsObject(front.object, o.object.Namespace) || m.isHostOfService(front.object, o.object.Namespace) {
				out = append(out, Leftover{In: o.object, Field: m.path, Names: front.object, Fault: FaultOneTrack})
			}
		}
	}
	return out
}

// sendsRequests reports whether an object, by its kind or a field, sends requests to Services past their callers, or says how requests to them are sent.
func sendsRequests(kind, path string) bool {
	text := strings.ToLower(kind + " " + path)
	words := []string{
		"backend", "route", "upstream", "destination", "mapping", "targetgroup", "split", "mirror", "weighted", "pool", "httpscaledobject", "serviceprofile",
	}
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

// nameMentions returns the name of an object of a kind that has the name of its Service, as in Consul, or as in Linkerd its DNS name.
func nameMentions(o placed) []mention {
	kinds := []string{"ServiceExport", "ServiceProfile", "ServiceDefaults", "ServiceResolver", "ServiceRouter", "ServiceSplitter"}
	if !slices.Contains(kinds, o.object.Kind) {
		return nil
	}
	return []mention{{path: "metadata.name", name: o.object.Name, kinds: []string{"service"}, isExplicit: o.object.Kind != "ServiceProfile"}}
}

// findSelections returns the selectors of an object that do not follow the tracks. Selectors of Services and of pods' own affinity are placed with them.
func (t targets) findSelections(o placed) []Leftover {
	if _, hasPods := object.PodLabels(o.content); hasPods || isService(o) {
		return nil
	}
	selections := selectionsOf(o.content)
	if o.perTrack {
		return t.findInTrack(o, selections)
	}
	out := []Leftover{}
	for _, s := range selections {
		front, ok := findLabelled(t.fronts, o, s.selector)
		if ok && !s.selector.Empty() && t.selectsServices(o, s) {
			out = append(out, Leftover{In: o.object, Field: s.path, Names: front.object, Fault: FaultOneTrack})
		}
	}
	return out
}

// selectsServices reports whether a selector is for Services: the kind or the field names Services, or no pod of the directory has the labels.
func (t targets) selectsServices(o placed, s selection) bool {
	if strings.Contains(o.object.Kind, "Service") || strings.Contains(strings.ToLower(s.path), "service") {
		return true
	}
	_, ok := t.findSelectedPods(o, s.selector)
	return !ok
}

// findInTrack returns the selectors of an object in a track. One selector with the label of the track is enough: further ones, such as the sources in a
// NetworkPolicy, may mean both.
func (t targets) findInTrack(o placed, selections []selection) []Leftover {
	i := slices.IndexFunc(selections, func(s selection) bool { return s.hasTrack })
	if i >= 0 {
		return t.findMissingCopy(o, selections[i])
	}
	out := []Leftover{}
	for _, s := range selections {
		if pods, ok := t.findSelectedPods(o, s.selector); ok && pods.perTrack {
			out = append(out, Leftover{In: o.object, Field: s.path, Names: pods.object, Fault: FaultBothTracks})
		}
	}
	return out
}

// findMissingCopy returns a selector that would select a front and, with the label of the track, selects nothing.
func (t targets) findMissingCopy(o placed, s selection) []Leftover {
	front, isFront := findLabelled(t.fronts, o, s.selector)
	_, isCopied := findLabelled(t.copies, o, s.selector)
	_, hasPods := t.findSelectedPods(o, s.selector)
	if !isFront || isCopied || hasPods && !t.selectsServices(o, s) {
		return nil
	}
	return []Leftover{{In: o.object, Field: s.path, Names: front.object, Fault: FaultNoCopy}}
}

// findSelectedPods returns an object whose pods a selector of another object selects: one in a track, if there is one.
func (t targets) findSelectedPods(o placed, s labels.Selector) (placed, bool) {
	found := slices.DeleteFunc(slices.Clone(t.pods), func(p placed) bool {
		pods, _ := object.PodLabels(p.content)
		return !reachesNamespace(o, p) || !s.Matches(pods)
	})
	i := slices.IndexFunc(found, func(p placed) bool { return p.perTrack })
	if len(found) == 0 {
		return placed{}, false
	}
	return found[max(i, 0)], true
}

// findLabelled returns an object with labels that a selector of another object selects.
func findLabelled(all []placed, o placed, s labels.Selector) (placed, bool) {
	i := slices.IndexFunc(all, func(p placed) bool { return reachesNamespace(o, p) && s.Matches(labels.Set(p.content.GetLabels())) })
	if i < 0 {
		return placed{}, false
	}
	return all[i], true
}

// reachesNamespace reports whether a selector of an object may select an object of another namespace.
func reachesNamespace(o, target placed) bool {
	isElsewhere := o.object.Namespace != "" && o.object.Namespace != target.object.Namespace
	return !isElsewhere || object.MapAt(o.content.Object, "spec", "namespaceSelector") != nil
}

// A selection is a selector by labels in an object, without the label of a track.
type selection struct {
	path     string
	selector labels.Selector
	hasTrack bool
}

// selectionsOf returns the selectors in an object, apart from its metadata: label selectors, and the labels or the text of a field whose name ends with
// selector. Selectors of nodes and namespaces are left out.
func selectionsOf(u *unstructured.Unstructured) []selection {
	v := selectionVisitor{}
	for _, field := range slices.Sorted(maps.Keys(u.Object)) {
		if field != "metadata" {
			v.visitFieldValue(field, field, u.Object[field], false)
		}
	}
	return v.found
}

type selectionVisitor struct{ found []selection }

func (v *selectionVisitor) visitFieldValue(path, field string, value any, inSelector bool) {
	name := singularKind(field)
	if slices.Contains([]string{"nodeselector", "namespaceselector", "objectselector"}, name) {
		return
	}
	isSelector := strings.HasSuffix(name, "selector") || inSelector && strings.HasSuffix(name, "label")
	switch value := value.(type) {
	case string:
		if s, err := labels.Parse(value); err == nil && isSelector && strings.ContainsAny(value, "=()") {
			v.add(path, s)
		}
	case []any:
		for i, item := range value {
			v.visitFieldValue(fmt.Sprintf("%s[%d]", path, i), field, item, inSelector)
		}
	case map[string]any:
		v.visitMapping(path, value, isSelector)
	}
}

func (v *selectionVisitor) visitMapping(path string, m map[string]any, isSelector bool) {
	if object.IsLabelSelector(m) {
		if s, err := object.SelectorAt(map[string]any{"at": m}, "at"); err == nil {
			v.add(path, s)
		}
		return
	}
	if set, ok := labelsOfMapping(m); ok && isSelector {
		v.add(path, labels.SelectorFromSet(set))
		return
	}
	for _, field := range slices.Sorted(maps.Keys(m)) {
		v.visitFieldValue(path+"."+field, field, m[field], isSelector)
	}
}

// labelsOfMapping returns a mapping of texts. An empty mapping selects everything, as an empty label selector does.
func labelsOfMapping(m map[string]any) (labels.Set, bool) {
	out := labels.Set{}
	for key, value := range m {
		text, ok := value.(string)
		if !ok {
			return nil, false
		}
		out[key] = text
	}
	return out, true
}

// add adds a selector without the label of a track.
func (v *selectionVisitor) add(path string, s labels.Selector) {
	requirements, _ := s.Requirements()
	rest := slices.DeleteFunc(slices.Clone(requirements), func(r labels.Requirement) bool { return r.Key() == track.LabelTrack })
	v.found = append(v.found, selection{path: path, selector: labels.NewSelector().Add(rest...), hasTrack: len(rest) < len(requirements)})
}
