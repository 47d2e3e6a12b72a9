package imagebuild

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/intentplane/intentplane/apis/build/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/kpack"
	"github.com/intentplane/intentplane/test/gitserver"
)

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
