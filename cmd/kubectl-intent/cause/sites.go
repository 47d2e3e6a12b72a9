package cause

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/advice"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// siteChain names the SiteSync, the Site that is furthest behind, and the report of its engine.
func (f *Facts) siteChain(now time.Time) []Link {
	if len(f.Syncs) == 0 {
		return f.reportedSite()
	}
	s := &f.Syncs[0]
	ready := readyCondition(s.Status.GetCondition(xpv2.TypeReady))
	object := "SiteSync " + s.Name
	if l, ok := f.Installed.unobservedLink(observeManaged(object, s), now); ok {
		return []Link{l}
	}
	if ready.Status == metav1.ConditionTrue {
		return nil
	}
	out := []Link{{Kind: advice.SiteSync, Object: object, Reason: ready.Reason, Message: ready.Message, Since: ready.lastTransition()}}
	site := furthestBehindSite(s.Status.AtProvider.Sites)
	if site == nil {
		return out
	}
	out = append(out, Link{Kind: advice.Site, Object: "Site " + site.Name, Reason: cmp.Or(site.Reason, string(site.State)), Message: site.Message, Since: site.StartedAt})
	if e := site.Engine; e != nil && e.Kind != "" && site.Message != "" {
		out = append(out, Link{Object: fmt.Sprintf("%s at Site %s", e.Kind, site.Name), Reason: e.Health, Message: site.Message})
	}
	return out
}

// reportedSite returns the deployment's own report of its Sites, without a SiteSync to read.
func (f *Facts) reportedSite() []Link {
	for _, name := range sortedNames(f.Deployment.Status.Delivery.Sites) {
		s := f.Deployment.Status.Delivery.Sites[name]
		if s.State == deploymentv1alpha1.SiteLive || s.State == deploymentv1alpha1.SiteDelivered {
			continue
		}
		reason, message, _ := strings.Cut(s.Message, ": ")
		if l := (Link{Kind: advice.Site, Object: "Site " + name, Reason: reason, Message: message}); hasLinkAdvice(l) {
			return []Link{l}
		}
	}
	return nil
}

func hasLinkAdvice(l Link) bool {
	_, ok := l.adviceForLink()
	return ok
}

func sortedNames[T any](sites map[string]T) []string {
	return slices.Sorted(maps.Keys(sites))
}

// furthestBehindSite returns the Site that is furthest from being live, Sites that need a person first. It is nil if all are live.
func furthestBehindSite(sites []deliveryv1alpha1.SiteObservation) *deliveryv1alpha1.SiteObservation {
	var worst *deliveryv1alpha1.SiteObservation
	for i := range sites {
		s := &sites[i]
		if s.State == deliveryv1alpha1.SiteLive {
			continue
		}
		if worst == nil || gravityOfSite(s) > gravityOfSite(worst) {
			worst = s
		}
	}
	return worst
}

// gravityOfSite orders Sites that are not live: the higher, the more it is in the way.
func gravityOfSite(s *deliveryv1alpha1.SiteObservation) int {
	order := []deliveryv1alpha1.SiteState{
		deliveryv1alpha1.SitePending, deliveryv1alpha1.SiteSyncing, deliveryv1alpha1.SiteWaitingForCluster, deliveryv1alpha1.SiteUnobserved, deliveryv1alpha1.SiteTimedOut, deliveryv1alpha1.SiteFailed,
	}
	out := 2 * slices.Index(order, s.State)
	if a, ok := advice.For(advice.Site, s.Reason); ok && a.NeedsPerson() {
		out += len(order) * 2
	}
	return out
}

// gateChain names the Gate of the present step, and the check that decides.
func (f *Facts) gateChain(now time.Time) []Link {
	g := f.CurrentGate()
	if g == nil {
		return f.reportedCheck()
	}
	ready := readyCondition(g.Status.GetCondition(xpv2.TypeReady))
	object := "Gate " + g.Name
	if l, ok := f.Installed.unobservedLink(observeManaged(object, g), now); ok {
		return []Link{l}
	}
	out := []Link{{Kind: advice.Gate, Object: object, Reason: ready.Reason, Message: ready.Message, Since: ready.lastTransition()}}
	if c := DecidingCheck(g); c != nil && c.Phase != rolloutv1alpha1.CheckPassed {
		out = append(out, Link{Object: fmt.Sprintf("check %s at %s", c.Name, c.Site), Reason: string(c.Phase), Message: SayCheck(c), Since: cmp.Or(c.UnavailableSince, c.StartedAt)})
	}
	return out
}

// reportedCheck returns the deployment's own report of a check that failed, without a Gate to read.
func (f *Facts) reportedCheck() []Link {
	for _, r := range f.Deployment.Status.ValidationResults {
		if !r.Passed {
			return []Link{{Object: fmt.Sprintf("check %s at %s", r.Name, r.Site), Message: cmp.Or(r.Message, describeMeasurement(r.Value, r.Threshold))}}
		}
	}
	return nil
}

// CurrentGate returns the Gate of the present revision's furthest step, or nil.
func (f *Facts) CurrentGate() *rolloutv1alpha1.Gate {
	var out *rolloutv1alpha1.Gate
	for i := range f.Gates {
		g := &f.Gates[i]
		if g.Spec.ForProvider.AskedPosition().Revision != f.Deployment.Status.Revision {
			continue
		}
		if out == nil || g.Spec.ForProvider.AskedPosition().Compare(out.Spec.ForProvider.AskedPosition()) > 0 {
			out = g
		}
	}
	return out
}

// DecidingCheck returns the check that explains a Gate most: a violated check, then a waiting check, then a running check. It is nil if the
// Gate has measured nothing.
func DecidingCheck(g *rolloutv1alpha1.Gate) *rolloutv1alpha1.CheckResult {
	order := []rolloutv1alpha1.CheckPhase{
		rolloutv1alpha1.CheckPassed, rolloutv1alpha1.CheckPending, rolloutv1alpha1.CheckRunning, rolloutv1alpha1.CheckInconclusive, rolloutv1alpha1.CheckTimedOut,
		rolloutv1alpha1.CheckError, rolloutv1alpha1.CheckFailed,
	}
	checks := g.Status.AtProvider.Checks
	if len(checks) == 0 {
		return nil
	}
	weight := func(c rolloutv1alpha1.CheckResult) int {
		w := 2 * slices.Index(order, c.Phase)
		if c.UnavailableSince != nil {
			w++
		}
		return w
	}
	deciding := 0
	for i := range checks {
		if weight(checks[i]) > weight(checks[deciding]) {
			deciding = i
		}
	}
	return &checks[deciding]
}

// SayCheck returns the measurement of a check, in a few words.
func SayCheck(c *rolloutv1alpha1.CheckResult) string {
	return cmp.Or(describeMeasurement(c.Value, c.Threshold), c.Message)
}

func describeMeasurement(value, threshold string) string {
	if value == "" || threshold == "" {
		return ""
	}
	return value + ", not " + threshold
}
