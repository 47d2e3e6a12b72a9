package catalog

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// Words that stand for several Sites.
const (
	wordAll  = "all"
	wordBoth = "both"
)

// maxSites is how many Sites one deployment may have.
const maxSites = 500

// target is what was said about where to go.
type target struct {
	words  []string
	labels map[string]string

	// unquoted are those of the words that a sentence says without quotes.
	unquoted []string
}

// targetOf reads where to go: from deliveryConfig if it says anything, else from the intent.
func targetOf(q Query) (target, error) {
	switch {
	case q.Delivery.SiteSelector != nil:
		t := target{labels: plainLabels(q.Delivery.SiteSelector.MatchLabels)}
		return t, conflict(q, "spec.deliveryConfig.siteSelector", t)
	case q.Delivery.TargetSite != "":
		t := target{words: []string{string(q.Delivery.TargetSite)}}
		return t, conflict(q, "spec.deliveryConfig.targetSite", t)
	case len(q.IntentLabels) > 0:
		return target{labels: q.IntentLabels}, nil
	}
	if len(q.IntentSites) > 1 && slices.ContainsFunc(q.IntentSites, isWord) {
		return target{}, invalid("%s: %q and %q stand alone, not beside other Sites", q.IntentField, wordBoth, wordAll)
	}
	return target{words: q.IntentSites, unquoted: q.UnquotedSites}, nil
}

// conflict returns an error when the intent names other Sites than deliveryConfig does.
func conflict(q Query, field string, t target) error {
	if len(q.IntentLabels) > 0 && !maps.Equal(q.IntentLabels, t.labels) {
		return invalid("%s and the selector of %s select different Sites", field, q.IntentField)
	}
	if len(q.IntentSites) == 0 || slices.Equal(sorted(q.IntentSites), sorted(t.words)) {
		return nil
	}
	return invalid("%s and the sites of %s name different Sites: %q in the latter", field, q.IntentField, strings.Join(q.IntentSites, ", "))
}

func plainLabels(labels map[string]deploymentv1alpha1.LabelValue) map[string]string {
	out := make(map[string]string, len(labels))
	for key, value := range labels {
		out[key] = string(value)
	}
	return out
}

func isWord(s string) bool { return s == wordAll || s == wordBoth }

func sorted(s []string) []string {
	out := slices.Clone(s)
	slices.Sort(out)
	return out
}

// sites returns the Sites that a target means, sorted by name.
func sites(d *desk, q Query, t target) ([]catalogv1alpha1.Site, error) {
	switch {
	case len(t.labels) > 0:
		return selected(d, q, t.labels)
	case len(t.words) == 1 && t.words[0] == wordAll:
		return selected(d, q, nil)
	case len(t.words) == 1 && t.words[0] == wordBoth:
		return both(d, q)
	}
	return named(d, q, t)
}

// askSites fills in what an API server would have: not every Site comes from one.
func askSites(d *desk, n Need) ([]catalogv1alpha1.Site, error) {
	found, err := ask[catalogv1alpha1.Site](d, n)
	for i := range found {
		found[i].Spec.Default()
	}
	return found, err
}

func named(d *desk, q Query, t target) ([]catalogv1alpha1.Site, error) {
	var out []catalogv1alpha1.Site
	var lost []string
	for _, name := range slices.Compact(sorted(t.words)) {
		found, err := askSites(d, siteByName(name))
		if err != nil {
			return nil, err
		}
		// A Site that may not be used is as good as none: the message is the same for both.
		if len(found) == 0 || !isUsableSite(&found[0], q.Namespace) {
			lost = append(lost, name)
			continue
		}
		out = append(out, found[0])
	}
	if len(lost) > 0 && !d.open {
		return nil, sitesMissing(d, q, t, lost)
	}
	return out, nil
}

// sitesMissing returns an InvalidError for a Site that a sentence names without quotes, since there any word may have become a name by mistake.
// Another Site is waited for.
func sitesMissing(d *desk, q Query, t target, lost []string) error {
	hint, err := suggestSites(d, q, lost, t.words)
	if err != nil {
		return err
	}
	message := fmt.Sprintf("Site %s does not exist or may not be used from namespace %q", strings.Join(quoted(lost), ", "), q.Namespace) + hint
	if slices.ContainsFunc(lost, func(name string) bool { return slices.Contains(t.unquoted, name) }) {
		return invalid("%s: %s%s", q.IntentField, message, waitByQuotes)
	}
	return missing(deploymentv1alpha1.ReasonSiteMissing, "%s", message)
}

// usableSites returns the Sites that have labels, or all with none, and that the namespace may use.
func usableSites(d *desk, q Query, labels map[string]string) ([]catalogv1alpha1.Site, error) {
	var out []catalogv1alpha1.Site
	for _, n := range sitesByLabels(labels, q.Namespace) {
		found, err := askSites(d, n)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return slices.DeleteFunc(out, func(s catalogv1alpha1.Site) bool { return !isUsableSite(&s, q.Namespace) }), nil
}

// distinct returns Sites sorted by name, each once: one whose label just changed may be in two answers.
func distinct(found []catalogv1alpha1.Site) []catalogv1alpha1.Site {
	slices.SortStableFunc(found, func(a, b catalogv1alpha1.Site) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return slices.CompactFunc(found, func(a, b catalogv1alpha1.Site) bool { return a.GetName() == b.GetName() })
}

// delivered returns the Sites that the deployment was delivered to, that still have the labels, and that are not among those found. They are
// asked for by name: a Site that lost LabelUsableFrom for a moment, since somebody replaced it, must not lose its deployments.
func delivered(d *desk, q Query, labels map[string]string, found []catalogv1alpha1.Site) ([]catalogv1alpha1.Site, error) {
	if d.open {
		return nil, nil
	}
	var out []catalogv1alpha1.Site
	for _, name := range sorted(q.DeliveredSites) {
		if slices.ContainsFunc(found, func(s catalogv1alpha1.Site) bool { return s.GetName() == name }) {
			continue
		}
		sites, err := askSites(d, siteByName(name))
		if err != nil {
			return nil, err
		}
		for i := range sites {
			if isUsableSite(&sites[i], q.Namespace) && hasLabels(&sites[i], labels) {
				out = append(out, sites[i])
			}
		}
	}
	return out, nil
}

func hasLabels(s *catalogv1alpha1.Site, labels map[string]string) bool {
	for key, value := range labels {
		if has, ok := s.GetLabels()[key]; !ok || has != value {
			return false
		}
	}
	return true
}

// selected returns the Sites that have labels, or all with none, but for those that the namespace may not use.
func selected(d *desk, q Query, labels map[string]string) ([]catalogv1alpha1.Site, error) {
	found, err := usableSites(d, q, labels)
	if err != nil {
		return nil, err
	}
	unlabelled, err := delivered(d, q, labels, found)
	if err != nil {
		return nil, err
	}
	found = distinct(append(found, unlabelled...))
	if len(found) > maxSites {
		return nil, invalid("spec.deliveryConfig: %d Sites are more than the %d that a deployment may have", len(found), maxSites)
	}
	return found, nil
}

func both(d *desk, q Query) ([]catalogv1alpha1.Site, error) {
	found, err := selected(d, q, nil)
	if err != nil || d.open {
		return nil, err
	}
	if len(found) != 2 {
		return nil, missing(deploymentv1alpha1.ReasonSiteMissing, "%q means the two Sites that namespace %q may use, but it may use %d", wordBoth, q.Namespace, len(found))
	}
	return found, nil
}

func quoted(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = `"` + name + `"`
	}
	return out
}
