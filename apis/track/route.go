package track

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/apis/track/object"
)

func isGatewayRoute(u *unstructured.Unstructured) bool {
	return u.GroupVersionKind().Group == GatewayGroup && (u.GetKind() == "HTTPRoute" || u.GetKind() == "GRPCRoute")
}

// rulesOfRoute returns the rules of a route, which may be changed in place.
func rulesOfRoute(route *unstructured.Unstructured) []map[string]any {
	return object.MapsOf(object.ListAt(route.Object, "spec", "rules"))
}

// backendRefs of a rule, which may be changed in place.
func backendRefs(rule map[string]any) []map[string]any {
	return object.MapsOf(object.ListAt(rule, "backendRefs"))
}

func isServiceRef(ref map[string]any) bool {
	kind := object.TextAt(ref, "kind")
	return object.TextAt(ref, "group") == "" && (kind == "" || kind == "Service")
}

// weightOfBackend returns the weight of a backendRef, which is 1 by default.
func weightOfBackend(ref map[string]any) (int64, bool) {
	value, ok := ref["weight"]
	if !ok || value == nil {
		return 1, true
	}
	n, ok := object.ParseInteger(value)
	return n, ok && n >= 0
}

func backendRefField(route *member, rule, ref int) string {
	return fmt.Sprintf("%s: spec.rules[%d].backendRefs[%d]", object.Of(route.Unstructured), rule, ref)
}

// checkRouteRule returns an error for a rule that has too many backendRefs to double them, or weights that are too large to be multiplied by 100.
func checkRouteRule(route *member, rule int, content map[string]any) error {
	refs := backendRefs(content)
	if len(refs) > MaxBackendRefs {
		return errors.Errorf("%s: spec.rules[%d].backendRefs: there are %d, and a canary allows %d in a rule that sends requests to its workload",
			object.Of(route.Unstructured), rule, len(refs), MaxBackendRefs)
	}
	for j, ref := range refs {
		if n, ok := weightOfBackend(ref); !ok || n > MaxWeight {
			return errors.Errorf("%s.weight: %v must be a whole number from 0 to %d, since a canary multiplies it by 100",
				backendRefField(route, rule, j), ref["weight"], MaxWeight)
		}
	}
	return nil
}

// A share is one backendRef as its author wrote it, and how the tracks share its weight.
type share struct {
	// front is the Service of the backendRef. Empty means that it is not a front, and that the tracks do not share it.
	front string

	// ref is the entry.
	ref map[string]any

	// weights of the tracks that have an entry.
	weights map[string]int64
}

// readRuleShares returns the shares of a rule of a route in a namespace. Two entries beside each other are one share when they differ by their track and
// their weight alone.
func readRuleShares(namespace string, rule map[string]any, f fronts) ([]share, error) {
	out := []share{}
	for _, ref := range backendRefs(rule) {
		front, track := f.frontOfBackendRef(namespace, ref)
		weight, ok := weightOfBackend(ref)
		if !ok {
			return nil, errors.Errorf("weight %v of %s is not a whole number", ref["weight"], object.TextAt(ref, "name"))
		}
		if n := len(out); n > 0 && front != "" && out[n-1].takesWeightOf(ref, front, track) {
			out[n-1].weights[track] = weight
			continue
		}
		out = append(out, share{front: front, ref: ref, weights: map[string]int64{track: weight}})
	}
	return out, nil
}

// fronts are the Services of which each track has a copy, by namespace and name.
type fronts map[types.NamespacedName]bool

// sortedNames returns the fronts by namespace and name.
func (f fronts) sortedNames() []types.NamespacedName {
	return slices.SortedFunc(maps.Keys(f), func(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) })
}

// frontOfBackendRef returns the front and the track whose copy of it a backendRef names, or the empty texts.
func (f fronts) frontOfBackendRef(namespace string, ref map[string]any) (front, track string) {
	if refNamespace := object.TextAt(ref, "namespace"); !isServiceRef(ref) || refNamespace != "" && refNamespace != namespace {
		return "", ""
	}
	for _, t := range Names() {
		if name, ok := strings.CutSuffix(object.TextAt(ref, "name"), nameInTrack(t, "")); ok && f[types.NamespacedName{Namespace: namespace, Name: name}] {
			return name, t
		}
	}
	return "", ""
}

// takesWeightOf reports whether an entry is the entry of the other track for a share.
func (s *share) takesWeightOf(ref map[string]any, front, track string) bool {
	_, isTaken := s.weights[track]
	return s.front == front && !isTaken && differByShareAlone(s.ref, ref)
}

// differByShareAlone compares entries without their names and weights.
func differByShareAlone(a, b map[string]any) bool {
	a, b = maps.Clone(a), maps.Clone(b)
	for _, field := range []string{"name", "weight"} {
		delete(a, field)
		delete(b, field)
	}
	return reflect.DeepEqual(a, b)
}

// totalWeight is the sum of the weights of a share.
func (s *share) totalWeight() int64 { return s.weights[Blue] + s.weights[Green] + s.weights[Plain] }

// weightedEntries returns the backendRefs of a share in a state: the entry of the serving track, and the entry of the other track.
func (s *share) weightedEntries(state State) ([]any, error) {
	if s.front == "" {
		return []any{s.ref}, nil
	}
	total := s.totalWeight()
	if total%100 != 0 {
		return nil, errors.Errorf("weights of %s add up to %d, which is not a multiple of 100: they were changed", s.front, total)
	}
	out := []any{}
	for _, t := range state.routedTracks() {
		ref := maps.Clone(s.ref)
		ref["name"] = nameInTrack(t, s.front)
		ref["weight"] = object.Number(total / 100 * int64(state.percentOfTrack(t)))
		out = append(out, ref)
	}
	return out, nil
}
