// Package deployment is the pure core of the composition function: from a deployment and the observed resources it computes the
// desired resources and a status. It does no I/O, keeps no state and reads no clock: the same input gives the same output.
package deployment

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/compile"
	"github.com/intentplane/intentplane/function/desired"
	"github.com/intentplane/intentplane/function/phase"
	"github.com/intentplane/intentplane/function/render"
)

// Input is all that a call knows.
type Input struct {
	// Deployment that the call is for, with the last status.
	compile.Deployment

	// UID of the composite resource. A deployment that is recreated under its name has another UID.
	UID string

	// Conditions that the composite has. No decision depends on them.
	Conditions []phase.Condition

	// Observed composed resources, by their name in the composition.
	Observed map[string]*unstructured.Unstructured

	// Answers to the needs of earlier calls.
	Answers catalog.Answers

	// Now is written to the log of transitions, and read for two decisions: whether it is a deployment's turn to take a new renderer, and
	// whether the provider has not observed a change for too long.
	Now metav1.Time
}

// Resource is one composed resource that should exist.
type Resource = desired.Resource

// Output is the result for an Input.
type Output struct {
	// Needs that have to be answered.
	Needs []catalog.Need

	// Resources that should exist, by their name in the composition.
	Resources map[string]Resource

	// Status of the deployment.
	Status *deploymentv1alpha1.IntentDeploymentStatus

	// Conditions of the deployment.
	Conditions []phase.Condition

	// Ready is true if the desired state was reached, and holds now.
	Ready bool

	// Passing is true for an intermediate status: the new desired state has to be observed first, and a follow-up call writes the final status.
	Passing bool

	// Recording is true while the home of the ledger records the verdict: a follow-up call reports the success of the revision, or the obstacle.
	// Until then the status and the conditions of the composite hold.
	Recording bool

	// Dated says that the time had a part in this, so that the same input may have another output later. Wait is the time
	// until then, or 0 when it does not change by itself.
	Dated bool
	Wait  time.Duration

	// Stages that the call went through, with the time that each took. Nothing else depends on it. Empty without a stopwatch.
	Stages []Stage
}

// A Stage of a call is Compiling or Rendering.
type Stage struct {
	// Name of the stage.
	Name deploymentv1alpha1.Phase

	// Took is the duration of the stage. A cached rendering takes nearly no time.
	Took time.Duration
}

// Sizes of the caches of a Core beside those of its compiler, in bytes. Each is enough for some thousand deployments.
const (
	catalogBytes = 32 << 20 // Decoded objects of the catalog.
	trackedBytes = 8 << 20  // Trees of directories in tracks.
)

// RendererSpread is the default time until all deployments took a new renderer.
const RendererSpread = 24 * time.Hour

// ProviderTimeout is the default timeout for the provider to observe a change of a composed resource.
const ProviderTimeout = 5 * time.Minute

// A Core runs calls. It may be used by several goroutines.
type Core struct {
	compiler *compile.Compiler
	catalog  *catalog.Cache
	tracker  *directories.Tracker
	version  int32
	spread   time.Duration

	// providerTimeout is the timeout for the provider to observe a change of a composed resource.
	providerTimeout time.Duration

	// stopwatch returns the time, to measure stages by, or always the zero time.
	stopwatch func() time.Time
}

// An Option changes a Core.
type Option func(*Core)

// WithRendererSpread lets deployments take a new renderer one after another, over so long a time. 0 means all at once.
func WithRendererSpread(d time.Duration) Option { return func(c *Core) { c.spread = d } }

// WithProviderTimeout sets the time limit for the provider to observe a change of a composed resource. 0 means no limit.
func WithProviderTimeout(d time.Duration) Option { return func(c *Core) { c.providerTimeout = d } }

// WithLoopbackChecks sets whether checks may query Prometheus servers on the provider's own machine, which the provider has to allow too. It is for
// tests.
func WithLoopbackChecks(allowed bool) Option {
	return func(c *Core) { c.compiler.AllowLoopbackChecks(allowed) }
}

// WithStopwatch measures the stages of calls by a clock.
func WithStopwatch(now func() time.Time) Option { return func(c *Core) { c.stopwatch = now } }

// New returns a Core that renders with r.
func New(r compile.Renderer, opts ...Option) *Core {
	c := &Core{
		compiler: compile.New(r), catalog: catalog.NewCache(catalogBytes), tracker: directories.NewTracker(trackedBytes), version: render.Version,
		spread: RendererSpread, providerTimeout: ProviderTimeout, stopwatch: func() time.Time { return time.Time{} },
	}
	for _, o := range opts {
		o(c)
	}
	return c
}

// Run carries out one call. A problem of the deployment or the catalog is in the output; an error is a bug, or an observed
// object that cannot be decoded.
func (c *Core) Run(ctx context.Context, in Input) (*Output, error) {
	in.Spec = *in.Spec.DeepCopy()
	in.Spec.Default()
	o, err := c.observe(in)
	if err != nil {
		return nil, err
	}
	k, err := c.compileDesired(ctx, in, o)
	if err != nil {
		return nil, err
	}
	d, err := makeDecision(in, o, k)
	if err != nil {
		return nil, err
	}
	out := buildOutput(in, o, k, d)
	out.Resources, err = encodeResources(d)
	return out, err
}
