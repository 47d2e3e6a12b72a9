package listing

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	kmeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// IsUndefined reports whether the API server has no definition of a kind that it does not serve, so that it has no objects. It returns an error if
// that cannot be read.
func IsUndefined(ctx context.Context, live client.Reader, kind schema.GroupVersionKind) (bool, error) {
	_, err := definitionOf(ctx, live, kind)
	return kerrors.IsNotFound(err), client.IgnoreNotFound(err)
}

// CheckServed returns an error while the API server does not serve a kind. It reads the definition from a cache: a read of an object whose kind is not served
// lists the served kinds of the API server each time.
func CheckServed(ctx context.Context, cached client.Reader, kind schema.GroupVersionKind) error {
	d, err := definitionOf(ctx, cached, kind)
	if err != nil {
		return errors.Wrapf(err, "cannot get definition of %s", kind.Kind)
	}
	isEstablished := func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
	}
	if meta.WasDeleted(d) || !slices.ContainsFunc(d.Status.Conditions, isEstablished) {
		return errors.Errorf("cannot get %s: the API server does not serve the kind", kind.Kind)
	}
	return nil
}

func definitionOf(ctx context.Context, kube client.Reader, kind schema.GroupVersionKind) (*apiextensionsv1.CustomResourceDefinition, error) {
	plural, _ := kmeta.UnsafeGuessKindToResource(kind)
	d := &apiextensionsv1.CustomResourceDefinition{}
	return d, kube.Get(ctx, client.ObjectKey{Name: plural.GroupResource().String()}, d)
}
