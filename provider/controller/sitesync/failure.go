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
	"github.com/intentplane/intentplane/provider/proof"
	"github.com/intentplane/intentplane/provider/statusmessage"
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
		refs = append(refs, routeObjectRef(r))
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
	isRead := slices.ContainsFunc(want.Routes, func(r v1alpha1.TrafficRoute) bool { return routeObjectRef(r).String() == objectRefText(u) })
	name, isAwaited := u.GetLabels()[track.LabelTrack], false
	for _, t := range want.Tracks {
		isRead = isRead || slices.ContainsFunc(t.Workloads, func(w v1alpha1.TrafficWorkload) bool { return workloadRef(w).String() == objectRefText(u) })
		isAwaited = isAwaited || t.Name == name && t.Awaited
	}
	return !isRead && (name == "" || isAwaited)
}

// objectRefText returns the kind, the namespace and the name of an object, as a Ref writes them.
func objectRefText(u *unstructured.Unstructured) string {
	return engines.Ref{Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}.String()
}

// readFailingObject returns an object whose status declares a failure final, or nil. The API server confirms the failure: the watch of the
// object may lag behind the watch of the engine, and a failure that counts does not end. An unreadable object has no failure.
func readFailingObject(ctx context.Context, c *clusters.Cluster, ref engines.Ref, start time.Time) *unstructured.Unstructured {
	watched, _ := readWatchedObject(ctx, c, ref)
	if workload.FirstFinalFailure([]*unstructured.Unstructured{watched}, start) == nil {
		return nil
	}
	confirmed, _ := readClusterObject(ctx, c.Fetch, ref)
	return confirmed
}

// readFailure reads a final failure from the cluster of a Site without tracks once the engine reports that it tried the tree, and that an object
// failed. A cluster that cannot be observed, or does not let the provider list its objects, has the engine speak for it. It returns an error if our
// own API server does not answer.
func (e *external) readFailure(ctx context.Context, f proof.Facts, want v1alpha1.SiteTree, s *proof.SiteFacts, r *reading) error {
	if !s.HasFailedObject() || !s.HasTried(want.Tree) {
		return nil
	}
	c, p, err := e.connectTarget(ctx, s.Site)
	if err != nil {
		return err
	}
	isObserved := p == nil && !setup.IsElsewhere(s.Site)
	if p == nil {
		var isComplete bool
		s.Failure, isComplete = setup.FindFinalFailure(ctx, c, e.failureSearch(ctx, f, want, *s, r), func(*unstructured.Unstructured) bool { return true })
		isObserved = isObserved && isComplete
	}
	if !isObserved && s.Failure == nil {
		s.Failure = reportedFailure(want, *s, r)
	}
	return nil
}

// reportedFailure returns a final failure that an engine reports of an object that it applied from just this directory, or nil.
func reportedFailure(want v1alpha1.SiteTree, s proof.SiteFacts, r *reading) *workload.FinalFailure {
	if s.Engine.Reason != v1alpha1.SiteReasonUnhealthy || s.Engine.Root != want.Path {
		return nil
	}
	failed := engines.FindFailedObject(r.engine, r.main, r.second)
	if failed == nil {
		return nil
	}
	message := statusmessage.Sanitize(strings.TrimSuffix(fmt.Sprintf("%s: %s reports a failure: %s", failed.Name, r.main.GetKind(), failed.Message), ": "))
	return workload.NewFinalFailure(gatewayapi.ReasonObjectFailed, message, failed.FailedAt)
}
