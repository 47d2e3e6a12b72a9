package canary

import (
	"context"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
	"github.com/intentplane/intentplane/test/figure"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/release"
	"github.com/intentplane/intentplane/test/scene"
	"github.com/intentplane/intentplane/test/traffic"
)

// A followedRelease is a release that a test follows, with users at each Site.
type followedRelease struct {
	*testing.T
	*release.Release

	users []*traffic.Users
}

// newFollowedRelease makes a release at some places.
func newFollowedRelease(t *testing.T, o release.Options, places ...release.Place) *followedRelease {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "release-"}}
	y := &followedRelease{T: t}
	y.requireNoError(cp.Client.Create(t.Context(), ns))
	var err error
	y.Release, err = release.New(t.Context(), cp, ns.GetName(), o, places...)
	y.requireNoError(err)
	t.Cleanup(y.explainFailure)
	return y
}

// newReleaseAt makes a release at one Site of the first cluster.
func newReleaseAt(t *testing.T, o release.Options) *followedRelease {
	t.Helper()
	return newFollowedRelease(t, o, release.Place{Cluster: requireCluster(t, edge)})
}

func (y *followedRelease) requireNoError(err error) {
	y.Helper()
	if err != nil {
		y.Fatal(err)
	}
}

// explainFailure shows where the release stood when a test failed.
func (y *followedRelease) explainFailure() {
	if !y.Failed() {
		return
	}
	ctx := context.WithoutCancel(y.Context())
	for _, args := range [][]string{
		{"get", "intentdeployments.claims.intentplane.dev,gitdeliveries.delivery.intentplane.dev,sitesyncs.delivery.intentplane.dev,gates.rollout.intentplane.dev,rolloutrequests.rollout.intentplane.dev", "-n", y.Namespace, "-o", "yaml"},
		{"get", "events", "-n", y.Namespace},
	} {
		out, err := cp.Kubectl(ctx, args...)
		y.Logf("kubectl %s\n%s%v", strings.Join(args, " "), out, err)
	}
	for _, s := range y.Sites {
		for _, args := range [][]string{{"get", "deployments,pods,services", "-n", s.Namespace, "-o", "wide"}, {"get", "httproutes", "-n", s.Namespace, "-o", "yaml"}, {"get", "kustomizations,gitrepositories", "-n", kubernetes.FluxNamespace, s.Name}} {
			out, err := exec.CommandContext(ctx, cp.KubectlPath(), append([]string{"--kubeconfig", s.Kubeconfig}, args...)...).CombinedOutput()
			y.Logf("at %s: kubectl %s\n%s%v", s.Name, strings.Join(args, " "), out, err)
		}
	}
}

// asksForImage asks for a revision with an image.
func (y *followedRelease) asksForImage(image int, p release.Plan) {
	y.Helper()
	y.requireNoError(y.Ask(y.Context(), image, p))
}

// startsUsers starts with a first revision, and users who get answers at each Site.
func (y *followedRelease) startsUsers(p release.Plan, perSecond int) {
	y.Helper()
	y.asksForImage(1, p)
	for _, s := range y.Sites {
		y.awaitCondition("the first revision answers at "+s.Name, func() bool { return len(s.Target.Send(y.Context(), 1, 1).Failed()) == 0 })
		y.users = append(y.users, s.Target.Start(y.Context(), perSecond))
	}
	y.awaitOutcome(1, "Succeeded")
}

// awaitCondition polls a condition that cannot be watched.
func (y *followedRelease) awaitCondition(description string, condition func() bool) {
	y.Helper()
	tick, end := time.NewTicker(look), time.NewTimer(patience.Limit)
	defer tick.Stop()
	defer end.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-end.C:
			y.Fatalf("waited %s in vain: %s", patience.Limit, description)
		}
	}
}

// awaitClaimStatus waits until the claim fulfils a condition.
func (y *followedRelease) awaitClaimStatus(description string, condition func(*unstructured.Unstructured) bool) *unstructured.Unstructured {
	y.Helper()
	o, err := y.AwaitClaim(y.Context(), description, condition)
	y.requireNoError(err)
	return o
}

// awaitCanaryState waits until a revision is in a state at a step of its plan, such as 3/5.
func (y *followedRelease) awaitCanaryState(revision int64, state, step string) {
	y.Helper()
	y.awaitClaimStatus(fmt.Sprintf("revision %d is %s at step %s", revision, state, step), func(o *unstructured.Unstructured) bool {
		return scene.Number(o, "status", "revision") == revision && scene.Field(o, "status", "canary", "state") == state && scene.Field(o, "status", "canary", "step") == step
	})
}

// awaitOutcome waits until a revision has an outcome, and its canary is at rest. After a rollback it is not Ready: the Sites do not run the
// desired state.
func (y *followedRelease) awaitOutcome(revision int64, outcome string) *unstructured.Unstructured {
	y.Helper()
	return y.awaitClaimStatus(fmt.Sprintf("revision %d ends as %s", revision, outcome), func(o *unstructured.Unstructured) bool {
		isReady := outcome == "RolledBack" || scene.Condition(o, "Ready").Status == corev1.ConditionTrue
		return scene.Number(o, "status", "revision") == revision && scene.Field(o, "status", "outcome") == outcome && scene.Field(o, "status", "canary", "state") == "" && isReady
	})
}

// promotesStep promotes the step that a revision waits at, counted from 1.
func (y *followedRelease) promotesStep(revision, step int64) {
	y.Helper()
	y.requireNoError(y.Request(y.Context(), rolloutv1alpha1.ActionPromote, revision, map[string]any{"step": step}))
}

// runPlugin runs kubectl-intent about the claim.
func (y *followedRelease) runPlugin(args ...string) string {
	y.Helper()
	root, err := toolbox.Root()
	y.requireNoError(err)
	args = append(args, release.Claim, "--namespace", y.Namespace, "--kubeconfig", cp.Kubeconfig)
	out, err := exec.CommandContext(y.Context(), filepath.Join(root, "_output", "bin", "kubectl-intent"), args...).CombinedOutput()
	if err != nil {
		y.Fatalf("kubectl intent %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// wantTrackShare counts requests at a Site once its gateway divides them by a weight, and compares the share of a track with it.
func (y *followedRelease) wantTrackShare(s *release.Site, name string, weight float64, requests int) {
	y.Helper()
	y.awaitCondition(fmt.Sprintf("the gateway of %s gives track %s %v percent", s.Name, name, weight), func() bool {
		return math.Abs(s.Target.Send(y.Context(), 200, atOnce).Share(name)-weight) <= tolerance
	})
	got := s.Target.Send(y.Context(), requests, atOnce)
	if weight == 0 && got.Share(name) > 0 || len(got.Failed()) > 0 {
		y.Errorf("%s: want no request at track %s at weight 0, and none that fails, got %s at weight %v", s.Name, name, got, weight)
	}
	figure.Check(y.T, fmt.Sprintf("share_off_weight_%v_of_%s_at_%s", weight, name, s.Name), math.Abs(got.Share(name)-weight), tolerance)
}

// wantNoRequests checks that a track got no request of the users of any Site in a time.
func (y *followedRelease) wantNoRequests(reason, name string, start, end time.Time) {
	y.Helper()
	for i := range y.users {
		y.wantNoRequestsAt(i, reason, name, start, end)
	}
}

// wantNoRequestsAt checks that a track got no request of the users of one Site in a time.
func (y *followedRelease) wantNoRequestsAt(site int, reason, name string, start, end time.Time) {
	y.Helper()
	got := y.users[site].Answers().Between(start, end)
	if got.Share(name) > 0 || len(got) == 0 {
		y.Errorf("%s: from %s to %s at %s: %s", reason, start, end, y.Sites[site].Name, got)
	}
}

// wantDivisions checks how Git divided the requests of a Site, commit by commit.
func (y *followedRelease) wantDivisions(s *release.Site, want ...string) {
	y.Helper()
	got := []string{}
	for _, d := range y.divisionsAt(s) {
		got = append(got, d.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		y.Errorf("%s: commits: -want, +got:\n%s", s.Name, diff)
	}
}

func (y *followedRelease) divisionsAt(s *release.Site) []release.Division {
	y.Helper()
	all, err := y.Divisions(y.Context(), s)
	y.requireNoError(err)
	return all
}

// wantTrackPods checks how many pods of both tracks ever answered at a Site.
func (y *followedRelease) wantTrackPods(s *release.Site, blue, green int) {
	y.Helper()
	y.wantStarted(s, map[string]int{track.Blue: blue, track.Green: green})
}

// wantStarted checks how many pods of some tracks ever answered at a Site. Pods without a track are under "".
func (y *followedRelease) wantStarted(s *release.Site, want map[string]int) {
	y.Helper()
	got := map[string]int{}
	for name, n := range s.Started() {
		if _, isAsked := want[name]; isAsked {
			got[name] = n
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		y.Errorf("%s: each pod is made once: pods that answered: -want, +got:\n%s", s.Name, diff)
	}
}

// stopAndCheckUsers stops the users, and checks that none of their requests failed.
func (y *followedRelease) stopAndCheckUsers() {
	y.Helper()
	for i, u := range y.users {
		got := u.Stop()
		if len(got.Failed()) > 0 {
			y.Errorf("requests fail at %s: %s: first at %s", y.Sites[i].Name, got, got.Failed()[0].Sent)
		}
		y.Logf("%s: %s", y.Sites[i].Name, got)
	}
	y.logBreakerEvents()
}

// logBreakerEvents shows how many events Crossplane's circuit breaker let pass, and whether it opened.
func (y *followedRelease) logBreakerEvents() {
	y.Helper()
	m, err := cp.CoreMetrics(y.Context())
	y.requireNoError(err)
	y.Logf("events that the circuit breaker let pass: %v; it opened %v times", m.Sum("circuit_breaker_events_total", map[string]string{"result": "Allowed"}), m.Sum("circuit_breaker_opens_total", nil))
}
