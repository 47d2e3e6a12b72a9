package deployment

import (
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/desired"
	"github.com/intentplane/intentplane/function/ledgerhome"
	"github.com/intentplane/intentplane/function/requests"
)

// Observed is the result of the first stage of a call, read from the composed resources. No later stage writes into it.
type Observed struct {
	// specDigest is the digest of the spec.
	specDigest string

	// retained has each composed resource as it was observed, by its name in the composition.
	retained map[string]Resource

	// deliveries, sync and gates are the composed resources, by their names in the composition. A sync of nil means that there is none.
	deliveries map[string]*deliveryv1alpha1.GitDelivery
	sync       *deliveryv1alpha1.SiteSync
	gates      map[string]*rolloutv1alpha1.Gate

	// sitesAsked are the trees that the SiteSync looks for, and siteStatuses its observations, by the name of the Site.
	sitesAsked   map[string]deliveryv1alpha1.SiteTree
	siteStatuses map[string]deliveryv1alpha1.SiteObservation

	// requests are the open RolloutRequests of the deployment.
	requests []rolloutv1alpha1.RolloutRequest

	// home of the ledger. Its ConfigRef is empty if no repository has a ledger, or a request to open one.
	home step.Home

	// state of the ledger, with the events by which it begins or continues. While the home is unknown, it is the assumed state.
	state ledger.State

	// unobserving are the composed resources whose last change the provider has not observed for too long, by kind and name.
	unobserving []string

	// recheck says when the provider will have had its time.
	recheck recheck
}

func newObserved() Observed {
	return Observed{deliveries: map[string]*deliveryv1alpha1.GitDelivery{}, gates: map[string]*rolloutv1alpha1.Gate{}}
}

// observe reads the composed resources.
func (c *Core) observe(in Input) (Observed, error) {
	o := newObserved()
	var err error
	if o.retained, err = desired.RetainAll(in.Observed); err != nil {
		return Observed{}, err
	}
	for name := range in.Observed {
		if err := readResource(&o, in.Observed, name); err != nil {
			return Observed{}, err
		}
	}
	o.unobserving, o.recheck = c.unobservedChanges(in, o)
	return c.withLedgerState(o, in)
}

// withLedgerState returns the observed resources with the requests of the deployment, and the state of its ledger.
func (c *Core) withLedgerState(o Observed, in Input) (Observed, error) {
	var err error
	if o.specDigest, err = c.compiler.SpecDigest(&in.Spec); err != nil {
		return Observed{}, err
	}
	found, err := c.catalog.Requests(in.Claim, in.Answers)
	if err != nil {
		return Observed{}, err
	}
	o.requests = requests.Open(in.Claim, found)
	o.home = o.findLedgerHome(in, Compiled{})
	o.state = ledgerhome.AssumedState(o.deliveries)
	if o.home.IsKnown {
		if o.state, err = ledger.Append(o.home.State, ledgerhome.RecordingTime(), o.home.Events...); err != nil {
			return Observed{}, errors.Wrap(err, "cannot continue the ledger")
		}
		o.deliveries = ledgerhome.WithoutDropped(o.deliveries, o.state)
	}
	return o, nil
}

// readResource reads one of the observed composed resources, by its name in the composition.
func readResource(o *Observed, observed map[string]*unstructured.Unstructured, name string) (err error) {
	switch observed[name].GroupVersionKind() {
	case deliveryv1alpha1.GroupVersion.WithKind("GitDelivery"):
		o.deliveries[name], err = desired.Observe[deliveryv1alpha1.GitDelivery](observed, name)
	case deliveryv1alpha1.GroupVersion.WithKind("SiteSync"):
		if o.sync, err = desired.Observe[deliveryv1alpha1.SiteSync](observed, name); err == nil {
			o.sitesAsked, o.siteStatuses = indexSyncSites(o.sync)
		}
	case rolloutv1alpha1.GroupVersion.WithKind("Gate"):
		o.gates[name], err = desired.Observe[rolloutv1alpha1.Gate](observed, name)
	}
	return err
}

// indexSyncSites returns the trees that a SiteSync looks for, and its observations, by the name of the Site, because each call looks each of them up.
func indexSyncSites(s *deliveryv1alpha1.SiteSync) (map[string]deliveryv1alpha1.SiteTree, map[string]deliveryv1alpha1.SiteObservation) {
	requested, statuses, trees := map[string]deliveryv1alpha1.SiteTree{}, map[string]deliveryv1alpha1.SiteObservation{}, evidence.LatestTrees(s)
	for _, t := range s.Spec.ForProvider.Sites {
		t.Tree = trees[t.Name]
		requested[t.Name] = t
	}
	for _, o := range s.Status.AtProvider.Sites {
		statuses[o.Name] = o
	}
	return requested, statuses
}

// allDeliveries returns the observed deliveries, in the order of their names.
func (o Observed) allDeliveries() []*deliveryv1alpha1.GitDelivery {
	return compose.InOrder(o.deliveries)
}

// compareWithItself compares the observed resources with themselves: before a decision, the observed state is the desired state.
func (o Observed) compareWithItself() evidence.Comparison {
	return evidence.Comparison{State: o.state, Recorded: o.home.State, Desired: o.deliveries, Observed: o.deliveries, Sync: o.sync, ObservedSync: o.sync, Gates: o.gates}
}

// unobservedChanges returns the composed resources whose last change the provider has not observed for longer than its timeout, by kind and name.
// While one may still be observed in time, it says when to look again.
func (c *Core) unobservedChanges(in Input, observed Observed) ([]string, recheck) {
	var late []string
	next := recheck{}
	if c.providerTimeout <= 0 {
		return nil, next
	}
	for _, name := range slices.Sorted(maps.Keys(in.Observed)) {
		o := in.Observed[name]
		changed := desired.ChangedAt(o)
		if o.GetDeletionTimestamp() != nil || changed.IsZero() || desired.ObservedGeneration(o) >= o.GetGeneration() || awaitsLiveStep(o, name, observed) {
			continue
		}
		wait := c.providerTimeout - in.Now.Sub(changed)
		next = next.mergeRecheck(recheck{isDated: true, wait: wait})
		if wait <= 0 {
			late = append(late, o.GetKind()+" "+o.GetName())
		}
	}
	return late, next
}

// awaitsLiveStep is true for a Gate without a status whose step is not proven to be live: the provider writes none before.
func awaitsLiveStep(o *unstructured.Unstructured, name string, observed Observed) bool {
	g := observed.gates[name]
	if g == nil || g.Spec.ForProvider.Until != rolloutv1alpha1.GateUntilReleased || desired.ObservedGeneration(o) > 0 {
		return false
	}
	return observed.sync == nil || !evidence.AreSitesLive(observed.sync, g.Spec.ForProvider.AskedPosition())
}
