package crowds

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/bench/process"
	"github.com/intentplane/intentplane/test/bench/series"
	"github.com/intentplane/intentplane/test/bench/stage"
	"github.com/intentplane/intentplane/test/bench/stats"
)

const (
	// manyDeployments are namespaced composites of two Sites that follow one Blueprint.
	manyDeployments = 1000
	manyName        = "thousand"

	// editedDeployments are edited one after another, and the median of them counts.
	editedDeployments = 5

	// editPatience is the time limit of one edit.
	editPatience = 3 * time.Minute
)

// A thousand is many deployments on a control plane of their own.
type thousand struct{ s *room }

// thousandFigures are the costs of many deployments together, and of one of them among the others. Parts that start programs again come last.
func thousandFigures(s *room) []series.Figure {
	y := &thousand{s: s}
	all := &series.Series{Base: y.measureDeploying, Parts: []series.Part{
		{Figures: []string{"provider", "function"}, Measure: y.measureMemory},
		{Figures: []string{"edit"}, Measure: y.measureEdits},
		{Figures: []string{"update", "commits"}, Measure: y.measureBlueprintUpdate},
		{Figures: []string{"restart"}, Measure: y.measureRestart},
		{Figures: []string{"site"}, Measure: y.measureSiteChange},
		{Figures: []string{"resync"}, Measure: y.measureResync},
		{Figures: []string{"down"}, Measure: y.measureDowntime},
	}}
	return []series.Figure{
		series.NewFigure("at_once_1000_s_namespaced", "s", all.Figure("at_once")),
		series.NewFigure("provider_rss_1000_mib", "MiB", all.Figure("provider")),
		series.NewFigure("function_rss_1000_mib", "MiB", all.Figure("function")),
		series.NewFigure("edit_one_of_1000_ms", "ms", all.Figure("edit")),
		series.NewFigure("blueprint_update_1000_s", "s", all.Figure("update")),
		series.NewFigure("blueprint_update_1000_commits", "commits", all.Figure("commits")),
		series.NewFigure("restart_1000_s", "s", all.Figure("restart")),
		series.NewFigure("site_change_1000_s", "s", all.Figure("site")),
		series.NewFigure("resync_1000_cpu_percent", "%", all.Figure("resync")),
		series.NewFigure("provider_down_1000_s", "s", all.Figure("down")),
	}
}

// measureDeploying makes all deployments at once on programs of their own, after one with which Crossplane begins to watch all that they name.
func (y *thousand) measureDeploying(ctx context.Context, figures map[string]float64) error {
	if err := y.s.OpenNew(ctx); err != nil {
		return err
	}
	if _, err := y.deployMany(ctx, manyName+"-before", 1); err != nil {
		return err
	}
	took, err := y.deployMany(ctx, manyName, manyDeployments)
	if err != nil {
		return err
	}
	figures["at_once"] = took.Seconds()
	return nil
}

func (y *thousand) deployMany(ctx context.Context, name string, n int) (time.Duration, error) {
	return (&writes{s: y.s}).deployCrowd(ctx, namespacedShape, name, n)
}

// measureMemory reads the memory of provider and function with the deployments.
func (y *thousand) measureMemory(_ context.Context, figures map[string]float64) error {
	for name, pid := range map[string]int{"provider": y.s.CP.ProviderPID(), "function": y.s.CP.FunctionPID()} {
		v, err := process.ResidentMebibytes(pid)
		if err != nil {
			return err
		}
		figures[name] = v
	}
	return nil
}

// measureEdits edits some deployments one after another, and waits for the commit of each on the branch.
func (y *thousand) measureEdits(ctx context.Context, figures map[string]float64) error {
	commits := y.s.LogPushes(ctx, repository)
	defer y.s.CP.Git.AfterPush(repository, nil)
	took := make([]float64, editedDeployments)
	for i := range took {
		began := time.Now()
		if err := y.editReplicas(ctx, deploymentName(i), 3); err != nil {
			return err
		}
		pushedAt, err := commits.AwaitSince(ctx, began, editPatience)
		if err != nil {
			return errors.Wrapf(err, "no commit has the edit of deployment %s", deploymentName(i))
		}
		took[i] = stats.Milliseconds(pushedAt.Sub(began))
		if _, err := y.s.AwaitSettled(ctx); err != nil {
			return err
		}
	}
	figures["edit"] = stats.Median(took)
	return nil
}

// editReplicas gives a deployment another number of replicas.
func (y *thousand) editReplicas(ctx context.Context, name string, replicas int) error {
	o := newDeploymentOf(namespacedShape, name)
	intent := strings.Replace(stage.Intent(name, sitesOfClaim), `"replicas": 2`, fmt.Sprintf(`"replicas": %d`, replicas), 1)
	if err := unstructured.SetNestedField(o.Object, intent, "spec", "intent"); err != nil {
		return err
	}
	return y.s.CP.ApplyObject(ctx, o)
}

// measureBlueprintUpdate publishes the Blueprint's next version, and waits until the branch has its change for each deployment.
func (y *thousand) measureBlueprintUpdate(ctx context.Context, figures map[string]float64) error {
	baseline, err := y.countCommits(ctx)
	if err != nil {
		return err
	}
	revisions, err := y.listRevisions(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := y.publishBlueprint(ctx); err != nil {
		return err
	}
	if err := y.awaitRevisions(ctx, revisions); err != nil {
		return err
	}
	figures["update"] = time.Since(began).Seconds()
	final, err := y.countCommits(ctx)
	if err != nil {
		return err
	}
	figures["commits"] = final - baseline
	return nil
}

// publishBlueprint gives the channel that all deployments follow to the next version of the Blueprint, which has another port of the container.
func (y *thousand) publishBlueprint(ctx context.Context) error {
	o, err := y.getBlueprint(ctx)
	if err != nil {
		return err
	}
	next, err := nextBlueprint(o)
	if err != nil {
		return err
	}
	// There is one object for each channel: the old version leaves it before the new one comes.
	left := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"channel":null}}}`))
	if err := y.s.CP.Client.Patch(ctx, o, left); err != nil {
		return errors.Wrap(err, "cannot take the channel off the Blueprint")
	}
	return y.s.CP.ApplyObject(ctx, next)
}

func (y *thousand) getBlueprint(ctx context.Context) (*unstructured.Unstructured, error) {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("catalog.intentplane.dev/v1alpha1")
	o.SetKind("Blueprint")
	return o, errors.Wrap(y.s.CP.Client.Get(ctx, types.NamespacedName{Name: "web-1.0.0"}, o), "cannot get the Blueprint")
}

// nextBlueprint returns a Blueprint's next version. It returns an error if there is nothing to change in it.
func nextBlueprint(o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	spec := o.DeepCopy().Object["spec"]
	next := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	next.SetGroupVersionKind(o.GroupVersionKind())
	next.SetName("web-1.1.0")
	next.SetLabels(o.GetLabels())
	file, _, err := unstructured.NestedString(next.Object, "spec", "files", "deployment.yaml")
	edited := strings.Replace(file, "containerPort: 80", "containerPort: 8080", 1)
	if err != nil || edited == file {
		return nil, errors.Join(err, errors.New("cannot find the port of the Blueprint's container"))
	}
	return next, errors.Join(
		unstructured.SetNestedField(next.Object, "1.1.0", "spec", "version"),
		unstructured.SetNestedField(next.Object, edited, "spec", "files", "deployment.yaml"),
	)
}

// listRevisions returns the revision of each deployment.
func (y *thousand) listRevisions(ctx context.Context) (map[string]int64, error) {
	l := newShapeList(namespacedShape)
	if err := y.s.CP.Client.List(ctx, l, client.InNamespace(namespace)); err != nil {
		return nil, errors.Wrap(err, "cannot list deployments")
	}
	out := map[string]int64{}
	for _, o := range l.Items {
		out[o.GetName()], _, _ = unstructured.NestedInt64(o.Object, "status", "verifiedRevision")
	}
	return out, nil
}

// awaitRevisions waits until each deployment has verified a later revision than it had. The API server ends a watch that cannot follow.
func (y *thousand) awaitRevisions(ctx context.Context, previous map[string]int64) error {
	for len(previous) > 0 {
		if err := y.watchRevisions(ctx, previous); err != nil {
			return errors.Wrapf(err, "%d deployments did not follow the Blueprint", len(previous))
		}
	}
	return nil
}

// watchRevisions takes each deployment away that verified a later revision, until none is left or the watch ends.
func (y *thousand) watchRevisions(ctx context.Context, previous map[string]int64) error {
	w, err := y.s.CP.Client.Watch(ctx, newShapeList(namespacedShape), client.InNamespace(namespace))
	if err != nil {
		return errors.Wrap(err, "cannot watch deployments")
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		o, ok := e.Object.(*unstructured.Unstructured)
		if !ok {
			continue
		}
		if verified, _, _ := unstructured.NestedInt64(o.Object, "status", "verifiedRevision"); verified > previous[o.GetName()] {
			delete(previous, o.GetName())
		}
		if len(previous) == 0 {
			return nil
		}
	}
	return errors.Join(ctx.Err(), y.s.CP.Err())
}

// countCommits returns the number of commits that the branch has.
func (y *thousand) countCommits(ctx context.Context) (float64, error) {
	out, err := y.s.CP.Git.Git(ctx, repository, "rev-list", "--count", "refs/heads/main")
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(out), 64)
	return n, errors.Wrap(err, "cannot count commits")
}

func deploymentName(i int) string { return fmt.Sprintf("%s-at-%d", manyName, i) }
