package deployment

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// TestRepositoryURL changes the URL of a configuration. A repository counts once the provider has delivered there.
func TestRepositoryURL(t *testing.T) {
	const good, wrong = "https://git.example.org/fleet.git", "https://git.example.org/typo.git"
	url := func(w *world, target string) { w.set("ClusterProviderConfig", "default", target, "spec", "git", "url") }
	// unreachable plays rounds while the provider cannot deliver to the repository of the URL.
	unreachable := func(w *world) {
		for range 3 {
			w.apply(w.call())
		}
	}
	unread := func(w *world) { w.set("Site", "edge1", "x", "spec", "parameters", "unused") }
	cases := map[string]struct {
		reason string
		play   func(*world)
		want   int64
	}{
		"WrongForAWhile": {
			reason: "A URL that is wrong for a while leaves the revision as it is.",
			play:   func(w *world) { w.settle(); url(w, wrong); unreachable(w); url(w, good) },
			want:   1,
		},
		"WrongAtFirst": {
			reason: "A revision that was delivered nowhere is delivered to the repository that the URL names in the end.",
			play:   func(w *world) { url(w, wrong); unreachable(w); url(w, good) },
			want:   1,
		},
		"EditedWhileWrong": {
			reason: "An edit that is made while the URL is wrong is one revision.",
			play: func(w *world) {
				w.settle()
				url(w, wrong)
				unreachable(w)
				w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 3}`)
				unreachable(w)
				url(w, good)
			},
			want: 2,
		},
		"Spelling": {
			reason: "Another spelling of the URL names the same repository.",
			play:   func(w *world) { w.settle(); url(w, "https://GIT.example.org:443/fleet") },
			want:   1,
		},
		"Moved": {
			reason: "Another repository, which the provider reaches, is another place.",
			play:   func(w *world) { w.settle(); url(w, wrong) },
			want:   2,
		},
		"MovedBack": {
			reason: "A repository that is returned to is another place again.",
			play:   func(w *world) { w.settle(); url(w, wrong); w.settle(); url(w, good) },
			want:   3,
		},
		"MovedThenCatalog": {
			reason: "A change of the catalog that changes no tree makes no revision in the new repository.",
			play:   func(w *world) { w.settle(); url(w, wrong); w.settle(); unread(w) },
			want:   2,
		},
		"WrongAfterMove": {
			reason: "A URL that is wrong for a while leaves the revision as it is in a repository that was moved to.",
			play: func(w *world) {
				w.settle()
				url(w, wrong)
				w.settle()
				url(w, "https://git.example.org/other.git")
				unreachable(w)
				url(w, wrong)
			},
			want: 2,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			tc.play(w)
			out := w.settle()
			if diff := cmp.Diff(tc.want, out.Status.Revision); diff != "" {
				t.Errorf("\n%s\nRun(...): revision: -want, +got:\n%s", tc.reason, diff)
			}
			if !out.Ready {
				t.Errorf("\n%s\nRun(...): want a deployment that is ready: %s", tc.reason, out.Status.Message)
			}
			w.apply(out)
			if diff := cmp.Diff(out, w.call()); diff != "" {
				t.Errorf("\n%s\nRun(...): nothing changed, and the answer did: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestTwoRepositoryURLs has one URL of two wrong for a while.
func TestTwoRepositoryURLs(t *testing.T) {
	w := newWorld(t)
	o := w.object("ClusterProviderConfig", "default").DeepCopy()
	o.SetName("other")
	w.objects = append(w.objects, o)
	w.set("ClusterProviderConfig", "other", "https://git.example.org/other.git", "spec", "git", "url")
	w.set("Site", "edge2", map[string]any{"name": "other"}, "spec", "repository", "providerConfigRef")
	w.settle()
	w.set("ClusterProviderConfig", "other", "https://git.example.org/typo.git", "spec", "git", "url")
	w.wantFrozen("A URL that is wrong asks for nothing new, in neither repository.", w.call())
	w.set("ClusterProviderConfig", "other", "https://git.example.org/other.git", "spec", "git", "url")
	w.wantFrozen("The URL that is right again finds everything as it was.", w.call())
	w.set("ClusterProviderConfig", "other", "https://git.example.org/fleet.git", "spec", "git", "url")
	w.call()
	w.set("ClusterProviderConfig", "default", "https://git.example.org/other.git", "spec", "git", "url")
	w.settle() // The ledger is recovered in the repository that its home names by now.
	out := w.settle()
	if !out.Ready || out.Status.Revision != 2 {
		t.Errorf("Run(...): want revision 2 in repositories that changed places, got %d, %s", out.Status.Revision, out.Status.Message)
	}
	urls := map[string]string{}
	for _, d := range w.in.Observed {
		config, _, _ := unstructured.NestedString(d.Object, "spec", "providerConfigRef", "name")
		urls[config], _, _ = unstructured.NestedString(d.Object, "status", "atProvider", "remote", "url")
	}
	want := map[string]string{"default": "https://git.example.org/other.git", "other": "https://git.example.org/fleet.git"}
	if diff := cmp.Diff(want, urls); diff != "" {
		t.Errorf("Run(...): repositories: -want, +got:\n%s", diff)
	}
}

// TestLedgerConfigRef opens ledgers of deployments with two repositories.
func TestLedgerConfigRef(t *testing.T) {
	const shared = "ClusterProviderConfig"
	cases := map[string]struct {
		reason string
		named  *deploymentv1alpha1.ConfigReference
		// want is the home. Empty: the spec is refused, since no Site is delivered to the repository in refused.
		want    string
		refused string
	}{
		"Absent": {reason: "The ledger is opened in the repository of the first Site.", want: "default"},
		"Named": {
			reason: "The ledger is opened in the repository that the spec names.",
			named:  &deploymentv1alpha1.ConfigReference{Kind: shared, Name: "other"}, want: "other",
		},
		"NoKind": {reason: "A name without a kind is that of a ClusterProviderConfig.", named: &deploymentv1alpha1.ConfigReference{Name: "other"}, want: "other"},
		"Unknown": {
			reason: "The ledger is not opened in a repository that no Site is delivered to.",
			named:  &deploymentv1alpha1.ConfigReference{Name: "regional"}, refused: shared + ` "regional"`,
		},
		"OwnKind": {
			reason: "A ProviderConfig of the namespace is not the ClusterProviderConfig of its name.",
			named:  &deploymentv1alpha1.ConfigReference{Kind: "ProviderConfig", Name: "other"}, refused: `ProviderConfig "other"`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			o := w.object(shared, "default").DeepCopy()
			o.SetName("other")
			w.objects = append(w.objects, o)
			w.set(shared, "other", "https://git.example.org/other.git", "spec", "git", "url")
			w.set("Site", "edge2", map[string]any{"name": "other"}, "spec", "repository", "providerConfigRef")
			w.in.Spec.DeliveryConfig.LedgerConfigRef = tc.named
			out := w.settle()
			if diff := cmp.Diff(tc.want, w.ledger().Home); diff != "" {
				t.Errorf("\n%s\nRun(...): home: -want, +got:\n%s", tc.reason, diff)
			}
			if tc.refused != "" {
				w.wantCondition(tc.reason, out, "Valid", corev1.ConditionFalse, "InvalidSpec")
				want := "spec.deliveryConfig.ledgerConfigRef: no Site of the deployment is delivered to the repository of " + tc.refused
				if diff := cmp.Diff(want, conditionOf(out, "Valid").Message); diff != "" {
					t.Errorf("\n%s\nRun(...): message: -want, +got:\n%s", tc.reason, diff)
				}
				return
			}
			w.in.Spec.DeliveryConfig.LedgerConfigRef = &deploymentv1alpha1.ConfigReference{Kind: shared, Name: "regional"}
			if out := w.settle(); !out.Ready || w.ledger().Home != tc.want {
				t.Errorf("\n%s\nRun(...): a later change moves nothing: got home %q, %s", tc.reason, w.ledger().Home, out.Status.Message)
			}
		})
	}
}
