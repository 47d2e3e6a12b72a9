package imagebuild

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpmeta "github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/apis/build/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/kpack"
	"github.com/intentplane/intentplane/test/gitserver"
)

func imageNumber(n string) string { return imageRepository + "@sha256:" + strings.Repeat(n, 64) }

// TestLife goes from a branch to an image, and on to the next commit, a failing one and one after that.
func TestLife(t *testing.T) {
	w := newWorld(t)
	w.expect("kpack has not taken up the Image", "Queued")
	i := w.image()
	first := w.get().Status.AtProvider.Wanted.Commit
	revision, _, _ := unstructured.NestedString(i.Object, "spec", "source", "git", "revision")
	owner := metav1.GetControllerOf(i)
	if diff := cmp.Diff([]any{first, imageRepository, types.UID("ours"), 40}, []any{revision, kpack.TagOf(i), owner.UID, len(first)}); diff != "" {
		t.Fatalf("The Image asks for the commit, and is ours: -want, +got:\n%s", diff)
	}
	w.begins(1)
	w.expect("A Build of the commit runs", "Building")
	w.succeeds(1)
	w.expect("There is an image of the commit", "Built")
	observation := w.get().Status.AtProvider
	if observation.Latest == nil || observation.Latest.Image != imageNumber("1") || observation.Latest.Commit != first || observation.Running != nil || observation.WantedImage() == nil {
		t.Fatalf("%+v", observation)
	}
	second := w.push()
	w.expect("Another commit is wanted", "Queued")
	if observed := w.get().Status.AtProvider; observed.Wanted.Commit != second || observed.WantedImage() != nil || observed.Latest.Commit != first {
		t.Fatalf("The image of the previous commit does not count for the next commit: %+v", observed)
	}
	w.fails(2, "prepare", "analyze", "detect", "restore")
	w.expect("A step build that fails is not tried again", "BuildFailed")
	if f := w.get().Status.AtProvider.Failed; f == nil || f.Step != "build" || f.Attempts != 0 || f.Commit != second {
		t.Fatalf("%+v", f)
	}
	w.push()
	w.expect("A commit after a failed commit is built", "Queued")
	w.succeeds(3)
	w.expect("The next commit has an image", "Built")
	if diff := cmp.Diff([]string{"BuildStarted", "BuildSucceeded", "BuildFailed", "BuildSucceeded"}, w.events); diff != "" {
		t.Errorf("events: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Succeeded", "Failed/StepFailed", "Succeeded"}, w.counts); diff != "" {
		t.Errorf("counts: -want, +got:\n%s", diff)
	}
}

// TestSteady has an ImageBuild that nothing happens to.
func TestSteady(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.succeeds(1)
	w.expect("The first commit is built", "Built")
	writes, looks := w.writes, w.looks
	for range 10 {
		w.wait(5*time.Minute + time.Second)
		w.reconcileOnce()
	}
	if w.writes != writes || w.looks != looks+10 {
		t.Errorf("%d writes of the status, and %d looks in ten intervals", w.writes-writes, w.looks-looks)
	}
	if w.result.RequeueAfter > 5*time.Minute {
		t.Errorf("The next look is due in %s", w.result.RequeueAfter)
	}
}

// TestHeld has a commit that kpack begins with at once: one write has the status together with the Build. The status has the desired commit two
// seconds later at the latest, and a failing look in between requests no earlier commit.
func TestHeld(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.succeeds(1)
	w.expect("The first commit is built", "Built")
	writes, second := w.writes, w.push()
	w.reconcile()
	if w.writes != writes || w.get().Status.AtProvider.Wanted.Commit == second || w.result.RequeueAfter != beginDelay {
		t.Errorf("Nothing is written before kpack begins: %d writes, the next look is in %s", w.writes-writes, w.result.RequeueAfter)
	}
	w.begins(2)
	w.reconcile()
	if observation := w.get().Status.AtProvider; w.writes != writes+1 || observation.Wanted.Commit != second || observation.Running == nil {
		t.Errorf("The commit and the Build are one write: %d writes, %+v", w.writes-writes, observation)
	}
	w.plays(2, "Unknown", "BuildRunning", "True")
	w.reconcile()
	if w.writes != writes+1 {
		t.Errorf("The end of a Build is written once the Image reports it: %d writes", w.writes-writes)
	}
	w.succeeds(2)
	w.expect("The second commit is built", "Built")
	third := w.push()
	w.reconcile()
	w.down = errors.New("reset")
	w.wait(beginDelay)
	w.hook(w.newReplica(0))
	w.reconcile()
	revision, _, _ := unstructured.NestedString(w.image().Object, "spec", "source", "git", "revision")
	if observation := w.get().Status.AtProvider; observation.Wanted.Commit != third || revision != third || w.get().GetCondition("Ready").Reason != "Queued" {
		t.Errorf("A kpack that does not begin is reported: %+v, the Image asks for %s", observation, revision)
	}
}

// TestQueued has a commit while a Build of another commit runs.
func TestQueued(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.begins(1)
	w.reconcile()
	second := w.push()
	w.reconcile()
	w.begins(1)
	w.expect("A Build that runs is not interrupted", "Queued")
	observation := w.get().Status.AtProvider
	if observation.Running == nil || observation.Running.Build != "shop-build-1" || observation.Running.Commit == second {
		t.Errorf("The Build that runs is shown: %+v", observation.Running)
	}
	w.plays(1, "True", "UpToDate", "True")
	w.expect("The image of the commit before is not taken", "Queued")
	if observed := w.get().Status.AtProvider; observed.Latest != nil {
		t.Errorf("%+v", observed.Latest)
	}
}

// TestRetry has Builds that fail because of the infrastructure.
func TestRetry(t *testing.T) {
	w := newWorld(t)
	w.edit(func(b *v1alpha1.ImageBuild) { b.Spec.ForProvider.Retries = new(int32(2)) })
	w.reconcile()
	for i, delay := range []time.Duration{30 * time.Second, 2 * time.Minute} {
		w.fails(i+1, "prepare", "analyze", "detect", "restore", "build")
		w.expect("A step export that fails is tried again", "Retrying")
		w.wait(delay - time.Second)
		w.expect("The delay is not over", "Retrying")
		if kpack.IsAskedAgain(w.build(i+1)) || w.result.RequeueAfter > time.Second {
			t.Fatalf("kpack is asked before the delay is over, or the next look is in %s", w.result.RequeueAfter)
		}
		w.wait(time.Second)
		w.expect("The delay is over", "Retrying")
		if !kpack.IsAskedAgain(w.build(i + 1)) {
			t.Fatalf("kpack is not asked after Build %d", i+1)
		}
	}
	w.fails(3, "prepare", "analyze", "detect", "restore", "build")
	w.expect("No retry is left", "BuildDisrupted")
	w.wait(time.Hour)
	w.expect("The Build stays disrupted", "BuildDisrupted")
	if kpack.IsAskedAgain(w.build(3)) {
		t.Error("kpack is asked although no retry is left")
	}
	w.edit(func(b *v1alpha1.ImageBuild) { b.Spec.ForProvider.Source.Trigger = "2" })
	w.reconcile()
	w.fails(3, "prepare", "analyze", "detect", "restore", "build")
	w.expect("Another trigger asks for the same commit", "Queued")
	if !kpack.IsAskedAgain(w.build(3)) {
		t.Error("kpack ignores another trigger unless it is asked")
	}
}

func (w *world) build(number int) *unstructured.Unstructured {
	w.Helper()
	u, err := readObject(w.Context(), w.kube, kpack.BuildKind(), types.NamespacedName{Namespace: "team-a", Name: "shop-build-" + string(rune('0'+number))})
	w.must(err)
	return u
}

// TestEvicted has a pod that was evicted: kpack does not say so.
func TestEvicted(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.must(w.kube.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "shop-build-1-build-pod"}, Status: corev1.PodStatus{Reason: "Evicted"}}))
	w.fails(1, "prepare", "analyze", "detect", "restore")
	w.expect("A pod that was evicted is tried again", "Retrying")
	if f := w.get().Status.AtProvider.Failed; f.Reason != "Evicted" || f.Step != "build" || f.Attempts != 1 {
		t.Errorf("%+v", f)
	}
}

// TestEditAfterFailure has another builder after a failed Build, which kpack ignores.
func TestEditAfterFailure(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.fails(1, "prepare", "analyze")
	w.expect("The Build failed", "BuildFailed")
	w.edit(func(b *v1alpha1.ImageBuild) {
		b.Spec.ForProvider.Builder = &v1alpha1.BuilderReference{Kind: "Builder", Name: "own"}
	})
	w.reconcile()
	w.fails(1, "prepare", "analyze")
	w.expect("The Build of an earlier request does not count for this request", "Queued")
	w.wait(2 * time.Second)
	w.reconcile()
	if !kpack.IsAskedAgain(w.build(1)) {
		t.Error("kpack ignores another builder after a failed Build, unless it is asked")
	}
}

// TestRebuilds has a builder whose images are built again and again.
func TestRebuilds(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	for n := range 4 {
		w.succeeds(n + 1)
		w.expect("A rebuilt image is taken", "Built")
		w.wait(time.Minute)
	}
	w.succeeds(5)
	w.expect("The fourth rebuild within an hour is not taken", "RebuildLoop")
	if observation := w.get().Status.AtProvider; observation.Latest.Image != imageNumber("4") || observation.WantedImage() == nil {
		t.Errorf("%+v", observation.Latest)
	}
	w.wait(time.Hour)
	w.expect("The hour is over", "Built")
	if observation := w.get().Status.AtProvider; observation.Latest.Image != imageNumber("5") {
		t.Errorf("%+v", observation.Latest)
	}
}

// redirecting returns the URL of a repository whose server redirects to another server.
func redirecting(t *testing.T, target string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, target+r.URL.String(), http.StatusFound)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/x.git"
}

func TestObstacles(t *testing.T) {
	secret := func(b *v1alpha1.ImageBuild) { b.Spec.ForProvider.Source.Git.SecretRef = ptrTo("git") }
	cases := map[string]struct {
		reason string
		change func(*world)
		want   string
		says   string
		image  bool
	}{
		"Kpack": {reason: "Without kpack nothing is built.", change: func(w *world) { w.c.hasKpack.Store(false) }, want: "KpackMissing", says: "install kpack"},
		"Branch": {reason: "A branch that does not exist starts no build.", change: func(w *world) {
			w.edit(func(b *v1alpha1.ImageBuild) { b.Spec.ForProvider.Source.Git.Revision = "mian" })
		}, want: "RevisionNotFound", says: `no tag "mian"`},
		"Ambiguous": {reason: "A branch and a tag of one name start no build.", change: func(w *world) {
			_, err := w.server.Git(w.Context(), "shop", "tag", gitserver.Branch, gitserver.Branch)
			w.must(err)
		}, want: "RevisionAmbiguous", says: "refs/heads/" + gitserver.Branch},
		"Option": {reason: "A revision that a tool takes for an option is refused.", change: func(w *world) {
			w.edit(func(b *v1alpha1.ImageBuild) { b.Spec.ForProvider.Source.Git.Revision = "--upload-pack=x" })
		}, want: "Invalid", says: "source.git.revision"},
		"Up": {reason: "A revision with dots is refused.", change: func(w *world) {
			w.edit(func(b *v1alpha1.ImageBuild) { b.Spec.ForProvider.Source.Git.Revision = "../x" })
		}, want: "Invalid"},
		"File": {reason: "A file is not a source.", change: func(w *world) {
			w.edit(func(b *v1alpha1.ImageBuild) { b.Spec.ForProvider.Source.Git.URL = "file:///etc" })
		}, want: "PolicyDenied", says: "source.git.url"},
		"User": {reason: "Credentials in a URL are refused, and not repeated.", change: func(w *world) {
			w.edit(func(b *v1alpha1.ImageBuild) {
				b.Spec.ForProvider.Source.Git.URL = "https://me:canary@git.example.org/x.git"
			})
		}, want: "PolicyDenied", says: "contains credentials"},
		"Star": {reason: "A host with a wildcard is refused.", change: func(w *world) {
			w.edit(func(b *v1alpha1.ImageBuild) { b.Spec.ForProvider.Source.Git.URL = "https://*.example.org/x.git" })
		}, want: "PolicyDenied"},
		"Near": {reason: "A near address is refused.", change: func(w *world) { w.c.guard.Loopback = false }, want: "SourceDenied"},
		"NearCommit": {reason: "A near address is refused for a commit id, too.", change: func(w *world) {
			w.edit(func(b *v1alpha1.ImageBuild) {
				b.Spec.ForProvider.Source.Git = &v1alpha1.GitSource{URL: "http://169.254.169.254/x", Revision: strings.Repeat("ab", 20)}
			})
		}, want: "SourceDenied", says: "source.git.url"},
		"NearNumber": {reason: "An address that only some resolvers read is refused.", change: func(w *world) {
			w.edit(func(b *v1alpha1.ImageBuild) { b.Spec.ForProvider.Source.Git.URL = "http://0x7f.1/x.git" })
		}, want: "SourceDenied", says: "source.git.url"},
		"NearBlob": {reason: "An archive at a near address is refused.", change: func(w *world) {
			w.edit(func(b *v1alpha1.ImageBuild) {
				b.Spec.ForProvider.Source = v1alpha1.Source{Blob: &v1alpha1.BlobSource{URL: "http://[fe80::1]:8080/x.tgz"}}
			})
		}, want: "SourceDenied", says: "source.blob.url"},
		"NearName": {reason: "A name that leads to a near address is refused for a commit id, too.", change: func(w *world) {
			w.down = failure.Newf(failure.ClassAddress, "near")
			w.edit(func(b *v1alpha1.ImageBuild) { b.Spec.ForProvider.Source.Git.Revision = strings.Repeat("ab", 20) })
		}, want: "SourceDenied", says: "near"},
		"Redirect": {reason: "A redirect to a near address is not followed.", change: func(w *world) {
			w.edit(func(b *v1alpha1.ImageBuild) {
				b.Spec.ForProvider.Source.Git.URL = redirecting(w.T, "http://169.254.169.254")
			})
		}, want: "SourceDenied", says: `redirects to host "169.254.169.254"`},
		"RedirectCommit": {reason: "A redirect to a near address is not followed for a commit id either.", change: func(w *world) {
			w.edit(func(b *v1alpha1.ImageBuild) {
				b.Spec.ForProvider.Source.Git = &v1alpha1.GitSource{URL: redirecting(w.T, "http://169.254.169.254"), Revision: strings.Repeat("ab", 20)}
			})
		}, want: "SourceDenied", says: `redirects to host "169.254.169.254"`},
		"Down": {reason: "A repository that is down is waited for.", change: func(w *world) { w.down = errors.New("down") }, want: "SourceUnreachable"},
		"Absent": {reason: "A repository that does not exist is denied.", change: func(w *world) {
			w.edit(func(b *v1alpha1.ImageBuild) { b.Spec.ForProvider.Source.Git.URL = w.server.URL("none") })
		}, want: "SourceDenied"},
		"Secret": {
			reason: "A Secret that does not exist is waited for.",
			change: func(w *world) { w.edit(secret) }, want: "CredentialsGone", says: "source.git.secretRef",
		},
		"Config": {
			reason: "A configuration that does not exist is waited for.",
			change: func(w *world) { w.edit(func(b *v1alpha1.ImageBuild) { b.Spec.ProviderConfigReference.Name = "none" }) },
			want:   "ConfigurationMissing",
		},
		"OwnConfig": {reason: "A configuration of a tenant does not say where images go.", change: func(w *world) {
			w.edit(func(b *v1alpha1.ImageBuild) { b.Spec.ProviderConfigReference.Kind = "ProviderConfig" })
		}, want: "PolicyDenied"},
		"NoBuilds": {
			reason: "A configuration without a registry builds nothing.",
			change: func(w *world) { w.editConfig(func(c *configv1alpha1.ProviderConfigSpec) { c.Build = nil }) }, want: "PolicyDenied",
			says: "spec.build",
		},
		"Namespace": {reason: "A configuration for other namespaces builds nothing.", change: func(w *world) {
			w.editConfig(func(c *configv1alpha1.ProviderConfigSpec) { c.Policy.AllowedNamespaces = []string{"team-b"} })
		}, want: "PolicyDenied"},
		"Claim": {reason: "An ImageBuild is for an Application of its own namespace.", change: func(w *world) {
			w.edit(func(b *v1alpha1.ImageBuild) { b.Spec.ForProvider.ClaimRef.Namespace = "team-b" })
		}, want: "PolicyDenied"},
		"Host": {reason: "A host that the configuration does not name is refused.", change: func(w *world) {
			w.editConfig(func(c *configv1alpha1.ProviderConfigSpec) { c.Build.SourceHosts = []string{"*.example.org"} })
		}, want: "PolicyDenied", says: "sourceHosts"},
		"Resources": {reason: "Resources above the limit are refused.", change: func(w *world) {
			w.editConfig(func(c *configv1alpha1.ProviderConfigSpec) { c.Build.MaxResources.CPU = "2" })
			w.edit(func(b *v1alpha1.ImageBuild) { b.Spec.ForProvider.Resources.CPU = "2500m" })
		}, want: "PolicyDenied", says: "at most 2"},
		"Builder": {
			reason: "A build without a builder waits for a builder.",
			change: func(w *world) { w.editConfig(func(c *configv1alpha1.ProviderConfigSpec) { c.Build.Builder = nil }) }, want: "BuilderMissing",
		},
		"Taken": {reason: "An Image that a user made is not taken over.", change: func(w *world) {
			u := kpack.NewObject(kpack.ImageKind())
			u.SetNamespace("team-a")
			u.SetName("shop")
			w.must(w.kube.Create(w.Context(), u))
		}, want: "NameTaken", image: true},
		"TakenEarlier": {reason: "The Image of an ImageBuild that was made again is waited for.", change: func(w *world) {
			u := kpack.NewObject(kpack.ImageKind())
			u.SetNamespace("team-a")
			u.SetName("shop")
			u.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "ImageBuild", Name: "shop", UID: "before", Controller: new(true)}})
			w.must(w.kube.Create(w.Context(), u))
		}, want: "Queued", says: "is being removed", image: true},
		"Removed": {reason: "A kpack that was removed is missing.", change: func(w *world) {
			w.refuses = kerrors.NewNotFound(schema.GroupResource{Group: "kpack.io", Resource: "images"}, "shop")
		}, want: "KpackMissing", says: "install kpack"},
		"Denied": {reason: "The status reports a denial by an admission webhook.", change: func(w *world) {
			w.refuses = kerrors.NewForbidden(schema.GroupResource{Group: "kpack.io", Resource: "images"}, "shop", errors.New(`admission webhook "x" denied the request: no`))
		}, want: "ImageRefused", says: "denied the request"},
		"Refused": {
			reason: "The status reports an Image that kpack refuses.",
			change: func(w *world) { w.refuses = kerrors.NewBadRequest("spec.cache.volume.size cannot be set") }, want: "ImageRefused",
			says: "spec.cache.volume.size",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.T = t
			tc.change(w)
			w.expect(tc.reason, tc.want)
			message := w.get().GetCondition("Ready").Message
			if !strings.Contains(message, tc.says) || strings.Contains(message, "canary") {
				t.Errorf("\n%s\nmessage %q, want %q in it", tc.reason, message, tc.says)
			}
			if (w.image() != nil) != tc.image {
				t.Errorf("\n%s\nNo Image is made: %v", tc.reason, w.image())
			}
		})
	}
}

// TestTroubleLater has obstacles after an image was built: the image stays.
func TestTroubleLater(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*world)
		want   string
		source string
	}{
		"Down": {
			reason: "A repository that is down changes nothing.",
			change: func(w *world) { w.down = errors.New("down") }, want: "Built", source: "SourceUnreachable",
		},
		"Builder": {reason: "A builder that is not ready changes nothing.", change: func(w *world) { w.plays(1, "False", "BuilderNotReady", "True") }, want: "Built"},
		"Rebuild": {reason: "A rebuild that fails changes nothing.", change: func(w *world) { w.fails(2, "prepare", "analyze") }, want: "Built"},
		"Deleted": {reason: "A branch that is deleted is not wanted any more.", change: func(w *world) {
			_, err := w.server.Git(w.Context(), "shop", "branch", "-m", gitserver.Branch, "moved")
			w.must(err)
		}, want: "RevisionNotFound", source: "RevisionNotFound"},
		"Forged": {reason: "A Build that names the image of another repository gives out nothing.", change: func(w *world) {
			w.plays(2, "True", "UpToDate", "True", func(b *unstructured.Unstructured) {
				_ = unstructured.SetNestedField(b.Object, strings.Replace(imageNumber("2"), "team-a", "team-b", 1), "status", "latestImage")
			})
		}, want: "ForeignImage"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.reconcile()
			w.succeeds(1)
			w.expect("The first commit is built", "Built")
			w.wait(6 * time.Minute)
			tc.change(w)
			w.expect(tc.reason, tc.want)
			observation := w.get().Status.AtProvider
			if observation.Latest == nil || observation.Latest.Image != imageNumber("1") || observation.SourceTrouble.Reason != tc.source {
				t.Errorf("\n%s\n%+v", tc.reason, observation)
			}
		})
	}
}

// TestRegistryMoved has a configuration that names another registry.
func TestRegistryMoved(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.succeeds(1)
	w.reconcile()
	previousUID := w.image().GetUID()
	w.editConfig(func(c *configv1alpha1.ProviderConfigSpec) { c.Build.Registry = "other.example.org/apps" })
	w.wait(time.Second)
	w.expect("The previous image stays until the next image is built", "Built")
	if i := w.image(); i == nil || i.GetUID() == previousUID || kpack.TagOf(i) != "other.example.org/apps/team-a/shop" {
		t.Errorf("The Image is made again, since kpack does not let its tag change: %v", i)
	}
}

// TestLost has an Image that was deleted by hand.
func TestLost(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.succeeds(1)
	w.expect("The first commit is built", "Built")
	w.must(w.kube.Delete(t.Context(), w.image()))
	w.reconcile()
	if observation := w.get().Status.AtProvider; w.image() == nil || observation.WantedImage() == nil {
		t.Errorf("The Image is created again, and the previous image stays: %+v", observation)
	}
}

// TestRights has a provider that may not write Images: the status of the Image stays.
func TestRights(t *testing.T) {
	w := newWorld(t)
	w.refuses = kerrors.NewForbidden(schema.GroupResource{Group: "kpack.io", Resource: "images"}, "shop", errors.New("no rights"))
	w.reconcileOnce()
	w.wait(beginDelay)
	w.reconcileOnce()
	b := w.get()
	if ready, synced := b.GetCondition(xpv2.TypeReady), b.GetCondition(xpv2.TypeSynced); ready.Reason != "Queued" || synced.Status != corev1.ConditionFalse {
		t.Errorf("The write is retried: Ready %s, Synced %s", ready.Reason, synced.Status)
	}
}

// TestNamesAgain has Builds whose names kpack uses again, since the Image was deleted.
func TestNamesAgain(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.fails(1, "prepare", "analyze", "detect", "restore")
	w.expect("A step build that fails is not tried again", "BuildFailed")
	w.must(w.kube.Delete(t.Context(), w.build(1)))
	w.must(w.kube.Delete(t.Context(), w.image()))
	w.wait(time.Hour)
	w.expect("The Image is made again", "Queued")
	w.buildUID = "another"
	w.fails(1, "prepare", "analyze", "detect", "restore", "build")
	w.expect("The failure of the earlier Build of that name is not this one's", "Retrying")
	if f := w.get().Status.AtProvider.Failed; f.Step != "export" || f.Attempts != 1 || f.UID != "another" {
		t.Errorf("%+v", f)
	}
	if diff := cmp.Diff([]string{"BuildFailed", "BuildFailed"}, w.events); diff != "" {
		t.Errorf("events: -want, +got:\n%s", diff)
	}
}

// TestAttemptsAgain has a Build that was tried again before the Image was deleted: that counts no more.
func TestAttemptsAgain(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.fails(1, "prepare", "analyze", "detect", "restore", "build")
	w.expect("A step export that fails is tried again", "Retrying")
	w.must(w.kube.Delete(t.Context(), w.build(1)))
	w.must(w.kube.Delete(t.Context(), w.image()))
	w.wait(time.Hour)
	w.expect("The Image is made again", "Queued")
	w.buildUID = "another"
	w.fails(1, "prepare", "analyze", "detect", "restore", "build")
	w.expect("The first failure of the next Image is tried again", "Retrying")
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

// TestPodPending has a Build whose pod does not begin.
func TestPodPending(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.plays(1, "Unknown", "BuildRunning", "Unknown")
	w.expect("A pod has two minutes to begin", "Building")
	w.wait(2 * time.Minute)
	w.expect("A pod that does not begin is reported", "PodPending")
	w.begins(1)
	w.expect("The pod has begun", "Building")
}

// TestSteps has a Build that goes from step to step: each write costs the composite.
func TestSteps(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.begins(1)
	w.reconcile()
	writes := w.writes
	w.plays(1, "Unknown", "BuildRunning", "Unknown", runningStep("prepare", "analyze"))
	w.reconcile()
	if step := w.get().Status.AtProvider.Running.Step; step != "analyze" || w.writes != writes {
		t.Errorf("A step is not written at once: %s, %d writes", step, w.writes-writes)
	}
	if w.result.RequeueAfter > 30*time.Second {
		t.Errorf("The step is written in %s", w.result.RequeueAfter)
	}
	w.wait(30 * time.Second)
	w.reconcile()
	if step := w.get().Status.AtProvider.Running.Step; step != "detect" {
		t.Errorf("The step is written half a minute later: %s", step)
	}
}

// TestBlob has an archive, which has no commit.
func TestBlob(t *testing.T) {
	w := newWorld(t)
	w.edit(func(b *v1alpha1.ImageBuild) {
		b.Spec.ForProvider.Source = v1alpha1.Source{Blob: &v1alpha1.BlobSource{URL: "https://files.example.org/shop.tgz"}}
	})
	w.reconcile()
	w.succeeds(1)
	w.expect("An archive is built", "Built")
	if observation := w.get().Status.AtProvider; observation.Wanted.Commit != "" || observation.WantedImage() == nil || w.looks != 0 {
		t.Errorf("%+v, %d looks", observation, w.looks)
	}
}
