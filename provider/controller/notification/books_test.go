package notification

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/provider/notification"
)

// mark sets the mark of a deployment.
func mark(b *book, uid string, index int64) {
	b.editContent(func(content *notification.Book) bool {
		content.Set(notification.DeploymentID("intentplane.dev/"+uid), "ClusterProviderConfig/default/a", notification.Mark{Index: index})
		return true
	})
}

// marksIn returns how many deployments of a namespace have marks in its ConfigMap.
func (w *testEnv) marksIn(namespace string) int {
	w.t.Helper()
	b, err := newMarksBooks(w.kube, "crossplane-system", logging.NewNopLogger()).openNamespaceBook(w.t.Context(), namespace)
	w.must(err)
	return len(b.content.Deployments)
}

// TestBooks keeps one ConfigMap for each namespace, in the provider's own.
func TestBooks(t *testing.T) {
	w := newTestEnv(t)
	s := newMarksBooks(w.kube, "crossplane-system", logging.NewNopLogger())
	for _, namespace := range []string{"", "team-a", "team-b"} {
		b, err := s.openNamespaceBook(t.Context(), namespace)
		w.must(err)
		mark(b, "u1", 5)
		w.must(b.saveChanges(t.Context()))
		if n := w.marksIn(namespace); n != 1 {
			t.Errorf("namespace %q has %d marked deployments", namespace, n)
		}
	}
	got, err := s.namespacesOfMarks(t.Context())
	w.must(err)
	if diff := cmp.Diff([]string{"", "team-a", "team-b"}, got); diff != "" {
		t.Errorf("namespaces(...): -want, +got:\n%s", diff)
	}
	b, err := s.openNamespaceBook(t.Context(), "team-a")
	w.must(err)
	b.editContent(func(content *notification.Book) bool {
		*content = notification.Book{}
		return true
	})
	w.must(b.saveChanges(t.Context()))
	if n := w.configMaps(); n != 2 {
		t.Errorf("%d ConfigMaps exist, want the ConfigMap of the empty book to be deleted", n)
	}
}

// TestWritesAreShared marks a thousand deployments at once: reconciles that wait for a write share the next write.
func TestWritesAreShared(t *testing.T) {
	w := newTestEnv(t)
	w.writes = 0
	b, err := newMarksBooks(w.kube, "crossplane-system", logging.NewNopLogger()).openNamespaceBook(t.Context(), "team-a")
	w.must(err)
	const deployments = 1000
	for i := range deployments {
		mark(b, fmt.Sprint(i), 5)
	}
	all := sync.WaitGroup{}
	for range deployments {
		all.Go(func() {
			if err := b.saveChanges(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := w.marksIn("team-a"); n != deployments || w.writes != 1 {
		t.Errorf("%d deployments have marks after %d writes", n, w.writes)
	}
}

// TestBrokenBook reads marks that another program wrote: receivers begin with outcomes from then on.
func TestBrokenBook(t *testing.T) {
	w := newTestEnv(t, to("https://a.example.org/x", succeeded))
	w.moveTo(1, verified()...)
	w.mustReconcile()
	l := &corev1.ConfigMapList{}
	w.must(w.kube.List(t.Context(), l, client.InNamespace("crossplane-system")))
	for i := range l.Items {
		l.Items[i].Data = map[string]string{marksKey: "{"}
		w.must(w.kube.Update(t.Context(), &l.Items[i]))
	}
	lines := []string{}
	log := logging.NewLogrLogger(funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{}))
	if _, err := newMarksBooks(w.kube, "crossplane-system", log).openNamespaceBook(t.Context(), "team-a"); err != nil {
		t.Fatal(err)
	}
	if len(lines) != 1 || !strings.Contains(lines[0], "crossplane-system/"+marksConfigMapName("team-a")) {
		t.Errorf("The log names the marks that cannot be decoded.\nlog: %q", lines)
	}
	w.now = w.now.Add(time.Second)
	w.restart()
	w.mustReconcile()
	w.moveTo(2, verified()...)
	w.mustReconcile()
	w.mustReconcile()
	w.wantTaken("Each outcome is posted once.", "a.example.org u1.3.1.Succeeded", "a.example.org u1.3.2.Succeeded")
}
