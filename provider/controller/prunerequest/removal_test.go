package prunerequest

import (
	"context"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/repository"
)

// A closedReader is an API server that must not be asked.
type closedReader struct{ t *testing.T }

// Get fails the test.
func (c closedReader) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	c.t.Errorf("A plan in its turn asks the API server nothing.\nGet(...): %T %s", o, key)
	return errors.New("closed")
}

// List fails the test.
func (c closedReader) List(_ context.Context, l client.ObjectList, _ ...client.ListOption) error {
	c.t.Errorf("A plan in its turn asks the API server nothing.\nList(...): %T", l)
	return errors.New("closed")
}

// preparedRemoval returns the removal of an approved plan, with its facts, and the delivery that waits for its turn.
func (w *world) preparedRemoval() (*removal, repository.Delivery) {
	w.Helper()
	w.ask(team)
	w.approve(w.step(team))
	pr := w.step(team)
	g, err := w.reconciler.newGatherer(w.Context(), pr)
	w.must(err)
	r := &removal{gatherer: g, approval: &v1alpha1.PruneApproval{}}
	w.must(r.prepareRemoval(w.Context()))
	return r, repository.Delivery{Object: repositoryQueueKey(pr), Version: string(pr.GetUID()), Plan: r.planRemoval}
}

// TestTurn has a plan wait for its turn in the queue of a repository while the repository changes.
func TestTurn(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(w *world)
		want   error
	}{
		"Same": {reason: "A plan whose facts are fresh is carried out.", change: func(*world) {}},
		"Elsewhere": {
			reason: "A new delivery that names another directory stops nothing.",
			change: func(w *world) { w.createDelivery("clusters/edge1/team-a/other") },
		},
		"Delivery": {
			reason: "A new delivery that names a directory of the plan outdates the facts.",
			change: func(w *world) { w.createDelivery(pathOf(0)) }, want: errOutdated,
		},
		"Late": {
			reason: "A plan that waited for long is made of new facts.",
			change: func(w *world) { w.now = w.now.Add(maxFactsAge + time.Second) }, want: errOutdated,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 2)
			r, d := w.preparedRemoval()
			tc.change(w)
			w.reconciler.live = closedReader{t: t}
			baseline := len(w.commits())
			err := r.opened.Repository.Deliver(t.Context(), d)
			if !errors.Is(err, tc.want) {
				t.Fatalf("%s\nDeliver(...): want %v, got %v", tc.reason, tc.want, err)
			}
			if removed := len(w.commits()) > baseline; removed != (tc.want == nil) {
				t.Errorf("%s\nremoved: %t", tc.reason, removed)
			}
		})
	}
}

// createDelivery creates a GitDelivery of another claim with one directory.
func (w *world) createDelivery(path string) {
	w.Helper()
	d := w.delivery("other")
	d.SetUID("delivery-1")
	for i := range d.Spec.ForProvider.Trees {
		d.Spec.ForProvider.Trees[i].Path = path
	}
	w.create(d)
}

// TestTurnAsksNoServer has a plan in its turn find a branch that moved after its facts were gathered.
func TestTurnAsksNoServer(t *testing.T) {
	cases := map[string]struct {
		reason string
		path   string
		want   error
	}{
		"NewDirectory": {reason: "A directory that is new is kept, and its marker is not read.", path: pathOf(9) + "/.intentplane"},
		"Edited":       {reason: "A directory of the plan that was edited is read before another turn.", path: pathOf(0) + "/notes.yaml", want: errOutdated},
		"Marker":       {reason: "A marker of the plan that was edited is read before another turn.", path: pathOf(0) + "/.intentplane", want: errOutdated},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 2)
			r, d := w.preparedRemoval()
			w.commit(tc.path, "{}")
			w.now = w.now.Add(time.Second)
			s, err := r.opened.Repository.Look(t.Context(), d.Object, w.now)
			w.must(err)
			baseline := w.git.Requests(repo)
			if err := d.Plan(t.Context(), git.NewDraft(s)); !errors.Is(err, tc.want) {
				t.Errorf("\n%s\nPlan(...): want %v, got %v", tc.reason, tc.want, err)
			}
			if asked := w.git.Requests(repo) - baseline; asked > 0 {
				t.Errorf("\n%s\nPlan(...): %d requests to the server of the repository", tc.reason, asked)
			}
		})
	}
}
