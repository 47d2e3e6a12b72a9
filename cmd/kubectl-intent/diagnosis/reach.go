package diagnosis

import (
	"slices"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/advice"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
)

const typeReady = string(xpv2.TypeReady)

// unreachedReasons of a GitDelivery say that the provider does not reach the repository of the configuration, or may not use it.
func unreachedReasons() []xpv2.ConditionReason {
	return []xpv2.ConditionReason{
		deliveryv1alpha1.ReasonAuthFailed, deliveryv1alpha1.ReasonTrustFailed, deliveryv1alpha1.ReasonUnreachable, deliveryv1alpha1.ReasonCredentialsGone,
		deliveryv1alpha1.ReasonInvalid, deliveryv1alpha1.ReasonMemoryUnknown, deliveryv1alpha1.ReasonStateRefused, deliveryv1alpha1.ReasonPolicyDenied,
	}
}

// silentReasons of a GitDelivery are from before the provider asks the repository, or may be.
func silentReasons() []xpv2.ConditionReason {
	return []xpv2.ConditionReason{
		"", deliveryv1alpha1.ReasonPushing, deliveryv1alpha1.ReasonOrderBehind, deliveryv1alpha1.ReasonIllegal, deliveryv1alpha1.ReasonSiteMissing,
		deliveryv1alpha1.ReasonDeliveryTimedOut, xpv2.ReasonCreating, xpv2.ReasonDeleting,
	}
}

// configLines say of each configuration whether its repository is reached, as the newest answer of a GitDelivery that uses it does.
func configLines(f *Facts) []Line {
	var out []Line
	newest := newestDeliveries(f.Deliveries.Items)
	for _, p := range []Part[cause.Object]{f.ClusterConfigs, f.Configs} {
		if p.Unread != nil {
			out = append(out, unreadLine(checkConfigurations, p.Unread))
		}
		for _, o := range p.Items {
			out = append(out, configLine(o, newest[configKey{kind: o.Kind, namespace: o.Metadata.Namespace, name: o.Metadata.Name}]))
		}
	}
	if len(out) == 0 {
		out = append(out, Line{Check: checkConfigurations, Object: "ClusterProviderConfig", Result: Unknown, Message: "the cluster has no configuration yet: docs/install.md says how to make one"})
	}
	if f.Deliveries.Unread != nil {
		out = append(out, unreadLine(checkConfigurations, f.Deliveries.Unread))
	}
	return out
}

// A configKey names a configuration. Configurations of the cluster have no namespace.
type configKey struct{ kind, namespace, name string }

// clusterConfig is the kind of a configuration that is in no namespace.
const clusterConfig = "ClusterProviderConfig"

// newestDeliveries returns the last GitDelivery of each configuration that says something about its repository.
func newestDeliveries(all []Delivery) map[configKey]*Delivery {
	out := map[configKey]*Delivery{}
	for i := range all {
		d := &all[i]
		ready := d.Status.Conditions.Get(typeReady)
		if d.Spec.Config == nil || slices.Contains(silentReasons(), xpv2.ConditionReason(ready.Reason)) {
			continue
		}
		key := configKey{kind: d.Spec.Config.Kind, namespace: d.Metadata.Namespace, name: d.Spec.Config.Name}
		if key.kind == clusterConfig {
			key.namespace = ""
		}
		if previous := out[key]; previous == nil || transitionTime(ready).After(transitionTime(previous.Status.Conditions.Get(typeReady))) {
			out[key] = d
		}
	}
	return out
}

func transitionTime(c cause.Condition) time.Time {
	if c.LastTransitionTime == nil {
		return time.Time{}
	}
	return c.LastTransitionTime.Time
}

func configLine(o cause.Object, newest *Delivery) Line {
	out := Line{Check: checkConfigurations, Object: nameOfObject(o), Result: Unknown, Message: "no GitDelivery that uses it has an answer of the repository"}
	if newest == nil {
		return ownConfigLine(o, out)
	}
	ready := newest.Status.Conditions.Get(typeReady)
	from := "GitDelivery " + newest.Metadata.Namespace + "/" + newest.Metadata.Name
	if !slices.Contains(unreachedReasons(), xpv2.ConditionReason(ready.Reason)) {
		out.Result, out.Message = OK, "reached, as "+from+" says"
		return out
	}
	out.Result, out.Reason, out.Message = Problem, ready.Reason, from+": "+ready.Message
	out.Fix = fixForReason(advice.GitDelivery, ready.Reason)
	return out
}

// ownConfigLine returns the line of the configuration's own condition, where no GitDelivery has an answer and the condition is about the
// current spec.
func ownConfigLine(o cause.Object, fallback Line) Line {
	out, ready := fallback, o.Status.Conditions.Get(typeReady)
	if ready.Reason == "" || ready.ObservedGeneration != o.Metadata.Generation {
		return out
	}
	if ready.Status == metav1.ConditionTrue {
		out.Result, out.Message = OK, "reached, as its condition Ready says"
		return out
	}
	out.Result, out.Reason, out.Message = Problem, ready.Reason, "condition Ready: "+ready.Message
	out.Fix = fixForReason(advice.ProviderConfig, ready.Reason)
	return out
}

// nameOfObject returns the kind and the name of an object, with its namespace if it has one.
func nameOfObject(o cause.Object) string {
	if o.Metadata.Namespace != "" {
		return o.Kind + " " + o.Metadata.Namespace + "/" + o.Metadata.Name
	}
	return o.Kind + " " + o.Metadata.Name
}

// siteLines say of each Site whether its cluster and its engine are reached, as the newest answer of a SiteSync does.
func siteLines(f *Facts) []Line {
	if f.Sites.Unread != nil {
		return []Line{unreadLine(checkSites, f.Sites.Unread)}
	}
	var out []Line
	newest, unused := newestSyncs(f.Syncs.Items), f.UnusedSites()
	for i := range f.Sites.Items {
		s := &f.Sites.Items[i]
		if slices.Contains(unused, s) {
			out = append(out, f.unusedSiteLine(s))
			continue
		}
		out = append(out, siteLine(nameOfSite(s), newest[s.Metadata.Name]))
	}
	if f.Syncs.Unread != nil {
		out = append(out, unreadLine(checkSites, f.Syncs.Unread))
	}
	return out
}

// An answer of a SiteSync about a Site.
type answer struct {
	SiteSeen

	from string
	at   time.Time
}

// newestSyncs returns the last answer about each Site that says something about its cluster.
func newestSyncs(all []Sync) map[string]*answer {
	out := map[string]*answer{}
	for i := range all {
		s := &all[i]
		answeredTime := transitionTime(s.Status.Conditions.Get(typeReady))
		for _, site := range s.Status.AtProvider.Sites {
			if previous := out[site.Name]; isSiteAnswered(site) && (previous == nil || answeredTime.After(previous.at)) {
				out[site.Name] = &answer{SiteSeen: site, from: "SiteSync " + s.Metadata.Namespace + "/" + s.Metadata.Name, at: answeredTime}
			}
		}
	}
	return out
}

// isSiteAnswered is false for reasons from before the cluster of a Site is asked, or about the deployment alone.
func isSiteAnswered(s SiteSeen) bool {
	silent := []string{"", deliveryv1alpha1.SiteReasonWaveNotReached, deliveryv1alpha1.SiteReasonNotDelivered, deliveryv1alpha1.SiteReasonPolicyDenied}
	return s.State == deliveryv1alpha1.SiteLive || !slices.Contains(silent, s.Reason)
}

// reachedReasons of a Site are the reasons with an answer of its engine.
func reachedReasons() []string {
	return []string{
		deliveryv1alpha1.SiteReasonProgressing, deliveryv1alpha1.SiteReasonOtherTree, deliveryv1alpha1.SiteReasonEngineFailed, deliveryv1alpha1.SiteReasonUnhealthy,
		deliveryv1alpha1.SiteReasonWeakProof, deliveryv1alpha1.SiteReasonProofUnknown, "RouteMissing", "TrafficDiffers", "RouteNotAccepted", "RefsNotResolved", "CanaryNotAvailable", "ObjectFailed",
	}
}

func siteLine(object string, newest *answer) Line {
	out := Line{Check: checkSites, Object: object, Result: Unknown, Message: "no SiteSync says how its cluster and engine are"}
	if newest == nil {
		return out
	}
	if newest.State == deliveryv1alpha1.SiteLive || slices.Contains(reachedReasons(), newest.Reason) {
		out.Result, out.Message = OK, "reached, as "+newest.from+" says"
		return out
	}
	a, _ := advice.For(advice.Site, newest.Reason)
	out.Reason, out.Message = newest.Reason, newest.from+": "+newest.Message
	if a.EndsByItself && a.Actor == advice.NoActor {
		return out
	}
	out.Result, out.Fix = Problem, fixForReason(advice.Site, newest.Reason)
	return out
}

// policyLines say which of our policies are not applied, or not bound. An installation works without them.
func policyLines(e *Expected, f *Facts) []Line {
	for _, p := range []Part[cause.Object]{f.Policies, f.Bindings} {
		if p.Unread != nil {
			return []Line{unreadLine(checkPolicies, p.Unread)}
		}
	}
	var out []Line
	for _, name := range e.Policies {
		l := Line{Check: checkPolicies, Object: name, Result: OK, Message: "applied"}
		if !containsName(f.Policies.Items, name) || !containsName(f.Bindings.Items, name) {
			l.Result, l.Message, l.Fix = Advice, "The policy is not applied, or not bound.", "kubectl apply -k examples/policies, if its rules fit: docs/install.md lists them."
		}
		out = append(out, l)
	}
	return out
}

func containsName(all []cause.Object, name string) bool {
	return slices.ContainsFunc(all, func(o cause.Object) bool { return o.Metadata.Name == name })
}
