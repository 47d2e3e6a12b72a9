package managedcluster

import (
	"fmt"
	"slices"
	"strings"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
)

// makes is true for a kind of which a ManagedCluster makes an object.
func makes(mc *v1alpha1.ManagedCluster, kind string) bool {
	switch mc.Spec.ForProvider.Type {
	case v1alpha1.TypeCAPT:
		return slices.Contains([]string{kindCAPTCluster, kindCAPTControlPlane, kindCluster}, kind)
	case v1alpha1.TypeTopology:
		return kind == kindCluster
	case v1alpha1.TypeExisting:
	}
	return false
}

// recorded is the UID of an object of ours when it was last seen.
func recorded(mc *v1alpha1.ManagedCluster, kind string) string {
	return uidOf(mc.Status.AtProvider, kind, mc.Spec.ForProvider.Cluster.Name)
}

// made is true if some object was seen that this ManagedCluster made.
func made(mc *v1alpha1.ManagedCluster) bool {
	return slices.ContainsFunc([]string{kindCluster, kindCAPTControlPlane, kindCAPTCluster}, func(kind string) bool { return recorded(mc, kind) != "" })
}

// forgiven is true for an object that is gone, and of which a person said that it may be made again.
func forgiven(mc *v1alpha1.ManagedCluster, uid string) bool {
	return slices.ContainsFunc(strings.Split(mc.GetAnnotations()[v1alpha1.AnnotationRecreate], ","), func(one string) bool { return strings.TrimSpace(one) == uid })
}

// remembered is the UID that stays in the status, of one that was there and one that is seen. Nothing but another object that a person
// wanted takes the place of one that was there.
func remembered(mc *v1alpha1.ManagedCluster, kind, was, is string) string {
	if is == "" || was != "" && was != is && makes(mc, kind) && !forgiven(mc, was) {
		return was
	}
	return is
}

// replaced is true for a Cluster that is not the one which was there, and which nobody wanted in its place.
func replaced(f facts, before v1alpha1.ManagedClusterObservation) bool {
	was := uidOf(before, kindCluster, f.mc.Spec.ForProvider.Cluster.Name)
	return remembered(f.mc, kindCluster, was, f.report.UID) != f.report.UID
}

// lost names the objects that were there, and are gone while nobody here deletes them. They may live on in another management cluster, so
// making them again could build the cluster twice. The way out is for all that is gone: Cluster API takes its objects with it.
func lost(f facts) string {
	var gone, uids []string
	open := false
	for _, p := range f.parts {
		uid := recorded(f.mc, p.want.GetKind())
		if uid == "" || p.live != nil && string(p.live.GetUID()) == uid || p.unknown != "" {
			continue
		}
		open = open || !forgiven(f.mc, uid)
		gone = append(gone, fmt.Sprintf("%s %s with uid %s", p.want.GetKind(), p.want.GetName(), uid))
		uids = append(uids, uid)
	}
	if !open {
		return ""
	}
	return fmt.Sprintf("gone, and not made again by itself: %s. Did it move to another management cluster? If all of it is really lost, annotate this ManagedCluster with %s=%s",
		strings.Join(gone, ", "), v1alpha1.AnnotationRecreate, strings.Join(uids, ","))
}

// objectsOf the cluster. The UID of one that is gone stays, so that it is known to be, and so does that of one that nobody looked at.
func objectsOf(f facts, before v1alpha1.ManagedClusterObservation) []v1alpha1.ClusterObject {
	var out []v1alpha1.ClusterObject
	seen := map[string]bool{}
	add := func(o v1alpha1.ClusterObject) {
		if key := o.Kind + " " + o.Name; !seen[key] && o.Kind != "" && o.Name != "" {
			seen[key] = true
			o.UID = remembered(f.mc, o.Kind, uidOf(before, o.Kind, o.Name), o.UID)
			out = append(out, o)
		}
	}
	for _, o := range f.report.Objects {
		add(v1alpha1.ClusterObject{APIVersion: o.APIVersion, Kind: o.Kind, Name: o.Name, UID: o.UID, Ready: o.Ready, Reason: o.Reason, Message: cut(o.Message)})
	}
	for _, p := range f.parts {
		if p.live != nil {
			add(v1alpha1.ClusterObject{APIVersion: p.live.GetAPIVersion(), Kind: p.live.GetKind(), Name: p.live.GetName(), UID: string(p.live.GetUID())})
		}
	}
	for _, o := range before.Objects {
		if makes(f.mc, o.Kind) && o.UID != "" {
			add(v1alpha1.ClusterObject{Kind: o.Kind, Name: o.Name, UID: o.UID, Reason: unseen(f, o.Kind)})
		}
	}
	return out
}

// unseen is why an object of ours is not seen.
func unseen(f facts, kind string) string {
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
