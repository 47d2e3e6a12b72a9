package canary

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/release"
	"github.com/intentplane/intentplane/test/scene"
)

// A kind of composed resources.
type kind struct{ apiVersion, name string }

var (
	deliveryKind = kind{"delivery.intentplane.dev/v1alpha1", "GitDelivery"}
	syncKind     = kind{"delivery.intentplane.dev/v1alpha1", "SiteSync"}
	gateKind     = kind{"rollout.intentplane.dev/v1alpha1", "Gate"}
)

// objectsOfKind objects of a kind that the release has.
func (y *measured) objectsOfKind(k kind) []unstructured.Unstructured {
	y.Helper()
	l := &unstructured.UnstructuredList{}
	l.SetAPIVersion(k.apiVersion)
	l.SetKind(k.name + "List")
	y.requireNoError(cp.Client.List(y.Context(), l, client.InNamespace(y.Namespace)))
	return l.Items
}

// deleteObjects deletes all objects of some kinds at once, and returns their UIDs.
func (y *measured) deleteObjects(kinds ...kind) []string {
	y.Helper()
	deleted := []string{}
	for _, k := range kinds {
		for _, o := range y.objectsOfKind(k) {
			deleted = append(deleted, string(o.GetUID()))
			y.requireNoError(client.IgnoreNotFound(cp.Client.Delete(y.Context(), &o)))
		}
	}
	return deleted
}

// losesSomething loses all objects of some kinds at once, and waits until others took their places.
func (y *measured) losesSomething(kinds ...kind) {
	y.Helper()
	deleted := y.deleteObjects(kinds...)
	for _, k := range kinds {
		o := &unstructured.Unstructured{}
		o.SetAPIVersion(k.apiVersion)
		o.SetKind(k.name)
		_, err := y.Await(y.Context(), o, "another one is ready", func(observed *unstructured.Unstructured) bool {
			ready := scene.Condition(observed, "Ready")
			return !slices.Contains(deleted, string(observed.GetUID())) && (ready.Status == "True" || ready.Reason == "Watching")
		})
		y.requireNoError(err)
	}
}

// awaitDivisions waits until the requests were divided so many times at the first Site.
func (y *measured) awaitDivisions(times int) {
	y.Helper()
	y.awaitCondition(fmt.Sprintf("the requests are divided %d times", times), func() bool {
		all, err := y.Divisions(y.Context(), y.Sites[0])
		y.requireNoError(err)
		return len(all) == times
	})
}

// deleteStateRef removes the state from the repository, and waits until it is there again.
func (y *measured) deleteStateRef() {
	y.Helper()
	_, err := cp.Git.Git(y.Context(), y.Namespace, "update-ref", "-d", release.StateRef)
	y.requireNoError(err)
	y.awaitCondition("the state is there again", y.hasStateRef)
}

// hasStateRef reports whether the repository has the ref of the state.
func (y *measured) hasStateRef() bool {
	refs, err := cp.Git.Refs(y.Context(), y.Namespace)
	return err == nil && refs[release.StateRef] != ""
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
