package sitesync

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/engines"
	"github.com/intentplane/intentplane/provider/gatewayapi"
	"github.com/intentplane/intentplane/provider/workload"
)

// readTrafficFailure returns the first final failure of the awaited Deployments and of the routes of a Site that its cluster declared since a time, or nil. The
// other track may fail: it loses its requests.
func readTrafficFailure(ctx context.Context, c *clusters.Cluster, want v1alpha1.SiteTraffic, start time.Time) *workload.FinalFailure {
	var refs []engines.Ref
	for _, t := range want.Tracks {
		for _, w := range t.Workloads {
			if t.Awaited {
				refs = append(refs, workloadRef(w))
			}
		}
	}
	for _, r := range want.Routes {
		refs = append(refs, routeRef(r))
	}
	var found []*unstructured.Unstructured
	for _, ref := range refs {
		found = append(found, readFailingObject(ctx, c, ref, start))
	}
	return workload.FirstFinalFailure(found, start)
}

// countsInTracks reports whether a failure of an object is evidence against the tree of a Site with tracks: the object is shared by the tracks, or
// belongs to an awaited track. A track that loses its requests may fail. The Deployments of tracks and the routes are left out:
// readTrafficFailure reads them.
func countsInTracks(want v1alpha1.SiteTraffic, u *unstructured.Unstructured) bool {
	isRead := slices.ContainsFunc(want.Routes, func(r v1alpha1.TrafficRoute) bool { return routeRef(r).String() == refOf(u) })
	name, isAwaited := u.GetLabels()[track.LabelTrack], false
	for _, t := range want.Tracks {
		isRead = isRead || slices.ContainsFunc(t.Workloads, func(w v1alpha1.TrafficWorkload) bool { return workloadRef(w).String() == refOf(u) })
		isAwaited = isAwaited || t.Name == name && t.Awaited
	}
	return !isRead && (name == "" || isAwaited)
}

// refOf returns the kind, the namespace and the name of an object, as a Ref writes them.
func refOf(u *unstructured.Unstructured) string {
	return engines.Ref{Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}.String()
}

// readFailingObject returns an object whose status declares a failure final, or nil. The API server confirms the failure: the watch of the
// object may lag behind the watch of the engine, and a failure that counts does not end. An unreadable object has no failure.
func readFailingObject(ctx context.Context, c *clusters.Cluster, ref engines.Ref, start time.Time) *unstructured.Unstructured {
	watched, _ := getObject(ctx, c, ref)
	if workload.FirstFinalFailure([]*unstructured.Unstructured{watched}, start) == nil {
		return nil
	}
	confirmed, _ := readObject(ctx, c.Fetch, ref)
	return confirmed
}

// readFailure reads a final failure from the cluster of a Site without tracks once the engine reports that it tried the tree, and that an object
// failed. A cluster that cannot be observed, or does not let the provider list its objects, has the engine speak for it. It returns an error if our
// own API server does not answer.
func (e *external) readFailure(ctx context.Context, f facts, want v1alpha1.SiteTree, s *siteFacts, r *reading) error {
	if !s.hasFailedObject() || !s.hasTried(want.Tree) {
		return nil
	}
	c, p, err := e.connectTarget(ctx, s.site)
	if err != nil {
		return err
	}
	isObserved := p == nil && !setup.IsElsewhere(s.site)
	if p == nil {
		var isComplete bool
		s.failure, isComplete = setup.FindFinalFailure(ctx, c, e.failureSearch(ctx, f, want, *s, r), func(*unstructured.Unstructured) bool { return true })
		isObserved = isObserved && isComplete
	}
	if !isObserved && s.failure == nil {
		s.failure = reportedFailure(want, *s, r)
	}
	return nil
}

// hasFailedObject is true for an engine that reports a failure of an object that it applied or attempted.
func (s siteFacts) hasFailedObject() bool {
	return s.seen.FinalFailure || s.seen.MayHideFailure || s.seen.Reason == v1alpha1.SiteReasonUnhealthy
}

// reportedFailure returns a final failure that an engine reports of an object that it applied from just this directory, or nil.
func reportedFailure(want v1alpha1.SiteTree, s siteFacts, r *reading) *workload.FinalFailure {
	if s.seen.Reason != v1alpha1.SiteReasonUnhealthy || s.seen.Root != want.Path {
		return nil
	}
	failed := engines.FindFailedObject(r.engine, r.main, r.second)
	if failed == nil {
		return nil
	}
	message := engines.SanitizeMessage(strings.TrimSuffix(fmt.Sprintf("%s: %s reports a failure: %s", failed.Name, r.main.GetKind(), failed.Message), ": "))
	return workload.NewFinalFailure(gatewayapi.ReasonObjectFailed, message, failed.FailedAt)
}

// hasTried is true for an engine that applied or attempted a tree, and has no other tree of the claim to pass.
func (s siteFacts) hasTried(tree string) bool {
	return s.gap == (gap{}) && (s.applied.id == tree || s.attempted.id == tree)
}

// judgeFailure ends the wait for a Site whose cluster declared a failure final, since the tree would not come to run until the timeout either.
func (f facts) judgeFailure(want v1alpha1.SiteTree, s siteFacts, o v1alpha1.SiteObservation) v1alpha1.SiteObservation {
	if failure := f.pendingFailure(want, s, o); failure != nil && !f.now.Before(failure.SettlesAt) {
		o.State, o.Reason, o.Message = v1alpha1.SiteFailed, failure.Reason, failure.Message
	}
	return o
}

// failureSettlesAt returns when a final failure of a Site counts that does not yet. It is zero if there is none.
func (f facts) failureSettlesAt(want v1alpha1.SiteTree, s siteFacts, o v1alpha1.SiteObservation) time.Time {
	if failure := f.pendingFailure(want, s, o); failure != nil {
		return failure.SettlesAt
	}
	return time.Time{}
}

// pendingFailure returns a final failure of the tree that a Site waits for, of its engine or of an object in its cluster, or nil.
func (f facts) pendingFailure(want v1alpha1.SiteTree, s siteFacts, o v1alpha1.SiteObservation) *workload.FinalFailure {
	if o.State != v1alpha1.SiteSyncing || f.movesRequests(want) {
		return nil
	}
	if stall := f.pendingStall(want, s, o); stall != nil {
		return stall
	}
	if s.failure == nil || !s.hasTried(want.Tree) || s.failure.IsOlderThan(f.positionStart().Time) {
		return nil
	}
	return s.failure
}

// pendingStall returns that an engine gave up its own object, or nil. It counts for an engine that reads just this directory, and that gave up after the wait
// for the Site began: an administrator may have stalled another one, and an engine whose Site was live ends no step.
func (f facts) pendingStall(want v1alpha1.SiteTree, s siteFacts, o v1alpha1.SiteObservation) *workload.FinalFailure {
	if o.Reason != v1alpha1.SiteReasonStalled || s.seen.Root != want.Path || !s.stalledSince.After(f.waitStart(want.Name).Time) {
		return nil
	}
	return workload.NewFinalFailure(o.Reason, o.Message, s.stalledSince)
}
