package composite

import (
	"context"
	"net/http"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/xcrd"
	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

const (
	groupComposites = "intentplane.dev/v1alpha1"
	groupClaims     = "claims.intentplane.dev/v1alpha1"
)

// errBoom is the error of an API server that is out of order.
var errBoom = errors.New("boom")

// An edit changes one object of a test.
type edit func(u *unstructured.Unstructured)

func object(apiVersion, kind, namespace, name string, edits ...edit) *unstructured.Unstructured {
	u := newReference(apiVersion, kind, namespace, name)
	u.SetUID(types.UID(name + "-uid"))
	for _, e := range edits {
		e(u)
	}
	return u
}

func going(u *unstructured.Unstructured) {
	now := metav1.Now()
	u.SetDeletionTimestamp(&now)
	u.SetFinalizers([]string{"example.org/wait"})
}

func restored(u *unstructured.Unstructured) { u.SetUID("another-uid") }

func with(value any, path ...string) edit {
	return func(u *unstructured.Unstructured) {
		if err := unstructured.SetNestedField(u.Object, value, path...); err != nil {
			panic(err)
		}
	}
}

// claimed makes a composite one of a claim.
func claimed() edit {
	return with(map[string]any{"apiVersion": groupClaims, "kind": "IntentDeployment", "namespace": "team-a", "name": "web"}, "spec", "claimRef")
}

func namespaced(edits ...edit) *unstructured.Unstructured {
	return object(groupComposites, "IntentDeployment", "team-a", "web", edits...)
}

func clusterScoped(edits ...edit) *unstructured.Unstructured {
	return object(groupClaims, "XIntentDeployment", "", "web-x1", append([]edit{claimed()}, edits...)...)
}

func claim(edits ...edit) *unstructured.Unstructured {
	return object(groupClaims, "IntentDeployment", "team-a", "web", edits...)
}

func namespace(edits ...edit) *unstructured.Unstructured {
	return object("v1", "Namespace", "", "team-a", edits...)
}

// composed returns a deleted GitDelivery of a composite.
func composed(owner *unstructured.Unstructured, edits ...func(d *v1alpha1.GitDelivery)) *v1alpha1.GitDelivery {
	isController := true
	d := &v1alpha1.GitDelivery{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team-a", Name: "web-1", Labels: map[string]string{xcrd.LabelKeyNamePrefixForComposed: owner.GetName()},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Name: owner.GetName(), UID: types.UID(owner.GetName() + "-uid"), Controller: &isController,
		}},
	}}
	for _, e := range edits {
		e(d)
	}
	return d
}

func collected(d *v1alpha1.GitDelivery) { delete(d.Labels, xcrd.LabelKeyNamePrefixForComposed) }

func ownerless(d *v1alpha1.GitDelivery) { d.OwnerReferences = nil }

func superseded(d *v1alpha1.GitDelivery) {
	d.SetAnnotations(map[string]string{v1alpha1.AnnotationSuperseded: "true"})
}

func TestRetains(t *testing.T) {
	refs := []any{map[string]any{"apiVersion": v1alpha1.GroupVersion.String(), "kind": "GitDelivery", "name": "web-1"}}
	references := []any{
		map[string]any{"apiVersion": v1alpha1.GroupVersion.String(), "kind": "SiteSync", "name": "web-1"},
		map[string]any{"apiVersion": "example.org/v1", "kind": "GitDelivery", "name": "web-1"},
	}
	unserved := kerrors.NewGenericServerResponse(http.StatusNotFound, "get", schema.GroupResource{Group: "intentplane.dev", Resource: "intentdeployments"}, "web", "404 page not found", 0, true)
	definition := object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "intentdeployments.intentplane.dev",
		with("intentplane.dev", "spec", "group"), with("IntentDeployment", "spec", "names", "kind"))
	cases := map[string]struct {
		reason  string
		deleted *v1alpha1.GitDelivery
		there   []client.Object
		// failing is a kind that the API server gives an error for.
		failing string
		err     error
		want    bool
		// wait and unknown are the errors that are wanted.
		wait, unknown bool
	}{
		"CompositeLives": {
			reason:  "The delivered files of a living composite stay when a user deletes its GitDelivery.",
			deleted: composed(namespaced()), there: []client.Object{namespaced(), namespace()}, want: true,
		},
		"ClaimLives": {
			reason:  "The delivered files of a living claim stay when a user deletes its GitDelivery.",
			deleted: composed(clusterScoped()), there: []client.Object{clusterScoped(), claim(), namespace()}, want: true,
		},
		"GHSA-77cv-mrm6-fr3c-ForgedClaim": {
			reason:  "A namespaced composite has no claim, whatever its spec says, and lives.",
			deleted: composed(namespaced(claimed())), there: []client.Object{namespaced(claimed()), namespace()}, want: true,
		},
		"CompositeIsBeingDeleted": {
			reason:  "The deletion of a composite removes its delivered files.",
			deleted: composed(namespaced()), there: []client.Object{namespaced(going), namespace()},
		},
		"CompositeIsGone": {
			reason:  "A composite that is deleted first, as with background deletion, removes its delivered files.",
			deleted: composed(namespaced()), there: []client.Object{namespace()},
		},
		"KindIsGone": {
			reason:  "A composite whose definition was deleted is gone too.",
			deleted: composed(namespaced()), there: []client.Object{namespaced(), namespace()}, failing: "IntentDeployment",
			err: &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "IntentDeployment"}},
		},
		"KindIsGoneFromTheServer": {
			reason:  "A composite whose definition was deleted is gone, also where the client still knows the path of its kind.",
			deleted: composed(namespaced()), there: []client.Object{namespaced(), namespace()}, failing: "IntentDeployment", err: unserved,
		},
		"VersionUnserved": {
			reason:  "A composite of a version that is not served may live, as long as its kind is defined.",
			deleted: composed(namespaced()), there: []client.Object{namespaced(), namespace(), definition}, failing: "IntentDeployment", err: unserved, unknown: true,
		},
		"KindUnmatched": {
			reason:  "A composite of a kind that the client cannot find may live, as long as its kind is defined.",
			deleted: composed(namespaced()), there: []client.Object{namespaced(), namespace(), definition}, failing: "IntentDeployment", unknown: true,
			err: &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "IntentDeployment"}},
		},
		"NamespaceAnsweredByAProxy": {
			reason:  "A 404 that does not come from the API server says nothing about a namespace.",
			deleted: composed(namespaced()), there: []client.Object{namespaced(), namespace()}, failing: "Namespace", err: unserved, unknown: true,
		},
		"GHSA-77cv-mrm6-fr3c-OthersOfItsName": {
			reason:  "A composite that lists objects of the same name and of another kind or group does not retain this GitDelivery.",
			deleted: composed(namespaced()), there: []client.Object{namespaced(restored, with(references, "spec", "crossplane", "resourceRefs")), namespace()},
		},
		"ClaimIsBeingDeleted": {
			reason:  "The deletion of a claim removes its delivered files, also before its composite is being deleted.",
			deleted: composed(clusterScoped()), there: []client.Object{clusterScoped(), claim(going), namespace()},
		},
		"NamespaceIsBeingDeleted": {
			reason:  "The deletion of a namespace removes the delivered files of its deployments, in whatever order its objects are deleted.",
			deleted: composed(namespaced()), there: []client.Object{namespaced(), namespace(going)},
		},
		"NotDesired": {
			reason:  "A GitDelivery that Crossplane deletes because it is no longer desired removes its delivered files.",
			deleted: composed(namespaced(), collected), there: []client.Object{namespaced(), namespace()},
		},
		"MadeByHand": {
			reason:  "A GitDelivery without a composite removes its delivered files.",
			deleted: composed(namespaced(), ownerless), there: []client.Object{namespaced(), namespace()},
		},
		"AnotherOfItsName": {
			reason:  "A new composite does not retain the delivered files of a deleted composite of the same name.",
			deleted: composed(namespaced()), there: []client.Object{namespaced(restored), namespace()},
		},
		"Restored": {
			reason:  "A composite that was restored from a backup has another UID, and retains its listed deliveries.",
			deleted: composed(namespaced()), there: []client.Object{namespaced(restored, with(refs, "spec", "crossplane", "resourceRefs")), namespace()}, want: true,
		},
		"RestoredWithClaim": {
			reason:  "A composite of a claim that was restored from a backup has another UID, and retains its listed deliveries.",
			deleted: composed(clusterScoped()), there: []client.Object{clusterScoped(restored, with(refs, "spec", "resourceRefs")), claim(), namespace()}, want: true,
		},
		"Superseded": {
			reason:  "A GitDelivery whose repository the deployment left waits for the composite to delete it.",
			deleted: composed(namespaced(), superseded), there: []client.Object{namespaced(), namespace()}, wait: true,
		},
		"SupersededAndNotDesired": {
			reason:  "A GitDelivery whose repository the deployment left removes its files once the composite deletes it.",
			deleted: composed(namespaced(), superseded, collected), there: []client.Object{namespaced(), namespace()},
		},
		"CompositeUnreadable": {
			reason:  "Nothing is removed while the composite cannot be read.",
			deleted: composed(namespaced()), there: []client.Object{namespaced(), namespace()}, failing: "IntentDeployment", err: errBoom, unknown: true,
		},
		"NamespaceUnreadable": {
			reason:  "Nothing is removed while the namespace cannot be read.",
			deleted: composed(namespaced()), there: []client.Object{namespaced(), namespace()}, failing: "Namespace", err: errBoom, unknown: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			get := func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
				if o.GetObjectKind().GroupVersionKind().Kind == tc.failing {
					return tc.err
				}
				if o.GetObjectKind().GroupVersionKind().Kind == "XIntentDeployment" {
					key.Namespace = "" // A client does so for kinds without a namespace, and its double does not.
				}
				return c.Get(ctx, key, o, opts...)
			}
			kube := kubefake.NewClientBuilder().WithObjects(tc.there...).WithInterceptorFuncs(interceptor.Funcs{Get: get}).Build()
			got, err := Retains(t.Context(), kube, tc.deleted, v1alpha1.GroupVersion.WithKind("GitDelivery").GroupKind())
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nRetains(...): -want, +got:\n%s", tc.reason, diff)
			}
			var superseded *SupersededError
			if wait := errors.As(err, &superseded); wait != tc.wait {
				t.Errorf("\n%s\nRetains(...): want the error for a superseded one: %t, got %v", tc.reason, tc.wait, err)
			}
			if isUnknown := err != nil && superseded == nil; isUnknown != tc.unknown {
				t.Errorf("\n%s\nRetains(...): want an error: %t, got %v", tc.reason, tc.unknown, err)
			}
		})
	}
}
