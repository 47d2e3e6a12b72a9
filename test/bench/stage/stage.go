// Package stage has the control plane on which figures are measured, and the waits and counts that all of them share.
package stage

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

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
	"github.com/intentplane/intentplane/test/load"
)

const (
	// Repository is the repository of all Sites.
	Repository = "fleet"
	// Namespace of the deployments.
	Namespace = "team-a"

	mostSites = 10
)

// A Stage is the control plane that figures are measured on. It is started when the first of them needs it.
type Stage struct {
	// CP is nil while no control plane runs.
	CP *controlplane.ControlPlane
	// HasBundles is true if the control plane has the Configuration of Bundles.
	HasBundles bool
	// Hooks is the address at which the provider receives webhooks, or empty. Then images are built, too.
	Hooks string

	// audited is true if the API server logs its requests.
	audited bool
	// coreArgument is a flag of Crossplane's core in addition to the flags of every test, or empty.
	coreArgument string
	// serverArgument is a flag of the API server in addition to the flags of every test, or empty.
	serverArgument string
}

// MeasureStart returns the time that the control plane took to start.
func (s *Stage) MeasureStart(ctx context.Context) (float64, error) {
	if err := s.Open(ctx); err != nil {
		return 0, err
	}
	for _, t := range s.CP.Timings {
		if t.Phase == "total" {
			return t.Duration.Seconds(), nil
		}
	}
	return 0, errors.New("the control plane does not say how long it took")
}

// Open starts the control plane, unless it runs, and gives it all that a claim needs. One with a component that ended is replaced.
func (s *Stage) Open(ctx context.Context) error {
	if s.CP != nil && s.CP.Err() == nil {
		return nil
	}
	if s.CP != nil {
		fmt.Fprintln(os.Stderr, "bench: starting another control plane:", s.CP.Err())
		_ = s.stopControlPlane() // It reports the component again.
	}
	o, err := controlplane.Product()
	if err != nil {
		return err
	}
	if s.HasBundles {
		o = o.WithApplications()
	}
	// The measured programs run as in production, without their debug log, but that Prometheus may be on this machine.
	o.Function.Args, o.Provider.Args = []string{"--allow-loopback-checks"}, []string{"--allow-loopback-checks"}
	if s.Hooks != "" {
		o.Provider.Args = append(o.Provider.Args, "--source-webhook-address="+s.Hooks)
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
	if s.CP, err = controlplane.Start(ctx, o); err != nil {
		return err
	}
	if err := s.prepareCatalog(ctx); err != nil {
		return errors.Join(err, s.Close())
	}
	return nil
}

// OpenAudited starts a control plane whose API server logs its requests, in the place of another one. Crossplane's core and the API server
// have an argument more each, unless it is empty.
func (s *Stage) OpenAudited(ctx context.Context, coreArgument, serverArgument string) error {
	if s.audited && s.coreArgument == coreArgument && s.serverArgument == serverArgument {
		return s.Open(ctx)
	}
	if err := s.Close(); err != nil {
		return err
	}
	s.audited, s.coreArgument, s.serverArgument = true, coreArgument, serverArgument
	return s.Open(ctx)
}

// OpenNew starts a control plane in the place of another one, whose earlier work would count.
func (s *Stage) OpenNew(ctx context.Context) error {
	if err := s.Close(); err != nil {
		return err
	}
	return s.Open(ctx)
}

func (s *Stage) prepareCatalog(ctx context.Context) error {
	if err := s.CP.Git.CreateRepo(ctx, Repository, map[string]string{"README.md": "What runs on our fleet.\n"}); err != nil {
		return err
	}
	root, err := toolbox.Root()
	if err != nil {
		return err
	}
	files, err := kubernetes.YAMLFiles(filepath.Join(root, "examples", "quickstart"))
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

func (s *Stage) applyExampleFile(ctx context.Context, file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	objects, err := kubernetes.ParseYAML(b)
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
func (s *Stage) applyExample(ctx context.Context, o *unstructured.Unstructured) error {
	switch o.GetKind() {
	case "IntentDeployment":
		return nil
	case "Site":
		if err := controlplane.RemoveEngine(o); err != nil {
			return err
		}
		return s.applySites(ctx, o)
	case "ClusterProviderConfig":
		if err := unstructured.SetNestedField(o.Object, s.CP.Git.URL(Repository), "spec", "git", "url"); err != nil {
			return err
		}
	}
	return s.CP.ApplyObject(ctx, o)
}

func (s *Stage) applySites(ctx context.Context, like *unstructured.Unstructured) error {
	for i := range mostSites {
		o := like.DeepCopy()
		o.SetName(NameOfSite(i))
		if err := unstructured.SetNestedField(o.Object, "clusters/"+NameOfSite(i), "spec", "repository", "path"); err != nil {
			return err
		}
		if err := s.CP.ApplyObject(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// NameOfSite returns the name of a Site by its number.
func NameOfSite(i int) string { return fmt.Sprintf("site-%d", i) }

// NewClaim returns a claim for the first n sites.
func NewClaim(name string, n int) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"intent": Intent(name, n)}}}
	o.SetAPIVersion("claims.intentplane.dev/v1alpha1")
	o.SetKind("IntentDeployment")
	o.SetNamespace(Namespace)
	o.SetName(name)
	return o
}

// Intent returns an intent for the first n Sites.
func Intent(service string, n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%q", NameOfSite(i))
	}
	return fmt.Sprintf(`{"service": %q, "type": "web", "sites": [%s], "replicas": 2}`, service, strings.Join(names, ", "))
}

// AwaitSucceeded applies a claim and waits until it is Succeeded and ready.
func (s *Stage) AwaitSucceeded(ctx context.Context, o *unstructured.Unstructured) error {
	if err := s.CP.ApplyObject(ctx, o.DeepCopy()); err != nil {
		return err
	}
	l := &unstructured.UnstructuredList{}
	l.SetAPIVersion(o.GetAPIVersion())
	l.SetKind(o.GetKind() + "List")
	w, err := s.CP.Client.Watch(ctx, l, client.InNamespace(o.GetNamespace()), client.MatchingFieldsSelector{
		Selector: fields.OneTermEqualSelector("metadata.name", o.GetName()),
	})
	if err != nil {
		return errors.Wrap(err, "cannot watch claim")
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		if IsSucceeded(e) {
			return nil
		}
	}
	return errors.Join(errors.Errorf("claim %s did not succeed", o.GetName()), ctx.Err(), s.CP.Err())
}

// IsSucceeded is true for an event of a deployment, or of another composite, that is Succeeded.
func IsSucceeded(e watch.Event) bool {
	o, ok := e.Object.(*unstructured.Unstructured)
	if !ok {
		return false
	}
	phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")
	return phase == "Succeeded"
}

// Close ends the control plane, and forgets its settings. It returns an error if something of it remains.
func (s *Stage) Close() error {
	err := s.stopControlPlane()
	*s = Stage{}
	return err
}

func (s *Stage) stopControlPlane() error {
	cp := s.CP
	if s.CP = nil; cp == nil {
		return nil
	}
	return cp.Stop()
}
