package gate

import (
	"context"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/promql"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/provider/gates/endpoint"
)

// maxBlueprints bounds of how many Gates the metrics of their Blueprints are remembered.
const maxBlueprints = 1000

// A blueprintKey identifies the present request of a Gate.
type blueprintKey struct {
	gate       types.UID
	generation int64
}

// A blueprintNote is the cached Blueprint of a Gate's revision.
type blueprintNote struct {
	metrics []catalogv1alpha1.BlueprintMetric
	exists  bool
	readAt  time.Time
}

// blueprintNotes remember the Blueprints of the Gates that were looked at last. They are safe for concurrent use.
type blueprintNotes struct {
	notes *lru.Cache
}

func newBlueprintNotes() blueprintNotes { return blueprintNotes{notes: lru.New(maxBlueprints)} }

func (b blueprintNotes) getNote(key blueprintKey) (blueprintNote, bool) {
	cached, ok := b.notes.Get(key)
	note, _ := cached.(blueprintNote)
	return note, ok
}

func (b blueprintNotes) addNote(key blueprintKey, note blueprintNote) { b.notes.Add(key, note) }

// deniedQuery returns why a query may not be asked where Site or configuration leave the metrics of Blueprints only, or "". The function
// refuses such a query of a deployment; a Gate that a user made by hand never went through it. It returns an error if the API server cannot be
// asked.
func (e *external) deniedQuery(ctx context.Context, r *reconcileCache, k endpoint.Config, c v1alpha1.GateCheck, site *catalogv1alpha1.Site) (string, error) {
	denied := policy.CheckOwnQuery(site, k.Spec, c.Prometheus)
	if denied == nil {
		return "", nil
	}
	metrics, err := e.blueprintMetrics(ctx, r.gate)
	if err != nil || e.isBlueprintMetric(metrics, r.gate.GetNamespace(), c) {
		return "", err
	}
	return denied.Error(), nil
}

// blueprintMetrics returns the metrics of the Blueprint that the Gate's revision was compiled with, or none if it does not exist. It is read past
// the cache, which would keep all Blueprints in memory, and once for each generation of a Gate: a request for each look would be one for each
// change in a cluster. That it does not exist is remembered for openInterval. A quick look reads nothing: it returns an error if nothing is
// remembered.
func (e *external) blueprintMetrics(ctx context.Context, g *v1alpha1.Gate) ([]catalogv1alpha1.BlueprintMetric, error) {
	name := g.Spec.ForProvider.BlueprintName()
	if name == "" {
		return nil, nil
	}
	key := blueprintKey{gate: g.GetUID(), generation: g.GetGeneration()}
	if cached, ok := e.memory.blueprints.getNote(key); ok && (e.quick || cached.exists || e.now().Sub(cached.readAt) < openInterval) {
		return cached.metrics, nil
	}
	if e.quick {
		return nil, errors.New("cannot read the Blueprint in a quick look")
	}
	b := &catalogv1alpha1.Blueprint{}
	err := e.live.Get(ctx, client.ObjectKey{Name: name}, b)
	if client.IgnoreNotFound(err) != nil {
		return nil, errors.Wrapf(err, "cannot get Blueprint %q", name)
	}
	e.memory.blueprints.addNote(key, blueprintNote{metrics: b.Spec.Metrics, exists: err == nil, readAt: e.now()})
	return b.Spec.Metrics, nil
}

// isBlueprintMetric is true for a check whose query is the query of a Blueprint's metric, with the check's own namespace and Site.
func (e *external) isBlueprintMetric(metrics []catalogv1alpha1.BlueprintMetric, namespace string, c v1alpha1.GateCheck) bool {
	return slices.ContainsFunc(metrics, func(m catalogv1alpha1.BlueprintMetric) bool {
		return m.Name == c.Name && (e.isFilledWith(m.Query, namespace, c, "") ||
			e.isFilledWith(m.Canary, namespace, c, track.Blue) || e.isFilledWith(m.Canary, namespace, c, track.Green))
	})
}

// isFilledWith is true for a check that asks a query of a Blueprint, for a canary in a track. The track is empty for a query that is not for canaries.
func (e *external) isFilledWith(query, namespace string, c v1alpha1.GateCheck, canary string) bool {
	v := promql.Values{Namespace: namespace, Site: c.Site, Canary: canary}
	if canary != "" {
		v.Stable = track.Other(canary)
	}
	template, err := e.memory.queries.Parse(query)
	return query != "" && err == nil && template.FilledFor(c.Prometheus.Query, v)
}
