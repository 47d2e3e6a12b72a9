package bundles

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/intentplane/intentplane/bundles/state"
)

// began is the start of each test's clock. The clock advances a second with each read.
var began = time.Date(2026, 11, 22, 9, 0, 0, 1, time.UTC)

// clientAsUser returns a client that acts as a user, or as the administrator.
func clientAsUser(t *testing.T, user string) kubernetes.Interface {
	t.Helper()
	c := rest.CopyConfig(cp.Config)
	c.Impersonate.UserName = user
	// The writers of a test are not to wait for one another in here.
	c.QPS = -1
	k, err := kubernetes.NewForConfig(c)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// A place is a namespace with records.
type place struct {
	*testing.T

	kube      kubernetes.Interface
	namespace string
	records   *state.Client
}

// newNamespace makes a namespace.
func newNamespace(t *testing.T) *place {
	t.Helper()
	k := clientAsUser(t, "")
	ns, err := k.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "team-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p := &place{T: t, kube: k, namespace: ns.Name}
	p.records = p.recordClient(state.Options{Namespace: ns.Name, Writer: "test"})
	return p
}

// recordClient returns a client for records with an advancing clock.
func (p *place) recordClient(o state.Options) *state.Client {
	p.Helper()
	mu, now := sync.Mutex{}, began
	o.Now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Second)
		return now
	}
	c, err := state.NewClient(p.kube, o)
	if err != nil {
		p.Fatal(err)
	}
	return c
}

// createSecret makes the Secret of a bundle by hand.
func (p *place) createSecret(bundle string, data map[string][]byte) {
	p.Helper()
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: state.Prefix + bundle}, Data: data}
	if _, err := p.kube.CoreV1().Secrets(p.namespace).Create(p.Context(), s, metav1.CreateOptions{}); err != nil {
		p.Fatal(err)
	}
}

// secretOfRecord returns the Secret of a bundle, or nil.
func (p *place) secretOfRecord(bundle string) *corev1.Secret {
	p.Helper()
	s, err := p.kube.CoreV1().Secrets(p.namespace).Get(p.Context(), state.Prefix+bundle, metav1.GetOptions{})
	if kerrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		p.Fatal(err)
	}
	return s
}

// statusesOfRecord returns the record of a bundle, in short.
func (p *place) statusesOfRecord(bundle string) string {
	p.Helper()
	s, err := p.records.GetBundleState(p.Context(), bundle)
	if err != nil {
		return err.Error()
	}
	out := []string{fmt.Sprintf("%s %s", s.Version, s.Status)}
	for _, pkg := range s.PkgStatuses {
		out = append(out, strings.Join(strings.Fields(fmt.Sprintf("%s %s %s", pkg.Name, pkg.Version, pkg.Status)), " "))
	}
	return strings.Join(out, ", ")
}

// bundleWithPackages returns a bundle, with packages such as "postgres 1.2.0".
func bundleWithPackages(version string, packages ...string) state.Bundle {
	b := state.Bundle{Name: "platform", Version: version}
	for _, p := range packages {
		name, version, _ := strings.Cut(p, " ")
		b.Packages = append(b.Packages, state.Package{Name: name, Version: version})
	}
	return b
}

// A step of a story calls the library, and has the expected record after it.
type step struct {
	what string
	call func(ctx context.Context, c *state.Client) error
	err  error
	want string
}

func initialiseBundle(b state.Bundle, status state.Status) func(context.Context, *state.Client) error {
	return func(ctx context.Context, c *state.Client) error {
		_, err := c.InitBundleState(ctx, b, status)
		return err
	}
}

func setBundleStatus(status state.Status) func(context.Context, *state.Client) error {
	return func(ctx context.Context, c *state.Client) error { return c.UpdateBundleState(ctx, "platform", status) }
}

// setPackageStatus sets statuses of a package, one after another.
func setPackageStatus(name string, statuses ...state.Status) func(context.Context, *state.Client) error {
	return func(ctx context.Context, c *state.Client) error {
		for _, s := range statuses {
			if err := c.UpdateBundlePkgState(ctx, "platform", name, s); err != nil {
				return err
			}
		}
		return nil
	}
}

// grantUserVerbs grants a user verbs on all resources of a kind, in a namespace or, without one, everywhere.
func grantUserVerbs(p *place, user, namespace, resource string, verbs ...string) {
	p.Helper()
	rules := []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{resource}, Verbs: verbs}}
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}}
	meta := metav1.ObjectMeta{Namespace: namespace, Name: user + "-" + resource}
	role := &rbacv1.Role{ObjectMeta: meta, Rules: rules}
	if _, err := p.kube.RbacV1().Roles(namespace).Create(p.Context(), role, metav1.CreateOptions{}); err != nil {
		p.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name}}
	if _, err := p.kube.RbacV1().RoleBindings(namespace).Create(p.Context(), binding, metav1.CreateOptions{}); err != nil {
		p.Fatal(err)
	}
}

// compressText returns a text compressed by gzip, so many times over.
func compressText(t *testing.T, text []byte, times int) []byte {
	t.Helper()
	out := &bytes.Buffer{}
	w := gzip.NewWriter(out)
	for range times {
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
