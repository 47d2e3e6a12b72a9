package gatewayapi

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/provider/engines"
	"github.com/intentplane/intentplane/provider/statusmessage"
)

// Types of conditions of a route in a Gateway (Gateway API, RouteConditionType).
const (
	routeAccepted         = "Accepted"
	routeResolvedRefs     = "ResolvedRefs"
	routePartiallyInvalid = "PartiallyInvalid"
)

// routePending is the reason of condition Accepted of a Gateway that has not decided about a route (Gateway API, RouteReasonPending).
const routePending = "Pending"

// maxParents is the number of parents of a route, and of reports on them, that the Gateway API allows. A hostile API server may send thousands of both, and each
// parent is compared with each report.
const maxParents = 32

type gatewayRoute struct {
	Metadata struct {
		Namespace  string `json:"namespace"`
		Generation int64  `json:"generation"`
	} `json:"metadata"`
	Spec struct {
		ParentRefs []parentRef `json:"parentRefs"`
	} `json:"spec"`
	Status struct {
		Parents []routeParent `json:"parents"`
	} `json:"status"`
}

// A parentRef names a Gateway, or a part of it.
type parentRef struct {
	Group       *string `json:"group"`
	Kind        string  `json:"kind"`
	Namespace   string  `json:"namespace"`
	Name        string  `json:"name"`
	SectionName string  `json:"sectionName"`
	Port        int64   `json:"port"`
}

// A routeParent is the report of one controller on a route in a Gateway.
type routeParent struct {
	ParentRef      parentRef          `json:"parentRef"`
	ControllerName string             `json:"controllerName"`
	Conditions     []metav1.Condition `json:"conditions"`
}

// decodeRoute decodes a route. It returns an error about a route that no API server with the definitions of the Gateway API has.
func decodeRoute(found *unstructured.Unstructured) (gatewayRoute, error) {
	r := gatewayRoute{}
	if err := engines.DecodeObject(found, &r); err != nil {
		return gatewayRoute{}, err
	}
	if max(len(r.Spec.ParentRefs), len(r.Status.Parents)) > maxParents {
		return gatewayRoute{}, errors.Errorf("spec.parentRefs or status.parents of the route has more than %d items", maxParents)
	}
	return r, nil
}

// RouteReason returns why a route in the cluster does not prove the weights that it has in Git, and a message on one line. Both are empty
// when it does: it has these weights, and each of its parents has accepted its current generation and found the objects that it refers to. An
// implementation that does not report the generation proves nothing. No status reports that the data plane follows, so nothing proves that.
func RouteReason(want track.Route, found *unstructured.Unstructured) (reason, message string) {
	name := fmt.Sprintf("%s %s/%s", want.Kind, want.Namespace, want.Name)
	if found == nil {
		return ReasonRouteMissing, name + " does not exist"
	}
	if found.GetDeletionTimestamp() != nil {
		return ReasonRouteMissing, name + " is being deleted"
	}
	if message := backendsDiffer(want, found); message != "" {
		return ReasonTrafficDiffers, statusmessage.Sanitize(name + ": " + message)
	}
	return RouteAcceptance(found)
}

// RouteAcceptance returns why a route in the cluster is not accepted, and a message on one line. Both are empty when each of its parents has
// accepted its current generation and found the objects that it refers to.
func RouteAcceptance(found *unstructured.Unstructured) (reason, message string) {
	name := fmt.Sprintf("%s %s/%s", found.GetKind(), found.GetNamespace(), found.GetName())
	if found.GetDeletionTimestamp() != nil {
		return ReasonRouteMissing, statusmessage.Sanitize(name + " is being deleted")
	}
	r, err := decodeRoute(found)
	if err != nil {
		return ReasonRouteNotAccepted, err.Error()
	}
	if reason, message := r.rejectionReason(); reason != "" {
		return reason, statusmessage.Sanitize(name + ": " + message)
	}
	return "", ""
}

// RouteRefusal returns the latest condition by which a Gateway refuses the current generation of a route, or nil: an earlier refusal of another Gateway does not
// hide it. An unresolved reference does not refuse the route: its object may come yet.
func RouteRefusal(found *unstructured.Unstructured) *metav1.Condition {
	r, err := decodeRoute(found)
	if err != nil || found.GetDeletionTimestamp() != nil {
		return nil
	}
	var latest *metav1.Condition
	for _, p := range r.Status.Parents {
		if !slices.ContainsFunc(r.Spec.ParentRefs, func(ref parentRef) bool { return r.isSameParent(ref, p.ParentRef) }) {
			continue
		}
		c := meta.FindStatusCondition(p.Conditions, routeAccepted)
		isRefused := c != nil && c.Status == metav1.ConditionFalse && c.Reason != routePending && c.ObservedGeneration == r.Metadata.Generation
		if isRefused && (latest == nil || latest.LastTransitionTime.Before(&c.LastTransitionTime)) {
			latest = c
		}
	}
	return latest
}

// backendsDiffer returns the difference between the weights of a route in Git and in the cluster, or "".
func backendsDiffer(want track.Route, found *unstructured.Unstructured) string {
	got, err := track.Backends(found)
	if err != nil {
		return err.Error()
	}
	for _, b := range want.Backends {
		if i := slices.IndexFunc(got, b.IsSameBackend); i < 0 || got[i].Weight != b.Weight {
			return fmt.Sprintf("spec.rules[%d]: weight %d of Service %s in Git differs from its weight in the cluster", b.Rule, b.Weight, b.Service)
		}
	}
	for _, b := range got {
		if !slices.ContainsFunc(want.Backends, b.IsSameBackend) {
			return fmt.Sprintf("spec.rules[%d]: Service %s is not in Git", b.Rule, b.Service)
		}
	}
	return ""
}

// WeighedServices returns the Services that a route in the cluster gives requests to although Git says that they get none.
func WeighedServices(want track.Route, found *unstructured.Unstructured) []string {
	if found == nil {
		return nil
	}
	got, err := track.Backends(found)
	if err != nil {
		return nil // The weights are not known, and prove nothing.
	}
	var out []string
	for _, b := range want.Backends {
		if i := slices.IndexFunc(got, b.IsSameBackend); i >= 0 && b.Weight == 0 && got[i].Weight > 0 {
			out = append(out, b.Service)
		}
	}
	return out
}

// rejectionReason returns why a parent of the route proves nothing, or the empty texts.
func (r *gatewayRoute) rejectionReason() (reason, message string) {
	if len(r.Spec.ParentRefs) == 0 {
		return ReasonRouteNotAccepted, "spec.parentRefs: the route names no Gateway"
	}
	for _, ref := range r.Spec.ParentRefs {
		found := false
		for _, p := range r.Status.Parents {
			if !r.isSameParent(ref, p.ParentRef) {
				continue
			}
			found = true
			if reason, message := p.rejectionReason(r.Metadata.Generation); reason != "" {
				return reason, fmt.Sprintf("%s, by %s: %s", r.describeParent(ref), cmp.Or(p.ControllerName, "a controller without a name"), message)
			}
		}
		if !found {
			return ReasonRouteNotAccepted, fmt.Sprintf("%s: no controller reports on the route: create the %s, or run a controller that takes routes of it", r.describeParent(ref), ref.kindOrDefault())
		}
	}
	return "", ""
}

// isSameParent compares references, with the defaults that Gateway API gives them.
func (r *gatewayRoute) isSameParent(a, b parentRef) bool {
	return a.groupOrDefault() == b.groupOrDefault() && a.kindOrDefault() == b.kindOrDefault() && a.Name == b.Name &&
		cmp.Or(a.Namespace, r.Metadata.Namespace) == cmp.Or(b.Namespace, r.Metadata.Namespace) &&
		a.SectionName == b.SectionName && a.Port == b.Port
}

// groupOrDefault is the core group for an empty text and for core, as service meshes spell it, and Gateway API's for none.
func (p parentRef) groupOrDefault() string {
	switch {
	case p.Group == nil:
		return track.GatewayGroup
	case *p.Group == "core":
		return ""
	}
	return *p.Group
}

// kindOrDefault is Gateway for an empty text.
func (p parentRef) kindOrDefault() string { return cmp.Or(p.Kind, "Gateway") }

// describeParent names a parent of the route, with its namespace where that is another one, and the part of it.
func (r *gatewayRoute) describeParent(p parentRef) string {
	out := p.kindOrDefault() + " " + p.Name
	if p.Namespace != "" && p.Namespace != r.Metadata.Namespace {
		out = p.kindOrDefault() + " " + p.Namespace + "/" + p.Name
	}
	if p.SectionName != "" {
		out += ", section " + p.SectionName
	}
	if p.Port != 0 {
		out += fmt.Sprintf(", port %d", p.Port)
	}
	return out
}

func (p *routeParent) rejectionReason(generation int64) (reason, message string) {
	if message := conditionMissing(p.Conditions, routeAccepted, generation); message != "" {
		return ReasonRouteNotAccepted, message
	}
	for _, c := range p.Conditions {
		if c.Type == routePartiallyInvalid && c.Status == metav1.ConditionTrue {
			return ReasonRouteNotAccepted, describeRouteCondition(c)
		}
	}
	if message := conditionMissing(p.Conditions, routeResolvedRefs, generation); message != "" {
		return ReasonRefsNotResolved, message
	}
	return "", ""
}

// conditionMissing returns "" if a condition is true for a generation, and else a description of its state.
func conditionMissing(all []metav1.Condition, conditionType string, generation int64) string {
	i := slices.IndexFunc(all, func(c metav1.Condition) bool { return c.Type == conditionType })
	if i < 0 {
		return conditionType + " is not reported" + waitForController
	}
	if all[i].ObservedGeneration != generation {
		return describeOtherGeneration(all[i], generation)
	}
	if all[i].Status != metav1.ConditionTrue {
		return describeRouteCondition(all[i])
	}
	return ""
}

// describeOtherGeneration describes why a condition proves nothing of the current generation of a route, and names the remedy: the entry of a
// removed controller stays in the status until a user removes it.
func describeOtherGeneration(c metav1.Condition, generation int64) string {
	if c.ObservedGeneration == 0 {
		return fmt.Sprintf("%s has no observedGeneration, so it may be about a route before generation %d: run a version of the controller that sets it", c.Type, generation)
	}
	return fmt.Sprintf("%s is for generation %d, and the route has %d", c.Type, c.ObservedGeneration, generation) + waitForController
}

// waitForController is the remedy for an entry that says nothing about the current generation of a route.
const waitForController = ": wait for this controller; if it is gone, remove its entry from status.parents of the route"

func describeRouteCondition(c metav1.Condition) string {
	return fmt.Sprintf("%s is %s: %s: %s", c.Type, c.Status, c.Reason, c.Message)
}
