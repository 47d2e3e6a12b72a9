package state

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// unreachable is a connection to a cluster that does not exist.
func unreachable(t *testing.T) kubernetes.Interface {
	t.Helper()
	k, err := kubernetes.NewForConfig(&rest.Config{Host: "http://127.0.0.1:1", Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestNewClient(t *testing.T) {
	cases := map[string]struct {
		reason string
		o      Options
		want   error
	}{
		"UDS":          {reason: "The options of uds-cli are taken.", o: UDS()},
		"Default":      {reason: "A namespace is enough.", o: Options{Namespace: "team-a"}},
		"AllSpaces":    {reason: "Without a namespace records can be listed.", o: Options{}},
		"BadSpace":     {reason: "A namespace is lower case.", o: Options{Namespace: "Team"}, want: ErrName},
		"BadPrefix":    {reason: "A prefix begins a name of Kubernetes.", o: Options{Namespace: "team-a", Prefix: "-bundle_"}, want: ErrName},
		"SecondPrefix": {reason: "Another prefix is taken.", o: Options{Namespace: "team-a", Prefix: "ours.bundle."}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := NewClient(unreachable(t), tc.o); !errors.Is(err, tc.want) {
				t.Errorf("\n%s\nNewClient(...): %v, want %v", tc.reason, err, tc.want)
			}
		})
	}
	if _, err := NewClient(nil, Options{}); err == nil {
		t.Error("NewClient(nil, ...): want an error, and no panic later")
	}
}

// methods are all that ask the cluster something.
func methods(c *Client, bundle string) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"Init": func(ctx context.Context) error {
			_, err := c.InitBundleState(ctx, Bundle{Name: bundle}, Deploying)
			return err
		},
		"Get": func(ctx context.Context) error { _, err := c.GetBundleState(ctx, bundle); return err },
		"GetPkg": func(ctx context.Context) error {
			_, err := c.GetBundlePkgState(ctx, bundle, "p")
			return err
		},
		"Update":    func(ctx context.Context) error { return c.UpdateBundleState(ctx, bundle, Success) },
		"UpdatePkg": func(ctx context.Context) error { return c.UpdateBundlePkgState(ctx, bundle, "p", Success) },
		"Modify":    func(ctx context.Context) error { return c.Modify(ctx, bundle, func(*BundleState) error { return nil }) },
		"Remove":    func(ctx context.Context) error { return c.RemoveBundleState(ctx, bundle) },
		"RemovePkg": func(ctx context.Context) error { return c.RemovePackage(ctx, bundle, "p") },
		"Unreferenced": func(ctx context.Context) error {
			_, err := c.UnreferencedPackages(ctx, bundle)
			return err
		},
	}
}

// TestNoCluster shows that each method returns an error, soon, where there is no cluster, and that names are checked before it is asked.
func TestNoCluster(t *testing.T) {
	c, err := NewClient(unreachable(t), UDS())
	if err != nil {
		t.Fatal(err)
	}
	all := methods(c, "a")
	all["List"] = func(ctx context.Context) error { _, err := c.ListBundleStates(ctx); return err }
	all["Users"] = func(ctx context.Context) error { _, err := c.UsersOf(ctx, "p"); return err }
	for name, call := range all {
		if err := call(t.Context()); err == nil || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("%s without a cluster: %v, want an error that says so", name, err)
		}
	}
	everywhere, err := NewClient(unreachable(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for reason, all := range map[string]map[string]func(context.Context) error{
		"a bundle without a name":       methods(c, ""),
		"a name in capitals":            methods(c, "Platform"),
		"a name that is too long":       methods(c, strings.Repeat("a", 253-len("uds-bundle-")+1)),
		"a record without a namespace":  methods(everywhere, "a"),
		"a name that ends with a point": methods(c, "a."),
	} {
		for name, call := range all {
			if err := call(t.Context()); !errors.Is(err, ErrName) {
				t.Errorf("%s of %s: %v, want %v", name, reason, err, ErrName)
			}
		}
	}
}

func TestRetryConflicts(t *testing.T) {
	conflict := &conflictError{kerrors.NewConflict(schema.GroupResource{Resource: "secrets"}, "a", errors.New("changed"))}
	cases := map[string]struct {
		reason string
		errs   []error
		tries  int
		want   func(error) bool
	}{
		"Once":   {reason: "What succeeds is not repeated.", errs: []error{nil}, tries: 1, want: func(err error) bool { return err == nil }},
		"Thrice": {reason: "A conflict is tried again.", errs: []error{conflict, conflict, nil}, tries: 3, want: func(err error) bool { return err == nil }},
		"Other": {
			reason: "Another error is returned at once.",
			errs:   []error{http.ErrNoCookie}, tries: 1, want: func(err error) bool { return errors.Is(err, http.ErrNoCookie) },
		},
		"Often": {
			reason: "A hundred conflicts are tried again.",
			errs:   append(slices.Repeat([]error{conflict}, 100), nil), tries: 101, want: func(err error) bool { return err == nil },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				err := retryConflicts(t.Context(), func(context.Context) error {
					tries++
					return tc.errs[min(tries, len(tc.errs))-1]
				})
				if diff := cmp.Diff(tc.tries, tries); diff != "" || !tc.want(err) {
					t.Errorf("\n%s\nretryConflicts(...): %v; tries: -want, +got:\n%s", tc.reason, err, diff)
				}
			})
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := retryConflicts(ctx, func(context.Context) error { cancel(); return conflict })
	if !errors.Is(err, context.Canceled) || !kerrors.IsConflict(err) {
		t.Errorf("A call that is cancelled returns %v, want %v and what the API server says", err, context.Canceled)
	}
}
