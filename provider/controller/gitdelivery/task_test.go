package gitdelivery

import (
	"maps"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
)

// engine lets a Site have one.
func (w *world) engine(name string) {
	w.Helper()
	s := &catalogv1alpha1.Site{}
	w.must(w.kube.Get(w.Context(), client.ObjectKey{Name: name}, s))
	s.Spec.Engine.Type = catalogv1alpha1.EngineFlux
	w.must(w.kube.Update(w.Context(), s))
}

// move a Site to another directory.
func (w *world) move(name, dir string) {
	w.Helper()
	s := &catalogv1alpha1.Site{}
	w.must(w.kube.Get(w.Context(), client.ObjectKey{Name: name}, s))
	s.Spec.Repository.Path = dir
	w.must(w.kube.Update(w.Context(), s))
}

func TestPlaceholder(t *testing.T) {
	t.Parallel()
	createdDelivery := func(w *world) *v1alpha1.GitDelivery {
		return delivery("web", order(1, "a"), desired(w.T, "edge1", webAtE1, "a"), desired(w.T, "edge2", webAtE2, "a"))
	}
	const text = "The directory above stays when its last claim goes, so that the GitOps engine which reads it finds it, and prunes.\n"
	stays := map[string]string{"clusters/edge2/.placeholder/README": text}
	tell(t, map[string]story{
		"Deleted": {reason: "Something stays for the engine where nothing else does", run: func(w *world) {
			w.engine("edge1")
			w.engine("edge2")
			w.create(createdDelivery(w))
			w.reconcile("web")
			w.must(w.kube.Delete(w.Context(), w.get("web")))
			w.reconcile("web")
			w.holds(nil, stays)
			w.count(2)
		}},
		"Left": {reason: "A directory stays when its Site is left, and a claim that comes later is put beside the placeholder.", run: func(w *world) {
			w.engine("edge2")
			w.create(createdDelivery(w))
			w.reconcile("web")
			w.change(func(d *v1alpha1.GitDelivery) {
				setWish(d, order(2, "b"))
				d.Spec.ForProvider.Trees = d.Spec.ForProvider.Trees[:1]
			})
			w.reconcile("web")
			w.verify()
			w.holds(map[string]tree.Files{webAtE1: files("a")}, stays)
			w.change(func(d *v1alpha1.GitDelivery) {
				setWish(d, order(3, "c"))
				d.Spec.ForProvider.Trees = append(d.Spec.ForProvider.Trees, desired(w.T, "edge2", webAtE2, "c"))
			})
			w.reconcile("web")
			w.holds(map[string]tree.Files{webAtE1: files("a"), webAtE2: files("c")}, stays)
		}},
		"Neighbour": {reason: "Nothing is needed beside another claim", run: func(w *world) {
			w.engine("edge2")
			theirs := map[string]string{"clusters/edge2/team-a/other/file": "theirs\n"}
			w.push(theirs)
			w.create(createdDelivery(w))
			w.reconcile("web")
			w.must(w.kube.Delete(w.Context(), w.get("web")))
			w.reconcile("web")
			w.holds(nil, maps.Clone(theirs))
		}},
		"NoEngine": {reason: "A directory that no engine reads gets no placeholder.", run: func(w *world) {
			w.create(createdDelivery(w))
			w.reconcile("web")
			w.must(w.kube.Delete(w.Context(), w.get("web")))
			w.reconcile("web")
			w.holds(nil, nil)
		}},
	})
}

// TestQueuedSize has a delivery that waits in the queue of its repository, whose memory is limited.
func TestQueuedSize(t *testing.T) {
	t.Parallel()
	d := &v1alpha1.GitDelivery{}
	d.Spec.ForProvider.Trees = []v1alpha1.Tree{{Files: make([]byte, 100)}}
	d.Spec.ForProvider.Later = []v1alpha1.LaterTree{{Tree: v1alpha1.Tree{Files: make([]byte, 900)}}}
	queued := &task{object: d}
	if got := queued.queuedDelivery(nil).Size; got != 1000 {
		t.Errorf("The files of later waves take as much memory as the present ones: want 1000 bytes, got %d", got)
	}
}
