package catalogview

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/catalogview"
)

// TestSummarise keeps of a ConfigMap in the cache nothing but a digest of its documents.
func TestSummarise(t *testing.T) {
	data := map[string]string{catalogview.KeySites: "a", catalogview.KeyBlueprints: "b"}
	cm := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: catalogview.ConfigMapName, Annotations: map[string]string{"long": "text"}},
		Data:       map[string]string{catalogview.KeySites: "a", catalogview.KeyBlueprints: "b", "notes": "ours"}, BinaryData: map[string][]byte{"c": {1}},
	}
	got, err := summariseConfigMap(cm)
	want := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: catalogview.ConfigMapName}, Data: map[string]string{keySum: documentDigest(data)}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("summarise(...): %v, -want, +got:\n%s", err, diff)
	}
	moved := map[string]string{catalogview.KeySites: "ab", catalogview.KeyBlueprints: ""}
	if documentDigest(data) == documentDigest(moved) {
		t.Error("sumOf(...): two documents with another border between them have one digest")
	}
}
