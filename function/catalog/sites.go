package catalog

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
)

// Words that stand for several Sites.
const (
	wordAll  = "all"
	wordBoth = "both"
)

// maxSites is the greatest number of Sites of one deployment.
const maxSites = 500

// A siteTarget has the Sites that a deployment requests.
type siteTarget struct {
	words  []string
	labels map[string]string

	// unquoted are the words that a sentence names without quotes.
	unquoted []string
}

// readSiteTarget returns the requested Sites: the Sites of deliveryConfig if it names any, else the Sites of the intent.
func readSiteTarget(q Query) (siteTarget, error) {
	switch {
	case q.Delivery.SiteSelector != nil:
		t := siteTarget{labels: plainLabels(q.Delivery.SiteSelector.MatchLabels)}
		return t, checkConflict(q, "spec.deliveryConfig.siteSelector", t)
	case q.Delivery.TargetSite != "":
		t := siteTarget{words: []string{string(q.Delivery.TargetSite)}}
		return t, checkConflict(q, "spec.deliveryConfig.targetSite", t)
	case len(q.IntentLabels) > 0:
		return siteTarget{labels: q.IntentLabels}, nil
	}
	if len(q.IntentSites) > 1 && slices.ContainsFunc(q.IntentSites, isSiteKeyword) {
		return siteTarget{}, invalidErrorf("%s: %q and %q stand alone, not beside other Sites", q.IntentField, wordBoth, wordAll)
	}
	return siteTarget{words: q.IntentSites, unquoted: q.UnquotedSites}, nil
}

// SiteLabels returns the labels by which a query selects its Sites. It is empty for a query that names its Sites.
func (q Query) SiteLabels() map[string]string {
	t, err := readSiteTarget(q)
	if err != nil {
		return nil
	}
	return t.labels
}

// checkConflict returns an error when the intent names other Sites than deliveryConfig.
func checkConflict(q Query, field string, t siteTarget) error {
	if len(q.IntentLabels) > 0 && !maps.Equal(q.IntentLabels, t.labels) {
		return invalidErrorf("%s and the selector of %s select different Sites", field, q.IntentField)
	}
	if len(q.IntentSites) == 0 || slices.Equal(sortedCopy(q.IntentSites), sortedCopy(t.words)) {
		return nil
	}
	return invalidErrorf("%s and the sites of %s name different Sites: %q in the latter", field, q.IntentField, strings.Join(q.IntentSites, ", "))
}

func plainLabels(labels map[string]deploymentv1alpha1.LabelValue) map[string]string {
	out := make(map[string]string, len(labels))
	for key, value := range labels {
		out[key] = string(value)
	}
	return out
}

func isSiteKeyword(s string) bool { return s == wordAll || s == wordBoth }

func sortedCopy(s []string) []string {
	out := slices.Clone(s)
	slices.Sort(out)
	return out
}

// selectSites returns the Sites that a target selects, sorted by name.
func selectSites(d *requirements, q Query, t siteTarget) ([]catalogv1alpha1.Site, error) {
	switch {
	case len(t.labels) > 0:
		return selectByLabels(d, q, t.labels)
	case len(t.words) == 1 && t.words[0] == wordAll:
		return selectByLabels(d, q, nil)
	case len(t.words) == 1 && t.words[0] == wordBoth:
		return selectBothSites(d, q)
	}
	return selectByNames(d, q, t)
}

// requireSites requires Sites, and sets the defaults that an API server would have set: the command line reads Sites from files.
func requireSites(d *requirements, n Need) ([]catalogv1alpha1.Site, error) {
	found, err := requireObjects[catalogv1alpha1.Site](d, n)
	for i := range found {
		found[i].Spec.Default()
	}
	return found, err
}

func selectByNames(d *requirements, q Query, t siteTarget) ([]catalogv1alpha1.Site, error) {
	names := slices.Compact(sortedCopy(t.words))
	out, missing := make([]catalogv1alpha1.Site, 0, len(names)), []string(nil)
	for _, name := range names {
		found, err := requireSites(d, siteByName(name))
		if err != nil {
			return nil, err
		}
		// A Site that may not be used is as good as none: the message is the same for both.
		if len(found) == 0 || !isUsableSite(&found[0], q.Namespace) {
			missing = append(missing, name)
			continue
		}
		out = append(out, found[0])
	}
	if len(missing) > 0 && !d.unanswered {
		return nil, sitesMissing(d, q, t, missing)
	}
	return out, nil
}

// sitesMissing returns an InvalidError for a Site that a sentence names without quotes, since there any word may have become a name by mistake.
// For another Site it returns a MissingError, since it may be created later.
func sitesMissing(d *requirements, q Query, t siteTarget, missing []string) error {
	hint, err := suggestSites(d, q, missing, t.words)
	if err != nil {
		return err
	}
	message := fmt.Sprintf("Site %s does not exist or may not be used from namespace %q", strings.Join(quoteNames(missing), ", "), q.Namespace) + hint
	if slices.ContainsFunc(missing, func(name string) bool { return slices.Contains(t.unquoted, name) }) {
		return invalidErrorf("%s: %s%s", q.IntentField, message, waitByQuotes)
	}
	return missingErrorf(deploymentv1alpha1.ReasonSiteMissing, "%s", message)
}

// usableSites returns the Sites that have labels, or all with none, and that the namespace may use.
func usableSites(d *requirements, q Query, labels map[string]string) ([]catalogv1alpha1.Site, error) {
	var out []catalogv1alpha1.Site
	for _, n := range sitesByLabels(labels, q.Namespace) {
		found, err := requireSites(d, n)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return slices.DeleteFunc(out, func(s catalogv1alpha1.Site) bool { return !isUsableSite(&s, q.Namespace) }), nil
}

// sortDistinct returns Sites sorted by name, each once: a Site whose label just changed may be in two answers.
func sortDistinct(found []catalogv1alpha1.Site) []catalogv1alpha1.Site {
	slices.SortStableFunc(found, func(a, b catalogv1alpha1.Site) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return slices.CompactFunc(found, func(a, b catalogv1alpha1.Site) bool { return a.GetName() == b.GetName() })
}

// selectDelivered returns the Sites of the last delivery that still have the labels, and that are not among the found Sites. They are required by
// name: a Site that lost LabelUsableFrom for a moment, since a user replaced it, must not lose its deployments.
func selectDelivered(d *requirements, q Query, labels map[string]string, found []catalogv1alpha1.Site) ([]catalogv1alpha1.Site, error) {
	if d.unanswered {
		return nil, nil
	}
	var out []catalogv1alpha1.Site
	for _, name := range sortedCopy(q.DeliveredSites) {
		if slices.ContainsFunc(found, func(s catalogv1alpha1.Site) bool { return s.GetName() == name }) {
			continue
		}
		sites, err := requireSites(d, siteByName(name))
		if err != nil {
			return nil, err
		}
		for i := range sites {
			if isUsableSite(&sites[i], q.Namespace) && policy.HasLabels(&sites[i], labels) {
				out = append(out, sites[i])
			}
		}
	}
	return out, nil
}

// selectByLabels returns the Sites with labels, or all Sites without labels, except for Sites that the namespace may not use.
func selectByLabels(d *requirements, q Query, labels map[string]string) ([]catalogv1alpha1.Site, error) {
	found, err := usableSites(d, q, labels)
	if err != nil {
		return nil, err
	}
	unlabelled, err := selectDelivered(d, q, labels, found)
	if err != nil {
		return nil, err
	}
	found = sortDistinct(append(found, unlabelled...))
	if len(found) > maxSites {
		return nil, invalidErrorf("spec.deliveryConfig: %d Sites are more than the %d that a deployment may have", len(found), maxSites)
	}
	return found, nil
}

func selectBothSites(d *requirements, q Query) ([]catalogv1alpha1.Site, error) {
	found, err := selectByLabels(d, q, nil)
	if err != nil || d.unanswered {
		return nil, err
	}
	if len(found) != 2 {
		return nil, missingErrorf(deploymentv1alpha1.ReasonSiteMissing, "%q means the two Sites that namespace %q may use, but it may use %d", wordBoth, q.Namespace, len(found))
	}
	return found, nil
}

func quoteNames(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = `"` + name + `"`
	}
	return out
}
