package imagebuild

import (
	"context"
	"encoding/json"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/provider/kpack"
)

// FieldOwner is the field manager of server-side apply.
const FieldOwner = "intentplane-imagebuild"

// askKpack writes what was decided. An Image that has to be made again is applied once it is gone.
func (e *external) askKpack(ctx context.Context, key types.NamespacedName) error {
	switch d := e.decision; {
	case d.remove != nil:
		err := e.kube.Delete(ctx, d.remove.DeepCopy(), client.Preconditions{UID: new(d.remove.GetUID())})
		return errors.Wrap(client.IgnoreNotFound(err), "cannot delete Image of kpack")
	case d.apply != nil:
		return e.applyImage(ctx, key, d.apply)
	case d.ask != nil:
		return e.askForBuild(ctx, d.ask)
	}
	return nil
}

// applyImage applies an Image. What kpack refuses does not fail the reconcile: the status says so.
func (e *external) applyImage(ctx context.Context, key types.NamespacedName, image *unstructured.Unstructured) error {
	err := e.kube.Patch(ctx, image.DeepCopy(), client.Apply, client.FieldOwner(FieldOwner), client.ForceOwnership) //nolint:staticcheck // The objects have no typed apply configuration.
	if kerrors.IsInvalid(err) || kerrors.IsBadRequest(err) || kerrors.IsForbidden(err) {
		e.note.refusal = &refusal{image: image, message: kpack.CleanMessage(err.Error()), at: e.now()}
		e.wake(key)
		return nil
	}
	return errors.Wrap(err, "cannot apply Image of kpack")
}

// askForBuild asks kpack for another Build after one. The annotation is looked for on the last Build alone, so that it counts once.
func (e *external) askForBuild(ctx context.Context, after *unstructured.Unstructured) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": after.GetUID(), "annotations": map[string]string{kpack.AnnotationAgain: "intentplane"},
	}})
	if err != nil {
		return errors.Wrap(err, "cannot encode patch")
	}
	err = e.kube.Patch(ctx, after.DeepCopy(), client.RawPatch(types.MergePatchType, patch))
	return errors.Wrapf(client.IgnoreNotFound(err), "cannot ask kpack for another Build after %q", after.GetName())
}
