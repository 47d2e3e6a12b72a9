package setup

import (
	"context"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/instruction"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/engines"
	"github.com/intentplane/intentplane/provider/workload"
)

// LabelClaim holds the name of the claim that an object of a Site was rendered for.
const LabelClaim = "intentplane.dev/claim"

// failureTimeout is the time limit of a cluster for the list of all possibly failed objects of a claim: other Sites of the same object wait meanwhile.
const failureTimeout = 5 * time.Second

// A Workload is the running workload of a claim at a Site.
type Workload struct {
	// Deployments that are marked as the workload of their Blueprint, and their ReplicaSets. They must not be changed.
	Deployments, ReplicaSets []*unstructured.Unstructured
}

// SelectWorkload returns the workload of a claim in a namespace of a Site's cluster, and watches it. It returns a clusters.Error if the cluster cannot be
// read.
func SelectWorkload(ctx context.Context, c *clusters.Cluster, namespace, claim string) (Workload, error) {
	isWorkload := func(u *unstructured.Unstructured) bool {
		return workload.LabelOf(u, LabelClaim) == claim && workload.LabelOf(u, track.LabelWorkload) == track.WorkloadMain
	}
	deployments, err := c.Select(ctx, NamespacedRef("apps", "deployments", "Deployment", namespace), isWorkload)
	if err != nil {
		return Workload{}, err
	}
	uids := map[types.UID]bool{}
	for _, d := range deployments {
		uids[d.GetUID()] = true
	}
	sets, err := c.Select(ctx, NamespacedRef("apps", "replicasets", "ReplicaSet", namespace), func(u *unstructured.Unstructured) bool { return workload.IsOwner(uids, u) })
	return Workload{Deployments: deployments, ReplicaSets: sets}, err
}

// A FailureSearch is for failures that a Site's cluster declared final, of objects in the directory of a claim.
type FailureSearch struct {
	// Namespace and Claim are the namespace and the name of the claim.
	Namespace, Claim string

	// Delivered are the objects of the directory that may be read at the Site. Empty means that they are unknown.
	Delivered []instruction.Manifest

	// Start is the time at which the position of the Site began. A failure that was declared before does not count.
	Start time.Time
}

// FindFinalFailure returns the first failure that a Site's cluster declared final since the start of a search, of the objects of a claim that count, or nil. It
// lists the kinds of the directory, as many as workload.Listings names. A kind that the cluster does not serve, or that the provider may not list, declares
// nothing. After an error of the connection the other kinds are not listed. It reports whether the provider read each kind of the directory that every cluster
// serves: the absence of a failure proves nothing without them.
func FindFinalFailure(ctx context.Context, c *clusters.Cluster, s FailureSearch, counts func(*unstructured.Unstructured) bool) (*workload.FinalFailure, bool) {
	ctx, cancel := context.WithTimeout(ctx, failureTimeout)
	defer cancel()
	var first *workload.FinalFailure
	isComplete := len(s.Delivered) > 0
	for _, l := range workload.Listings(s.Delivered) {
		err := c.EachListed(ctx, l.Resource, l.Namespace, LabelClaim+"="+s.Claim, func(page []unstructured.Unstructured) {
			for i := range page {
				if s.includesObject(l, &page[i]) && counts(&page[i]) {
					first = workload.EarlierFailure(first, &page[i], s.Start)
				}
			}
		})
		isComplete = isComplete && (err == nil || !isServedByEach(l.Resource))
		if err != nil && !isListRefused(err) {
			isComplete = false
			break
		}
	}
	return first, isComplete
}

// includesObject reports whether an object with the label of the claim belongs to that. In another namespace than the claim's, a claim of the same name may have the
// label, too, and only the objects of the directory count.
func (s FailureSearch) includesObject(l workload.Listing, u *unstructured.Unstructured) bool {
	return l.Namespace == s.Namespace || l.Names[u.GetName()]
}

// isServedByEach reports whether each cluster serves a resource.
func isServedByEach(r schema.GroupVersionResource) bool {
	return r.Group == appsv1.GroupName || r.Group == batchv1.GroupName
}

// isListRefused reports whether a cluster does not serve a kind, or denies the provider its list.
func isListRefused(err error) bool {
	var failure *clusters.Error
	return errors.As(err, &failure) && (failure.Reason == deliveryv1alpha1.SiteReasonAccessDenied || failure.Reason == deliveryv1alpha1.SiteReasonEngineNotInstalled)
}

// ExplainUnread returns the reason why objects of a Site are unreadable, with the remedy.
func ExplainUnread(e *clusters.Error, kinds, namespace string) string {
	reader := map[string]string{
		deliveryv1alpha1.SiteReasonAccessDenied: "the credentials", deliveryv1alpha1.SiteReasonProviderAccessDenied: "the provider's service account",
	}[e.Reason]
	if reader == "" {
		return e.Detail
	}
	return fmt.Sprintf("%s may not list and watch %s of namespace %s: bind the rules of examples/health/rbac.yaml", reader, kinds, namespace)
}

// NamespacedRef refers to the objects of a kind in version v1 in a namespace.
func NamespacedRef(group, resource, kind, namespace string) engines.Ref {
	return engines.Ref{Resource: schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource}, Kind: kind, Namespace: namespace}
}
