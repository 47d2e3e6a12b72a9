package canary

import (
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/release"
	"github.com/intentplane/intentplane/test/scene"
)

// TestLosses loses an object at each step of a canary, then all of them, then the state in Git, and the provider between a push and the status that
// would show it. The canary comes to its end with the commits that it would have made anyhow.
func TestLosses(t *testing.T) {
	t.Parallel()
	y := newMeasured(t)
	one := release.Pause("")
	plan := release.Plan{
		Steps: []any{release.Weight(5), one, release.Weight(20), one, release.Weight(40), one, release.Weight(60), one, release.Weight(80), one},
		Gates: release.Gates(time.Second, 1),
	}
	y.begins(plan, perSecond/2)
	y.asks(2, plan)
	for step, lose := range []func(){
		func() { y.loses(deliveryKind) }, func() { y.loses(syncKind) }, func() { y.loses(gateKind) }, func() { y.loses(deliveryKind, syncKind, gateKind) }, y.losesState,
	} {
		at := []string{"2/7", "3/7", "4/7", "5/7", "6/7"}[step]
		y.reaches(2, "AwaitingPromotion", at)
		lose()
		y.reaches(2, "AwaitingPromotion", at)
		if step == 4 {
			y.crashesAfterPush()
		}
		y.promotes(2, int64(step)+2)
	}
	y.ends(2, "Succeeded")
	y.stops()
	y.wantDivisions(y.Sites[0], "blue 100", "blue 100, green 0", "blue 95, green 5", "blue 80, green 20", "blue 60, green 40", "blue 40, green 60", "blue 20, green 80",
		"blue 0, green 100", "green 100")
	if got := len(y.Pushes(y.Namespace)); got != 9 {
		t.Errorf("want a commit for each step and no other, so 9, got %d", got)
	}
	y.wantPods(y.Sites[0], release.Replicas, release.Replicas)
}

// A kind of what is composed.
type kind struct{ apiVersion, name string }

var (
	deliveryKind = kind{"delivery.intentplane.dev/v1alpha1", "GitDelivery"}
	syncKind     = kind{"delivery.intentplane.dev/v1alpha1", "SiteSync"}
	gateKind     = kind{"rollout.intentplane.dev/v1alpha1", "Gate"}
)

// all objects of a kind that the release has.
func (y *measured) all(k kind) []unstructured.Unstructured {
	y.Helper()
	l := &unstructured.UnstructuredList{}
	l.SetAPIVersion(k.apiVersion)
	l.SetKind(k.name + "List")
	y.must(cp.Client.List(y.Context(), l, client.InNamespace(y.Namespace)))
	return l.Items
}

// loses all objects of some kinds at once, and waits until others took their places.
func (y *measured) loses(kinds ...kind) {
	y.Helper()
	gone := []string{}
	for _, k := range kinds {
		for _, o := range y.all(k) {
			gone = append(gone, string(o.GetUID()))
			y.must(client.IgnoreNotFound(cp.Client.Delete(y.Context(), &o)))
		}
	}
	for _, k := range kinds {
		o := &unstructured.Unstructured{}
		o.SetAPIVersion(k.apiVersion)
		o.SetKind(k.name)
		_, err := y.Await(y.Context(), o, "another one is ready", func(seen *unstructured.Unstructured) bool {
			ready := scene.Condition(seen, "Ready")
			return !slices.Contains(gone, string(seen.GetUID())) && (ready.Status == "True" || ready.Reason == "Watching")
		})
		y.must(err)
	}
}

// losesState removes the state from the repository, and waits until it is there again.
func (y *measured) losesState() {
	y.Helper()
	_, err := cp.Git.Git(y.Context(), y.Namespace, "update-ref", "-d", release.StateRef)
	y.must(err)
	y.until("the state is there again", func() bool {
		refs, err := cp.Git.Refs(y.Context(), y.Namespace)
		return err == nil && refs[release.StateRef] != ""
	})
}

// crashesAfterPush kills the provider when the next commit is in the repository and no status says so, and starts it again.
func (y *measured) crashesAfterPush() {
	y.Helper()
	provider.Lock()
	dead := make(chan struct{})
	y.AfterNextCommit(y.Namespace, func() {
		cp.KillProvider()
		close(dead)
	})
	go func() {
		defer provider.Unlock()
		<-dead
		if err := cp.StartProvider(y.Context(), controlplane.Program{}); err != nil {
			y.Error(err)
		}
	}()
}
