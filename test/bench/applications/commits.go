package applications

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/bench/process"
	"github.com/intentplane/intentplane/test/bench/stage"
	"github.com/intentplane/intentplane/test/bench/stats"
	"github.com/intentplane/intentplane/test/kpack"
	"github.com/intentplane/intentplane/test/load"
)

// hookToken is the token that signs webhooks.
const hookToken = "a token of some length"

// An application of the benchmark is built of a repository of its own.
type application struct {
	*applications

	// shape is its API version.
	shape  string
	name   string
	commit string
	builds int
	// spent is the last number of tokens of Applications, and spentBelow of their deployments.
	spent, spentBelow float64
}

// newApplication makes a repository with one commit.
func (a *applications) newApplication(ctx context.Context, shape, name string) (*application, error) {
	o := &application{applications: a, shape: shape, name: name}
	if err := a.s.CP.Git.CreateRepo(ctx, o.repositoryName(), map[string]string{"main.txt": "1"}); err != nil {
		return nil, err
	}
	commit, err := a.s.CP.Git.Git(ctx, o.repositoryName(), "rev-parse", "main")
	o.commit = strings.TrimSpace(commit)
	return o, err
}

func (o *application) repositoryName() string { return "source-" + o.name }

// composeApplication returns the Application, whose source is checked after a webhook.
func (o *application) composeApplication() *unstructured.Unstructured {
	u := stage.NewObject(o.shape, "Application", applicationPlace, o.name)
	u.Object["spec"] = map[string]any{
		"source": map[string]any{
			"git": map[string]any{"url": o.s.CP.Git.URL(o.repositoryName()), "revision": "main"}, "interval": "30m",
			"webhook": map[string]any{"secretRef": map[string]any{"name": "hook"}},
		},
		"deploy": map[string]any{
			"sites":          []any{applicationPlace},
			"deliveryConfig": map[string]any{"gitOpsRepo": map[string]any{"kind": "ProviderConfig", "name": load.Config}},
		},
	}
	return u
}

// measureCommits builds an Application after another one has made Crossplane watch its composed kinds, and then some commits more. The worst
// of them counts.
func (a *applications) measureCommits(ctx context.Context, shape string, figures map[string]float64) error {
	// Both shapes are in one namespace, where a claim and a namespaced composite may not have the same name.
	group, _, _ := strings.Cut(shape, ".")
	if _, err := a.measureFirst(ctx, shape, group+"-before"); err != nil {
		return err
	}
	ledger, err := load.NewLedger(ctx, a.s.CP.Client, applicationPlace, load.ApplicationKinds()...)
	if err != nil {
		return err
	}
	defer stage.PrintLedger(ledger)
	defer ledger.Close()
	o, err := a.measureFirst(ctx, shape, group+"-shop")
	if err != nil {
		return err
	}
	figures[keyOfFigure(shape, "first")], figures[keyOfFigure(shape, "deployment_first")] = o.spent, o.spentBelow
	worst := map[string]float64{}
	for range commitRounds {
		if err := process.Wait(ctx, commitRest); err != nil {
			return err
		}
		if err := o.measureCommit(ctx, worst); err != nil {
			return err
		}
	}
	if err := a.s.CheckBreakerClosed(ctx); err != nil {
		return err
	}
	for name, value := range worst {
		figures[keyOfFigure(shape, name)] = value
	}
	return nil
}

// measureFirst makes an Application, waits until it is Running, and returns its cost.
func (a *applications) measureFirst(ctx context.Context, shape, name string) (*application, error) {
	o, err := a.newApplication(ctx, shape, name)
	if err != nil {
		return nil, err
	}
	err = o.countTokens(ctx, func() error {
		if err := a.s.CP.ApplyObject(ctx, o.composeApplication()); err != nil {
			return err
		}
		image, err := o.awaitDeployed(ctx)
		if err != nil {
			return err
		}
		_, err = o.measureServing(ctx, image)
		return err
	})
	o.builds++
	return o, err
}

// measureCommit pushes a commit, and measures its steps until it is Running.
func (o *application) measureCommit(ctx context.Context, worst map[string]float64) error {
	keep := func(name string, v float64) { worst[name] = max(worst[name], v) }
	err := o.countTokens(ctx, func() error {
		hold := make(chan struct{})
		o.kpack.Plan(applicationPlace, kpack.Play{Held: hold})
		took, err := o.pushAndAwaitBuild(ctx)
		if err != nil {
			close(hold)
			return err
		}
		keep("push_to_build_s", took.Seconds())
		if took, err = o.finishBuild(ctx, hold); err != nil {
			return err
		}
		keep("image_to_commit_ms", stats.Milliseconds(took))
		image, err := o.awaitDeployed(ctx)
		if err != nil {
			return err
		}
		took, err = o.measureServing(ctx, image)
		keep("pod_to_running_s", took.Seconds())
		return err
	})
	keep("commit", o.spent)
	keep("deployment_commit", o.spentBelow)
	return err
}

// pushAndAwaitBuild pushes a commit and sends a webhook, and returns the time until a Build existed.
func (o *application) pushAndAwaitBuild(ctx context.Context) (time.Duration, error) {
	o.builds++
	commit, err := o.s.CP.Git.Commit(ctx, o.repositoryName(), "main", map[string]string{"main.txt": fmt.Sprint(o.builds)}, "Another version")
	if err != nil {
		return 0, err
	}
	o.commit = commit
	began := time.Now()
	if err := o.sendWebhook(ctx); err != nil {
		return 0, err
	}
	_, err = o.s.AwaitObject(ctx, o.currentBuild(), func(*unstructured.Unstructured) bool { return true })
	return time.Since(began), err
}

// finishBuild ends the Build with success, and returns the time from then until the image was in Git.
func (o *application) finishBuild(ctx context.Context, hold chan struct{}) (time.Duration, error) {
	pushes := o.s.LogPushes(ctx, applicationPlace)
	defer o.s.CP.Git.AfterPush(applicationPlace, nil)
	ended := time.Now()
	close(hold)
	if _, err := o.s.AwaitObject(ctx, o.currentBuild(), func(u *unstructured.Unstructured) bool {
		return stage.ConditionOf(u, "Succeeded") == corev1.ConditionTrue
	}); err != nil {
		return 0, err
	}
	began := time.Now()
	pushedAt, err := pushes.AwaitSince(ctx, ended, stage.ClaimPatience)
	return pushedAt.Sub(began), errors.Wrap(err, "the image does not come into Git")
}

func (o *application) currentBuild() *unstructured.Unstructured {
	return stage.NewObject("kpack.io/v1alpha2", "Build", applicationPlace, fmt.Sprintf("%s-build-%d", o.name, o.builds))
}

// sendWebhook sends a webhook, signed as Gitea does.
func (o *application) sendWebhook(ctx context.Context) error {
	body := []byte(`{"ref":"refs/heads/main"}`)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+o.s.Hooks+"/hooks/"+applicationPlace+"/"+o.name, bytes.NewReader(body))
	if err != nil {
		return errors.Wrap(err, "cannot make webhook")
	}
	sum := hmac.New(sha256.New, []byte(hookToken))
	_, _ = sum.Write(body)
	req.Header.Set("X-Gitea-Signature", hex.EncodeToString(sum.Sum(nil)))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return errors.Wrap(err, "cannot send webhook")
	}
	if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusAccepted {
		return errors.Errorf("a webhook is answered with %d: %v", res.StatusCode, err)
	}
	return nil
}

// awaitDeployed waits until the deployment of the commit was verified, and returns its image.
func (o *application) awaitDeployed(ctx context.Context) (string, error) {
	u, err := o.s.AwaitObject(ctx, o.composeApplication(), func(u *unstructured.Unstructured) bool {
		return o.hasCurrentCommit(u) && stage.ConditionOf(u, "Deployed") == corev1.ConditionTrue
	})
	if err != nil {
		return "", err
	}
	image, _, _ := unstructured.NestedString(u.Object, "status", "image")
	return image, nil
}

func (o *application) hasCurrentCommit(u *unstructured.Unstructured) bool {
	commit, _, _ := unstructured.NestedString(u.Object, "status", "commit")
	return commit == o.commit
}

// measureServing makes the pods of an image ready, and returns the time from then until the Application was Running.
func (o *application) measureServing(ctx context.Context, image string) (time.Duration, error) {
	if err := o.reportPodsReady(ctx, image); err != nil {
		return 0, err
	}
	began := time.Now()
	_, err := o.s.AwaitObject(ctx, o.composeApplication(), func(u *unstructured.Unstructured) bool {
		phase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
		return o.hasCurrentCommit(u) && phase == "Running"
	})
	return time.Since(began), err
}

// reportPodsReady reports the pods of an image as ready, once there are some.
func (o *application) reportPodsReady(ctx context.Context, image string) error {
	ctx, cancel := context.WithTimeout(ctx, stage.ClaimPatience)
	defer cancel()
	for n := 0; ; {
		l := &corev1.PodList{}
		if err := o.edge.Client.List(ctx, l, client.InNamespace(applicationPlace)); err != nil {
			return errors.Wrap(err, "cannot list pods")
		}
		for _, p := range l.Items {
			if p.Spec.Containers[0].Image != image || p.GetDeletionTimestamp() != nil {
				continue
			}
			n++
			p.Status.Phase = corev1.PodRunning
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
			if err := o.edge.Client.Status().Update(ctx, &p); err != nil {
				return errors.Wrap(err, "cannot report pod")
			}
		}
		if n > 0 {
			return nil
		}
		if err := process.Wait(ctx, 50*time.Millisecond); err != nil {
			return errors.Wrapf(err, "no pod has image %s", image)
		}
	}
}

// countTokens counts the tokens of the circuit breakers of Applications and of their deployments that something costs, until nothing does any more.
func (o *application) countTokens(ctx context.Context, operation func() error) error {
	baseline, err := o.readChargedTokens(ctx)
	if err != nil {
		return err
	}
	if err := operation(); err != nil {
		return err
	}
	current, quietSince := baseline, time.Now()
	for time.Since(quietSince) < applicationQuiet {
		now, err := o.readChargedTokens(ctx)
		if err != nil {
			return err
		}
		if now != current {
			current, quietSince = now, time.Now()
		}
		if err := process.Wait(ctx, time.Second/2); err != nil {
			return err
		}
	}
	o.spent, o.spentBelow = current.own-baseline.own, current.below-baseline.below
	return nil
}

// applicationTokens are the tokens that the circuit breakers charged the composites of Applications of a shape, and their deployments, which
// have a breaker each.
type applicationTokens struct{ own, below float64 }

// readChargedTokens returns the tokens charged so far: a namespaced Application is the composite itself, and a claim has one behind it. The deployments
// of both are namespaced.
func (o *application) readChargedTokens(ctx context.Context) (applicationTokens, error) {
	m, err := o.s.CP.CoreMetrics(ctx)
	if err != nil {
		return applicationTokens{}, err
	}
	allowed := func(composite string) float64 {
		return m.Sum("circuit_breaker_events_total", map[string]string{"result": "Allowed", "controller": "composite/" + composite})
	}
	controllerName := "applications.intentplane.dev"
	if o.shape == applicationsClaimed {
		controllerName = "xapplications.claims.intentplane.dev"
	}
	return applicationTokens{own: allowed(controllerName), below: allowed("intentdeployments.intentplane.dev")}, nil
}
