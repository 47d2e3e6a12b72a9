package applications

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/bench/series"
	"github.com/intentplane/intentplane/test/bench/stage"
	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/controlplane/port"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
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
	s *room

	kpack *kpack.Kpack
	edge  *kubernetes.Cluster
}

// The API versions of the shapes of an Application.
const (
	applicationsNamespaced = "intentplane.dev/v1alpha1"
	applicationsClaimed    = "claims.intentplane.dev/v1alpha1"
)

// applicationFigures are the cost of an Application, and the duration of its steps.
func applicationFigures(s *room) []series.Figure {
	both, crowd := (&applications{s: s}).figureSeries(), (&applicationCrowd{s: s}).figureSeries()
	ofShape := func(shape, name string) func(context.Context) (float64, error) {
		return both.Figure(keyOfFigure(shape, name))
	}
	return []series.Figure{
		series.NewFigure("application_tokens_first", "tokens", ofShape(applicationsNamespaced, "first")),
		series.NewFigure("application_tokens_commit", "tokens", ofShape(applicationsNamespaced, "commit")),
		series.NewFigure("application_deployment_tokens_first", "tokens", ofShape(applicationsNamespaced, "deployment_first")),
		series.NewFigure("application_deployment_tokens_commit", "tokens", ofShape(applicationsNamespaced, "deployment_commit")),
		series.NewFigure("push_to_build_s", "s", ofShape(applicationsNamespaced, "push_to_build_s")),
		series.NewFigure("image_to_commit_ms", "ms", ofShape(applicationsNamespaced, "image_to_commit_ms")),
		series.NewFigure("pod_to_running_s", "s", ofShape(applicationsNamespaced, "pod_to_running_s")),
		series.NewFigure("application_claim_tokens_first", "tokens", ofShape(applicationsClaimed, "first")),
		series.NewFigure("application_claim_tokens_commit", "tokens", ofShape(applicationsClaimed, "commit")),
		series.NewFigure("applications_500_cpu_percent", "%", crowd.Figure("cpu_percent")),
		series.NewFigure("source_looks_per_interval", "1/interval", crowd.Figure("looks")),
		series.NewFigure("application_steady_status_writes", "writes", crowd.Figure("writes")),
		series.NewFigure("application_flapping_writes_per_min", "1/min", crowd.Figure("flapping")),
	}
}

// figureSeries are the figures of both shapes, each a part of its own.
func (a *applications) figureSeries() *series.Series {
	out := &series.Series{Base: a.openControlPlane}
	for _, shape := range []string{applicationsNamespaced, applicationsClaimed} {
		part := series.Part{Measure: func(ctx context.Context, figures map[string]float64) error {
			return a.measureCommits(ctx, shape, figures)
		}}
		for _, name := range []string{"first", "commit", "deployment_first", "deployment_commit", "push_to_build_s", "image_to_commit_ms", "pod_to_running_s"} {
			part.Figures = append(part.Figures, keyOfFigure(shape, name))
		}
		out.Parts = append(out.Parts, part)
	}
	return out
}

// keyOfFigure is the key of a figure of one shape.
func keyOfFigure(shape, name string) string { return shape + " " + name }

// openForApplications starts a control plane in the place of another one: with Applications, kpack, and an address for webhooks.
func (s *room) openForApplications(ctx context.Context) (*kpack.Kpack, error) {
	if err := s.Close(); err != nil {
		return nil, err
	}
	free, err := port.Free(1)
	if err != nil {
		return nil, err
	}
	s.HasBundles, s.Hooks = true, fmt.Sprintf("127.0.0.1:%d", free[0])
	if err := s.Open(ctx); err != nil {
		return nil, err
	}
	k, err := kpack.Start(ctx, s.CP)
	if err != nil {
		return nil, err
	}
	patch := fmt.Sprintf(`{"spec":{"build":{"registry":%q,"builder":{"kind":"ClusterBuilder","name":%q}}}}`, s.CP.Registry()+"/apps", kpack.Builder)
	config := stage.NewObject("config.intentplane.dev/v1alpha1", "ClusterProviderConfig", "", "default")
	return k, errors.Wrap(s.CP.Client.Patch(ctx, config, client.RawPatch(types.MergePatchType, []byte(patch))), "cannot patch ClusterProviderConfig")
}

// openControlPlane starts all that an Application needs.
func (a *applications) openControlPlane(ctx context.Context, _ map[string]float64) error {
	var err error
	if a.kpack, err = a.s.openForApplications(ctx); err != nil {
		return err
	}
	l, err := load.New(a.s.CP)
	if err != nil {
		return err
	}
	if a.edge, err = l.FluxPlace(ctx, applicationPlace, "10s"); err != nil {
		return err
	}
	if err := a.edge.StartWorkloads(); err != nil {
		return err
	}
	root, err := toolbox.Root()
	if err != nil {
		return err
	}
	blueprint, err := os.ReadFile(filepath.Join(root, "examples", "blueprints", "app-internal-1.0.0.yaml"))
	if err != nil {
		return errors.Wrap(err, "cannot read Blueprint")
	}
	if err := a.s.CP.ApplyYAML(ctx, blueprint); err != nil {
		return err
	}
	hook := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: applicationPlace, Name: "hook"}, StringData: map[string]string{"token": hookToken}}
	return errors.Wrap(a.s.CP.Client.Create(ctx, hook), "cannot create Secret of the webhook")
}
