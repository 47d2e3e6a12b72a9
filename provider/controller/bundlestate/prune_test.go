package bundlestate

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/provider/bundle/inventory"
	"github.com/intentplane/intentplane/provider/prune"
)

// A lateReader lets something happen once the packages were listed.
type lateReader struct {
	*server

	happen func()
}

// List lets it happen after the first list of packages.
func (r *lateReader) List(ctx context.Context, l client.ObjectList, opts ...client.ListOption) error {
	err := r.server.List(ctx, l, opts...)
	if u, ok := l.(*unstructured.UnstructuredList); ok && u.GetKind() == "IntentDeploymentList" {
		r.happen()
	}
	return err
}

// TestGatherPackages lets a Bundle come after the packages were listed. The plan knows the Bundle, or has a version of the package that is not that of the
// package any more, which a removal asks for.
func TestGatherPackages(t *testing.T) {
	cases := map[string]struct {
		reason        string
		happen        func(w *walk)
		bundles       int
		isSameVersion bool
	}{
		"Nothing": {reason: "A package that no Bundle comes to use goes in the version that was read.", happen: func(*walk) {}, isSameVersion: true},
		"Named": {
			reason: "A Bundle that comes to name a package is seen.",
			happen: func(w *walk) { w.writeBundle(walkBundles[0], v1alpha1.BundleStateParameters{}) }, bundles: 1, isSameVersion: true,
		},
		"Taken": {reason: "A Bundle that takes a package up changes its version.", happen: func(w *walk) {
			u := w.s.objects[objectKey{group, "IntentDeployment", "base"}].DeepCopy()
			action{owner: walkBundles[0]}.setBundleLabels(u)
			w.s.put(u)
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newStage().newWalk(1, func(*facts) {}, func(*server) {})
			u := newWalkObject("base", "v1")
			action{owner: walkBundles[2], unreferencedSince: now.Format(time.RFC3339)}.setBundleLabels(u)
			w.s.put(u)
			f, err := inventory.Gatherer{Live: &lateReader{w.s, func() { tc.happen(w) }}}.Gather(t.Context(), prune.Options{Namespace: "team-a"}, now)
			if err != nil || len(f.Packages) != 1 {
				t.Fatalf("Gather(...): %+v, %v", f, err)
			}
			version := w.s.objects[objectKey{group, "IntentDeployment", "base"}].GetResourceVersion()
			if len(f.Bundles) != tc.bundles || (f.Packages[0].Version == version) != tc.isSameVersion {
				t.Errorf("\n%s\nGather(...): %d bundles, version %q of %q", tc.reason, len(f.Bundles), f.Packages[0].Version, version)
			}
		})
	}
}
