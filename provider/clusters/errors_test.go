package clusters

import (
	"context"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/account"
	"github.com/intentplane/intentplane/provider/engines"
)

// refusing returns the cluster of the control plane, or another cluster. Both refuse all requests with an error.
func refusing(t *testing.T, isHome bool, err error) *Cluster {
	t.Helper()
	d := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{ref("edge1").Resource: "KustomizationList"})
	d.PrependReactor("*", "*", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, err })
	p := NewPool(func([]byte, Origin) (dynamic.Interface, func(), error) { return d, func() {}, nil }, account.New(account.Bounds{}), func(types.NamespacedName) {})
	t.Cleanup(func() { p.Forget(owner("a")) })
	l := p.Look(owner("a"))
	t.Cleanup(l.Done)
	c, failure := l.Remote([]byte("c"), Access{})
	if isHome {
		c, failure = l.Home()
	}
	if failure != nil {
		t.Fatal(failure)
	}
	return c
}

func TestAccessDenied(t *testing.T) {
	forbidden, unauthorized := kerrors.NewForbidden(schema.GroupResource{}, "", nil), kerrors.NewUnauthorized("no")
	get := func(ctx context.Context, c *Cluster) error { _, err := c.Get(ctx, ref("edge1")); return err }
	fetch := func(ctx context.Context, c *Cluster) error { _, err := c.Fetch(ctx, ref("edge1")); return err }
	annotate := func(ctx context.Context, c *Cluster) error {
		return c.Annotate(ctx, engines.Annotation{On: ref("edge1"), Key: "k", Value: "v"})
	}
	cases := map[string]struct {
		reason string
		isHome bool
		err    error
		ask    func(ctx context.Context, c *Cluster) error
		want   string
	}{
		"Remote": {
			reason: "The owner of another cluster gives rights to the user of the kubeconfig.",
			err:    forbidden, ask: get, want: v1alpha1.SiteReasonAccessDenied,
		},
		"HomeGet": {
			reason: "The platform team gives the provider its rights to watch in the cluster of the control plane.",
			isHome: true, err: forbidden, ask: get, want: v1alpha1.SiteReasonProviderAccessDenied,
		},
		"HomeFetch": {
			reason: "The platform team gives the provider its right to read one object there.",
			isHome: true, err: forbidden, ask: fetch, want: v1alpha1.SiteReasonProviderAccessDenied,
		},
		"HomeAnnotate": {
			reason: "The platform team gives the provider its right to annotate an object there.",
			isHome: true, err: forbidden, ask: annotate, want: v1alpha1.SiteReasonProviderAccessDenied,
		},
		"HomeOther": {
			reason: "Another error of the cluster of the control plane keeps its reason.",
			isHome: true, err: unauthorized, ask: get, want: v1alpha1.SiteReasonKubeconfigDenied,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := tc.ask(t.Context(), refusing(t, tc.isHome, tc.err))
			var failure *Error
			if !errors.As(err, &failure) {
				t.Fatalf("\n%s\nwant an *Error, got %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, failure.Reason); diff != "" {
				t.Errorf("\n%s\nreason: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
