// Package compile turns the spec of a deployment and its objects of the catalog into the content of a revision: the request, the checks, and the files of each
// Site with the deliveries that bring them to the repositories. No composed resource is read here. The function calls it for each deployment, and the command
// line without a control plane.
package compile

import (
	"context"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/memo"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/check"
	"github.com/intentplane/intentplane/function/gates"
	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/function/render"
	"github.com/intentplane/intentplane/function/render/guard"
)

// A Renderer makes the files of one Site. The same input gives the same bytes.
type Renderer interface {
	// Build returns the files, by their path. Its error describes the problem of the Blueprint or the intent.
	Build(ctx context.Context, in render.Input) (tree.Files, error)
}

// A Deployment is the part of a deployment that a revision is compiled from.
type Deployment struct {
	// Claim of the deployment.
	Claim rolloutv1alpha1.ClaimReference

	// Spec of the claim, and the last Status.
	Spec   deploymentv1alpha1.IntentDeploymentSpec
	Status deploymentv1alpha1.IntentDeploymentStatus
}

// checkedTrees is the number of checked trees in the cache of a Compiler: for 1,000 deployments, to two Sites each.
const checkedTrees = 2000

// Sizes of the caches of a Compiler, in bytes. Each is enough for some hundred deployments, and most are for some thousand.
const (
	digestBytes    = 1 << 20 // Digests of Blueprints and specs.
	intentBytes    = 4 << 20 // Intents.
	packedBytes    = 4 << 20 // Packed trees.
	queryBytes     = 4 << 20 // Filled queries.
	selectionBytes = 8 << 20 // Compiled selections, beside the trees.
	usesBytes      = 1 << 20 // Values that Blueprints read.
)

// A Compiler compiles deployments, and caches the results. It may be used by several goroutines.
type Compiler struct {
	renderer  Renderer
	checker   *check.Checker
	packer    *tree.Packer
	selected  *memo.Memo[Selected]
	rendered  *memo.Memo[Rendered]
	digests   *memo.Memo[string]
	intents   *memo.Memo[intent.Intent]
	gates     *gates.Compiler
	uses      *memo.Memo[guard.Uses]
	workloads *memo.Memo[track.Workload]
}

// New returns a Compiler that renders with r.
func New(r Renderer) *Compiler {
	return &Compiler{
		renderer: r, checker: check.New(checkedTrees), packer: tree.NewPacker(packedBytes), selected: memo.New[Selected](selectionBytes),
		rendered: memo.New[Rendered](selectionBytes), digests: memo.New[string](digestBytes), intents: memo.New[intent.Intent](intentBytes),
		gates: gates.NewCompiler(queryBytes), uses: memo.New[guard.Uses](usesBytes), workloads: memo.New[track.Workload](selectionBytes),
	}
}

// AllowLoopbackChecks sets whether checks may query Prometheus servers on the provider's own machine. No other goroutine may use the Compiler yet.
func (c *Compiler) AllowLoopbackChecks(allowed bool) {
	c.gates = gates.NewCompiler(queryBytes, gates.WithLoopback(allowed))
}
