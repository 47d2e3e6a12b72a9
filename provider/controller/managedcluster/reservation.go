package managedcluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	coordinationv1 "k8s.io/api/coordination/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/desired"
	"github.com/intentplane/intentplane/provider/instant"
	"github.com/intentplane/intentplane/provider/listing"
)

// reservedAgain is the interval after which a reserved name is tried again: no watch reports that it is free.
const reservedAgain = time.Minute

// takenByReservation is the message where another ManagedCluster reserved the name first. It does not name it: the user may not be allowed to read it.
const takenByReservation = "another ManagedCluster has reserved the name of this cluster, and it has to be the only one of that name"

// newReservation returns the Lease that reserves a cluster's name. The cache may be stale, and two ManagedClusters of one name may be made
// at the same moment: the API server lets only one of them create this object. It is in the provider's namespace, where tenants cannot
// write. Names of CAPT have to be unique over all namespaces, other names in their own.
func (e *external) newReservation(mc *v1alpha1.ManagedCluster) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: reservationName(mc), Labels: desired.OwnerLabels(mc)},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: new(holderIdentity(mc))},
	}
}

// reservationName is unique for CAPT over all namespaces, and otherwise within the namespace of the cluster.
func reservationName(mc *v1alpha1.ManagedCluster) string {
	if mc.Spec.ForProvider.Type == v1alpha1.TypeCAPT {
		return "intentplane-capt." + mc.Spec.ForProvider.Cluster.Name
	}
	return "intentplane-cluster." + desired.Namespace(mc) + "." + mc.Spec.ForProvider.Cluster.Name
}

func holderIdentity(mc *v1alpha1.ManagedCluster) string {
	return strings.Join([]string{mc.GetNamespace(), mc.GetName(), string(mc.GetUID())}, "/")
}

// readReservation returns the present reservation or nil, whether it is ours, and whether it belongs to another ManagedCluster that still
// exists.
func (e *external) readReservation(ctx context.Context, mc *v1alpha1.ManagedCluster) (l *coordinationv1.Lease, ours, theirs bool, err error) {
	want, l := e.newReservation(mc), &coordinationv1.Lease{}
	err = e.live.Get(ctx, client.ObjectKeyFromObject(want), l)
	if kerrors.IsNotFound(err) {
		return nil, false, false, nil
	}
	if err != nil {
		return nil, false, false, errors.Wrapf(err, "cannot get Lease %q", want.GetName())
	}
	holder := ""
	if l.Spec.HolderIdentity != nil {
		holder = *l.Spec.HolderIdentity
	}
	if holder == holderIdentity(mc) || isInherited(mc, l, holder) {
		return l, true, false, nil
	}
	theirs, err = e.holderExists(ctx, holder)
	return l, false, theirs, err
}

// isInherited reports whether an earlier ManagedCluster of this name and composite made the reservation.
func isInherited(mc *v1alpha1.ManagedCluster, l *coordinationv1.Lease, holder string) bool {
	return strings.HasPrefix(holder, mc.GetNamespace()+"/"+mc.GetName()+"/") && mc.Made("", l.GetLabels())
}

// holderExists reports whether the holder of a reservation still exists. A ManagedCluster that was recreated under its name has another
// UID.
func (e *external) holderExists(ctx context.Context, holder string) (bool, error) {
	p := strings.Split(holder, "/")
	if len(p) != 3 { //nolint:mnd // Namespace, name and uid.
		return false, nil
	}
	mc := &v1alpha1.ManagedCluster{}
	err := e.live.Get(ctx, client.ObjectKey{Namespace: p[0], Name: p[1]}, mc)
	if kerrors.IsNotFound(err) {
		return false, nil
	}
	return string(mc.GetUID()) == p[2], errors.Wrap(err, "cannot get the ManagedCluster that reserved a name")
}

// reserveName reserves the name before an object is made. It returns the reason why the name is taken, or "".
func (e *external) reserveName(ctx context.Context, mc *v1alpha1.ManagedCluster) (string, error) {
	l, ours, theirs, err := e.readReservation(ctx, mc)
	if err != nil {
		return "", err
	}
	if theirs {
		return takenByReservation, nil
	}
	if !ours {
		err = e.claimReservation(ctx, mc, l)
	}
	if kerrors.IsAlreadyExists(err) || kerrors.IsConflict(err) {
		return takenByReservation, nil
	}
	if err != nil {
		return "", errors.Wrap(err, "cannot reserve the name of the cluster")
	}
	rival, err := e.findRivalObject(ctx, mc)
	if err != nil || rival == "" {
		return "", err
	}
	return rival, e.releaseName(ctx, mc)
}

// claimReservation takes a reservation that is free, or whose holder does not exist any more. The API server refuses all but one of several
// attempts at the same moment.
func (e *external) claimReservation(ctx context.Context, mc *v1alpha1.ManagedCluster, left *coordinationv1.Lease) error {
	want := e.newReservation(mc)
	if left == nil {
		return e.kube.Create(ctx, want)
	}
	want.SetResourceVersion(left.GetResourceVersion())
	return e.kube.Update(ctx, want)
}

// findRivalObject looks, past the cache, for an object of the cluster's name that is not ours: its owner need not have reserved the name.
func (e *external) findRivalObject(ctx context.Context, mc *v1alpha1.ManagedCluster) (string, error) {
	for _, p := range e.facts.parts {
		if p.live != nil {
			continue
		}
		l := &unstructured.UnstructuredList{}
		l.SetAPIVersion(p.want.GetAPIVersion())
		l.SetKind(p.want.GetKind() + "List")
		opts := []client.ListOption{client.MatchingFields{"metadata.name": p.want.GetName()}}
		if mc.Spec.ForProvider.Type != v1alpha1.TypeCAPT || p.want.GetKind() == desired.KindCluster {
			opts = append(opts, client.InNamespace(p.want.GetNamespace()))
		}
		isStranger := func(o unstructured.Unstructured) bool { return !isOwnedByCluster(mc, &o) }
		hasRival := false
		err := listing.EachPage(ctx, e.live, l, func() { hasRival = hasRival || slices.ContainsFunc(l.Items, isStranger) }, opts...)
		if err != nil {
			return "", errors.Wrapf(err, "cannot list objects of kind %s", p.want.GetKind())
		}
		if hasRival {
			return fmt.Sprintf("there is a %s of that name that this ManagedCluster did not make", p.want.GetKind()), nil
		}
	}
	return "", nil
}

// releaseName deletes the reservation, if it is ours.
func (e *external) releaseName(ctx context.Context, mc *v1alpha1.ManagedCluster) error {
	l, ours, _, err := e.readReservation(ctx, mc)
	if err != nil || !ours {
		return err
	}
	err = e.kube.Delete(ctx, l, client.Preconditions{ResourceVersion: new(l.GetResourceVersion())})
	return errors.Wrapf(client.IgnoreNotFound(err), "cannot delete Lease %q", l.GetName())
}

// gatherReservation adds to the facts whether another ManagedCluster has the name, while an object has to be made, and whether our
// reservation is left, during a deletion.
func (e *external) gatherReservation(ctx context.Context, f *facts) error {
	going := f.mc.GetDeletionTimestamp() != nil
	if f.mc.Spec.ForProvider.Type == v1alpha1.TypeExisting || !going && (f.taken != "" || !isIncomplete(*f)) {
		return nil
	}
	_, ours, theirs, err := e.readReservation(ctx, f.mc)
	f.reserved = going && ours
	if theirs && !going {
		f.taken, f.again = takenByReservation, instant.Earliest(f.again, f.now.Add(reservedAgain))
	}
	return err
}
