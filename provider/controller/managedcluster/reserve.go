package managedcluster

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	coordinationv1 "k8s.io/api/coordination/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
)

// reservedAgain is how long it takes until a name that somebody else had reserved is asked for again: nobody tells that it is free.
const reservedAgain = time.Minute

// takenByReservation is said where somebody else reserved the name first. Who it is, is for those who may read that.
const takenByReservation = "another ManagedCluster has reserved the name of this cluster, and it has to be the only one of that name"

// reservation of a cluster's name. What is in the cache may be old, and two ManagedClusters of one name may be made at the same moment: the API
// server lets only one of them make this object. It is in the provider's namespace, where tenants write nothing. CAPT's names have to be
// unique over all namespaces, others in their own.
func (e *external) reservation(mc *v1alpha1.ManagedCluster) *coordinationv1.Lease {
	name := "intentplane-cluster." + namespace(mc) + "." + mc.Spec.ForProvider.Cluster.Name
	if mc.Spec.ForProvider.Type == v1alpha1.TypeCAPT {
		name = "intentplane-capt." + mc.Spec.ForProvider.Cluster.Name
	}
	holder := identity(mc)
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: name, Labels: ownerLabels(mc)},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder},
	}
}

func identity(mc *v1alpha1.ManagedCluster) string {
	return strings.Join([]string{mc.GetNamespace(), mc.GetName(), string(mc.GetUID())}, "/")
}

// reserved is the reservation as it is now, or nil, and whether it is ours, and whether it is another's who is still there.
func (e *external) reserved(ctx context.Context, mc *v1alpha1.ManagedCluster) (l *coordinationv1.Lease, ours, theirs bool, err error) {
	want, l := e.reservation(mc), &coordinationv1.Lease{}
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
	if holder == identity(mc) || inherited(mc, l, holder) {
		return l, true, false, nil
	}
	theirs, err = e.exists(ctx, holder)
	return l, false, theirs, err
}

// inherited is true for a reservation that a ManagedCluster of this name and composite made before this one.
func inherited(mc *v1alpha1.ManagedCluster, l *coordinationv1.Lease, holder string) bool {
	return strings.HasPrefix(holder, mc.GetNamespace()+"/"+mc.GetName()+"/") && mc.Made("", l.GetLabels())
}

// exists is true for a ManagedCluster that is still there. One that was made again under its name is another one.
func (e *external) exists(ctx context.Context, holder string) (bool, error) {
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

// reserve the name before anything is made. It returns who has it, if that is somebody else.
func (e *external) reserve(ctx context.Context, mc *v1alpha1.ManagedCluster) (string, error) {
	l, ours, theirs, err := e.reserved(ctx, mc)
	if err != nil {
		return "", err
	}
	if theirs {
		return takenByReservation, nil
	}
	if !ours {
		err = e.claim(ctx, mc, l)
	}
	if kerrors.IsAlreadyExists(err) || kerrors.IsConflict(err) {
		return takenByReservation, nil
	}
	if err != nil {
		return "", errors.Wrap(err, "cannot reserve the name of the cluster")
	}
	other, err := e.rival(ctx, mc)
	if err != nil || other == "" {
		return "", err
	}
	return other, e.release(ctx, mc)
}

// claim a reservation that nobody has, or whose holder is no more. The API server refuses all but one who try it at the same moment.
func (e *external) claim(ctx context.Context, mc *v1alpha1.ManagedCluster, left *coordinationv1.Lease) error {
	want := e.reservation(mc)
	if left == nil {
		return e.kube.Create(ctx, want)
	}
	want.SetResourceVersion(left.GetResourceVersion())
	return e.kube.Update(ctx, want)
}

// rival looks, past the cache, for an object of the cluster's name that is not ours: who made it need not have reserved anything.
func (e *external) rival(ctx context.Context, mc *v1alpha1.ManagedCluster) (string, error) {
	for _, p := range e.facts.parts {
		if p.live != nil {
			continue
		}
		l := &unstructured.UnstructuredList{}
		l.SetAPIVersion(p.want.GetAPIVersion())
		l.SetKind(p.want.GetKind() + "List")
		opts := []client.ListOption{client.MatchingFields{"metadata.name": p.want.GetName()}}
		if mc.Spec.ForProvider.Type != v1alpha1.TypeCAPT || p.want.GetKind() == kindCluster {
			opts = append(opts, client.InNamespace(p.want.GetNamespace()))
		}
		if err := e.live.List(ctx, l, opts...); err != nil {
			return "", errors.Wrapf(err, "cannot list objects of kind %s", p.want.GetKind())
		}
		for i := range l.Items {
			if !ours(mc, &l.Items[i]) {
				return fmt.Sprintf("there is a %s of that name which somebody else made", p.want.GetKind()), nil
			}
		}
	}
	return "", nil
}

// release the name, if it is ours.
func (e *external) release(ctx context.Context, mc *v1alpha1.ManagedCluster) error {
	l, ours, _, err := e.reserved(ctx, mc)
	if err != nil || !ours {
		return err
	}
	version := l.GetResourceVersion()
	err = e.kube.Delete(ctx, l, client.Preconditions{ResourceVersion: &version})
	return errors.Wrapf(client.IgnoreNotFound(err), "cannot delete Lease %q", l.GetName())
}

// reservations of the facts: while something has to be made, whether somebody else has the name; and in a deletion, whether ours is left.
func (e *external) reservations(ctx context.Context, f *facts) error {
	going := f.mc.GetDeletionTimestamp() != nil
	if f.mc.Spec.ForProvider.Type == v1alpha1.TypeExisting || !going && (f.taken != "" || !incomplete(*f)) {
		return nil
	}
	_, ours, theirs, err := e.reserved(ctx, f.mc)
	f.reserved = going && ours
	if theirs && !going {
		f.taken, f.again = takenByReservation, soonest(f.again, f.now.Add(reservedAgain))
	}
	return err
}
