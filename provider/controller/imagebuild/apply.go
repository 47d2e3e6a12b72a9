package imagebuild

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/build/v1alpha1"
	"github.com/intentplane/intentplane/provider/kpack"
)

// FieldOwner is the field manager of server-side apply.
const FieldOwner = "intentplane-imagebuild"

// applyDecision carries out the decision. An Image that has to be made again is applied once it is gone.
func (e *external) applyDecision(ctx context.Context, key types.NamespacedName) error {
	switch d := e.decision; {
	case d.remove != nil:
		err := e.kube.Delete(ctx, d.remove.DeepCopy(), client.Preconditions{UID: new(d.remove.GetUID())})
		return errors.Wrap(client.IgnoreNotFound(err), "cannot delete Image of kpack")
	case d.apply != nil:
		return e.applyImage(ctx, key, d.apply)
	case d.rebuildAfter != nil:
		return e.askForBuild(ctx, d.rebuildAfter)
	}
	return nil
}

// applyImage applies an Image. A refusal by kpack does not fail the reconcile: it is in the status.
func (e *external) applyImage(ctx context.Context, key types.NamespacedName, image *unstructured.Unstructured) error {
	err := e.kube.Patch(ctx, image.DeepCopy(), client.Apply, client.FieldOwner(FieldOwner), client.ForceOwnership) //nolint:staticcheck // The objects have no typed apply configuration.
	if p := imageRefusal(err); p != nil {
		e.note.refusal = &refusal{problem: *p, image: image, at: e.now()}
		e.wake(key)
		return nil
	}
	return errors.Wrap(err, "cannot apply Image of kpack")
}

// imageRefusal returns why an Image cannot be applied as it is, or nil for errors that the reconciler retries: missing rights of the provider,
// and a quota, say nothing of the Image. A kind that is not served was served before: kpack was removed.
func imageRefusal(err error) *problem {
	isDenied := kerrors.IsForbidden(err) && strings.Contains(err.Error(), "admission webhook")
	switch {
	case kerrors.IsInvalid(err), kerrors.IsBadRequest(err), isDenied:
		return &problem{reason: v1alpha1.ReasonImageRefused, message: kpack.CleanMessage(err.Error())}
	case kerrors.IsNotFound(err), meta.IsNoMatchError(err):
		return &problem{reason: v1alpha1.ReasonKpackMissing, message: missingMessage}
	}
	return nil
}

// askForBuild asks kpack for another Build after one. Only the annotation on the last Build is read, so that it counts once.
func (e *external) askForBuild(ctx context.Context, build *unstructured.Unstructured) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": build.GetUID(), "annotations": map[string]string{kpack.AnnotationAgain: "intentplane"},
	}})
	if err != nil {
		return errors.Wrap(err, "cannot encode patch")
	}
	err = e.kube.Patch(ctx, build.DeepCopy(), client.RawPatch(types.MergePatchType, patch))
	return errors.Wrapf(client.IgnoreNotFound(err), "cannot ask kpack for another Build after %q", build.GetName())
}
