package managedcluster

import (
	"fmt"
	"slices"
	"strings"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/apis/oneline"
	"github.com/intentplane/intentplane/provider/clusters/desired"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
)

// makesKind reports whether a ManagedCluster makes an object of a kind.
func makesKind(mc *v1alpha1.ManagedCluster, kind string) bool {
	switch mc.Spec.ForProvider.Type {
	case v1alpha1.TypeCAPT:
		return slices.Contains([]string{desired.KindCAPTCluster, desired.KindCAPTControlPlane, desired.KindCluster}, kind)
	case v1alpha1.TypeTopology:
		return kind == desired.KindCluster
	case v1alpha1.TypeExisting:
	}
	return false
}

// recordedUID returns the UID of an object of ours when it was last observed, or "".
func recordedUID(mc *v1alpha1.ManagedCluster, kind string) string {
	return findRecordedUID(mc.Status.AtProvider, kind, mc.Spec.ForProvider.Cluster.Name)
}

// hasRecordedObjects reports whether an object was observed that this ManagedCluster made.
func hasRecordedObjects(mc *v1alpha1.ManagedCluster) bool {
	return slices.ContainsFunc([]string{desired.KindCluster, desired.KindCAPTControlPlane, desired.KindCAPTCluster}, func(kind string) bool { return recordedUID(mc, kind) != "" })
}

// isRecreateAllowed reports whether a user allowed by annotation that the object with this UID is made again.
func isRecreateAllowed(mc *v1alpha1.ManagedCluster, uid string) bool {
	return slices.ContainsFunc(strings.Split(mc.GetAnnotations()[v1alpha1.AnnotationRecreate], ","), func(allowed string) bool { return strings.TrimSpace(allowed) == uid })
}

// uidToRecord returns the UID that stays in the status, given the recorded and the observed one. A deleted object is replaced only if a user
// allowed the replacement.
func uidToRecord(mc *v1alpha1.ManagedCluster, kind, recorded, observed string) string {
	if observed == "" || recorded != "" && recorded != observed && makesKind(mc, kind) && !isRecreateAllowed(mc, recorded) {
		return recorded
	}
	return observed
}

// isClusterReplaced reports whether the Cluster is not the recorded one, and no user allowed another one.
func isClusterReplaced(f facts, previous v1alpha1.ManagedClusterObservation) bool {
	recorded := findRecordedUID(previous, desired.KindCluster, f.mc.Spec.ForProvider.Cluster.Name)
	return uidToRecord(f.mc, desired.KindCluster, recorded, f.report.UID) != f.report.UID
}

// describeLostObjects names the recorded objects that another actor deleted. They may live on in another management cluster, so that making them again could
// build the cluster twice. One annotation is for all of them: Cluster API deletes its objects together with the Cluster.
func describeLostObjects(f facts) string {
	var descriptions, uids []string
	open := false
	for _, p := range f.parts {
		uid := recordedUID(f.mc, p.want.GetKind())
		if uid == "" || p.live != nil && string(p.live.GetUID()) == uid || p.unknown != "" {
			continue
		}
		open = open || !isRecreateAllowed(f.mc, uid)
		descriptions = append(descriptions, fmt.Sprintf("%s %s with uid %s", p.want.GetKind(), p.want.GetName(), uid))
		uids = append(uids, uid)
	}
	if !open {
		return ""
	}
	return fmt.Sprintf("gone, and not made again by itself: %s. Did it move to another management cluster? If all of it is really lost, annotate this ManagedCluster with %s=%s",
		strings.Join(descriptions, ", "), v1alpha1.AnnotationRecreate, strings.Join(uids, ","))
}

// statusObjects returns the objects of the cluster for the status. The UID of a deleted or unread object stays, so that its loss is noticed.
func statusObjects(f facts, previous v1alpha1.ManagedClusterObservation) []v1alpha1.ClusterObject {
	var out []v1alpha1.ClusterObject
	visited := map[string]bool{}
	add := func(o v1alpha1.ClusterObject) {
		if key := o.Kind + " " + o.Name; !visited[key] && o.Kind != "" && o.Name != "" {
			visited[key] = true
			o.UID = uidToRecord(f.mc, o.Kind, findRecordedUID(previous, o.Kind, o.Name), o.UID)
			out = append(out, o)
		}
	}
	for _, o := range f.report.Objects {
		add(v1alpha1.ClusterObject{APIVersion: o.APIVersion, Kind: o.Kind, Name: o.Name, UID: o.UID, Ready: o.Ready, Reason: o.Reason, Message: oneline.Cut(o.Message, maxMessage)})
	}
	for _, p := range f.parts {
		if p.live != nil {
			add(v1alpha1.ClusterObject{APIVersion: p.live.GetAPIVersion(), Kind: p.live.GetKind(), Name: p.live.GetName(), UID: string(p.live.GetUID())})
		}
	}
	for _, o := range previous.Objects {
		if makesKind(f.mc, o.Kind) && o.UID != "" {
			add(v1alpha1.ClusterObject{Kind: o.Kind, Name: o.Name, UID: o.UID, Reason: unseenReason(f, o.Kind)})
		}
	}
	return out
}

// unseenReason returns the reason why an object of ours was not observed.
func unseenReason(f facts, kind string) string {
	if f.denied != "" {
		return string(v1alpha1.ReasonPolicyDenied)
	}
	for _, p := range f.parts {
		if p.want.GetKind() == kind && p.unknown != "" {
			return p.unknown
		}
	}
	return readiness.ReasonObjectMissing
}
