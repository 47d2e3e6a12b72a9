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
	"github.com/intentplane/intentplane/apis/memo"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/check"
	"github.com/intentplane/intentplane/function/desired"
	"github.com/intentplane/intentplane/function/gates"
	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/function/phase"
	"github.com/intentplane/intentplane/function/render"
	"github.com/intentplane/intentplane/function/render/guard"
)

// A Renderer makes the files of one Site. The same input gives the same bytes.
type Renderer interface {
	// Build returns the files, by their path. Its error describes the problem of the Blueprint or the intent.
	Build(ctx context.Context, in render.Input) (tree.Files, error)
}

// Input is all that a call knows.
type Input struct {
	// Claim that the call is for.
	Claim rolloutv1alpha1.ClaimReference

	// UID of the composite resource. A deployment that is recreated under its name has another UID.
	UID string

	// Spec of the claim, and the last Status.
	Spec   deploymentv1alpha1.IntentDeploymentSpec
	Status deploymentv1alpha1.IntentDeploymentStatus

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

// checkedTrees is the number of checked trees in the cache of a Core: for 1,000 deployments, to two Sites each.
const checkedTrees = 2000

// Sizes of the caches of a Core, in bytes. Each is enough for some hundred deployments, and most are for some thousand.
const (
	catalogBytes   = 32 << 20 // Decoded objects of the catalog.
	digestBytes    = 1 << 20  // Digests of Blueprints and specs.
	intentBytes    = 4 << 20  // Intents.
	packedBytes    = 4 << 20  // Packed trees.
	queryBytes     = 4 << 20  // Filled queries.
	selectionBytes = 8 << 20  // Compiled selections, beside the trees.
	trackedBytes   = 8 << 20  // Trees of directories in tracks.
	usesBytes      = 1 << 20  // Values that Blueprints read.
)

// RendererSpread is the default time until all deployments took a new renderer.
const RendererSpread = 24 * time.Hour

// ProviderTimeout is the default timeout for the provider to observe a change of a composed resource.
const ProviderTimeout = 5 * time.Minute

// A Core runs calls. It may be used by several goroutines.
type Core struct {
	renderer  Renderer
	checker   *check.Checker
	packer    *tree.Packer
	catalog   *catalog.Cache
	selected  *memo.Memo[selected]
	rendered  *memo.Memo[renderedSites]
	digests   *memo.Memo[string]
	intents   *memo.Memo[intent.Intent]
	gates     *gates.Compiler
	uses      *memo.Memo[guard.Uses]
	tracker   *directories.Tracker
	workloads *memo.Memo[track.Workload]
	version   int32
	spread    time.Duration

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
	return func(c *Core) { c.gates = gates.NewCompiler(queryBytes, gates.WithLoopback(allowed)) }
}

// WithStopwatch measures the stages of calls by a clock.
func WithStopwatch(now func() time.Time) Option { return func(c *Core) { c.stopwatch = now } }

// New returns a Core that renders with r.
func New(r Renderer, opts ...Option) *Core {
	c := &Core{
		renderer: r, checker: check.New(checkedTrees), packer: tree.NewPacker(packedBytes), digests: memo.New[string](digestBytes), intents: memo.New[intent.Intent](intentBytes),
		catalog: catalog.NewCache(catalogBytes), selected: memo.New[selected](selectionBytes), rendered: memo.New[renderedSites](selectionBytes),
		gates: gates.NewCompiler(queryBytes), uses: memo.New[guard.Uses](usesBytes), tracker: directories.NewTracker(trackedBytes), workloads: memo.New[track.Workload](selectionBytes), version: render.Version, spread: RendererSpread,
		providerTimeout: ProviderTimeout, stopwatch: func() time.Time { return time.Time{} },
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
	k, err := c.compile(ctx, in, o)
	if err != nil {
		return nil, err
	}
	d, err := decide(in, o, k)
	if err != nil {
		return nil, err
	}
	out := buildOutput(in, o, k, d)
	out.Resources, err = encodeResources(d)
	return out, err
}
