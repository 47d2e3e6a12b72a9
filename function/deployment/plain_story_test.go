package deployment

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// plainStory is the result of the quickstart's deployment before there were tracks.
type plainStory struct {
	// Trees of the Sites.
	Trees map[string]string
	// Digests of the request.
	Intent, Sources string
	// Writes is how many composed resources were created or changed.
	Writes int
}

// TestPlainIsUntouched delivers the deployment of the quickstart, whose Blueprint has no tracks. The trees, the digest of the intent and the writes were
// read with this test from the commit before the first one of tracks: a deployment that does not use them costs and delivers the same.
func TestPlainIsUntouched(t *testing.T) {
	w := newWorld(t)
	got := plainStory{Trees: map[string]string{}}
	w.observe("edge1", "edge2")
	for range 8 {
		out := w.call()
		for name, r := range out.Resources {
			if observed := w.in.Observed[name]; observed == nil || !cmp.Equal(observed.Object["spec"], r.Object.Object["spec"]) {
				got.Writes++
			}
			if r.Object.GetKind() == "GitDelivery" {
				got.note(t, r.Object)
			}
		}
		w.apply(out)
		w.deliver()
		w.sync("Live", "Live")
	}
	const id = "6c19268108db601b548f9488cd2c29b2ab7ecede"
	want := plainStory{
		Trees:   map[string]string{"edge1": id, "edge2": id},
		Intent:  "sha256:d64e1138d129760b1425d55eb74e7529bd05d863585003054155c5751270dfa7",
		Sources: "sha256:d67d3cdf0c2d63940d18ce2c86a50d3b70435d6fc6ff7fc6504cb3a9feb06b42",
		Writes:  3,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("\nA deployment without tracks is delivered as before there were any.\n-want, +got:\n%s", diff)
	}
}

// note notes the trees of a delivery, and the digests of a revision that begins.
func (p *plainStory) note(t *testing.T, u *unstructured.Unstructured) {
	t.Helper()
	d := &deliveryv1alpha1.GitDelivery{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, d); err != nil {
		t.Fatal(err)
	}
	for _, tree := range d.Spec.ForProvider.Trees {
		p.Trees[tree.Site] = tree.Tree
	}
	if d.Spec.ForProvider.Ledger == nil {
		return
	}
	for _, e := range d.Spec.ForProvider.Ledger.Events {
		if e.Ordered != nil {
			p.Intent, p.Sources = e.Ordered.Revision.Request.Intent, e.Ordered.Revision.Request.Sources
		}
	}
}
