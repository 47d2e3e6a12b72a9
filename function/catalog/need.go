// Package catalog decides which Sites, Blueprint and configurations a deployment needs, and resolves the objects that it was
// given. It reads nothing itself: it names needs, and Crossplane fulfils them.
package catalog

import (
	"encoding/json"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// Need is one object, or one set of objects, that Crossplane has to send for a deployment.
type Need struct {
	// Name of the need. It holds the whole selector: Crossplane answers the needs of one call with the objects of the
	// previous call's needs with the same names.
	Name string

	// APIVersion and Kind of the objects.
	APIVersion, Kind string

	// MatchName is the name of the object. Empty means that MatchLabels selects.
	MatchName string

	// MatchLabels that the objects have, all of them. Empty, and no MatchName, means every object.
	MatchLabels map[string]string

	// Namespace of the objects. Empty for cluster-scoped ones.
	Namespace string
}

// Answers are the objects that were given for needs, as JSON, by the need's name. A name that is absent was not answered yet;
// an empty list means that no such object exists.
type Answers map[string][]json.RawMessage

func siteByName(name string) Need {
	return Need{Name: "site/" + name, APIVersion: catalogv1alpha1.GroupVersion.String(), Kind: "Site", MatchName: name}
}

// sitesByLabels returns the needs for the Sites with labels, or for all Sites without labels: a need for Sites that only this namespace may
// use, and a need for Sites that several may use. Without the label of LabelUsableFrom a response would hold Sites that other namespaces
// published, in any number, and beyond the size that Crossplane can send every deployment of every namespace would fail.
func sitesByLabels(labels map[string]string, namespace string) []Need {
	out := make([]Need, 0, 2)
	for _, from := range []string{catalogv1alpha1.UsableFromSeveral, namespace} {
		all := map[string]string{catalogv1alpha1.LabelUsableFrom: from}
		maps.Copy(all, labels)
		all[catalogv1alpha1.LabelUsableFrom] = from // A deployment selects by other labels.
		out = append(out, Need{Name: "sites/" + joinLabelPairs(all), APIVersion: catalogv1alpha1.GroupVersion.String(), Kind: "Site", MatchLabels: all})
	}
	return out
}

func blueprintByName(name string) Need {
	return Need{Name: "blueprint/" + name, APIVersion: catalogv1alpha1.GroupVersion.String(), Kind: "Blueprint", MatchName: name}
}

func blueprintByChannel(name, channel string) Need {
	labels := map[string]string{catalogv1alpha1.LabelBlueprint: name, catalogv1alpha1.LabelChannel: channel}
	return Need{Name: "blueprints/" + joinLabelPairs(labels), APIVersion: catalogv1alpha1.GroupVersion.String(), Kind: "Blueprint", MatchLabels: labels}
}

// listedBlueprints needs the Blueprints whose names a message can suggest. The provider bounds their number and their size.
func listedBlueprints() Need {
	labels := map[string]string{catalogv1alpha1.LabelListed: catalogv1alpha1.ListedTrue}
	return Need{Name: "blueprints/" + joinLabelPairs(labels), APIVersion: catalogv1alpha1.GroupVersion.String(), Kind: "Blueprint", MatchLabels: labels}
}

func configByName(ref ConfigRef, namespace string) Need {
	n := Need{APIVersion: configv1alpha1.GroupVersion.String(), Kind: ref.Kind, MatchName: ref.Name}
	if ref.isNamespaced() {
		n.Namespace = namespace
	}
	n.Name = strings.Join([]string{"config", ref.Kind, n.Namespace, ref.Name}, "/")
	return n
}

// configsByKind needs every configuration of a kind that a namespace could name.
func configsByKind(ref ConfigRef, namespace string) Need {
	n := configByName(ref, namespace)
	n.Name, n.MatchName = strings.Join([]string{"configs", ref.Kind, n.Namespace}, "/"), ""
	return n
}

// RequestsNeed returns the need for the open RolloutRequests of a deployment.
func RequestsNeed(c rolloutv1alpha1.ClaimReference) Need {
	labels := rolloutv1alpha1.OpenLabels(c.APIGroup, c.Name)
	return Need{
		Name: "requests/" + c.Namespace + "/" + joinLabelPairs(labels), APIVersion: rolloutv1alpha1.GroupVersion.String(), Kind: "RolloutRequest",
		MatchLabels: labels, Namespace: c.Namespace,
	}
}

func joinLabelPairs(labels map[string]string) string {
	pairs := make([]string, 0, len(labels))
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		pairs = append(pairs, fmt.Sprintf("%s=%s", key, labels[key]))
	}
	return strings.Join(pairs, ",")
}

// requirements return the answers that Crossplane gave, and record which objects are required. With a cache, given is the digest of the objects that
// were given.
type requirements struct {
	answers    Answers
	cache      *Cache
	given      hash.Hash
	needs      []Need
	unanswered bool
}

// requireObjects returns the objects that fulfil a need. It returns none, and records that an answer is missing, when it was not answered yet.
func requireObjects[T any](d *requirements, n Need) ([]T, error) {
	if !slices.ContainsFunc(d.needs, func(o Need) bool { return o.Name == n.Name }) {
		d.needs = append(d.needs, n)
	}
	raw, ok := d.answers[n.Name]
	if !ok {
		d.unanswered = true
		return nil, nil
	}
	out := make([]T, len(raw))
	for i := range raw {
		var err error
		if out[i], err = decodeCached[T](d, raw[i]); err != nil {
			return nil, errors.Wrapf(err, "cannot decode %s for %q", n.Kind, n.Name)
		}
	}
	return out, nil
}
