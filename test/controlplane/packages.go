package controlplane

import (
	"context"
	"fmt"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"
	pkgv1beta1 "github.com/crossplane/crossplane/apis/v2/pkg/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/intentplane/intentplane/test/controlplane/process"
)

// An expectation is that there are enough objects of a kind, and that all of them have conditions that are True.
type expectation struct {
	apiVersion string
	kind       string
	atLeast    int
	conditions func(u *unstructured.Unstructured) []xpv2.ConditionType
}

// installPackages installs the Configurations and returns when they and their dependencies work.
func (c *ControlPlane) installPackages(ctx context.Context) error {
	if err := c.Apply(ctx, c.o.Manifests...); err != nil {
		return err
	}
	if c.o.PackageRuntime == RuntimeDeployment {
		return nil
	}
	for _, p := range c.o.Configurations {
		// A cluster that comes from a backup has it.
		if err := c.Install(ctx, p.Name, c.o.Version); client.IgnoreAlreadyExists(err) != nil {
			return err
		}
	}
	if err := c.awaitExpectations(ctx, c.o.packageExpectations()); err != nil {
		return err
	}
	return c.waitForPermissions(ctx)
}

// startControllersOfPackages starts the controllers for objects of the kinds that packages define: the garbage collector, and the provider.
func (c *ControlPlane) startControllersOfPackages(ctx context.Context) error {
	if err := c.WaitForDefinitions(ctx); err != nil {
		return err
	}
	if err := c.StartGarbageCollector(); err != nil {
		return err
	}
	if c.o.Provider.Binary == "" {
		return nil
	}
	return c.StartProvider(ctx, Program{})
}

// rewriteRepository makes Crossplane pull from our registry the packages of Repository. A cluster that comes from a snapshot names the registry of
// another control plane.
func (c *ControlPlane) rewriteRepository(ctx context.Context) error {
	ic := &pkgv1beta1.ImageConfig{ObjectMeta: metav1.ObjectMeta{Name: "local"}}
	_, err := controllerutil.CreateOrUpdate(ctx, c.Client, ic, func() error {
		ic.Spec = pkgv1beta1.ImageConfigSpec{
			MatchImages:  []pkgv1beta1.ImageMatch{{Type: pkgv1beta1.Prefix, Prefix: Repository}},
			RewriteImage: &pkgv1beta1.ImageRewrite{Prefix: c.registry.RepositoryPrefix()},
		}
		return nil
	})
	return errors.Wrap(err, "cannot set ImageConfig")
}

// Install installs a Configuration that was published. It does not wait.
func (c *ControlPlane) Install(ctx context.Context, name, version string) error {
	cfg := &pkgv1.Configuration{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       pkgv1.ConfigurationSpec{PackageSpec: pkgv1.PackageSpec{Package: fmt.Sprintf("%s/%s:%s", Repository, name, version)}},
	}
	return errors.Wrapf(c.Client.Create(ctx, cfg), "cannot create Configuration %s", name)
}

// packageExpectations returns the expectations of a control plane whose packages work. A Configuration alone proves little: it is Healthy although
// its dependencies are not, and although its kinds cannot be used.
func (o Options) packageExpectations() []expectation {
	const pkg, ext = "pkg.crossplane.io/v1", "apiextensions.crossplane.io/"
	healthy := expectConditions("Installed", "Healthy")
	return []expectation{
		{apiVersion: pkg, kind: "Configuration", atLeast: len(o.Configurations), conditions: healthy},
		{apiVersion: pkg, kind: "Function", atLeast: countPrograms(o.Function), conditions: healthy},
		{apiVersion: pkg, kind: "Provider", atLeast: countPrograms(o.Provider), conditions: healthy},
		{apiVersion: ext + "v1alpha1", kind: "ManagedResourceDefinition", atLeast: countPrograms(o.Provider), conditions: expectConditions("Established")},
		{apiVersion: ext + "v1", kind: "CompositeResourceDefinition", atLeast: min(1, len(o.Configurations)), conditions: expectUsable},
	}
}

func countPrograms(p Program) int {
	if p.Binary == "" {
		return 0
	}
	return 1
}

func expectConditions(types ...xpv2.ConditionType) func(*unstructured.Unstructured) []xpv2.ConditionType {
	return func(*unstructured.Unstructured) []xpv2.ConditionType { return types }
}

// expectUsable wants the claim of an XRD too, if it offers one.
func expectUsable(u *unstructured.Unstructured) []xpv2.ConditionType {
	if _, claims, _ := unstructured.NestedMap(u.Object, "spec", "claimNames"); claims {
		return []xpv2.ConditionType{"Established", "Offered"}
	}
	return []xpv2.ConditionType{"Established"}
}

// awaitExpectations waits until all expectations are met. Its error names the unmet expectations, with the conditions of their objects.
func (c *ControlPlane) awaitExpectations(ctx context.Context, expected []expectation) error {
	var missing []string
	err := process.PollUntil(ctx, func(ctx context.Context) (_ bool, err error) {
		missing, err = c.unmetExpectations(ctx, expected)
		return len(missing) == 0, err
	})
	return errors.Wrapf(err, "cannot see packages work: %s", strings.Join(missing, "; "))
}

func (c *ControlPlane) unmetExpectations(ctx context.Context, expected []expectation) ([]string, error) {
	var missing []string
	for _, e := range expected {
		l, err := c.listObjects(ctx, e.apiVersion, e.kind)
		if err != nil {
			return nil, err
		}
		if len(l) < e.atLeast {
			missing = append(missing, fmt.Sprintf("%d of %d %s exist", len(l), e.atLeast, e.kind))
		}
		for i := range l {
			missing = append(missing, e.falseConditions(&l[i])...)
		}
	}
	return missing, nil
}

// falseConditions returns the conditions of an object that are not True.
func (e expectation) falseConditions(u *unstructured.Unstructured) []string {
	var out []string
	conditions := Conditions(u)
	for _, t := range e.conditions(u) {
		if cd := conditions.GetCondition(t); cd.Status != corev1.ConditionTrue {
			out = append(out, fmt.Sprintf("%s %s is not %s: %s %s", e.kind, u.GetName(), t, cd.Reason, cd.Message))
		}
	}
	return out
}

func (c *ControlPlane) listObjects(ctx context.Context, apiVersion, kind string) ([]unstructured.Unstructured, error) {
	l := &unstructured.UnstructuredList{}
	l.SetAPIVersion(apiVersion)
	l.SetKind(kind + "List")
	err := c.Client.List(ctx, l)
	return l.Items, errors.Wrapf(err, "cannot list %s", kind)
}

// Conditions returns the conditions in the status of any object. An object without any has unknown ones.
func Conditions(u *unstructured.Unstructured) *xpv2.ConditionedStatus {
	out := &xpv2.ConditionedStatus{}
	l, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, v := range l {
		m, ok := v.(map[string]any)
		if !ok {
			continue
		}
		text := func(k string) string { s, _, _ := unstructured.NestedString(m, k); return s }
		og, _, _ := unstructured.NestedInt64(m, "observedGeneration")
		out.Conditions = append(out.Conditions, xpv2.Condition{
			Type:               xpv2.ConditionType(text("type")),
			Status:             corev1.ConditionStatus(text("status")),
			Reason:             xpv2.ConditionReason(text("reason")),
			Message:            text("message"),
			ObservedGeneration: og,
		})
	}
	return out
}
