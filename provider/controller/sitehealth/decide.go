package sitehealth

import (
	"fmt"
	"strings"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/oneline"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/instant"
)

const (
	// maxNamed is the number of Sites that a condition names.
	maxNamed = 5

	// maxMessage bounds the message of a Site, as the schema does, in characters.
	maxMessage = 512
)

// A decision is the result of the facts.
type decision struct {
	// next is the desired status.
	next v1alpha1.SiteHealthObservation
	// reason of the Ready condition, which is true with ReasonServing only.
	reason  xpv2.ConditionReason
	message string
	// again is the time at which pods have to be listed. Zero is never.
	again time.Time
}

// decideStatus decides the status. It is pure: the same facts give the same decision.
func decideStatus(f facts) decision {
	if c := f.spec.ClaimRef; c.Namespace != f.namespace {
		message := fmt.Sprintf("spec.forProvider.claimRef.namespace: %q is not the namespace of the SiteHealth", c.Namespace)
		return decision{reason: v1alpha1.ReasonPolicyDenied, message: message}
	}
	d := decision{next: v1alpha1.SiteHealthObservation{Image: f.spec.Image}}
	for i, want := range f.spec.Sites {
		o := f.sites[i].describeSite(want.Name, f.namespace)
		if o.IsServing() {
			d.next.SitesServing++
		}
		d.next.Sites = append(d.next.Sites, o)
		d.again = instant.Earliest(d.again, f.sites[i].podsDue)
	}
	d.concludeReady()
	return d
}

// describeSite returns the status of a Site.
func (s *siteFacts) describeSite(name, namespace string) v1alpha1.SiteHealthState {
	o := v1alpha1.SiteHealthState{Name: name, State: v1alpha1.HealthNotObserved, WorkloadSeen: new(s.isWorkloadSeen)}
	switch {
	case s.denied != "":
		o.Reason, o.Message = v1alpha1.SiteReasonPolicyDenied, s.denied
		return o
	case s.unread != nil:
		o.CountsAsServing = s.unobservedServes || s.engineHealthy
		o.Reason, o.Message = s.unread.Reason, oneline.Cut(s.explainUnread(namespace), maxMessage)
		return o
	}
	h := s.health
	if h.IsAbsent() && s.isElsewhere {
		o.CountsAsServing, o.Reason = true, h.Reason
		o.Message = oneline.Cut(setup.CountsAsLive+h.Message, maxMessage)
		return o
	}
	o = v1alpha1.SiteHealthState{
		Name: name, State: h.State, Reason: h.Reason, Message: oneline.Cut(h.Message, maxMessage), Route: s.route,
		WorkloadSeen: new(s.isWorkloadSeen), Available: h.Available, AvailableOther: h.AvailableOther, Updated: h.Updated, Desired: h.Desired,
	}
	if s.trouble.Reason != "" {
		o.State, o.Reason, o.Message = v1alpha1.HealthUnavailable, s.trouble.Reason, oneline.Cut(s.trouble.Message, maxMessage)
	}
	return o
}

// explainUnread returns the reason why a Site cannot be observed, and the evidence that counts instead.
func (s *siteFacts) explainUnread(namespace string) string {
	explanation := setup.ExplainUnread(s.unread, "Deployments and ReplicaSets", namespace)
	switch {
	case s.engineHealthy:
		return setup.CountsAsHealthy + explanation
	case s.unobservedServes:
		return setup.CountsAsLive + explanation
	}
	return explanation
}

// concludeReady sums up the states of all Sites: the reason is the reason of the first Site that does not serve, else of the first without
// its route.
func (d *decision) concludeReady() {
	d.reason = v1alpha1.ReasonServing
	named := []string{}
	for _, o := range d.next.Sites {
		if o.IsServing() {
			continue
		}
		if d.reason == v1alpha1.ReasonServing {
			d.reason = xpv2.ConditionReason(o.Reason)
		}
		named = append(named, fmt.Sprintf("Site %q: %s", o.Name, o.Reason))
	}
	for _, o := range d.next.Sites {
		if !o.IsServing() || o.Route == nil || o.Route.Accepted {
			continue
		}
		if d.reason == v1alpha1.ReasonServing {
			d.reason = v1alpha1.ReasonRouteNotReady
		}
		named = append(named, fmt.Sprintf("Site %q: %s", o.Name, o.Route.Reason))
	}
	if remaining := len(named) - maxNamed; remaining > 0 {
		named = append(named[:maxNamed], fmt.Sprintf("and %d more", remaining))
	}
	d.message = strings.Join(named, "; ")
}
