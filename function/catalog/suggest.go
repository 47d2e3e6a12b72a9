package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
)

// maxShown is the greatest number of names in a message.
const maxShown = 5

// maxTypos is the number of characters by which a name may differ from a suggestion.
const maxTypos = 2

// waitByQuotes explains how a sentence names a Site that is created later.
const waitByQuotes = " To wait for a Site that does not exist yet, put its name in quotes."

// listBlueprints explains how to list the Blueprints. Messages name none where they are too many or too large.
const listBlueprints = `: "kubectl get blueprints" lists the names, versions, channels and types that exist`

// suggestBlueprints returns the part of a message that names existing Blueprints: the versions or channels of the requested name or, where no
// Blueprint has that name, the names in its channel. Every namespace may use every Blueprint.
func suggestBlueprints(d *requirements, q Query) (string, error) {
	all, err := requireObjects[metav1.PartialObjectMetadata](d, listedBlueprints())
	if err != nil {
		return "", err
	}
	name, channel, version := q.BlueprintName(), q.Blueprint.Channel, q.Blueprint.Version
	versions := readDistinctTexts(all, func(b metav1.PartialObjectMetadata) (string, bool) {
		v, ok := strings.CutPrefix(b.GetName(), name+"-")
		return v, ok && b.GetLabels()[catalogv1alpha1.LabelBlueprint] == name
	})
	channels := readDistinctTexts(all, func(b metav1.PartialObjectMetadata) (string, bool) {
		c := b.GetLabels()[catalogv1alpha1.LabelChannel]
		return c, c != "" && b.GetLabels()[catalogv1alpha1.LabelBlueprint] == name
	})
	names := readDistinctTexts(all, func(b metav1.PartialObjectMetadata) (string, bool) {
		n := b.GetLabels()[catalogv1alpha1.LabelBlueprint]
		return n, n != "" && (version != "" || b.GetLabels()[catalogv1alpha1.LabelChannel] == channel)
	})
	switch {
	case version != "" && len(versions) > 0:
		return suggestNames(fmt.Sprintf("versions of Blueprint %q:", name), []string{version}, nil, versions), nil
	case version == "" && len(channels) > 0:
		return suggestNames(fmt.Sprintf("channels of Blueprint %q:", name), []string{channel}, nil, channels), nil
	case len(names) > 0:
		return suggestNames("Blueprints", []string{name}, nil, names), nil
	}
	return listBlueprints, nil
}

// readDistinctTexts returns the distinct texts that a function reads from objects, sorted.
func readDistinctTexts(all []metav1.PartialObjectMetadata, read func(metav1.PartialObjectMetadata) (string, bool)) []string {
	out := []string{}
	for _, o := range all {
		if text, ok := read(o); ok {
			out = append(out, text)
		}
	}
	return slices.Compact(sortedCopy(out))
}

// suggestSites returns the part of a message that names the Sites which the namespace may use. It never names other Sites, so that a forbidden Site
// looks like a missing one. It requires all Sites, as a deployment to all of them does, but only if a Site is missing.
func suggestSites(d *requirements, q Query, missing, named []string) (string, error) {
	all, err := usableSites(d, q, nil)
	if err != nil {
		return "", err
	}
	usable := make([]string, 0, len(all))
	for _, s := range sortDistinct(all) {
		usable = append(usable, s.GetName())
	}
	if len(usable) == 0 {
		return ". No Site allows this namespace: spec.allowedNamespaces of a Site names the namespaces that may use it.", nil
	}
	return suggestNames("Sites", missing, named, usable), nil
}

func isUsableSite(s *catalogv1alpha1.Site, namespace string) bool {
	return policy.CheckSite(s, namespace) == nil
}

// suggestConfigs returns the part of a message that names the configurations of a kind which the namespace may use.
func suggestConfigs(d *requirements, ref ConfigRef, namespace string) (string, error) {
	all, err := requireObjects[configv1alpha1.ClusterProviderConfig](d, configsByKind(ref, namespace))
	if err != nil {
		return "", err
	}
	usable := make([]string, 0, len(all))
	for i := range all {
		if policy.CheckConfig(ref.Kind, &all[i].Spec, namespace) == nil {
			usable = append(usable, all[i].GetName())
		}
	}
	if len(usable) == 0 {
		return fmt.Sprintf(". The namespace may use no %s.", ref.Kind), nil
	}
	return suggestNames(ref.Kind+"s", []string{ref.Name}, []string{ref.Name}, usable), nil
}

// suggestNames asks whether a similar name was meant for the first missing names, and lists the nearest names that may be used. A name that the user gave beside
// the missing names was not meant a second time. Each missing name is compared with all usable names, so a hundred of them would take seconds.
func suggestNames(kinds string, missing, named, usable []string) string {
	var questions []string
	missing, usable = missing[:min(len(missing), maxShown)], sortedCopy(usable)
	for _, name := range missing {
		if near := nearestName(name, named, usable); near != "" {
			questions = append(questions, fmt.Sprintf("%q instead of %q", near, name))
		}
	}
	list := fmt.Sprintf("The namespace may use the %s %s.", kinds, listNearestNames(missing, usable))
	if len(questions) == 0 {
		return ". " + list
	}
	return ": did you mean " + strings.Join(questions, ", ") + "? " + list
}

// nearestName returns the first of the most similar usable names that were not given, or none if none is similar enough to be a typing error.
func nearestName(name string, named, usable []string) string {
	best, distance := "", maxTypos+1
	for _, u := range usable {
		n := levenshtein.ComputeDistance(name, u)
		if n < distance && 2*n < len(name) && !slices.Contains(named, u) {
			best, distance = u, n
		}
	}
	return best
}

// listNearestNames returns the names that are nearest to one of the missing names, in the order of the alphabet.
func listNearestNames(missing, usable []string) string {
	distance := make(map[string]int, len(usable))
	for _, u := range usable {
		distance[u] = len(u) + len(missing[0])
		for _, name := range missing {
			distance[u] = min(distance[u], levenshtein.ComputeDistance(name, u))
		}
	}
	nearest := slices.Clone(usable)
	slices.SortFunc(nearest, func(a, b string) int { return cmp.Or(cmp.Compare(distance[a], distance[b]), cmp.Compare(a, b)) })
	nearest = nearest[:min(len(nearest), maxShown)]
	text := strings.Join(quoteNames(sortedCopy(nearest)), ", ")
	if len(usable) > maxShown {
		return text + " and others"
	}
	return text
}
