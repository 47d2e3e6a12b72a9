package cause

import (
	"strings"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/advice"
)

// Types of conditions of Crossplane's objects.
const (
	typeReady       = "Ready"
	typeSynced      = "Synced"
	typeResponsive  = "Responsive"
	typeEstablished = "Established"
	typeOffered     = "Offered"
	typeHealthy     = "Healthy"
	typeInstalled   = "Installed"
)

// A root is the object that the user made, as far as the installation is concerned.
type root struct {
	kind       string
	metadata   metav1.ObjectMeta
	conditions Conditions

	// isAnswered is true if the status describes the current spec.
	isAnswered bool
	installed  Installed
}

// kindAndName returns how a person names the object.
func (r root) kindAndName() string { return r.kind + " " + r.metadata.Name }

// notComposedLink reports that the status does not describe the current spec, since the spec changed.
func (r root) notComposedLink() Link {
	return Link{
		Kind: advice.Installation, Object: r.kindAndName(), Reason: advice.ReasonNotComposed, Message: "The status does not describe the current spec yet.",
		Since: specChangedAt(&r.metadata),
	}
}

// installationChain returns why the installation does not answer, or nil. An unreadable object gives no reason.
func (r root) installationChain() []Link {
	if deletedAt := r.metadata.DeletionTimestamp; deletedAt != nil {
		return []Link{{Kind: advice.Installation, Object: r.kindAndName(), Reason: advice.ReasonBeingDeleted, Since: deletedAt}}
	}
	if chain := r.packageChain(); chain != nil && (!r.isAnswered || len(r.installed.Missing) > 0) {
		return chain
	}
	for _, from := range r.compositeObjects() {
		if c := from.Status.Conditions.Get(typeResponsive); c.Status == metav1.ConditionFalse {
			return r.followThrough(from, Link{Kind: advice.Installation, Object: "Crossplane's circuit breaker", Reason: advice.ReasonWatchCircuitOpen, Message: c.Message, Since: c.lastTransition()})
		}
		if c := from.Status.Conditions.Get(typeSynced); c.Status == metav1.ConditionFalse {
			return r.followThrough(from, composeFailure(c))
		}
	}
	if !r.isAnswered {
		return []Link{r.notComposedLink()}
	}
	return nil
}

// composeFailure is why Crossplane cannot compose: it lacks a right, or the function does not answer as it should.
func composeFailure(synced Condition) Link {
	out := Link{Kind: advice.Installation, Object: "function", Reason: advice.ReasonCannotCompose, Message: synced.Message, Since: synced.lastTransition()}
	if lacksPermission(synced) {
		out.Object, out.Reason = "Crossplane", advice.ReasonRightMissing
	}
	return out
}

// compositeObjects are the objects that Crossplane composes for: the object itself, and the composite of a claim.
func (r root) compositeObjects() []Object {
	composite := Object{Metadata: r.metadata}
	composite.Kind, composite.Status.Conditions = r.kind, r.conditions
	if r.installed.Composite == nil {
		return []Object{composite}
	}
	return []Object{composite, *r.installed.Composite}
}

// followThrough returns a chain that leads through the composite, if that is not the object itself.
func (r root) followThrough(from Object, last Link) []Link {
	out := []Link{{Object: r.kindAndName()}}
	if from.Kind != r.kind {
		out = append(out, Link{Object: from.Kind + " " + from.Metadata.Name})
	}
	return append(out, last)
}

// packageChain returns which definition or package is not well, or nil.
func (r root) packageChain() []Link {
	if len(r.installed.Missing) > 0 {
		return []Link{{Object: r.kindAndName()}, {
			Kind: advice.Installation, Object: r.installed.Missing[0], Reason: advice.ReasonDefinitionNotActive, Message: "The cluster does not serve this kind.",
		}}
	}
	for _, d := range r.installed.Definitions {
		if l, ok := falseConditionLink("definition "+d.Metadata.Name, advice.ReasonDefinitionNotActive, d.Status.Conditions, typesOfDefinition()...); ok {
			return []Link{{Object: r.kindAndName()}, l}
		}
	}
	for _, p := range append(append([]Object{}, r.installed.Functions...), r.installed.Providers...) {
		if l, ok := falseConditionLink(strings.ToLower(p.Kind)+" "+p.Metadata.Name, advice.ReasonPackageUnhealthy, p.Status.Conditions, typesOfPackage()...); ok {
			return []Link{{Object: r.kindAndName()}, l}
		}
	}
	return nil
}

// An observed object is an object that the provider reconciles.
type observed struct {
	object     string
	generation int64
	// changed is when the spec got its current generation, or nil.
	changed       *metav1.Time
	ready, synced Condition
}

// managedResource is an object that the provider reconciles, with the conditions of Crossplane.
type managedResource interface {
	metav1.Object
	GetCondition(ct xpv2.ConditionType) xpv2.Condition
}

// observeManaged returns an object's report of its reconciliation.
func observeManaged(object string, m managedResource) observed {
	return observed{
		object: object, generation: m.GetGeneration(), changed: specChangedAt(m),
		ready: readyCondition(m.GetCondition(xpv2.TypeReady)), synced: readyCondition(m.GetCondition(xpv2.TypeSynced)),
	}
}

// refusedRequest is a part of an API server's message to a client that lacks a right.
const refusedRequest = " is forbidden: User "

// lacksPermission is true for a condition that repeats an API server's refusal.
func lacksPermission(c Condition) bool {
	return c.Status == metav1.ConditionFalse && strings.Contains(c.Message, refusedRequest)
}

// reconcileFailure returns the obstacle of the object's reconciliation, or false if the object has none in its conditions.
func (o observed) reconcileFailure() (Link, bool) {
	c := o.synced
	out := Link{Kind: advice.Installation, Object: o.object, Reason: advice.ReasonNotReconciled, Message: c.Message, Since: c.lastTransition()}
	if lacksPermission(c) {
		out.Reason = advice.ReasonRightMissing
		return out, true
	}
	return out, c.Status == metav1.ConditionFalse && o.ready.ObservedGeneration < o.generation
}

// unobservedLink returns why the provider does not reconcile an object, or false if it does. An object that changed a moment ago is observed soon, so
// that alone says that the provider is waited for. A lease that is not renewed says that it stopped.
func (i Installed) unobservedLink(o observed, now time.Time) (Link, bool) {
	if l, ok := o.reconcileFailure(); ok {
		return l, true
	}
	if o.ready.ObservedGeneration >= o.generation {
		return Link{}, false
	}
	out := Link{Kind: advice.Installation, Object: o.object, Reason: advice.ReasonNotReconciled, Since: o.changed, Message: "The provider has not observed its current generation."}
	for _, p := range i.Providers {
		if c := p.Status.Conditions.Get(typeHealthy); c.Status == metav1.ConditionFalse {
			out.Reason, out.Message, out.Since = advice.ReasonProviderStopped, "The provider has not observed its current generation. Provider "+p.Metadata.Name+": "+c.Words(), c.lastTransition()
			return out, true
		}
	}
	if i.Renewed != nil && isRenewalLate(i.Renewed.Time, now) {
		renewedAt := metav1.NewTime(i.Renewed.Time)
		out.Reason, out.Since = advice.ReasonProviderStopped, &renewedAt
		out.Message = "The provider has not observed its current generation, and has not renewed its lease since then."
	}
	return out, true
}
