package sitehealth

import (
	"context"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/panics"
	"github.com/intentplane/intentplane/provider/workload"
)

const (
	// maxAtOnce is the number of Sites that are observed concurrently.
	maxAtOnce = 16

	// podDelay is the time without an available pod after which pods are listed for the reason: most pods start in that time.
	podDelay = 10 * time.Second

	// podInterval is the interval at which the pods of a Site are listed while none is available.
	podInterval = 30 * time.Second
)

// facts are all that a decision is made from. Who gathers them decides nothing, and who decides reads nothing else.
type facts struct {
	// namespace of the SiteHealth.
	namespace string
	spec      v1alpha1.SiteHealthParameters
	now       time.Time
	// sites in the order of the spec.
	sites []siteFacts
}

// A siteFacts is the observed state of one Site.
type siteFacts struct {
	// denied is the reason why the Site may not be observed.
	denied string
	// unread is the reason why the Deployments of the Site cannot be read. Nil if they are.
	unread *clusters.Error
	// hasNoEngine is true for a Site whose revision no SiteSync proves.
	hasNoEngine bool
	// unobservedServes is true for a Site without an engine that counts as live without an observation.
	unobservedServes bool
	// isWorkloadSeen is true once the cluster of the control plane had a Deployment of the claim for a Site whose workload may run elsewhere.
	isWorkloadSeen bool
	// isElsewhere is true for such a Site that names no cluster but the control plane's, and never had a Deployment there: its workload need
	// not be there.
	isElsewhere bool
	// engineHealthy is true for a Site that cannot be observed, and whose engine reports its objects as healthy.
	engineHealthy bool
	// health of the Deployments, and the trouble of their pods.
	health  workload.Health
	trouble workload.Trouble
	// podsDue is the time of the next list of pods. Zero is never.
	podsDue time.Time
	// route is the report of the Gateways. Nil if the route was not requested.
	route *v1alpha1.RouteHealth
}

// gatherFacts gathers the facts about a SiteHealth. It returns an error if the control plane's API server is unavailable.
func (e *external) gatherFacts(ctx context.Context, s *v1alpha1.SiteHealth) (facts, error) {
	f := facts{namespace: s.GetNamespace(), spec: *s.Spec.ForProvider.DeepCopy(), now: e.now()}
	f.sites = make([]siteFacts, len(f.spec.Sites))
	if f.spec.ClaimRef.Namespace != f.namespace {
		return f, nil // Nothing is read for another namespace.
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(maxAtOnce)
	engine := &engineReader{kube: e.kube, claim: f.spec.ClaimRef}
	for i, want := range f.spec.Sites {
		n := e.note.findOrAddSiteNote(want.Name)
		n.routes.restoreRevision(s.Status.AtProvider, want.Name)
		f.sites[i].isWorkloadSeen = hadWorkload(s.Status.AtProvider, want.Name)
		g.Go(func() error {
			return panics.Recover("read a workload", func() error { return e.readSiteOrEngine(ctx, f, i, n, engine) })
		})
	}
	return f, g.Wait()
}

// hadWorkload is true if the status, which outlives the provider, has recorded a Deployment of the claim at the Site. The status of an earlier provider has no
// record, so its state counts. A missing Deployment may have existed: that does not prove that the workload runs elsewhere.
func hadWorkload(o v1alpha1.SiteHealthObservation, site string) bool {
	return slices.ContainsFunc(o.Sites, func(s v1alpha1.SiteHealthState) bool {
		return s.Name == site && ptr.Deref(s.WorkloadSeen, s.State != "" && s.State != v1alpha1.HealthNotObserved)
	})
}

// readSiteOrEngine reads the workload of a Site, and the engine's report where the workload cannot be read.
func (e *external) readSiteOrEngine(ctx context.Context, f facts, i int, n *siteNote, engine *engineReader) error {
	name, s := f.spec.Sites[i].Name, &f.sites[i]
	c, err := e.readSiteWorkload(ctx, f, name, s, &n.pods)
	switch {
	case err != nil:
		return err
	case s.unread != nil:
		s.engineHealthy, err = engine.isEngineHealthy(ctx, name)
		return err
	case c == nil || !f.spec.Route:
		return nil
	}
	// The SiteSyncs are read before the routes, which are those of the proven revision therefore.
	proven, err := engine.provenDelivery(ctx, name)
	if err != nil {
		return err
	}
	s.route = f.readRouteHealth(ctx, c, &n.routes, proven)
	if s.hasNoEngine {
		s.route.Revision = nil
	}
	return nil
}

// readSiteWorkload reads the workload of one Site. It returns the cluster of the Site, or nil if the workload cannot be read.
func (e *external) readSiteWorkload(ctx context.Context, f facts, name string, s *siteFacts, pods *podNote) (*clusters.Cluster, error) {
	site := &catalogv1alpha1.Site{}
	site.SetName(name)
	if err := e.kube.Get(ctx, client.ObjectKey{Name: name}, site); client.IgnoreNotFound(err) != nil {
		return nil, errors.Wrapf(err, "cannot get Site %q", name)
	}
	// A missing Site allows no namespace.
	if err := policy.CheckSite(site, f.namespace); err != nil {
		s.denied = err.Error()
		return nil, nil //nolint:nilerr,nilnil // A refusal is an answer.
	}
	if !policy.AllowsTarget(site, f.namespace, f.namespace) {
		s.denied = "the Site's spec.targetNamespaces.allowed does not allow namespace " + f.namespace
		return nil, nil //nolint:nilnil // A refusal is an answer.
	}
	s.unobservedServes = ptr.Deref(site.Spec.Engine.UnobservedIsLive, false)
	s.hasNoEngine = site.Spec.Engine.Type == catalogv1alpha1.EngineNone
	s.isElsewhere = setup.IsElsewhere(site)
	// A Site of another cluster or with an engine is not judged by the record, and may be changed to a Site whose workload runs elsewhere.
	s.isWorkloadSeen = s.isWorkloadSeen && s.isElsewhere
	c, err := setup.ConnectSite(ctx, e.kube, e.look, site)
	if err == nil {
		err = s.readCluster(ctx, f, c, pods)
	}
	if errors.As(err, &s.unread) {
		return nil, nil //nolint:nilnil // The reason is an answer.
	}
	return c, err
}

// readCluster reads the workload in a Site's cluster. It returns a clusters.Error if the Deployments cannot be read.
func (s *siteFacts) readCluster(ctx context.Context, f facts, c *clusters.Cluster, pods *podNote) error {
	w, err := setup.SelectWorkload(ctx, c, f.namespace, f.spec.ClaimRef.Name)
	if err != nil {
		return err
	}
	s.health = workload.Assess(f.spec.Image, w.Deployments, w.ReplicaSets)
	s.isWorkloadSeen = s.isWorkloadSeen || s.isElsewhere && !s.health.IsAbsent()
	s.isElsewhere = s.isElsewhere && !s.isWorkloadSeen
	s.readPodTrouble(ctx, f, c, pods)
	return nil
}

// readPodTrouble lists the pods of a Site for the reason why none is available, once that has been so for a while.
func (s *siteFacts) readPodTrouble(ctx context.Context, f facts, c *clusters.Cluster, n *podNote) {
	if n.selector != s.health.PodSelector {
		*n = podNote{selector: s.health.PodSelector, since: f.now}
	}
	if n.selector == "" {
		return
	}
	if due := n.nextDueTime(); !f.now.Before(due) {
		n.readAt = f.now
		// Where the pods cannot be read, the last trouble counts.
		_ = c.VisitFew(ctx, schema.GroupVersionResource{Version: "v1", Resource: "pods"}, f.namespace, n.selector, func(pods []unstructured.Unstructured) {
			n.trouble = workload.PodTrouble(pods)
		})
	}
	s.trouble, s.podsDue = n.trouble, n.nextDueTime()
}

// nextDueTime returns when the pods have to be listed.
func (n *podNote) nextDueTime() time.Time {
	if n.readAt.IsZero() {
		return n.since.Add(podDelay)
	}
	return n.readAt.Add(podInterval)
}
