package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/kpack"
	"github.com/intentplane/intentplane/test/load"
)

const (
	// applicationPlace is the namespace of the Applications, their Site, and the repository that they are delivered to.
	applicationPlace = "apps"

	// commitRounds is the number of commits after the first commit.
	commitRounds = 3

	// commitRest is the time in which the circuit breaker regains the tokens of a commit.
	commitRest = 50 * time.Second

	// applicationQuiet is the time without spent tokens before they are counted: a SiteHealth puts some changes off for ten seconds.
	applicationQuiet = 12 * time.Second
)

// applications are built by real kpack and applied to a second cluster by real Flux. The Applications of each shape are measured once.
type applications struct {
	s *stage
	// figures of each shape, by its API version.
	figures map[string]map[string]float64

	kpack *kpack.Kpack
	edge  *controlplane.Cluster
}

// The API versions of the shapes of an Application.
const (
	applicationsNamespaced = "intentplane.dev/v1alpha1"
	applicationsClaimed    = "claims.intentplane.dev/v1alpha1"
)

// applicationFigures are the cost of an Application, and the duration of its steps.
func applicationFigures(s *stage) []figure {
	a, c := &applications{s: s}, &applicationCrowd{s: s}
	return []figure{
		{"application_tokens_first", "tokens", a.applicationFigure(applicationsNamespaced, "first")},
		{"application_tokens_commit", "tokens", a.applicationFigure(applicationsNamespaced, "commit")},
		{"application_deployment_tokens_first", "tokens", a.applicationFigure(applicationsNamespaced, "deployment_first")},
		{"application_deployment_tokens_commit", "tokens", a.applicationFigure(applicationsNamespaced, "deployment_commit")},
		{"push_to_build_s", "s", a.applicationFigure(applicationsNamespaced, "push_to_build_s")},
		{"image_to_commit_ms", "ms", a.applicationFigure(applicationsNamespaced, "image_to_commit_ms")},
		{"pod_to_running_s", "s", a.applicationFigure(applicationsNamespaced, "pod_to_running_s")},
		{"application_claim_tokens_first", "tokens", a.applicationFigure(applicationsClaimed, "first")},
		{"application_claim_tokens_commit", "tokens", a.applicationFigure(applicationsClaimed, "commit")},
		{"applications_500_cpu_percent", "%", c.crowdFigure("cpu_percent")},
		{"source_looks_per_interval", "1/interval", c.crowdFigure("looks")},
		{"application_steady_status_writes", "writes", c.crowdFigure("writes")},
		{"application_flapping_writes_per_min", "1/min", c.crowdFigure("flapping")},
	}
}

func (a *applications) applicationFigure(shape, name string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		if figures, ok := a.figures[shape]; ok {
			return figures[name], nil
		}
		if a.figures == nil {
			if err := a.open(ctx); err != nil {
				return 0, err
			}
			a.figures = map[string]map[string]float64{}
		}
		figures := map[string]float64{}
		if err := a.measureCommits(ctx, shape, figures); err != nil {
			return 0, err
		}
		a.figures[shape] = figures
		return figures[name], nil
	}
}

// openForApplications starts a control plane in the place of another one: with Applications, kpack, and an address for webhooks.
func (s *stage) openForApplications(ctx context.Context) (*kpack.Kpack, error) {
	if err := s.closeControlPlane(); err != nil {
		return nil, err
	}
	free, err := controlplane.FreePorts(1)
	if err != nil {
		return nil, err
	}
	s.hasBundles, s.hooks = true, fmt.Sprintf("127.0.0.1:%d", free[0])
	if err := s.openControlPlane(ctx); err != nil {
		return nil, err
	}
	k, err := kpack.Start(ctx, s.cp)
	if err != nil {
		return nil, err
	}
	patch := fmt.Sprintf(`{"spec":{"build":{"registry":%q,"builder":{"kind":"ClusterBuilder","name":%q}}}}`, s.cp.Registry()+"/apps", kpack.Builder)
	config := newObjectOf("config.intentplane.dev/v1alpha1", "ClusterProviderConfig", "", "default")
	return k, errors.Wrap(s.cp.Client.Patch(ctx, config, client.RawPatch(types.MergePatchType, []byte(patch))), "cannot patch ClusterProviderConfig")
}

func newObjectOf(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// open starts all that an Application needs.
func (a *applications) open(ctx context.Context) error {
	var err error
	if a.kpack, err = a.s.openForApplications(ctx); err != nil {
		return err
	}
	l, err := load.New(a.s.cp)
	if err != nil {
		return err
	}
	if a.edge, err = l.FluxPlace(ctx, applicationPlace, "10s"); err != nil {
		return err
	}
	if err := a.edge.StartWorkloads(); err != nil {
		return err
	}
	root, err := controlplane.Root()
	if err != nil {
		return err
	}
	blueprint, err := os.ReadFile(filepath.Join(root, "examples", "blueprints", "app-internal-1.0.0.yaml"))
	if err != nil {
		return errors.Wrap(err, "cannot read Blueprint")
	}
	if err := a.s.cp.ApplyYAML(ctx, blueprint); err != nil {
		return err
	}
	hook := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: applicationPlace, Name: "hook"}, StringData: map[string]string{"token": hookToken}}
	return errors.Wrap(a.s.cp.Client.Create(ctx, hook), "cannot create Secret of the webhook")
}
