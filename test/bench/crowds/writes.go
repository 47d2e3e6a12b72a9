package crowds

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/bench/process"
	"github.com/intentplane/intentplane/test/bench/series"
	"github.com/intentplane/intentplane/test/bench/stage"
	"github.com/intentplane/intentplane/test/load"
)

const (
	// deployedAtOnce is the number of deployments that are made at the same moment.
	deployedAtOnce = 200

	// atOncePatience is the time limit of all of them.
	atOncePatience = 20 * time.Minute

	// logPatience is the time limit for the API server to write its log.
	logPatience = 2 * time.Second
)

// A shape is a shape of a deployment, or of the baseline.
type shape struct {
	name, apiVersion, kind string
	// composite is the resource that Crossplane reconciles.
	composite string
	// coreArgument is a flag of Crossplane's core in addition to the flags of every test, or empty.
	coreArgument string
	// serverArgument is a flag of the API server in addition to the flags of every test, or empty.
	serverArgument string
}

var (
	namespacedShape = shape{name: "namespaced", apiVersion: "intentplane.dev/v1alpha1", kind: "IntentDeployment", composite: "intentdeployments"}
	claimShape      = shape{name: "claims", apiVersion: "claims.intentplane.dev/v1alpha1", kind: "IntentDeployment", composite: "xintentdeployments"}

	// manyWorkers are the same shapes where Crossplane has its default number of workers.
	namespacedManyWorkers = withManyWorkers(namespacedShape)
	claimManyWorkers      = withManyWorkers(claimShape)

	// Many workers where the API server takes fewer, or more, writes at the same time than its default of 200.
	namespacedFewInFlight  = withInFlight(namespacedManyWorkers, 50)
	namespacedManyInFlight = withInFlight(namespacedManyWorkers, 800)
)

// withInFlight returns a shape for an API server that works on no more writes at the same time.
func withInFlight(form shape, writes int) shape {
	form.name, form.serverArgument = fmt.Sprintf("in-flight-%d-%s", writes, form.name), fmt.Sprintf("--max-mutating-requests-inflight=%d", writes)
	return form
}

// withManyWorkers returns a shape for a Crossplane with as many workers for each kind as it has by default.
func withManyWorkers(form shape) shape {
	form.name, form.coreArgument = "workers-"+form.name, "--max-reconcile-rate=100"
	return form
}

// A cost is the cost of some deployments at the API server.
type cost struct {
	tally *load.Tally
	took  time.Duration
	// compositeBytes is the size of the last composite that was written.
	compositeBytes int
}

// writes are measured by the audit log of the API server, each crowd of deployments once.
type writes struct {
	s     *room
	costs map[string]*series.Run[cost]
}

// writeFigures are the costs of deployments at the API server, alone and many at once. They need an API server that logs.
func writeFigures(s *room) []series.Figure {
	y := &writes{s: s, costs: map[string]*series.Run[cost]{}}
	perDeployment := func(c cost) float64 { return c.tally.EachOf(c.tally.Writes) }
	conflicts := func(c cost) float64 { return c.tally.EachOf(c.tally.Conflicts) }
	took := func(c cost) float64 { return c.took.Seconds() }
	return []series.Figure{
		series.NewFigure("writes_alone_namespaced", "writes", y.crowdFigure(namespacedShape, 1, perDeployment)),
		series.NewFigure("writes_alone_claims", "writes", y.crowdFigure(claimShape, 1, perDeployment)),
		series.NewFigure("composite_bytes_2_sites", "bytes", y.crowdFigure(claimShape, 1, func(c cost) float64 { return float64(c.compositeBytes) })),
		series.NewFigure("writes_alone_baseline_namespaced", "writes", y.crowdFigure(namespacedBaseline, 1, perDeployment)),
		series.NewFigure("writes_alone_baseline_claims", "writes", y.crowdFigure(claimBaseline, 1, perDeployment)),
		series.NewFigure("at_once_200_writes_namespaced", "writes", y.crowdFigure(namespacedShape, deployedAtOnce, perDeployment)),
		series.NewFigure("at_once_200_writes_claims", "writes", y.crowdFigure(claimShape, deployedAtOnce, perDeployment)),
		series.NewFigure("at_once_200_conflicts_claims", "conflicts", y.crowdFigure(claimShape, deployedAtOnce, conflicts)),
		series.NewFigure("at_once_200_s_namespaced", "s", y.crowdFigure(namespacedShape, deployedAtOnce, took)),
		series.NewFigure("at_once_200_s_claims", "s", y.crowdFigure(claimShape, deployedAtOnce, took)),
		series.NewFigure("at_once_200_writes_over_baseline_claims", "times", y.costOverBaseline(claimShape, claimBaseline, perDeployment)),
		series.NewFigure("at_once_200_over_baseline_namespaced", "times", y.costOverBaseline(namespacedShape, namespacedBaseline, took)),
		series.NewFigure("at_once_200_over_baseline_claims", "times", y.costOverBaseline(claimShape, claimBaseline, took)),
		series.NewFigure("at_once_200_writes_100_workers_namespaced", "times", y.costOverBaseline(namespacedManyWorkers, namespacedShape, perDeployment)),
		series.NewFigure("at_once_200_writes_100_workers_claims", "times", y.costOverBaseline(claimManyWorkers, claimShape, perDeployment)),
		series.NewFigure("at_once_200_s_100_workers_namespaced", "s", y.crowdFigure(namespacedManyWorkers, deployedAtOnce, took)),
		series.NewFigure("at_once_200_s_100_workers_50_in_flight_namespaced", "s", y.crowdFigure(namespacedFewInFlight, deployedAtOnce, took)),
		series.NewFigure("at_once_200_s_100_workers_800_in_flight_namespaced", "s", y.crowdFigure(namespacedManyInFlight, deployedAtOnce, took)),
	}
}

// crowdFigure returns the cost of one of some deployments that are made at once.
func (y *writes) crowdFigure(form shape, n int, pick func(cost) float64) func(context.Context) (float64, error) {
	name := fmt.Sprintf("%s-%d", form.name, n)
	return func(ctx context.Context) (float64, error) {
		if y.costs[name] == nil {
			y.costs[name] = &series.Run[cost]{}
		}
		c, err := y.costs[name].Do(ctx, func(ctx context.Context) (cost, error) { return y.measureCrowd(ctx, form, name, n) })
		if err != nil {
			return 0, err
		}
		return pick(c), nil
	}
}

// costOverBaseline returns the cost of many deployments of one shape, divided by the cost of as many of another shape, made at once.
func (y *writes) costOverBaseline(measured, bareShape shape, pick func(cost) float64) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		measuredCost, err := y.crowdFigure(measured, deployedAtOnce, pick)(ctx)
		if err != nil {
			return 0, err
		}
		bare, err := y.crowdFigure(bareShape, deployedAtOnce, pick)(ctx)
		if err != nil {
			return 0, err
		}
		return measuredCost / bare, nil
	}
}

// measureCrowd makes deployments at once, waits until nothing more follows, and reads their cost.
func (y *writes) measureCrowd(ctx context.Context, form shape, name string, n int) (cost, error) {
	if err := y.s.OpenAudited(ctx, form.coreArgument, form.serverArgument); err != nil {
		return cost{}, err
	}
	if form.kind != "IntentDeployment" {
		if err := y.s.openBaseline(ctx); err != nil {
			return cost{}, err
		}
	}
	// With the first deployment Crossplane begins to watch all that it names.
	if _, err := y.deployCrowd(ctx, form, name+"-before", 1); err != nil {
		return cost{}, err
	}
	baseline, err := readProcessorTimes(y.s.CP)
	if err != nil {
		return cost{}, err
	}
	endProfile := startProfile(ctx, y.s.CP, name)
	took, err := y.deployCrowd(ctx, form, name, n)
	if err := errors.Join(err, endProfile()); err != nil {
		return cost{}, err
	}
	if err := baseline.printTimesSince(os.Stderr, y.s.CP, n); err != nil {
		return cost{}, err
	}
	requests, err := y.readAuditLog(ctx, name+"-at-")
	if err != nil {
		return cost{}, err
	}
	return printCrowdCost(requests, form, n, took)
}

// printCrowdCost prints and returns the cost of some deployments. It returns an error if the log does not have all of them.
func printCrowdCost(requests []load.Request, form shape, n int, took time.Duration) (cost, error) {
	c := cost{tally: load.TallyRequests(requests), took: took, compositeBytes: lastObjectBytes(requests, form.composite)}
	fmt.Fprintf(os.Stderr, "%d %s: %+v, composite of %d bytes\n", n, form.name, *c.tally, c.compositeBytes)
	if c.tally.Deployments < n {
		return cost{}, errors.Errorf("the audit log has requests of %d deployments: want %d", c.tally.Deployments, n)
	}
	if n == 1 {
		return c, load.PrintWrites(os.Stderr, requests)
	}
	return c, load.PrintSummary(os.Stderr, requests)
}

// deployCrowd makes deployments at once, and returns the time until all were Succeeded. It waits until nothing more follows.
func (y *writes) deployCrowd(ctx context.Context, form shape, name string, n int) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, atOncePatience)
	defer cancel()
	began := time.Now()
	if err := y.applyCrowd(ctx, form, name, n); err != nil {
		return 0, err
	}
	if err := y.awaitCrowd(ctx, form, name, n); err != nil {
		return 0, err
	}
	took := time.Since(began)
	_, err := y.s.AwaitSettled(ctx)
	return took, err
}

// applyCrowd makes deployments at once.
func (y *writes) applyCrowd(ctx context.Context, form shape, name string, n int) error {
	g, groupCtx := errgroup.WithContext(ctx)
	for i := range n {
		g.Go(func() error {
			return y.s.CP.ApplyObject(groupCtx, newDeploymentOf(form, fmt.Sprintf("%s-at-%d", name, i)))
		})
	}
	return g.Wait()
}

// awaitCrowd waits until all deployments are Succeeded. The API server ends a watch that cannot follow.
func (y *writes) awaitCrowd(ctx context.Context, form shape, name string, n int) error {
	succeeded := map[string]bool{}
	for len(succeeded) < n {
		if err := y.watchSucceeded(ctx, form, name, func(o *unstructured.Unstructured) bool {
			succeeded[o.GetName()] = true
			return len(succeeded) == n
		}); err != nil {
			return errors.Wrapf(err, "%d of %d deployments succeeded", len(succeeded), n)
		}
	}
	return nil
}

// watchSucceeded calls a function with each deployment that is Succeeded, until that is enough or the watch ends.
func (y *writes) watchSucceeded(ctx context.Context, form shape, name string, isEnough func(*unstructured.Unstructured) bool) error {
	w, err := y.s.CP.Client.Watch(ctx, newShapeList(form), client.InNamespace(namespace))
	if err != nil {
		return errors.Wrap(err, "cannot watch deployments")
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		o, ok := e.Object.(*unstructured.Unstructured)
		if ok && strings.HasPrefix(o.GetName(), name+"-at-") && stage.IsSucceeded(e) && isEnough(o) {
			return nil
		}
	}
	return errors.Join(ctx.Err(), y.s.CP.Err())
}

// newShapeList returns an empty list of the objects of a shape.
func newShapeList(form shape) *unstructured.UnstructuredList {
	l := &unstructured.UnstructuredList{}
	l.SetAPIVersion(form.apiVersion)
	l.SetKind(form.kind + "List")
	return l
}

// readAuditLog returns the requests about deployments whose names begin so.
func (y *writes) readAuditLog(ctx context.Context, prefix string) ([]load.Request, error) {
	if err := process.Wait(ctx, logPatience); err != nil {
		return nil, err
	}
	f, err := os.Open(y.s.CP.AuditFile())
	if err != nil {
		return nil, errors.Wrap(err, "cannot open the audit log")
	}
	defer func() { _ = f.Close() }()
	all, err := load.ReadRequests(f)
	if err != nil {
		return nil, err
	}
	out := []load.Request{}
	for _, r := range all {
		if strings.HasPrefix(r.Deployment, namespace+"/"+prefix) {
			out = append(out, r)
		}
	}
	return out, nil
}

// lastObjectBytes returns the size of the object of a resource that was written last.
func lastObjectBytes(all []load.Request, resource string) int {
	for _, r := range slices.Backward(all) {
		if r.IsWrite() && r.Bytes > 0 && strings.HasPrefix(r.Resource, resource) {
			return r.Bytes
		}
	}
	return 0
}

// newDeploymentOf returns a deployment of a shape to two Sites, or a baseline.
func newDeploymentOf(form shape, name string) *unstructured.Unstructured {
	if form.kind != "IntentDeployment" {
		return newBaseline(form, name)
	}
	o := stage.NewClaim(name, sitesOfClaim)
	o.SetAPIVersion(form.apiVersion)
	return o
}
