package track

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRetain(t *testing.T) {
	old, err := Split(web(map[string]string{"configmap-old.yaml": manifest("v1", "ConfigMap", "old", "data:\n  a: b\n")}), nil)
	if err != nil {
		t.Fatal(err)
	}
	next, err := Split(web(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	files := placeIn(t, next, Green)
	got, err := Retain(files, placeIn(t, old, Blue))
	if err != nil {
		t.Fatalf("Retain(...): %v", err)
	}
	want := texts(files)
	want["shared/configmap-old.yaml"] = "apiVersion: v1\ndata:\n  a: b\nkind: ConfigMap\nmetadata:\n  annotations:\n    intentplane.dev/leaves: \"true\"\n  name: old\n  namespace: shop\n"
	want["shared/kustomization.yaml"] = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- configmap-old.yaml\n- httproute-web.yaml\n- service-web.yaml\n"
	if diff := cmp.Diff(want, texts(got)); diff != "" {
		t.Errorf("Shared objects of only the directory stay: -want, +got:\n%s", diff)
	}
	repeated, err := Retain(files, got)
	if err != nil {
		t.Fatalf("Retain(...): %v", err)
	}
	if diff := cmp.Diff(texts(got), texts(repeated)); diff != "" {
		t.Errorf("The next call with the directory that this one made changes nothing: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(texts(files), texts(atState(t, got, State{Serving: Green, Alone: true}))); diff != "" {
		t.Errorf("The leaving objects are gone when the new track is alone: -want, +got:\n%s", diff)
	}
}
