package witness

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/usage"
	"github.com/intentplane/intentplane/test/cacheclient"
)

// newCache returns a double of a manager's cache with objects, and the indexes of a Reader and of Hearers.
func newCache(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, catalogv1alpha1.AddToScheme, configv1alpha1.AddToScheme, v1alpha1.AddToScheme, rolloutv1alpha1.AddToScheme,
	} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	b := cacheclient.Indexer{ClientBuilder: kubefake.NewClientBuilder().WithScheme(s).WithObjects(objects...)}
	if err := usage.Index(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	for _, o := range []client.Object{&rolloutv1alpha1.Gate{}, &v1alpha1.SiteSync{}, &rolloutv1alpha1.RolloutRequest{}} {
		if err := Index(t.Context(), b, o); err != nil {
			t.Fatal(err)
		}
	}
	return b.Build()
}

// TestHearers has a home with a mandate, a home without a mandate, a home of another deployment, and a follower.
func TestHearers(t *testing.T) {
	homes := map[string]func(d *v1alpha1.GitDelivery){
		"mandated": func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Mandate = &v1alpha1.Mandate{} },
		"plain":    func(*v1alpha1.GitDelivery) {},
		"other": func(d *v1alpha1.GitDelivery) {
			d.Spec.ForProvider.Mandate, d.OwnerReferences[0].UID = &v1alpha1.Mandate{}, "other"
		},
		"follower": func(d *v1alpha1.GitDelivery) {
			d.Spec.ForProvider.Ledger, d.Spec.ForProvider.Copy = nil, &ledger.State{}
		},
		"tracked": func(d *v1alpha1.GitDelivery) {
			d.Spec.ForProvider.Ledger, d.Status.AtProvider.Follows = nil, &v1alpha1.FollowStatus{}
			d.Status.AtProvider.Trees = []v1alpha1.DeliveredTree{{Site: "edge2", Tracks: []v1alpha1.DeliveredTrack{{Name: "blue"}}}}
		},
	}
	var all []client.Object
	for name, change := range homes {
		d := newHome(name)
		change(d)
		all = append(all, d)
	}
	kube := newCache(t, all...)
	elsewhere := judgedGate(rolloutv1alpha1.GateFailed)
	elsewhere.Namespace = "team-b"
	cases := map[string]struct {
		reason string
		object client.Object
		want   []string
	}{
		"Gate": {
			reason: "A Gate requeues the home with a mandate that its controller has.",
			object: judgedGate(rolloutv1alpha1.GateFailed), want: []string{"mandated"},
		},
		"Sync": {
			reason: "A SiteSync requeues the home with a mandate that its controller has, and a repository that follows it in tracks.",
			object: observedSync("Failed"), want: []string{"mandated", "tracked"},
		},
		"Namespace": {reason: "A Gate of another namespace requeues no home.", object: elsewhere},
		"Other":     {reason: "An object of another kind requeues no home.", object: otherKind()},
		"Home":      {reason: "A home requeues the other repositories.", object: shownHome(ledger.State{}), want: []string{"follower"}},
		"Follower":  {reason: "Another repository requeues the home with a mandate.", object: shownFollower(v1alpha1.ReasonDelivered), want: []string{"mandated"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ds, err := Hearers(t.Context(), kube, tc.object)
			if diff := cmp.Diff(tc.want, namesOf(ds)); err != nil || diff != "" {
				t.Errorf("\n%s\nHearers(...): %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

func namesOf(ds []v1alpha1.GitDelivery) []string {
	var out []string
	for i := range ds {
		out = append(out, ds[i].GetName())
	}
	return out
}

// TestHearersOfRequest has a home with a mandate, and a home without one.
func TestHearersOfRequest(t *testing.T) {
	mandated := newHome("mandated")
	mandated.Spec.ForProvider.Mandate = &v1alpha1.Mandate{}
	kube := newCache(t, mandated, newHome("plain"))
	otherRequest := abortRequest("other")
	otherRequest.Spec.DeploymentRef.Kind = "Application"
	elsewhere := abortRequest("elsewhere")
	elsewhere.Namespace = "team-b"
	cases := map[string]struct {
		reason  string
		request *rolloutv1alpha1.RolloutRequest
		want    []string
	}{
		"Deployment": {reason: "A request requeues the home of its deployment.", request: abortRequest("abort"), want: []string{"mandated"}},
		"Kind":       {reason: "A request about another kind requeues no home.", request: otherRequest},
		"Namespace":  {reason: "A request of another namespace requeues no home.", request: elsewhere},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ds, err := Hearers(t.Context(), kube, tc.request)
			if diff := cmp.Diff(tc.want, namesOf(ds)); err != nil || diff != "" {
				t.Errorf("\n%s\nHearers(...): %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}
