package setup

import (
	"context"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	kmeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// IsUndefined reports whether the API server has no definition of a kind that it does not serve, so that it has no objects. It returns an error if
// that cannot be read.
func IsUndefined(ctx context.Context, live client.Reader, kind schema.GroupVersionKind) (bool, error) {
	plural, _ := kmeta.UnsafeGuessKindToResource(kind)
	err := live.Get(ctx, client.ObjectKey{Name: plural.GroupResource().String()}, &apiextensionsv1.CustomResourceDefinition{})
	return kerrors.IsNotFound(err), client.IgnoreNotFound(err)
}
