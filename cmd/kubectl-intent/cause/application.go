package cause

import (
	"cmp"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/advice"
	applicationv1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// An Application is one in either shape. Additional fields of a newer version are not read.
type Application struct {
	metav1.TypeMeta `json:",inline"`

	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     ApplicationSpec   `json:"spec"`
	Status   ApplicationStatus `json:"status"`
}

// An ApplicationSpec has the reference that Crossplane adds.
type ApplicationSpec struct {
	applicationv1alpha1.ApplicationSpec `json:",inline"`
	ClaimSpec                           `json:",inline"`
}

// An ApplicationStatus has the conditions that Crossplane adds.
type ApplicationStatus struct {
	applicationv1alpha1.ApplicationStatus `json:",inline"`

	Conditions Conditions `json:"conditions,omitempty"`
}

// ApplicationFacts are an Application and its composed objects, as far as they could be read.
type ApplicationFacts struct {
	Application Application
	SpecDigest  string

	// Deployment is nil if there is none, or it could not be read.
	Deployment *Facts

	// Health is nil if there is none, or it could not be read.
	Health *deliveryv1alpha1.SiteHealth

	Installed Installed
	Unread    []Unread
}

// IsAnswered reports whether the status speaks about the current spec.
func (f *ApplicationFacts) IsAnswered() bool {
	return f.SpecDigest == "" || f.Application.Status.SpecDigest == f.SpecDigest
}

// FindForApplication returns why an Application does not go on.
func FindForApplication(f *ApplicationFacts, now time.Time) Finding {
	a := f.Application
	r := root{
		kind: a.Kind, metadata: a.Metadata, conditions: a.Status.Conditions, installed: f.Installed,
		isAnswered: f.IsAnswered(),
	}
	chain, isGood := r.installationChain(), false
	if chain == nil {
		chain, isGood = f.applicationChain(now)
	}
	out := concludeChain(chain)
	out.IsGood, out.Unread = isGood, f.Unread
	if f.Deployment != nil {
		out.Waiting, out.Unread = f.Deployment.waitingRequests(), append(out.Unread, f.Deployment.Unread...)
	}
	return out
}

// applicationChain returns the chain from the Application down to the blocker, and true if nothing blocks it.
func (f *ApplicationFacts) applicationChain(now time.Time) ([]Link, bool) {
	all := f.Application.Status.Conditions
	c := all.Get(applicationv1alpha1.TypeStalled)
	if c.Status != metav1.ConditionTrue {
		c = all.Get(applicationv1alpha1.TypeReconciling)
	}
	first := Link{
		Kind: advice.Application, Object: "Application " + f.Application.Metadata.Name, Reason: c.Reason,
		Message: cmp.Or(c.Message, f.Application.Status.Message), Since: c.lastTransition(),
	}
	if c.Type == applicationv1alpha1.TypeReconciling && c.Status == metav1.ConditionFalse && c.Reason == applicationv1alpha1.ReasonIdle {
		return []Link{first}, true
	}
	out := []Link{first}
	if o := f.Installed.Composite; o != nil {
		out = append(out, Link{Object: o.Kind + " " + o.Metadata.Name})
	}
	return append(out, f.composedChain(now)...), false
}

// composedChain goes from the Application to the objects that it composed: to its pods, once they are all that is waited for, or where a person has to help them;
// else to its deployment.
func (f *ApplicationFacts) composedChain(now time.Time) []Link {
	all := f.Application.Status.Conditions
	if !all.IsTrue(applicationv1alpha1.TypeValid) || !all.IsTrue(applicationv1alpha1.TypeBuilt) {
		return nil // The previous deployment has no part in it.
	}
	pods := f.healthChain(now)
	if f.Deployment == nil || all.IsTrue(applicationv1alpha1.TypeDeployed) && pods != nil {
		return pods
	}
	below := FindForDeployment(f.Deployment, now)
	if below.IsGood || !below.NeedsPerson() && all.IsFalse(applicationv1alpha1.TypeAvailable) && needsPerson(pods) {
		return pods
	}
	return below.Chain
}

// needsPerson is true for a chain whose end a person has to act about.
func needsPerson(chain []Link) bool {
	return len(chain) > 0 && concludeChain(chain[len(chain)-1:]).NeedsPerson()
}

// healthChain names the SiteHealth, and the first Site that does not serve or whose route is not accepted.
func (f *ApplicationFacts) healthChain(now time.Time) []Link {
	h := f.Health
	if h == nil {
		return f.reportedPods()
	}
	ready := readyCondition(h.Status.GetCondition(xpv2.TypeReady))
	object := "SiteHealth " + h.Name
	if l, ok := f.Installed.unobservedLink(observeManaged(object, h), now); ok {
		return []Link{l}
	}
	if ready.Status == metav1.ConditionTrue {
		return nil
	}
	out := []Link{{Kind: advice.SiteHealth, Object: object, Reason: ready.Reason, Message: ready.Message, Since: ready.lastTransition()}}
	if s := leastHealthySite(h.Status.AtProvider.Sites); s != nil {
		out = append(out, podHealthLink(s))
	}
	return out
}

// podHealthLink is the report of a Site about its pods or, where the pods serve, about its route.
func podHealthLink(s *deliveryv1alpha1.SiteHealthState) Link {
	out := Link{Kind: advice.SiteHealth, Object: "Site " + s.Name, Reason: cmp.Or(s.Reason, string(s.State)), Message: s.Message}
	if s.IsServing() && s.Route != nil {
		out.Kind, out.Reason, out.Message = "", s.Route.Reason, s.Route.Message
	}
	return out
}

// leastHealthySite returns the Site that is furthest from serving, Sites that need a person first. It is nil if all serve.
func leastHealthySite(sites []deliveryv1alpha1.SiteHealthState) *deliveryv1alpha1.SiteHealthState {
	var worst *deliveryv1alpha1.SiteHealthState
	for i := range sites {
		s := &sites[i]
		if gravity := gravityOfPods(s); gravity > 0 && (worst == nil || gravity > gravityOfPods(worst)) {
			worst = s
		}
	}
	return worst
}

// gravityOfPods orders the reports of Sites about pods: the higher, the more it blocks. It is 0 for a Site that serves.
func gravityOfPods(s *deliveryv1alpha1.SiteHealthState) int {
	a, _ := podHealthLink(s).adviceForLink()
	switch {
	case s.IsServing() && (s.Route == nil || s.Route.Accepted):
		return 0
	case s.IsServing():
		return 1
	case a.NeedsPerson():
		return 4
	case s.State == deliveryv1alpha1.HealthUnavailable:
		return 3
	}
	return 2
}

// reportedPods returns the Application's own report of its Sites, for a user who may not read its SiteHealth. Each Site of a running Application serves.
func (f *ApplicationFacts) reportedPods() []Link {
	if f.Application.Status.Phase == applicationv1alpha1.PhaseRunning {
		return nil
	}
	var all []deliveryv1alpha1.SiteHealthState
	for _, name := range sortedNames(f.Application.Status.Sites) {
		s := f.Application.Status.Sites[name]
		all = append(all, deliveryv1alpha1.SiteHealthState{Name: name, State: deliveryv1alpha1.HealthState(s.State), Reason: s.Reason, Message: s.Message})
	}
	if s := leastHealthySite(all); s != nil {
		return []Link{podHealthLink(s)}
	}
	return nil
}
