package gitdelivery

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/credentials"
)

// readElsewhere reads the files of a tree from another repository that the claim is or was delivered to. Each repository is opened with its own
// configuration and credentials, so that a configuration gives access to its own repository alone.
func (e *external) readElsewhere(ctx context.Context, d *v1alpha1.GitDelivery, id string) (tree.Files, bool, error) {
	if e.openOther == nil {
		return nil, false, nil
	}
	all := &v1alpha1.GitDeliveryList{}
	if err := e.kube.List(ctx, all, client.InNamespace(d.GetNamespace())); err != nil {
		return nil, false, errors.Wrap(err, "cannot list GitDeliveries of the claim")
	}
	slices.SortFunc(all.Items, func(a, b v1alpha1.GitDelivery) int {
		return a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time)
	})
	for i := range all.Items {
		other := &all.Items[i]
		if !isSameClaim(d, other) || !hasTreeInHistory(other.Status.AtProvider.History, id) {
			continue
		}
		if files, ok, err := e.readFromDelivery(ctx, d, other, id); ok || err != nil {
			return files, ok, errors.Wrapf(err, "cannot read tree %s from the repository of GitDelivery %q", id, other.GetName())
		}
	}
	return nil, false, nil
}

func (e *external) readFromDelivery(ctx context.Context, d, other *v1alpha1.GitDelivery, id string) (tree.Files, bool, error) {
	there, err := e.openOther(ctx, other)
	var (
		gone    *credentials.GoneError
		invalid *credentials.InvalidError
		denied  *deniedError
	)
	if errors.As(err, &gone) || errors.As(err, &invalid) || errors.As(err, &denied) {
		return nil, false, nil // That repository cannot be read any more.
	}
	if err != nil {
		return nil, false, err
	}
	s, err := there.repo.Look(ctx, client.ObjectKeyFromObject(d), e.now().Add(-e.age))
	if err != nil {
		return nil, false, err
	}
	f := facts{spec: other.Spec.ForProvider, lastStatus: other.Status.AtProvider, marker: there.markerOf(other)}
	for _, t := range f.spec.Trees {
		files, ok, err := there.findTreeFiles(ctx, f, s, id, t.Path, f.commitsWithTree(id))
		if ok {
			e.readTrees[id] = files
		}
		if ok || err != nil {
			return files, ok, err
		}
	}
	return nil, false, nil
}

// isSameClaim reports whether two deliveries are of the same claim.
func isSameClaim(a, b *v1alpha1.GitDelivery) bool {
	of, other := a.Spec.ForProvider, b.Spec.ForProvider
	of.ClaimRef.UID, other.ClaimRef.UID = "", ""
	return a.GetName() != b.GetName() && of.ClaimRef == other.ClaimRef
}

func hasTreeInHistory(history []v1alpha1.HistoryEntry, id string) bool {
	return slices.ContainsFunc(history, func(h v1alpha1.HistoryEntry) bool {
		return slices.ContainsFunc(h.Trees, func(t v1alpha1.HistoryTree) bool { return t.Tree == id })
	})
}
