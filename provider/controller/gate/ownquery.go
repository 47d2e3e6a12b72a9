package gate

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/promql"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// deniedQuery returns why a query may not be asked where Site or configuration leave the metrics of Blueprints only, or "". The function
// refuses such a query of a deployment; a Gate that a user made by hand never went through it. It returns an error if the API server cannot be
// asked.
func (e *external) deniedQuery(ctx context.Context, r *round, k config, c v1alpha1.GateCheck, site *catalogv1alpha1.Site) (string, error) {
	denied := policy.CheckOwnQuery(site, k.spec, c.Prometheus)
	if denied == nil {
		return "", nil
	}
	b, err := e.blueprint(ctx, r)
	if err != nil || b != nil && e.isMetricOf(b, r.gate.GetNamespace(), c) {
		return "", err
	}
	return denied.Error(), nil
}

// blueprint that the Gate's order was compiled with, or nil if there is none. It is read past the cache, which would keep all Blueprints in
// memory, and once for all checks.
func (e *external) blueprint(ctx context.Context, r *round) (*catalogv1alpha1.Blueprint, error) {
	ref := r.gate.Spec.ForProvider.Order.Blueprint
	if ref == nil || r.blueprint != nil {
		return r.blueprint, nil
	}
	b := &catalogv1alpha1.Blueprint{}
	err := e.live.Get(ctx, client.ObjectKey{Name: ref.Name}, b)
	if kerrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // There is none.
	}
	if err != nil {
		return nil, errors.Wrapf(err, "cannot get Blueprint %q", ref.Name)
	}
	r.blueprint = b
	return b, nil
}

// isMetricOf is true for a check that asks the query of a Blueprint's metric, about its own namespace and Site.
func (e *external) isMetricOf(b *catalogv1alpha1.Blueprint, namespace string, c v1alpha1.GateCheck) bool {
	return slices.ContainsFunc(b.Spec.Metrics, func(m catalogv1alpha1.BlueprintMetric) bool {
		template, err := e.memory.queries.Parse(m.Query)
		return err == nil && m.Name == c.Name && template.FilledFor(c.Prometheus.Query, promql.Values{Namespace: namespace, Site: c.Site})
	})
}
