package track

import (
	"bytes"
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/track/object"
	"github.com/intentplane/intentplane/apis/tree"
)

// A Route is a route that divides requests between tracks, with the weights of its Services.
type Route struct {
	// Kind, Namespace and Name of the route.
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`

	// Backends are the Services of its rules, in the order of the rules.
	Backends []Backend `json:"backends"`
}

// A Backend is a Service that a rule of a route sends requests to.
type Backend struct {
	// Rule is the index of the rule.
	Rule int `json:"rule"`

	// Service is the name of the Service, with its namespace before it where that is not the route's.
	Service string `json:"service"`

	// Weight that the rule gives to the Service. Several entries of one Service count together.
	Weight int64 `json:"weight"`
}

// IsSameBackend reports whether two backends are the same Service of the same rule, whatever its weight.
func (b Backend) IsSameBackend(o Backend) bool { return b.Rule == o.Rule && b.Service == o.Service }

// Routes returns the routes of a directory that send requests to tracks, sorted by their files.
func Routes(files tree.Files) ([]Route, error) {
	out := []Route{}
	err := visitSharedRoutes(files, func(u *unstructured.Unstructured, shares [][]share) error {
		if !hasFrontShare(shares) {
			return nil
		}
		backends, err := Backends(u)
		out = append(out, Route{Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName(), Backends: backends})
		return err
	})
	return out, err
}

// Backends returns the Services that the rules of a route send requests to. Other kinds of backends are left out. It returns an error for a weight
// that is not a whole number.
func Backends(route *unstructured.Unstructured) ([]Backend, error) {
	out := []Backend{}
	for i, rule := range rulesOfRoute(route) {
		first := len(out)
		for _, ref := range backendRefs(rule) {
			weight, ok := weightOfBackend(ref)
			if !ok {
				return nil, errors.Errorf("spec.rules[%d]: weight %v is not a whole number", i, ref["weight"])
			}
			if isServiceRef(ref) {
				out = addBackendWeight(out, first, Backend{Rule: i, Service: serviceOfBackend(route, ref), Weight: weight})
			}
		}
	}
	return out, nil
}

// addBackendWeight adds the weight to the same Service among the backends from an index on, or adds the Service.
func addBackendWeight(all []Backend, from int, b Backend) []Backend {
	i := slices.IndexFunc(all[from:], func(existing Backend) bool { return existing.Service == b.Service })
	if i < 0 {
		return append(all, b)
	}
	all[from+i].Weight += b.Weight
	return all
}

func serviceOfBackend(route *unstructured.Unstructured, ref map[string]any) string {
	if namespace := object.TextAt(ref, "namespace"); namespace != "" && namespace != route.GetNamespace() {
		return namespace + "/" + object.TextAt(ref, "name")
	}
	return object.TextAt(ref, "name")
}

// Weights returns the share of the requests, in percent, that each track gets by the routes of a directory. It returns an error for routes that do not
// agree, or send requests to no track.
func Weights(files tree.Files) (map[string]int, error) {
	var found map[string]int
	err := visitSharedRoutes(files, func(_ *unstructured.Unstructured, shares [][]share) error {
		for _, rule := range shares {
			for i := range rule {
				got, ok := rule[i].percentsOfTracks()
				if !ok {
					continue
				}
				if got[Blue]+got[Green]+got[Plain] != 100 || found != nil && !maps.Equal(found, got) {
					return errors.Errorf("the tracks get %v percent of %s: all routes must give them the same", got, rule[i].front)
				}
				found = got
			}
		}
		return nil
	})
	if err == nil && found == nil {
		return nil, errors.New("no route sends requests to a track")
	}
	return found, err
}

// percentsOfTracks returns the share of each track, or false for a share that no track has any of.
func (s *share) percentsOfTracks() (map[string]int, bool) {
	total := s.totalWeight()
	if s.front == "" || total == 0 {
		return nil, false
	}
	out := map[string]int{}
	for t, weight := range s.weights {
		out[t] = int(weight * 100 / total)
	}
	return out, true
}

// visitSharedRoutes visits the shared routes of a directory, with the shares of each rule.
func visitSharedRoutes(files tree.Files, visit func(*unstructured.Unstructured, [][]share) error) error {
	f, err := readSharedFronts(files)
	if err != nil {
		return err
	}
	for _, name := range files.Names() {
		if !isSharedFile(name) || !bytes.Contains(files[name], []byte(GatewayGroup)) {
			continue
		}
		u, err := object.Decode(files[name])
		if err != nil {
			return errors.Wrap(err, name)
		}
		if !isGatewayRoute(u) {
			continue
		}
		shares, err := readRouteShares(u, f)
		if err != nil {
			return errors.Wrap(err, name)
		}
		if err := visit(u, shares); err != nil {
			return errors.Wrap(err, name)
		}
	}
	return nil
}

func readRouteShares(u *unstructured.Unstructured, f fronts) ([][]share, error) {
	out := [][]share{}
	for _, rule := range rulesOfRoute(u) {
		shares, err := readRuleShares(u.GetNamespace(), rule, f)
		if err != nil {
			return nil, err
		}
		out = append(out, shares)
	}
	return out, nil
}

func hasFrontShare(shares [][]share) bool {
	for _, rule := range shares {
		for i := range rule {
			if rule[i].front != "" {
				return true
			}
		}
	}
	return false
}
