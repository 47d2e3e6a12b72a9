package deployment

import (
	"slices"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/ledgerhome"
)

// desiredResources are the composed resources that a decision requests for a state of the ledger.
type desiredResources struct {
	// deliveries by their names in the composition, that of the home among them.
	deliveries map[string]*deliveryv1alpha1.GitDelivery

	// sync is the SiteSync. Nil means that there is none.
	sync *deliveryv1alpha1.SiteSync

	// home is the name of the delivery to the home of the ledger.
	home string

	// isResumed is true if the desired resources follow from the previous desired resources, and not from the spec.
	isResumed bool

	// isRendererHeld is true if a newer renderer would render other trees.
	isRendererHeld bool

	// alone are the trees in which a revision in tracks is alone, by Site.
	alone map[string]ledger.SiteTree

	// isLost is true if the desired trees of the state are unknown: a delivery was lost, or restored from a backup.
	isLost bool

	// lostFiles says which files a move from or to tracks needs that are in no object any more. Empty means that it has all.
	lostFiles string
}

// composeResources returns the desired resources for a state of the ledger: compiled from the spec, if that is the request of the current revision, or else the
// previous ones. A rejected revision asks for its rollback.
func (dr decider) composeResources(home step.Home, s ledger.State) (desiredResources, error) {
	if s.Current == nil {
		return desiredResources{}, nil
	}
	var a desiredResources
	var err error
	switch {
	case s.HasTracks():
		a, err = dr.requestTracks(s)
	case s.IsRejected():
		a = dr.requestRollback(s)
	case dr.isRequestOf(s):
		a = dr.requestTrees(s, compose.Inherit(dr.compiled.deliveries, dr.observed.deliveries))
	case dr.isRendererHeld(s):
		a = dr.requestTrees(s, compose.KeepRevisionTrees(compose.Inherit(dr.compiled.deliveries, dr.observed.deliveries), dr.observed.deliveries, s))
		a.isRendererHeld = true
	default:
		a = dr.resumeDeliveries(s)
	}
	a.home = dr.observed.homeDelivery(home.ConfigRef, a.deliveries)
	if a.deliveries[a.home] == nil {
		a.deliveries[a.home] = dr.emptyHomeDelivery(home.ConfigRef, a.home)
	}
	a.deliveries = compose.FitLater(compose.AskForPosition(a.deliveries, dr.observed.deliveries, s, a.home), dr.observed.deliveries)
	return a, err
}

// isRequestOf is true if the current revision delivers the request of the spec.
func (dr decider) isRequestOf(s ledger.State) bool {
	return dr.compiled.Problem == nil && dr.compiled.desired.Request == s.Current.Request
}

// isRendererHeld is true if the spec asks for the current revision, but for a renderer that has to wait.
func (dr decider) isRendererHeld(s ledger.State) bool {
	desired := dr.compiled.desired
	return dr.compiled.Problem == nil && desired.RendererHold != step.HoldNone && desired.Request.HasNewerRenderer(s.Current.Request)
}

// requestTrees requests the trees of deliveries, as far as the revision has come.
func (dr decider) requestTrees(s ledger.State, trees map[string]*deliveryv1alpha1.GitDelivery) desiredResources {
	return desiredResources{
		deliveries: compose.Schedule(compose.RetainUnreadySites(trees, dr.observed.deliveries, dr.observed.sync, s, dr.compiled.clustered), s),
		sync:       compose.Sync(dr.in.Claim, dr.in.Spec.DeliveryConfig, s, trees, dr.compiled.sitesWithoutSync()),
	}
}

// resumeDeliveries asks for the trees that the deliveries of a revision ask for already.
func (dr decider) resumeDeliveries(s ledger.State) desiredResources {
	parts := dr.revisionParts(s)
	ds := compose.Step(compose.Resume(parts, dr.deliveryConfig(s)), s)
	return desiredResources{deliveries: ds, sync: dr.resumeSiteSync(s, ds), isResumed: true, isLost: !compose.CanResume(parts, s)}
}

// resumeSiteSync returns the SiteSync of a revision that goes on as it is. A lost SiteSync is composed again for the Sites that have an engine by the
// catalog.
func (dr decider) resumeSiteSync(s ledger.State, ds map[string]*deliveryv1alpha1.GitDelivery) *deliveryv1alpha1.SiteSync {
	spec := dr.deliveryConfig(s)
	if dr.observed.sync != nil || dr.compiled.unobserved == nil {
		return compose.Observers(dr.observed.sync, spec, s, ds)
	}
	excluded := dr.compiled.sitesWithoutSync()
	for site := range compose.Sites(ds) {
		if !dr.compiled.isChosenSite(site) {
			excluded[site] = true
		}
	}
	return compose.Sync(dr.in.Claim, spec, s, ds, excluded)
}

// emptyHomeDelivery returns the delivery to a home that has no Sites. Its directories stay there until they may be removed.
func (dr decider) emptyHomeDelivery(home, name string) *deliveryv1alpha1.GitDelivery {
	d := compose.NewDelivery(dr.in.Claim, withoutInvalidTimeouts(dr.in.Spec.DeliveryConfig), ledgerhome.ConfigRefOf(home))
	if observed := dr.observed.deliveries[name]; observed != nil {
		d.Spec.ProviderConfigReference = observed.Spec.ProviderConfigReference.DeepCopy()
	}
	return d
}

// directoriesOf returns the directories of the current revision, as their repositories report them.
func (o Observed) directoriesOf(s ledger.State, k Compiled) []step.Directory {
	return directories.Reports{
		Recorded: o.state, Sites: o.siteStatuses, IsChosen: k.isChosenSite,
		IsApplied: func(part ledger.Part) bool { return o.areTracksKnown(o.deliveries[part.Delivery]) },
		DeliveredBy: func(part ledger.Part, site string) (deliveryv1alpha1.DeliveredTree, bool) {
			return evidence.HeldTreeAt(o.deliveries[part.Delivery], site)
		},
	}.DirectoriesOf(s)
}

// haveAllReported is true once each repository of the current revision has reported the present trees of its directories.
func (o Observed) haveAllReported(s ledger.State) bool {
	return !slices.ContainsFunc(s.Current.Parts, func(part ledger.Part) bool {
		d := o.deliveries[part.Delivery]
		return d == nil || !evidence.HasReported(d, s, part.Sites)
	})
}
