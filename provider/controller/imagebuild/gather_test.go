package imagebuild

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpmeta "github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/build/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/test/cacheclient"
	"github.com/intentplane/intentplane/test/gitserver"
)

// TestBuildOfAnotherImage has an Image whose status names a Build that kpack did not make for it.
func TestBuildOfAnotherImage(t *testing.T) {
	cases := map[string]struct {
		reason string
		owners []metav1.OwnerReference
	}{
		"Users": {reason: "A Build that a user made proves nothing."},
		"Earlier": {
			reason: "A Build of an earlier Image of that name proves nothing.",
			owners: []metav1.OwnerReference{{APIVersion: "kpack.io/v1alpha2", Kind: "Image", Name: "shop", UID: "before", Controller: new(true)}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.T = t
			w.reconcile()
			w.plays(1, "True", "UpToDate", "True", func(b *unstructured.Unstructured) { b.SetOwnerReferences(tc.owners) })
			w.expect(tc.reason, "Queued")
			if observation, message := w.get().Status.AtProvider, w.get().GetCondition("Ready").Message; observation.Latest != nil || !strings.Contains(message, "delete that Build") {
				t.Fatalf("\n%s\n%+v, %s", tc.reason, observation.Latest, message)
			}
			w.succeeds(2)
			w.expect("A Build of this Image is evidence", "Built")
			w.plays(3, "True", "UpToDate", "True", func(b *unstructured.Unstructured) { b.SetOwnerReferences(tc.owners) })
			w.expect("The previous image stays", "Built")
			if observation := w.get().Status.AtProvider; observation.Latest.Image != imageNumber("2") {
				t.Errorf("\n%s\n%+v", tc.reason, observation.Latest)
			}
		})
	}
}

// TestUnnamedBuild has an Image whose status reports a running Build without its name, or with the name of a finished
// Build.
func TestUnnamedBuild(t *testing.T) {
	cases := map[string]struct {
		reason string
		// ended is the number of Builds that have ended. The Image names the last of them.
		ended int
		// isGone means that the last Build was removed since.
		isGone bool
	}{
		"First": {reason: "A first Build that the Image does not name runs."},
		"Next":  {reason: "A running Build counts, and not the previous Build, which the Image still names.", ended: 1},
		"Gone":  {reason: "A running Build counts, also if the Build that the Image names was removed.", ended: 1, isGone: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.reconcile()
			if tc.ended > 0 {
				w.fails(tc.ended, "prepare", "analyze")
				w.wait(time.Minute)
			}
			w.plays(tc.ended+1, "Unknown", "BuildRunning", "Unknown")
			i := w.image()
			named := ""
			if tc.ended > 0 {
				named = fmt.Sprintf("shop-build-%d", tc.ended)
			}
			w.must(unstructured.SetNestedField(i.Object, named, "status", "latestBuildRef"))
			w.must(w.kube.Update(t.Context(), i))
			if tc.isGone {
				w.must(w.kube.Delete(t.Context(), w.build(tc.ended)))
			}
			w.expect(tc.reason, "Building")
			if running := w.get().Status.AtProvider.Running; running == nil || running.Build != fmt.Sprintf("shop-build-%d", tc.ended+1) {
				t.Errorf("\n%s\nthe status has %+v", tc.reason, running)
			}
		})
	}
}

// TestRunningBuildAmongOthers has an Image that does not name its running Build, in a namespace with fifty running Builds of other Images, and fifty Builds of the
// Image that have ended.
func TestRunningBuildAmongOthers(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.plays(1, "Unknown", "BuildRunning", "Unknown")
	i := w.image()
	w.must(unstructured.SetNestedField(i.Object, "", "status", "latestBuildRef"))
	w.must(w.kube.Update(t.Context(), i))
	for n := range 50 {
		otherImage, ended := w.build(1).DeepCopy(), w.build(1).DeepCopy()
		otherImage.SetName(fmt.Sprintf("other-build-%d", n))
		otherImage.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "kpack.io/v1alpha2", Kind: "Image", Name: "other", UID: "other", Controller: new(true)}})
		ended.SetName(fmt.Sprintf("ended-build-%d", n))
		succeeded := map[string]any{"type": "Succeeded", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
		w.must(unstructured.SetNestedSlice(ended.Object, []any{succeeded}, "status", "conditions"))
		for _, b := range []*unstructured.Unstructured{otherImage, ended} {
			b.SetUID("")
			b.SetResourceVersion("")
			w.must(w.kube.Create(t.Context(), b))
		}
	}
	counter := &cacheclient.Counter{Client: w.kube}
	w.c.cache = counter
	w.expect("The Build of the Image runs.", "Building")
	if counter.Listed == 0 || counter.Listed > 20 { // Each of some quick looks and reconciles reads the Build once.
		t.Errorf("An event reads the running Build of its Image, and no other Build of the namespace: it read %d", counter.Listed)
	}
}

// TestLookAgain has a repository that was down for a moment.
func TestLookAgain(t *testing.T) {
	w := newWorld(t)
	w.down = errors.New("reset")
	w.expect("The repository is awaited", "SourceUnreachable")
	if w.result.RequeueAfter > 30*time.Second {
		t.Errorf("A look that failed is repeated in %s, want 30s", w.result.RequeueAfter)
	}
	w.down = nil
	w.wait(30 * time.Second)
	w.expect("The repository answers again", "Queued")
}

// TestCommitOfServerThatIsDown has a commit id, for which the server need not answer.
func TestCommitOfServerThatIsDown(t *testing.T) {
	w := newWorld(t)
	w.down = errors.New("reset")
	w.edit(func(b *v1alpha1.ImageBuild) { b.Spec.ForProvider.Source.Git.Revision = strings.Repeat("ab", 20) })
	w.expect("kpack may see more than the provider", "Queued")
	w.wait(time.Hour)
	w.reconcile()
	if w.looks != 1 {
		t.Errorf("%d looks, want only the look before the Image is applied", w.looks)
	}
}

// TestLookNow has a user who asks for a look, and a commit id, whose server is looked at once.
func TestLookNow(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.wait(5 * time.Second)
	second, err := w.server.Commit(t.Context(), "shop", gitserver.Branch, map[string]string{"a": "2"}, "Second")
	w.must(err)
	w.reconcile()
	if w.get().Status.AtProvider.Wanted.Commit == second {
		t.Fatal("The interval is not over")
	}
	b := w.get()
	b.SetAnnotations(map[string]string{v1alpha1.AnnotationLookNow: "now"})
	w.must(w.kube.Update(t.Context(), b))
	w.reconcileShown()
	if observation := w.get().Status.AtProvider; observation.Wanted.Commit != second || observation.LookNow != "now" {
		t.Fatalf("%+v", observation)
	}
	w.wait(5 * time.Second)
	looks := w.looks
	b = w.get()
	b.SetAnnotations(map[string]string{v1alpha1.AnnotationLookNow: "now", xpmeta.AnnotationKeyReconcileRequestedAt: "later"})
	w.must(w.kube.Update(t.Context(), b))
	w.reconcile()
	if observation := w.get().Status.AtProvider; w.looks != looks+1 || observation.LookNow != "now later" {
		t.Errorf("A request to reconcile is one to look: %d looks, %q", w.looks-looks, observation.LookNow)
	}
	looks = w.looks
	w.edit(func(b *v1alpha1.ImageBuild) { b.Spec.ForProvider.Source.Git.Revision = strings.Repeat("ab", 20) })
	w.wait(time.Hour)
	w.reconcileShown()
	if observation := w.get().Status.AtProvider; observation.Wanted.Commit != strings.Repeat("ab", 20) || w.looks != looks+1 {
		t.Errorf("%+v, %d looks", observation, w.looks-looks)
	}
}

// TestLookIsAnsweredAtOnce has a user who asks for a look that cannot be made, or finds nothing: the next reconcile answers with the reason.
func TestLookIsAnsweredAtOnce(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*world)
		want   xpv2.ConditionReason
	}{
		"Secret": {
			reason: "The provider reads no repository without its Secret.",
			change: func(w *world) {
				w.edit(func(b *v1alpha1.ImageBuild) { b.Spec.ForProvider.Source.Git.SecretRef = ptrTo("git") })
			},
			want: v1alpha1.ReasonCredentialsGone,
		},
		"Config": {
			reason: "The provider reads no repository without its configuration.",
			change: func(w *world) { w.edit(func(b *v1alpha1.ImageBuild) { b.Spec.ProviderConfigReference.Name = "none" }) },
			want:   v1alpha1.ReasonConfigurationMissing,
		},
		"Denied": {
			reason: "The provider reads no repository that the configuration refuses.",
			change: func(w *world) {
				w.editConfig(func(c *configv1alpha1.ProviderConfigSpec) { c.Build.SourceHosts = []string{"*.example.org"} })
			},
			want: v1alpha1.ReasonPolicyDenied,
		},
		"Archive": {
			reason: "An archive has no repository.",
			change: func(w *world) {
				w.edit(func(b *v1alpha1.ImageBuild) {
					b.Spec.ForProvider.Source = v1alpha1.Source{Blob: &v1alpha1.BlobSource{URL: "https://files.example.org/x.tgz"}}
				})
			},
		},
		"Down": {
			reason: "The provider names the outage of a repository.",
			change: func(w *world) { w.down = errors.New("down") }, want: v1alpha1.ReasonSourceUnreachable,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.T = t
			w.reconcile()
			tc.change(w)
			w.wait(5 * time.Second)
			b := w.get()
			b.SetAnnotations(map[string]string{xpmeta.AnnotationKeyReconcileRequestedAt: "now"})
			w.must(w.kube.Update(t.Context(), b))
			w.reconcileShown()
			observation := w.get().Status.AtProvider
			if observation.LookNow != "now" || observation.SourceTrouble.Reason != string(tc.want) {
				t.Errorf("\n%s\nwant an answer with reason %q, got request %q with %+v", tc.reason, tc.want, observation.LookNow, observation.SourceTrouble)
			}
		})
	}
}

// TestFailedLook has a user who asks for a look, and an error that ends the reconcile: the status names the request and the error.
func TestFailedLook(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.edit(func(b *v1alpha1.ImageBuild) {
		b.Spec.ForProvider.Source.Interval = "often"
		b.SetAnnotations(map[string]string{xpmeta.AnnotationKeyReconcileRequestedAt: "now"})
	})
	w.reconcileOnce()
	b := w.get()
	synced := b.GetCondition(xpv2.TypeSynced)
	if b.Status.AtProvider.LookNow != "" || b.Status.LastHandledReconcileAt != "now" || synced.Reason != xpv2.ReasonReconcileError {
		t.Errorf("want the handled request and the error, got %q with %+v", b.Status.LastHandledReconcileAt, synced)
	}
}
