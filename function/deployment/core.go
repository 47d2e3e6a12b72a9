// Package deployment is the pure core of the composition function: a deployment and what is observed in, what should exist and a
// status out. It does no I/O, keeps no state and reads no clock: the same input gives the same output.
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
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/gates"
	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/function/phase"
	"github.com/intentplane/intentplane/function/render"
)

// A Renderer makes the files of one Site. The same input gives the same bytes.
type Renderer interface {
	// Build returns the files, by their path. It returns an error that says what is wrong with the Blueprint or the intent.
	Build(ctx context.Context, in render.Input) (tree.Files, error)
}

// Input is all that a call knows.
type Input struct {
	// Claim that the call is for.
	Claim rolloutv1alpha1.ClaimReference

	// UID of the composite resource. A deployment that is made again under its name has another one.
	UID string

	// Spec of the claim, and the last Status.
	Spec   deploymentv1alpha1.IntentDeploymentSpec
	Status deploymentv1alpha1.IntentDeploymentStatus

	// Conditions that the composite has. Nothing is decided by them.
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
type Resource = compose.Resource

// Output is what follows from an Input.
type Output struct {
	// Needs that have to be answered.
	Needs []catalog.Need

	// Resources that should exist, by their name in the composition.
	Resources map[string]Resource

	// Status of the deployment.
	Status *deploymentv1alpha1.IntentDeploymentStatus

	// Conditions of the deployment.
	Conditions []phase.Condition

	// Ready says whether what was asked for succeeded, and holds now.
	Ready bool

	// Passing says that a call which follows soon has the status to show: what was asked for in this one is to be reported first.
	Passing bool

	// Recording says that a call which follows soon reports the success of the revision, or what is in its way: the home of the ledger records the
	// verdict. Until then the status and the conditions of the composite hold.
	Recording bool

	// Dated says that the time had a part in this, so that the same input may have another output later. Wait is how long until
	// then, or 0 when it does not change by itself.
	Dated bool
	Wait  time.Duration

	// Stages that the call went through, with the time that each took. Nothing else depends on it. Empty without a stopwatch.
	Stages []Stage
}

// A Stage of a call is Compiling or Rendering.
type Stage struct {
	// Name of the stage.
	Name deploymentv1alpha1.Phase

	// Took is how long it took. A rendering that is remembered takes nearly no time.
	Took time.Duration
}

// checkedTrees is how many trees a Core remembers to have checked: for 1,000 deployments, to two Sites each.
const checkedTrees = 2000

// packedBytes is how many bytes of packed trees a Core remembers.
const packedBytes = 4 << 20

// digestBytes is how many bytes of digests of Blueprints and specs a Core remembers: of some thousand.
const digestBytes = 1 << 20

// intentBytes is how many bytes of intents a Core remembers: of some hundred at least.
const intentBytes = 4 << 20

// catalogBytes is how many bytes of decoded objects of the catalog a Core remembers: of some thousand Sites.
const catalogBytes = 32 << 20

// selectionBytes is how many bytes a Core remembers of what it compiled for selections, beside the trees: of some thousand.
const selectionBytes = 8 << 20

// trackedBytes is how many bytes of trees of directories in tracks a Core remembers.
const trackedBytes = 8 << 20

// queryBytes is how many bytes of filled queries a Core remembers: of some thousand.
const queryBytes = 4 << 20

// RendererSpread is how long it takes until all deployments took a new renderer, where no option says otherwise.
const RendererSpread = 24 * time.Hour

// ProviderTimeout is how long the provider may take to observe a change of a composed resource, where no option says otherwise.
const ProviderTimeout = 5 * time.Minute

// A Core runs calls. It may be used by several goroutines.
type Core struct {
	renderer  Renderer
	checker   *check.Checker
	packer    *compose.Packer
	catalog   *catalog.Cache
	selected  *memo.Memo[selected]
	rendered  *memo.Memo[renderedSites]
	digests   *memo.Memo[string]
	intents   *memo.Memo[intent.Intent]
	gates     *gates.Compiler
	uses      *memo.Memo[render.Uses]
	tracker   *directories.Tracker
	workloads *memo.Memo[track.Workload]
	version   int32
	spread    time.Duration

	// providerTimeout is how long the provider may take to observe a change of a composed resource.
	providerTimeout time.Duration

	// stopwatch returns the time, to measure stages by, or always the zero time.
	stopwatch func() time.Time
}

// An Option changes a Core.
type Option func(*Core)

// WithRendererSpread lets deployments take a new renderer one after another, over so long a time. 0 means all at once.
func WithRendererSpread(d time.Duration) Option { return func(c *Core) { c.spread = d } }

// WithProviderTimeout says how long the provider may take to observe a change of a composed resource. 0 means that it may take any time.
func WithProviderTimeout(d time.Duration) Option { return func(c *Core) { c.providerTimeout = d } }

// WithLoopbackChecks says whether checks may ask Prometheus servers on the provider's own machine, which the provider has to allow too. It is for
// tests.
func WithLoopbackChecks(allowed bool) Option {
	return func(c *Core) { c.gates = gates.NewCompiler(queryBytes, gates.WithLoopback(allowed)) }
}

// WithStopwatch measures the stages of calls by a clock.
func WithStopwatch(now func() time.Time) Option { return func(c *Core) { c.stopwatch = now } }

// New returns a Core that renders with r.
func New(r Renderer, opts ...Option) *Core {
	c := &Core{
		renderer: r, checker: check.New(checkedTrees), packer: compose.NewPacker(packedBytes), digests: memo.New[string](digestBytes), intents: memo.New[intent.Intent](intentBytes),
		catalog: catalog.NewCache(catalogBytes), selected: memo.New[selected](selectionBytes), rendered: memo.New[renderedSites](selectionBytes),
		gates: gates.NewCompiler(queryBytes), uses: memo.New[render.Uses](usesBytes), tracker: directories.NewTracker(trackedBytes), workloads: memo.New[track.Workload](selectionBytes), version: render.Version, spread: RendererSpread,
		providerTimeout: ProviderTimeout, stopwatch: func() time.Time { return time.Time{} },
	}
	for _, o := range opts {
		o(c)
	}
	return c
}

// Run carries out one call. Whatever is wrong with the deployment or the catalog is in the output; an error is a bug, or an
// observed object that cannot be read.
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
