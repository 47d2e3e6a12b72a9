package track

import (
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/intentplane/intentplane/apis/track/object"
)

// selectNamedByPods selects the ConfigMaps and Secrets that the pods of the workload name.
func (p *Parts) selectNamedByPods() error {
	for _, w := range p.workloadMembers() {
		for _, m := range p.members {
			isConfig := m.hasGroupKind("", "ConfigMap") || m.hasGroupKind("", "Secret")
			if isConfig && m.GetNamespace() == w.GetNamespace() && object.RefersTo(w.Unstructured, m.GetKind(), m.GetName()) {
				m.perTrack = true
			}
		}
	}
	return nil
}

// selectScalersAndBudgets selects the autoscalers that scale the workload, and the disruption budgets for its pods. A budget for other pods too
// stays shared: it holds for the pods of both tracks.
func (p *Parts) selectScalersAndBudgets() error {
	for _, m := range p.members {
		if isAutoscaler(m.Unstructured) {
			m.perTrack = m.perTrack || p.scalesWorkload(m)
		}
		if !m.hasGroupKind("policy", "PodDisruptionBudget") {
			continue
		}
		selector, err := object.SelectorAt(m.Object, "spec", "selector")
		if err != nil {
			return errors.Wrapf(err, "%s: spec.selector", object.Of(m.Unstructured))
		}
		workload, otherMember := p.podsSelectedBy(m, selector)
		m.perTrack = m.perTrack || workload && otherMember == nil
	}
	return nil
}

// podsSelectedBy reports whether a selector in a namespace selects pods of the workload, and returns another workload whose pods it selects.
func (p *Parts) podsSelectedBy(m *member, s labels.Selector) (workload bool, otherMember *member) {
	for _, w := range p.members {
		pods, ok := object.PodLabels(w.Unstructured)
		if !ok || w.GetNamespace() != m.GetNamespace() || !s.Matches(pods) {
			continue
		}
		if w.perTrack {
			workload = true
			continue
		}
		otherMember = w
	}
	return workload, otherMember
}

// selectFronts finds the Services that select pods of the workload. They are shared, and select the pods of the track that serves: else pods without
// a verdict would answer callers in the cluster.
func (p *Parts) selectFronts() error {
	for _, m := range p.members {
		selector := serviceSelector(m)
		if m.listed || len(selector) == 0 {
			continue
		}
		workload, otherMember := p.podsSelectedBy(m, labels.SelectorFromSet(selector))
		if !workload {
			continue
		}
		if otherMember != nil {
			return errors.Errorf("%s: selects pods of %s too, which has no tracks", object.Of(m.Unstructured), object.Of(otherMember.Unstructured))
		}
		m.front, m.shared = true, true
	}
	return nil
}

func serviceSelector(m *member) labels.Set {
	if !m.hasGroupKind("", "Service") {
		return nil
	}
	found, _, _ := unstructured.NestedStringMap(m.Object, "spec", "selector")
	return found
}

// selectRoutes finds the routes that send requests to fronts, and has each track get a copy of these.
func (p *Parts) selectRoutes() error {
	for _, m := range p.members {
		if !m.isGatewayRoute() {
			continue
		}
		if err := p.selectRoute(m); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(p.members, func(m *member) bool { return m.routed }) {
		return errors.Errorf("spec.canary: no HTTPRoute or GRPCRoute sends requests to a Service that selects pods of %s",
			object.Of(p.workloadMembers()[0].Unstructured))
	}
	return nil
}

func (p *Parts) selectRoute(route *member) error {
	for i, rule := range rulesOfRoute(route.Unstructured) {
		fronts, err := p.frontsOfRule(route, i, rule)
		if err != nil {
			return err
		}
		if len(fronts) == 0 {
			continue
		}
		if err := checkRouteRule(route, i, rule); err != nil {
			return err
		}
		route.routed = true
		for _, front := range fronts {
			front.perTrack = true
		}
	}
	return nil
}

// frontsOfRule returns the fronts that a rule sends requests to.
func (p *Parts) frontsOfRule(route *member, rule int, content map[string]any) ([]*member, error) {
	out := []*member{}
	for j, ref := range backendRefs(content) {
		namespace := object.TextAt(ref, "namespace")
		elsewhere := namespace != "" && namespace != route.GetNamespace()
		if namespace == "" {
			namespace = route.GetNamespace()
		}
		for _, m := range p.members {
			if !isServiceRef(ref) || !m.hasGroupKind("", "Service") || m.GetName() != object.TextAt(ref, "name") || m.GetNamespace() != namespace {
				continue
			}
			field := backendRefField(route, rule, j)
			if m.front && elsewhere {
				return nil, errors.Errorf("%s: %s is in another namespace: a canary needs the route beside it", field, object.Of(m.Unstructured))
			}
			if m.listed {
				return nil, errors.Errorf("%s: %s is in spec.canary.perTrack: leave it out there, since each track gets a copy of it anyway",
					field, object.Of(m.Unstructured))
			}
			if m.front {
				out = append(out, m)
			}
		}
	}
	return out, nil
}
