package bundles

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/bundles/state"
)

// TestRecordMethods calls each method of the seed, in the cases that it has, on a real API server.
func TestRecordMethods(t *testing.T) {
	t.Parallel()
	ab := bundleWithPackages("1", "a 1.0", "b 2.0")
	deployed := []step{
		{what: "init", call: initialiseBundle(ab, state.Deploying), want: "1 deploying, a not_deployed, b not_deployed"},
		{what: "deploy a", call: setPackageStatus("a", state.Deploying, state.Success), want: "1 deploying, a 1.0 success, b not_deployed"},
		{what: "deploy b", call: setPackageStatus("b", state.Deploying, state.Failed), want: "1 deploying, a 1.0 success, b failed"},
	}
	removePackage := func(name string) func(context.Context, *state.Client) error {
		return func(ctx context.Context, c *state.Client) error { return c.RemovePackage(ctx, "platform", name) }
	}
	remove := func(ctx context.Context, c *state.Client) error { return c.RemoveBundleState(ctx, "platform") }
	getPackage := func(name string, want state.Status) func(context.Context, *state.Client) error {
		return func(ctx context.Context, c *state.Client) error {
			p, err := c.GetBundlePkgState(ctx, "platform", name)
			if err == nil && p.Status != want {
				return errors.Errorf("%s is %s, want %s", name, p.Status, want)
			}
			return err
		}
	}
	const missing = "no record: bundle \"platform\" has none in namespace"
	cases := map[string]struct {
		reason string
		steps  []step
	}{
		"NoRecord": {
			reason: "Without a record each method returns an error that names the method to create it, and creates none.",
			steps: []step{
				{what: "get", call: func(ctx context.Context, c *state.Client) error {
					_, err := c.GetBundleState(ctx, "platform")
					return err
				}, err: state.ErrNoState, want: missing},
				{what: "get package", call: getPackage("a", ""), err: state.ErrNoState, want: missing},
				{what: "update", call: setBundleStatus(state.Success), err: state.ErrNoState, want: missing},
				{what: "update package", call: setPackageStatus("a", state.Deploying), err: state.ErrNoState, want: missing},
				{what: "remove package", call: removePackage("a"), err: state.ErrNoState, want: missing},
				{what: "remove", call: remove, want: missing},
			},
		},
		"Init": {
			reason: "Init makes a record, and updates it.",
			steps: append(deployed,
				step{
					what: "init again", call: initialiseBundle(bundleWithPackages("2", "b 3.0", "c 1.0"), state.Deploying),
					want: "2 deploying, b failed, c not_deployed, a 1.0 unreferenced",
				},
				step{what: "a comes back", call: initialiseBundle(bundleWithPackages("3", "a 1.0"), state.Deploying), want: "3 deploying, a 1.0 not_deployed, b unreferenced"},
				step{
					what: "invalid", call: initialiseBundle(bundleWithPackages("4", "a 1.0", "a 1.0"), state.Deploying), err: state.ErrName,
					want: "3 deploying, a 1.0 not_deployed, b unreferenced",
				},
				step{what: "removed", call: initialiseBundle(ab, state.Removed), err: state.ErrTransition, want: "3 deploying, a 1.0 not_deployed, b unreferenced"},
			),
		},
		"Get": {
			reason: "Packages are read by name, and an unknown name is an error.",
			steps: append(deployed,
				step{what: "known", call: getPackage("b", state.Failed), want: "1 deploying, a 1.0 success, b failed"},
				step{what: "unknown", call: getPackage("c", ""), err: state.ErrNoPackage, want: "1 deploying, a 1.0 success, b failed"},
			),
		},
		"Update": {
			reason: "A bundle gets each status of bundles, and none of packages.",
			steps: append(deployed,
				step{what: "failed", call: setBundleStatus(state.Failed), want: "1 failed, a 1.0 success, b failed"},
				step{what: "success", call: setBundleStatus(state.Success), want: "1 success, a 1.0 success, b failed"},
				step{what: "removed", call: setBundleStatus(state.Removed), err: state.ErrTransition, want: "1 success, a 1.0 success, b failed"},
				step{what: "failed_remove", call: setBundleStatus(state.FailedRemove), err: state.ErrTransition, want: "1 success, a 1.0 success, b failed"},
			),
		},
		"UpdatePackage": {
			reason: "A package gets the statuses that may follow, and no others.",
			steps: append(deployed,
				step{what: "unknown", call: setPackageStatus("c", state.Deploying), err: state.ErrNoPackage, want: "1 deploying, a 1.0 success, b failed"},
				step{what: "illegal", call: setPackageStatus("a", state.Removed), err: state.ErrTransition, want: "1 deploying, a 1.0 success, b failed"},
				step{what: "no status", call: setPackageStatus("a", "done"), err: state.ErrTransition, want: "1 deploying, a 1.0 success, b failed"},
				step{what: "remove", call: setPackageStatus("a", state.Removing, state.FailedRemove, state.Removing, state.Removed), want: "1 deploying, a removed, b failed"},
				step{what: "deploy again", call: setPackageStatus("a", state.Deploying, state.Success), want: "1 deploying, a 1.0 success, b failed"},
			),
		},
		"Remove": {
			reason: "A record is removed when nothing of the bundle is deployed, and a second removal succeeds.",
			steps: append(deployed,
				step{what: "too early", call: remove, err: state.ErrDeployed, want: "1 deploying, a 1.0 success, b failed"},
				step{what: "deployed package", call: removePackage("a"), err: state.ErrTransition, want: "1 deploying, a 1.0 success, b failed"},
				step{what: "a is removed", call: setPackageStatus("a", state.Removing, state.Removed), want: "1 deploying, a removed, b failed"},
				step{what: "a goes", call: removePackage("a"), want: "1 deploying, b failed"},
				step{what: "unknown package", call: removePackage("a"), err: state.ErrNoPackage, want: "1 deploying, b failed"},
				step{what: "b leaves", call: initialiseBundle(bundleWithPackages("2"), state.Removing), want: "2 removing, b unreferenced"},
				step{what: "remove", call: remove, want: missing},
				step{what: "remove again", call: remove, want: missing},
			),
		},
		"UDSPrune": {
			reason: "The story of the seed: a package leaves the bundle, is unreferenced, and is pruned.",
			steps: []step{
				{what: "deploy", call: initialiseBundle(bundleWithPackages("1", "foo 1", "bar 1"), state.Deploying), want: "1 deploying, foo not_deployed, bar not_deployed"},
				{what: "foo", call: setPackageStatus("foo", state.Deploying, state.Success), want: "1 deploying, foo 1 success, bar not_deployed"},
				{what: "bar", call: setPackageStatus("bar", state.Deploying, state.Success), want: "1 deploying, foo 1 success, bar 1 success"},
				{what: "end", call: setBundleStatus(state.Success), want: "1 success, foo 1 success, bar 1 success"},
				{what: "without bar", call: initialiseBundle(bundleWithPackages("2", "foo 2"), state.Deploying), want: "2 deploying, foo 1 success, bar 1 unreferenced"},
				{what: "foo again", call: setPackageStatus("foo", state.Deploying, state.Success), want: "2 deploying, foo 2 success, bar 1 unreferenced"},
				{what: "prune fails", call: setPackageStatus("bar", state.Removing, state.FailedRemove), want: "2 deploying, foo 2 success, bar 1 failed_remove"},
				{what: "next deployment", call: initialiseBundle(bundleWithPackages("2", "foo 2"), state.Deploying), want: "2 deploying, foo 2 success, bar 1 unreferenced"},
				{what: "prune", call: setPackageStatus("bar", state.Removing), want: "2 deploying, foo 2 success, bar 1 removing"},
				{what: "pruned", call: removePackage("bar"), want: "2 deploying, foo 2 success"},
			},
		},
		"UDSPackages": {
			reason: "With --packages the other packages stay as they are, in a deployment and in a removal.",
			steps: []step{
				{what: "deploy a alone", call: initialiseBundle(ab, state.Deploying), want: "1 deploying, a not_deployed, b not_deployed"},
				{what: "a", call: setPackageStatus("a", state.Deploying, state.Success), want: "1 deploying, a 1.0 success, b not_deployed"},
				{what: "end", call: setBundleStatus(state.Success), want: "1 success, a 1.0 success, b not_deployed"},
				{what: "remove a alone", call: initialiseBundle(ab, state.Removing), want: "1 removing, a 1.0 success, b not_deployed"},
				{what: "a goes", call: setPackageStatus("a", state.Removing, state.Removed), want: "1 removing, a removed, b not_deployed"},
				{what: "all are gone", call: remove, want: missing},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newNamespace(t)
			for _, s := range tc.steps {
				if err := s.call(t.Context(), p.records); !errors.Is(err, s.err) || (err == nil) != (s.err == nil) {
					t.Fatalf("\n%s\n%s: %v, want %v", tc.reason, s.what, err, s.err)
				}
				if got := p.statusesOfRecord("platform"); got != s.want && (s.want != missing || !strings.HasPrefix(got, missing)) {
					t.Fatalf("\n%s\n%s: -want, +got:\n%s", tc.reason, s.what, cmp.Diff(s.want, got))
				}
			}
		})
	}
}

// TestStoredRecord shows the Secret as it is stored, the versions that are wanted, and that a call that changes nothing writes nothing.
func TestStoredRecord(t *testing.T) {
	t.Parallel()
	p := newNamespace(t)
	b := bundleWithPackages("1.4.0+x", "postgres 1.2.0")
	b.Packages[0].Kind = "IntentDeployment"
	call := func(description string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", description, err)
		}
	}
	call("init", initialiseBundle(b, state.Deploying)(t.Context(), p.records))
	call("deploy", setPackageStatus("postgres", state.Deploying)(t.Context(), p.records))
	call("deploy", p.records.UpdateBundlePkgState(t.Context(), "platform", "postgres", state.Success, func(p *state.PkgStatus) { p.Revision, p.Commit = 7, "9df06a8" }))
	b.Packages[0].Version = "1.3.0"
	call("init again", initialiseBundle(b, state.Deploying)(t.Context(), p.records))
	s := p.secretOfRecord("platform")
	want := `{"name":"platform","version":"1.4.0+x","packages":[{"name":"postgres","version":"1.2.0","status":"success","date_updated":"2026-11-22T09:00:04.000000001Z",` +
		`"wanted_version":"1.3.0","revision":7,"commit":"9df06a8","kind":"IntentDeployment","writer":"test"}],` +
		`"status":"deploying","date_updated":"2026-11-22T09:00:04.000000001Z","schema":1,"writer":"test"}`
	if diff := cmp.Diff(want, string(s.Data["data"])); diff != "" {
		t.Errorf("The record: -want, +got:\n%s", diff)
	}
	labels := map[string]string{
		"app.kubernetes.io/managed-by": "intentplane", "state.intentplane.dev/bundle": "platform", "state.intentplane.dev/version": "1.4.0_x",
		"state.intentplane.dev/status": "deploying", "state.intentplane.dev/schema": "1",
	}
	if diff := cmp.Diff(labels, s.Labels); diff != "" || s.Type != "state.intentplane.dev/bundle.v1" {
		t.Errorf("A Secret of type %s has labels: -want, +got:\n%s", s.Type, diff)
	}
	call("init again", initialiseBundle(b, state.Deploying)(t.Context(), p.records))
	call("same status", setPackageStatus("postgres", state.Success)(t.Context(), p.records))
	call("same status", setBundleStatus(state.Deploying)(t.Context(), p.records))
	call("modify", p.records.Modify(t.Context(), "platform", func(*state.BundleState) error { return nil }))
	if got := p.secretOfRecord("platform").ResourceVersion; got != s.ResourceVersion {
		t.Errorf("Calls that change nothing wrote: %s became %s", s.ResourceVersion, got)
	}
	if err := p.records.Modify(t.Context(), "platform", func(s *state.BundleState) error { s.Version = "9"; return context.Canceled }); !errors.Is(err, context.Canceled) {
		t.Errorf("Modify(...) with a function that fails: %v", err)
	}
	call("success", setPackageStatus("postgres", state.Deploying, state.Success)(t.Context(), p.records))
	if diff := cmp.Diff("1.4.0+x deploying, postgres 1.3.0 success", p.statusesOfRecord("platform")); diff != "" {
		t.Errorf("The wanted version is deployed: -want, +got:\n%s", diff)
	}
}

// TestConcurrentWriters changes one record with 16 programs at once. No change is lost.
func TestConcurrentWriters(t *testing.T) {
	t.Parallel()
	const writers, updates = 16, 100
	p := newNamespace(t)
	b := state.Bundle{Name: "platform"}
	for w := range writers {
		b.Packages = append(b.Packages, state.Package{Name: fmt.Sprintf("p%d", w)})
	}
	g, ctx := errgroup.WithContext(t.Context())
	for w := range writers {
		c := p.recordClient(state.Options{Namespace: p.namespace, Writer: fmt.Sprint(w)})
		g.Go(func() error {
			// Each begins as a program does that deploys the bundle.
			if _, err := c.InitBundleState(ctx, b, state.Deploying); err != nil {
				return err
			}
			for range updates {
				if err := c.Modify(ctx, "platform", func(s *state.BundleState) error { s.Pkg(fmt.Sprintf("p%d", w)).Revision++; return nil }); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	s, err := p.records.GetBundleState(t.Context(), "platform")
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range s.PkgStatuses {
		if pkg.Revision != updates {
			t.Errorf("%s was changed %d times, want %d", pkg.Name, pkg.Revision, updates)
		}
	}
}

// TestRemoveComesBetween shows that a record is not removed that another program changed since it was read.
func TestRemoveComesBetween(t *testing.T) {
	t.Parallel()
	p := newNamespace(t)
	if err := initialiseBundle(bundleWithPackages("1", "a 1"), state.Deploying)(t.Context(), p.records); err != nil {
		t.Fatal(err)
	}
	uid := p.secretOfRecord("platform").UID
	g, ctx := errgroup.WithContext(t.Context())
	for range 8 {
		g.Go(func() error { return p.records.RemoveBundleState(ctx, "platform") })
		g.Go(func() error { return initialiseBundle(bundleWithPackages("2", "a 1"), state.Deploying)(ctx, p.records) })
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	s := p.secretOfRecord("platform")
	if s != nil && s.UID == uid && !strings.HasPrefix(p.statusesOfRecord("platform"), "2 ") {
		t.Errorf("The record is %s, want it gone, or of version 2", p.statusesOfRecord("platform"))
	}
}

// TestRightsOnRecords shows the operations of users whose rights end at a namespace, and the errors of users without rights.
func TestRightsOnRecords(t *testing.T) {
	t.Parallel()
	p := newNamespace(t)
	user := "writer-" + p.namespace
	grantUserVerbs(p, user, p.namespace, "secrets", "get", "list", "create", "update", "delete")
	c, err := state.NewClient(clientAsUser(t, user), state.Options{Namespace: p.namespace, CreateNamespace: true})
	if err != nil {
		t.Fatal(err)
	}
	calls := []func(context.Context, *state.Client) error{
		initialiseBundle(bundleWithPackages("1", "a 1"), state.Deploying), setPackageStatus("a", state.Deploying, state.Success), setBundleStatus(state.Success),
		func(ctx context.Context, c *state.Client) error { _, err := c.ListBundleStates(ctx); return err },
		func(ctx context.Context, c *state.Client) error { _, err := c.UsersOf(ctx, "a"); return err },
		setPackageStatus("a", state.Removing, state.Removed),
		func(ctx context.Context, c *state.Client) error { return c.RemoveBundleState(ctx, "platform") },
	}
	for i, call := range calls {
		// The API server applies the rights when it has observed the role.
		err := call(t.Context(), c)
		for kerrors.IsForbidden(err) && i == 0 && t.Context().Err() == nil {
			err = call(t.Context(), c)
		}
		if err != nil {
			t.Errorf("call %d with rights in the namespace: %v", i, err)
		}
	}
	missing, err := state.NewClient(clientAsUser(t, user), state.Options{Namespace: p.namespace + "-missing", CreateNamespace: true})
	if err != nil {
		t.Fatal(err)
	}
	for operation, c := range map[string]*state.Client{"Secrets": missing} {
		if _, err := c.InitBundleState(t.Context(), bundleWithPackages("1"), state.Deploying); !kerrors.IsForbidden(err) || !strings.Contains(err.Error(), "ask for the right to") {
			t.Errorf("without the right to %s: %v", operation, err)
		}
	}
}

// TestCreateNamespace shows that a namespace is created only with Options.CreateNamespace.
func TestCreateNamespace(t *testing.T) {
	t.Parallel()
	p := newNamespace(t)
	name := p.namespace + "-new"
	c := p.recordClient(state.Options{Namespace: name})
	if _, err := c.InitBundleState(t.Context(), bundleWithPackages("1"), state.Deploying); err == nil || !strings.Contains(err.Error(), "does not exist: create it") {
		t.Errorf("InitBundleState(...) in a namespace that is missing: %v", err)
	}
	c = p.recordClient(state.Options{Namespace: name, CreateNamespace: true})
	g, ctx := errgroup.WithContext(t.Context())
	for range 4 {
		g.Go(func() error { return initialiseBundle(bundleWithPackages("1"), state.Deploying)(ctx, c) })
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.GetBundleState(t.Context(), "platform"); err != nil {
		t.Error(err)
	}
}

// TestForeignSecrets has Secrets of other writers: each is answered with an error of its own and not written, or migrated.
func TestForeignSecrets(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		data   map[string][]byte
		want   error
	}{
		"Legacy": {
			reason: "A record of uds-cli is migrated by the first write.",
			data: map[string][]byte{
				"data": []byte(
					`{"name":"platform","version":"1","packages":[{"name":"a","version":"1","status":"success"}],"status":"success","later":7}`,
				),
			},
		},
		"Newer": {
			reason: "A record of a newer schema is never written.",
			data:   map[string][]byte{"data": []byte(`{"name":"platform","status":"success","schema":99}`)}, want: state.ErrNewer,
		},
		"Empty": {reason: "A Secret without a record is not written.", want: state.ErrBroken},
		"Half":  {reason: "Half of a record is not written.", data: map[string][]byte{"data": []byte(`{"name":"platform","packages":[`)}, want: state.ErrBroken},
		"Bomb": {
			reason: "A gibibyte in a kibibyte is not unpacked.",
			data:   map[string][]byte{"data.gz": compressText(t, make([]byte, 1<<20), 900)}, want: state.ErrBroken,
		},
		"Foreign": {
			reason: "A record of another bundle is not written.",
			data:   map[string][]byte{"data": []byte(`{"name":"other","status":"success","schema":1}`)}, want: state.ErrForeign,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newNamespace(t)
			p.createSecret("platform", tc.data)
			previous := p.secretOfRecord("platform")
			_, listErr := p.recordClient(state.Options{Namespace: p.namespace, Legacy: true}).ListBundleStates(t.Context())
			if !errors.Is(listErr, tc.want) {
				t.Errorf("\n%s\nListBundleStates(...): %v, want %v", tc.reason, listErr, tc.want)
			}
			for operation, call := range map[string]func() error{
				"get": func() error { _, err := p.records.GetBundleState(t.Context(), "platform"); return err },
				"init": func() error {
					return initialiseBundle(bundleWithPackages("2", "a 1"), state.Success)(t.Context(), p.records)
				},
				"update": func() error { return setBundleStatus(state.Failed)(t.Context(), p.records) },
			} {
				if err := call(); !errors.Is(err, tc.want) {
					t.Errorf("\n%s\n%s: %v, want %v", tc.reason, operation, err, tc.want)
				}
			}
			if tc.want != nil {
				if err := p.records.RemoveBundleState(t.Context(), "platform"); !errors.Is(err, tc.want) {
					t.Errorf("\n%s\nremove: %v, want %v", tc.reason, err, tc.want)
				}
			}
			current := p.secretOfRecord("platform")
			if written := current.ResourceVersion != previous.ResourceVersion; written != (tc.want == nil) {
				t.Errorf("\n%s\nthe Secret was written: %t", tc.reason, written)
			}
			if tc.want == nil && (!strings.Contains(string(current.Data["data"]), `"schema":1,"writer":"test","later":7`) || current.Type != corev1.SecretTypeOpaque) {
				t.Errorf("\n%s\nthe record is %s", tc.reason, current.Data["data"])
			}
		})
	}
}

// TestLargeRecord shows that a large record is compressed, that a record over the limit is refused and the previous record stays, and that a
// record shrinks again.
func TestLargeRecord(t *testing.T) {
	t.Parallel()
	p := newNamespace(t)
	large := state.Bundle{Name: "platform", Version: "1"}
	for i := range 10_000 {
		large.Packages = append(large.Packages, state.Package{Name: fmt.Sprintf("package-%d", i), Version: "1.2.3"})
	}
	if err := initialiseBundle(large, state.Deploying)(t.Context(), p.records); err != nil {
		t.Fatal(err)
	}
	s := p.secretOfRecord("platform")
	if s.Data["data"] != nil || len(s.Data["data.gz"]) == 0 {
		t.Errorf("A record of 10,000 packages is not compressed")
	}
	for range 2 {
		large.Packages = append(large.Packages, large.Packages...)
	}
	for i := range large.Packages {
		large.Packages[i].Name = fmt.Sprintf("package-%d", i)
	}
	if err := initialiseBundle(large, state.Deploying)(t.Context(), p.records); !errors.Is(err, state.ErrTooLarge) || !strings.Contains(err.Error(), "has 40000 packages in") {
		t.Errorf("A record of 40,000 packages: %v", err)
	}
	if got := p.secretOfRecord("platform").ResourceVersion; got != s.ResourceVersion {
		t.Errorf("A record that is too large was written")
	}
	if err := initialiseBundle(bundleWithPackages("2"), state.Deploying)(t.Context(), p.records); err != nil {
		t.Fatal(err)
	}
	s = p.secretOfRecord("platform")
	if s.Data["data.gz"] != nil || !json.Valid(s.Data["data"]) {
		t.Errorf("A record that became small has keys %v", s.Data)
	}
}

// TestListRecords shows which records are listed, and who uses a package.
func TestListRecords(t *testing.T) {
	t.Parallel()
	p, otherNamespace := newNamespace(t), newNamespace(t)
	make1 := func(p *place, c *state.Client, name string, packages ...string) {
		t.Helper()
		b := bundleWithPackages("1", packages...)
		b.Name = name
		if _, err := c.InitBundleState(t.Context(), b, state.Deploying); err != nil {
			p.Fatal(err)
		}
	}
	make1(p, p.records, "platform", "redis 1", "postgres 1")
	make1(p, p.records, "shop", "redis 1")
	make1(otherNamespace, otherNamespace.records, "theirs", "redis 1")
	make1(p, p.recordClient(state.Options{Namespace: p.namespace, Prefix: "second."}), "another", "redis 1")
	p.createSecret("legacy", map[string][]byte{"data": []byte(`{"name":"legacy","packages":[{"name":"redis","version":"1","status":"success"},{"name":"postgres","status":"Unreferenced"}],"status":"success"}`)})
	if _, err := p.kube.CoreV1().Secrets(p.namespace).Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "unrelated"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := setPackageStatus("postgres", state.Deploying, state.Success, state.Removing, state.Removed)(t.Context(), p.records); err != nil {
		t.Fatal(err)
	}
	names := func(c *state.Client) string {
		all, err := c.ListBundleStates(t.Context())
		out := []string{}
		for _, s := range all {
			if s.Namespace == p.namespace {
				out = append(out, s.Name)
			}
		}
		return strings.TrimSpace(fmt.Sprint(out, errors.Unwrap(err)))
	}
	legacy := p.recordClient(state.Options{Namespace: p.namespace, Legacy: true})
	for operation, diff := range map[string]string{
		"records":            cmp.Diff("[platform shop] <nil>", names(p.records)),
		"records of uds-cli": cmp.Diff("[legacy platform shop] <nil>", names(legacy)),
	} {
		if diff != "" {
			t.Errorf("%s: -want, +got:\n%s", operation, diff)
		}
	}
	users := func(c *state.Client, pkg string) string {
		all, err := c.UsersOf(t.Context(), pkg)
		return fmt.Sprint(all, err)
	}
	for operation, diff := range map[string]string{
		"users of a package, under any prefix":           cmp.Diff("[another platform shop] <nil>", users(p.records, "redis")),
		"users of a package, including users of uds-cli": cmp.Diff("[another legacy platform shop] <nil>", users(legacy, "redis")),
		"users of a removed or unreferenced package":     cmp.Diff("[] <nil>", users(legacy, "postgres")),
	} {
		if diff != "" {
			t.Errorf("%s: -want, +got:\n%s", operation, diff)
		}
	}
	everywhere := p.recordClient(state.Options{})
	all, err := everywhere.ListBundleStates(t.Context())
	found := map[string]bool{}
	for _, s := range all {
		found[s.Namespace+"/"+s.Name] = true
	}
	if !found[p.namespace+"/platform"] || !found[otherNamespace.namespace+"/theirs"] {
		t.Errorf("records of all namespaces: %v, %v", found, err)
	}
	p.createSecret("broken", nil)
	if all, err := legacy.ListBundleStates(t.Context()); len(all) != 3 || !errors.Is(err, state.ErrBroken) {
		t.Errorf("beside a broken record: %d records, %v", len(all), err)
	}
	if all, err := legacy.UsersOf(t.Context(), "redis"); all != nil || !errors.Is(err, state.ErrBroken) {
		t.Errorf("who uses a package is not known while a record is broken: %v, %v", all, err)
	}
}
