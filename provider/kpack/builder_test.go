package kpack

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTrimBuilder has a builder with all that kpack says of it.
func TestTrimBuilder(t *testing.T) {
	u := object(t, `{apiVersion: kpack.io/v1alpha2, kind: Builder, metadata: {name: own, namespace: team-a, uid: u, resourceVersion: "7", labels: {a: b}},
spec: {order: [{group: [{id: example/app}]}]}, status: {latestImage: "registry.example.org/builder@sha256:now", builderMetadata: [{id: example/app}]}}`)
	want := object(t, `{apiVersion: kpack.io/v1alpha2, kind: Builder, metadata: {name: own, namespace: team-a, uid: u, resourceVersion: "7"},
status: {latestImage: "registry.example.org/builder@sha256:now"}}`)
	if diff := cmp.Diff(want.Object, TrimBuilder(u).Object); diff != "" {
		t.Errorf("Only the image of a builder and who it is are kept: -want, +got:\n%s", diff)
	}
	delete(u.Object, "status")
	if got := TrimBuilder(u); BuilderImageOf(got) != "" || got.Object["status"] != nil {
		t.Errorf("A builder that kpack has not made has no image: %v", got.Object)
	}
}
