package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/bench/series"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/load"
)

const (
	repository = "fleet"
	namespace  = "team-a"

	mostSites = 10
)

// A stage is the control plane that figures are measured on. It is started when the first of them needs it.
type stage struct {
	cp      *controlplane.ControlPlane
	latency series.Run[latency]
	// audited is true if the API server logs its requests.
	audited bool
	// coreArgument is a flag of Crossplane's core in addition to the flags of every test, or empty.
	coreArgument string
	// serverArgument is a flag of the API server in addition to the flags of every test, or empty.
	serverArgument string
	// hasBaseline is true if the control plane has the baseline of composites.
	hasBaseline bool
	// hasBundles is true if the control plane has the Configuration of Bundles.
	hasBundles bool
	// hooks is the address at which the provider receives webhooks, or empty. Then images are built, too.
	hooks string
}

// measureStart returns the time that the control plane took to start.
func (s *stage) measureStart(ctx context.Context) (float64, error) {
	if err := s.openControlPlane(ctx); err != nil {
		return 0, err
	}
	for _, t := range s.cp.Timings {
		if t.Phase == "total" {
			return t.Duration.Seconds(), nil
		}
	}
	return 0, errors.New("the control plane does not say how long it took")
}

// openControlPlane starts the control plane, unless it runs, and gives it all that a claim needs. One with a component that ended is replaced.
func (s *stage) openControlPlane(ctx context.Context) error {
	if s.cp != nil && s.cp.Err() == nil {
		return nil
	}
	if s.cp != nil {
		fmt.Fprintln(os.Stderr, "bench: starting another control plane:", s.cp.Err())
		_ = s.closeControlPlane() // It reports the component again.
	}
	o, err := controlplane.Product()
	if err != nil {
		return err
	}
	if s.hasBundles {
		o = o.WithApplications()
	}
	// The measured programs run as in production, without their debug log, but that Prometheus may be on this machine.
	o.Function.Args, o.Provider.Args = []string{"--allow-loopback-checks"}, []string{"--allow-loopback-checks"}
	if s.hooks != "" {
		o.Provider.Args = append(o.Provider.Args, "--source-webhook-address="+s.hooks)
	}
	if s.audited {
		o.Audit = []byte(load.AuditPolicy)
	}
	if s.coreArgument != "" {
		o.CoreArgs = append(o.CoreArgs, s.coreArgument)
	}
	if s.serverArgument != "" {
		o.APIServerArgs = append(o.APIServerArgs, s.serverArgument)
	}
	if s.cp, err = controlplane.Start(ctx, o); err != nil {
		return err
	}
	if err := s.prepareCatalog(ctx); err != nil {
		return errors.Join(err, s.closeControlPlane())
	}
	return nil
}

// openAudited starts a control plane whose API server logs its requests, in the place of another one. Crossplane's core and the API server
// have the arguments of the shape besides.
func (s *stage) openAudited(ctx context.Context, form shape) error {
	if s.audited && s.coreArgument == form.coreArgument && s.serverArgument == form.serverArgument {
		return s.openControlPlane(ctx)
	}
	if err := s.closeControlPlane(); err != nil {
		return err
	}
	s.audited, s.coreArgument, s.serverArgument = true, form.coreArgument, form.serverArgument
	return s.openControlPlane(ctx)
}

func (s *stage) prepareCatalog(ctx context.Context) error {
	if err := s.cp.Git.CreateRepo(ctx, repository, map[string]string{"README.md": "What runs on our fleet.\n"}); err != nil {
		return err
	}
	root, err := controlplane.Root()
	if err != nil {
		return err
	}
	files, err := controlplane.YAMLFiles(filepath.Join(root, "examples", "quickstart"))
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := s.applyExampleFile(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) applyExampleFile(ctx context.Context, file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	objects, err := controlplane.ParseYAML(b)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if err := s.applyExample(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// applyExample applies an example, for our repository. Of a Site there are as many as are needed, without an engine, and claims are made later.
func (s *stage) applyExample(ctx context.Context, o *unstructured.Unstructured) error {
	switch o.GetKind() {
	case "IntentDeployment":
		return nil
	case "Site":
		if err := controlplane.RemoveEngine(o); err != nil {
			return err
		}
		return s.applySites(ctx, o)
	case "ClusterProviderConfig":
		if err := unstructured.SetNestedField(o.Object, s.cp.Git.URL(repository), "spec", "git", "url"); err != nil {
			return err
		}
	}
	return s.cp.ApplyObject(ctx, o)
}

func (s *stage) applySites(ctx context.Context, like *unstructured.Unstructured) error {
	for i := range mostSites {
		o := like.DeepCopy()
		o.SetName(nameOfSite(i))
		if err := unstructured.SetNestedField(o.Object, "clusters/"+nameOfSite(i), "spec", "repository", "path"); err != nil {
			return err
		}
		if err := s.cp.ApplyObject(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

func nameOfSite(i int) string { return fmt.Sprintf("site-%d", i) }

// newBenchClaim returns a claim for the first n sites.
func newBenchClaim(name string, n int) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"intent": benchIntent(name, n)}}}
	o.SetAPIVersion("claims.intentplane.dev/v1alpha1")
	o.SetKind("IntentDeployment")
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// benchIntent returns an intent for the first n Sites.
func benchIntent(service string, n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%q", nameOfSite(i))
	}
	return fmt.Sprintf(`{"service": %q, "type": "web", "sites": [%s], "replicas": 2}`, service, strings.Join(names, ", "))
}

// awaitSucceeded applies a claim and waits until it is Succeeded and ready.
func (s *stage) awaitSucceeded(ctx context.Context, o *unstructured.Unstructured) error {
	if err := s.cp.ApplyObject(ctx, o.DeepCopy()); err != nil {
		return err
	}
	l := &unstructured.UnstructuredList{}
	l.SetAPIVersion(o.GetAPIVersion())
	l.SetKind(o.GetKind() + "List")
	w, err := s.cp.Client.Watch(ctx, l, client.InNamespace(o.GetNamespace()), client.MatchingFieldsSelector{
		Selector: fields.OneTermEqualSelector("metadata.name", o.GetName()),
	})
	if err != nil {
		return errors.Wrap(err, "cannot watch claim")
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		if isSucceeded(e) {
			return nil
		}
	}
	return errors.Join(errors.Errorf("claim %s did not succeed", o.GetName()), ctx.Err(), s.cp.Err())
}

func isSucceeded(e watch.Event) bool {
	o, ok := e.Object.(*unstructured.Unstructured)
	if !ok {
		return false
	}
	phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")
	return phase == "Succeeded"
}

// withoutControlPlane measures without a control plane beside it.
func (s *stage) withoutControlPlane(fn func(ctx context.Context) (float64, error)) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		if err := s.closeControlPlane(); err != nil {
			return 0, err
		}
		return fn(ctx)
	}
}

func (s *stage) closeControlPlane() error {
	if s.cp == nil {
		return nil
	}
	err := s.cp.Stop()
	s.cp, s.hasBaseline, s.hasBundles, s.hooks = nil, false, false, ""
	return err
}
