package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/tree"
)

// TestWithoutSecrets takes the Secrets out of a directory with tracks.
func TestWithoutSecrets(t *testing.T) {
	files := tree.Files{
		"kustomization.yaml":           []byte("resources: [blue, shared]\n"),
		"blue/kustomization.yaml":      []byte("resources: [secret-web-blue.yaml]\n"),
		"blue/secret-web-blue.yaml":    []byte("apiVersion: v1\nkind: Secret\nmetadata: {name: web-blue}\nstringData: {password: hunter2}\n"),
		"shared/configmap-all.yaml":    []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: all}\n"),
		"shared/secret-web.yaml":       []byte("apiVersion: v1\nkind: Secret\nmetadata: {name: web}\nstringData: {password: hunter2}\n"),
		"shared/not-even-an-object.md": []byte("kind: [\n"),
	}
	retained, withheld := WithoutSecrets(files)
	if diff := cmp.Diff([]string{"blue/secret-web-blue.yaml", "shared/not-even-an-object.md", "shared/secret-web.yaml"}, withheld); diff != "" {
		t.Errorf("\nSecrets in the folders of tracks are withheld, and malformed files.\nWithoutSecrets(...): -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"blue/kustomization.yaml", "kustomization.yaml", "shared/configmap-all.yaml"}, retained.Names()); diff != "" {
		t.Errorf("\nAll else is shown.\nWithoutSecrets(...): -want, +got:\n%s", diff)
	}
}
