package imagebuild

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/intentplane/intentplane/apis/build/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/provider/kpack"
	"github.com/intentplane/intentplane/test/cacheclient"
)

const (
	brokenBuilder    = "registry.example.org/builder@sha256:broken"
	correctedBuilder = "registry.example.org/builder@sha256:corrected"
)

// TestBuilderCorrected has kpack produce another image of a builder, after a Build failed with the previous image.
func TestBuilderCorrected(t *testing.T) {
	cases := map[string]struct {
		reason string
		given  func(*world)
		asked  bool
		says   string
	}{
		"ClusterBuilder": {
			reason: "A Build that failed is made again with the ClusterBuilder as it is now.",
			given:  func(w *world) { w.setBuilder("ClusterBuilder", "", "default", correctedBuilder) }, asked: true,
		},
		"Builder": {reason: "A Build that failed is made again with the Builder of its namespace as it is now.", given: func(w *world) {
			w.edit(func(b *v1alpha1.ImageBuild) {
				b.Spec.ForProvider.Builder = &v1alpha1.BuilderReference{Kind: "Builder", Name: "own"}
			})
			w.setBuilder("Builder", "team-a", "own", correctedBuilder)
		}, asked: true},
		"Same": {
			reason: "A Build that failed with the builder as it is now stays failed.",
			given:  func(w *world) { w.setBuilder("ClusterBuilder", "", "default", brokenBuilder) },
		},
		"Other": {reason: "A builder of another name changes nothing.", given: func(w *world) { w.setBuilder("ClusterBuilder", "", "other", correctedBuilder) }},
		"Unmade": {reason: "A builder that kpack has made no image of changes nothing.", given: func(w *world) {
			w.setBuilder("ClusterBuilder", "", "default", "")
		}},
		"Unknown": {reason: "Before builders are watched a failed Build stays failed.", given: func(w *world) { w.c.builders.Store(nil) }},
		"Hidden": {reason: "Without the right to list builders a failed Build stays failed, and the status names the missing right.", given: func(w *world) {
			w.c.builders.Store(&builderView{})
		}, says: "; " + hiddenBuilders},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.c.builders.Store(&builderView{reader: w.kube})
			tc.given(w)
			w.reconcile()
			w.failsWith(1, brokenBuilder)
			w.wait(buildSpacing)
			w.reconcileShown()
			if kpack.IsAskedAgain(w.build(1)) != tc.asked {
				t.Fatalf("\n%s\n%v", tc.reason, w.get().GetCondition("Ready"))
			}
			if message := w.get().GetCondition("Ready").Message; !tc.asked && !strings.HasSuffix(message, "exit code 1"+tc.says) {
				t.Errorf("\n%s\nmessage %q", tc.reason, message)
			}
			if !tc.asked {
				return
			}
			w.failsWith(2, correctedBuilder)
			w.wait(time.Hour)
			w.expect("A Build that fails with the builder as it is now has failed.", "BuildFailed")
			if kpack.IsAskedAgain(w.build(2)) {
				t.Error("kpack is asked again although the builder did not change")
			}
		})
	}
}

// TestBuilderFlaps has a builder that changes to another image and back again, while a commit fails with each.
func TestBuilderFlaps(t *testing.T) {
	w := newWorld(t)
	w.c.builders.Store(&builderView{reader: w.kube})
	images := []string{brokenBuilder, correctedBuilder}
	w.setBuilder("ClusterBuilder", "", "default", images[1])
	w.reconcile()
	for n := range maxRebuilds {
		w.failsWith(n+1, images[n%2])
		w.changeBuilder(images[(n+1)%2])
		w.wait(buildSpacing)
		w.reconcileShown()
		if !kpack.IsAskedAgain(w.build(n + 1)) {
			t.Fatalf("Build %d failed with another builder than there is now, and kpack is not asked: %v", n+1, w.get().GetCondition("Ready"))
		}
	}
	last := maxRebuilds + 1
	w.failsWith(last, images[maxRebuilds%2])
	w.changeBuilder(images[last%2])
	w.wait(buildSpacing)
	w.reconcileShown()
	if kpack.IsAskedAgain(w.build(last)) {
		t.Error("The fourth change within an hour builds nothing.")
	}
	w.expect("The fourth change within an hour leaves the Build failed", "BuildFailed")
	if w.get().Status.AtProvider.Failed == nil {
		t.Error("The status still has the failure.")
	}
	w.wait(rebuildWindow)
	w.reconcileShown()
	if !kpack.IsAskedAgain(w.build(last)) {
		t.Error("Once the hour is over kpack is asked with the builder as it is then.")
	}
}

// TestBuilderUnreadable has a cache of builders that does not answer.
func TestBuilderUnreadable(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.failsWith(1, brokenBuilder)
	w.c.builders.Store(&builderView{reader: failingReader{}})
	if err := (&external{connector: w.c, note: newObjectNote()}).gatherKpackFacts(t.Context(), w.factsOfBuild()); err == nil {
		t.Error("A cache that does not answer is an error, so that the reconcile is tried again.")
	}
}

// TestLongFailure has a message that leaves no room for another sentence.
func TestLongFailure(t *testing.T) {
	got := (&facts{hidesBuilders: true}).failureMessage(strings.Repeat("a", maxMessage))
	if len(got) != maxMessage || !strings.HasSuffix(got, "; "+hiddenBuilders) {
		t.Errorf("The missing right is reported in any case: %q", got)
	}
}

// TestMayListBuilders has answers of an API server.
func TestMayListBuilders(t *testing.T) {
	cases := map[string]struct {
		reason    string
		err       error
		want, bad bool
	}{
		"Granted": {reason: "Builders that can be listed are watched.", want: true},
		"Forbidden": {
			reason: "A missing right is not an error.",
			err:    kerrors.NewForbidden(schema.GroupResource{Group: "kpack.io", Resource: "builders"}, "", errors.New("no rights")),
		},
		"Down": {reason: "An API server that does not answer reports no missing right.", err: errors.New("down"), bad: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &connector{live: failingReader{err: tc.err}}
			got, err := c.mayListBuilders(t.Context())
			if got != tc.want || (err != nil) != tc.bad {
				t.Errorf("\n%s\nmayListBuilders(...): %t, %v", tc.reason, got, err)
			}
		})
	}
}

// TestRequestsForBuilder has ImageBuilds in two namespaces, of which one Build failed in each.
func TestRequestsForBuilder(t *testing.T) {
	w := newWorld(t)
	for _, builderKey := range []client.ObjectKey{{Namespace: "team-a", Name: "failed"}, {Namespace: "team-b", Name: "failed"}} {
		b := w.newBuild()
		b.SetNamespace(builderKey.Namespace)
		b.SetName(builderKey.Name)
		b.Status.AtProvider.Failed = &v1alpha1.FailedBuild{}
		w.must(w.kube.Create(t.Context(), b))
	}
	wake := waker{kube: w.kube, log: logging.NewNopLogger()}
	cases := map[string]struct {
		reason    string
		namespace string
		want      []string
	}{
		"ClusterBuilder": {reason: "A ClusterBuilder wakes all ImageBuilds whose Build failed.", want: []string{"team-a/failed", "team-b/failed"}},
		"Builder":        {reason: "A Builder wakes the Images of its namespace.", namespace: "team-b", want: []string{"team-b/failed"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{}
			u.SetNamespace(tc.namespace)
			if diff := cmp.Diff(tc.want, namesOf(wake.requestsForBuilder(t.Context(), u))); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRequestsForSecret has ImageBuilds with and without a Secret, a hundred of them with another one, which are not read.
func TestRequestsForSecret(t *testing.T) {
	w := newWorld(t)
	create := func(namespace, name, secret string) {
		b := w.newBuild()
		b.SetNamespace(namespace)
		b.SetName(name)
		b.Spec.ForProvider.Source.Git.SecretRef = &deploymentv1alpha1.ObjectReference{Name: deploymentv1alpha1.ObjectName(secret)}
		w.must(w.kube.Create(t.Context(), b))
	}
	create("team-a", "private", "git")
	create("team-b", "namesake", "git")
	for i := range 100 {
		create("team-a", fmt.Sprintf("other-%d", i), "other")
	}
	counter := &cacheclient.Counter{Client: w.kube}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "git"}}
	got := namesOf(waker{kube: counter, log: logging.NewNopLogger()}.requestsForSecret(t.Context(), secret))
	if diff := cmp.Diff([]string{"team-a/private"}, got); diff != "" || counter.Listed != 1 {
		t.Errorf("A Secret wakes the ImageBuilds of its namespace that name it, which alone are read: %d objects, -want, +got:\n%s", counter.Listed, diff)
	}
}

// TestBuilderChanged has updates of a builder.
func TestBuilderChanged(t *testing.T) {
	w := &world{T: t}
	previous := w.newBuilder("ClusterBuilder", "", "default", brokenBuilder)
	if builderChanged().Update(event.TypedUpdateEvent[*unstructured.Unstructured]{ObjectOld: previous, ObjectNew: previous.DeepCopy()}) {
		t.Error("An update that leaves the image as it is wakes nothing.")
	}
	current := w.newBuilder("ClusterBuilder", "", "default", correctedBuilder)
	if !builderChanged().Update(event.TypedUpdateEvent[*unstructured.Unstructured]{ObjectOld: previous, ObjectNew: current}) {
		t.Error("Another image of a builder wakes the Images whose Build failed.")
	}
}

func namesOf(all []ctrl.Request) []string {
	out := []string{}
	for _, r := range all {
		out = append(out, r.String())
	}
	return out
}

// failingReader answers lists with an error or with nothing, and has no object.
type failingReader struct {
	client.Reader

	err error
}

// List answers with nothing.
func (r failingReader) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return r.err
}

// Get answers with an error.
func (r failingReader) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errors.New("the cache is not started")
}

func (w *world) newBuilder(kind, namespace, name, image string) *unstructured.Unstructured {
	u := kpack.NewObject(kpack.BuilderKind(kind))
	u.SetNamespace(namespace)
	u.SetName(name)
	if image != "" {
		u.Object["status"] = map[string]any{"latestImage": image}
	}
	return u
}

// setBuilder has kpack make an image of a builder.
func (w *world) setBuilder(kind, namespace, name, image string) {
	w.Helper()
	w.must(w.kube.Create(w.Context(), w.newBuilder(kind, namespace, name, image)))
}

// changeBuilder lets kpack make another image of the builder of the configuration.
func (w *world) changeBuilder(image string) {
	w.Helper()
	w.must(w.kube.Delete(w.Context(), w.newBuilder("ClusterBuilder", "", "default", image)))
	w.setBuilder("ClusterBuilder", "", "default", image)
}

// failsWith has a Build fail in its step build, made with an image of the builder.
func (w *world) failsWith(number int, builder string) {
	w.Helper()
	w.plays(number, "False", "BuildFailed", "False", failedStep("prepare", "analyze", "detect", "restore"), func(b *unstructured.Unstructured) {
		w.must(unstructured.SetNestedField(b.Object, builder, "spec", "builder", "image"))
	})
}

// factsOfBuild returns the facts that gatherKpackFacts needs.
func (w *world) factsOfBuild() *facts {
	return &facts{now: w.clock, plan: kpack.Plan{Namespace: "team-a", Name: "shop", Builder: v1alpha1.BuilderReference{Kind: "ClusterBuilder", Name: "default"}}}
}
