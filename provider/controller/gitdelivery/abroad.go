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

// fetch the files of a tree from another repository that the claim is or was delivered to. Each is opened with its own configuration
// and credentials, so that nobody reads more than they may. Nil if none has it.
func (e *external) fetch(ctx context.Context, d *v1alpha1.GitDelivery, id string) (tree.Files, error) {
	if e.open == nil {
		return nil, nil
	}
	all := &v1alpha1.GitDeliveryList{}
	if err := e.kube.List(ctx, all, client.InNamespace(d.GetNamespace())); err != nil {
		return nil, errors.Wrap(err, "cannot list GitDeliveries of the claim")
	}
	slices.SortFunc(all.Items, func(a, b v1alpha1.GitDelivery) int {
		return a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time)
	})
	for i := range all.Items {
		other := &all.Items[i]
		if !related(d, other) || !remembers(other.Status.AtProvider.History, id) {
			continue
		}
		if files, err := e.fetchFrom(ctx, d, other, id); files != nil || err != nil {
			return files, errors.Wrapf(err, "cannot read tree %s from the repository of GitDelivery %q", id, other.GetName())
		}
	}
	return nil, nil
}

func (e *external) fetchFrom(ctx context.Context, d, other *v1alpha1.GitDelivery, id string) (tree.Files, error) {
	there, err := e.open(ctx, other)
	var (
		gone    *credentials.GoneError
		invalid *credentials.InvalidError
		denied  *deniedError
	)
	if errors.As(err, &gone) || errors.As(err, &invalid) || errors.As(err, &denied) {
		return nil, nil // That repository cannot be read any more.
	}
	if err != nil {
		return nil, err
	}
	s, err := there.repo.Look(ctx, client.ObjectKeyFromObject(d), e.now().Add(-e.age))
	if err != nil {
		return nil, err
	}
	f := facts{spec: other.Spec.ForProvider, memory: other.Status.AtProvider, marker: there.marker(other)}
	for _, t := range f.spec.Trees {
		if files, err := there.find(ctx, f, s, id, t.Path, f.bearers(id)); files != nil || err != nil {
			e.found[id] = files
			return files, err
		}
	}
	return nil, nil
}

// related deliveries are of the same claim's shard.
func related(a, b *v1alpha1.GitDelivery) bool {
	of, other := a.Spec.ForProvider, b.Spec.ForProvider
	of.ClaimRef.UID, other.ClaimRef.UID = "", ""
	return a.GetName() != b.GetName() && of.ClaimRef == other.ClaimRef
}

func remembers(history []v1alpha1.HistoryEntry, id string) bool {
	return slices.ContainsFunc(history, func(h v1alpha1.HistoryEntry) bool {
		return slices.ContainsFunc(h.Trees, func(t v1alpha1.HistoryTree) bool { return t.Tree == id })
	})
}
