package releases

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/bench/process"
	"github.com/intentplane/intentplane/test/bench/stage"
	"github.com/intentplane/intentplane/test/bench/stats"
	"github.com/intentplane/intentplane/test/controlplane"
)

const (
	// spreadRepositories is the number of repositories that deployments are spread over, with one Site in each.
	spreadRepositories = 3
	// spreadClaims are applied one after another, and the median of them counts.
	spreadClaims = 20
)

// A spread is deployments in several repositories: one holds the ledger, and the others follow.
type spread struct {
	s *room
	// readyOn is the control plane that has the repositories.
	readyOn *controlplane.ControlPlane
}

// ledgerPushes returns the number of pushes that one revision of a deployment costs, in so many repositories and so many waves: the first revision of a claim, in
// repositories that hold another one.
func (y *spread) ledgerPushes(repositories int, inWaves bool) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		if err := y.openRepositories(ctx); err != nil {
			return 0, err
		}
		name := fmt.Sprintf("pushes-%d", repositories)
		// A repository gets the name of the cluster with its first push.
		if err := y.deploySpread(ctx, name+"-before", repositories, inWaves); err != nil {
			return 0, err
		}
		baseline := y.countPushes()
		if err := y.deploySpread(ctx, name, repositories, inWaves); err != nil {
			return 0, err
		}
		return float64(y.countPushes() - baseline), nil
	}
}

// followerDelay returns the time, in milliseconds, from the push by which the home records a revision to the push by which another repository gets it,
// as the Git server sees them: the median of several claims.
func (y *spread) followerDelay(ctx context.Context) (float64, error) {
	if err := y.openRepositories(ctx); err != nil {
		return 0, err
	}
	if err := y.deploySpread(ctx, "delay-before", 2, false); err != nil {
		return 0, err
	}
	home, follower := y.s.LogPushes(ctx, spreadName(0)), y.s.LogPushes(ctx, spreadName(1))
	defer y.s.CP.Git.AfterPush(spreadName(0), nil)
	defer y.s.CP.Git.AfterPush(spreadName(1), nil)
	took := []float64{}
	for i := range spreadClaims {
		began := time.Now()
		if err := y.deploySpread(ctx, fmt.Sprintf("delay-%d", i), 2, false); err != nil {
			return 0, err
		}
		recordedAt, isRecorded := home.FirstSince(began)
		followedAt, isFollowed := follower.FirstSince(began)
		if !isRecorded || !isFollowed {
			return 0, errors.Errorf("claim %d succeeded without a commit in each repository", i)
		}
		took = append(took, stats.Milliseconds(followedAt.Sub(recordedAt)))
	}
	return stats.Median(took), nil
}

// deploySpread makes a claim succeed, and waits until nothing costs anything any more.
func (y *spread) deploySpread(ctx context.Context, name string, repositories int, inWaves bool) error {
	ctx, cancel := context.WithTimeout(ctx, stage.ClaimPatience)
	defer cancel()
	o, err := newSpreadClaim(name, repositories, inWaves)
	if err != nil {
		return err
	}
	if err := y.s.AwaitSucceeded(ctx, o); err != nil {
		return err
	}
	for pushes := -1; pushes != y.countPushes(); {
		pushes = y.countPushes()
		if err := process.Wait(ctx, stage.Quiet); err != nil {
			return err
		}
	}
	return nil
}

func (y *spread) countPushes() int {
	n := 0
	for i := range spreadRepositories {
		n += y.s.CP.Git.Pushes(spreadName(i))
	}
	return n
}

// spreadName is the name of a repository, of its configuration and of its Site.
func spreadName(i int) string { return fmt.Sprintf("spread-%d", i) }

// newSpreadClaim returns a claim for the Sites of the first repositories, at once or one after another.
func newSpreadClaim(name string, repositories int, inWaves bool) (*unstructured.Unstructured, error) {
	o, names, waves := stage.NewClaim(name, 0), []string{}, []any{}
	for i := range repositories {
		names = append(names, fmt.Sprintf("%q", spreadName(i)))
		waves = append(waves, map[string]any{"name": spreadName(i), "sites": []any{spreadName(i)}})
	}
	intent := fmt.Sprintf(`{"service": %q, "type": "web", "sites": [%s], "replicas": 2}`, name, strings.Join(names, ", "))
	if err := unstructured.SetNestedField(o.Object, intent, "spec", "intent"); err != nil || !inWaves {
		return o, err
	}
	return o, unstructured.SetNestedSlice(o.Object, waves, "spec", "deliveryConfig", "waves")
}

// openRepositories makes the repositories, their configurations and their Sites, once.
func (y *spread) openRepositories(ctx context.Context) error {
	if err := y.s.Open(ctx); err != nil || y.readyOn == y.s.CP {
		return err
	}
	for i := range spreadRepositories {
		if err := y.openRepository(ctx, spreadName(i)); err != nil {
			return err
		}
	}
	y.readyOn = y.s.CP
	return nil
}

func (y *spread) openRepository(ctx context.Context, name string) error {
	if err := y.s.CP.Git.CreateRepo(ctx, name, map[string]string{"README.md": "What runs on our fleet.\n"}); err != nil {
		return err
	}
	config, err := y.copyUnderName(ctx, "config.intentplane.dev/v1alpha1", "ClusterProviderConfig", "default", name)
	if err != nil {
		return err
	}
	site, err := y.copyUnderName(ctx, "catalog.intentplane.dev/v1alpha1", "Site", stage.NameOfSite(0), name)
	if err != nil {
		return err
	}
	err = errors.Join(
		unstructured.SetNestedField(config.Object, y.s.CP.Git.URL(name), "spec", "git", "url"),
		unstructured.SetNestedField(site.Object, map[string]any{"name": name}, "spec", "repository", "providerConfigRef"),
		unstructured.SetNestedField(site.Object, "clusters/"+name, "spec", "repository", "path"),
	)
	if err != nil {
		return err
	}
	return errors.Join(y.s.CP.ApplyObject(ctx, config), y.s.CP.ApplyObject(ctx, site))
}

// copyUnderName returns an existing object under another name.
func (y *spread) copyUnderName(ctx context.Context, apiVersion, kind, name, targetName string) (*unstructured.Unstructured, error) {
	like := &unstructured.Unstructured{}
	like.SetAPIVersion(apiVersion)
	like.SetKind(kind)
	if err := y.s.CP.Client.Get(ctx, client.ObjectKey{Name: name}, like); err != nil {
		return nil, errors.Wrapf(err, "cannot get %s %s", kind, name)
	}
	o := &unstructured.Unstructured{Object: map[string]any{"spec": like.Object["spec"]}}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetName(targetName)
	return o, nil
}
