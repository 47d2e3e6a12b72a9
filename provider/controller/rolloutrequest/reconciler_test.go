package rolloutrequest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kmeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/listing"
	"github.com/intentplane/intentplane/test/cacheclient"
)

func build(t *testing.T, objects ...client.Object) client.WithWatch {
	t.Helper()
	s := runtime.NewScheme()
	if err := rolloutv1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	b := cacheclient.Indexer{ClientBuilder: fake.NewClientBuilder().WithScheme(s).WithObjects(objects...).WithStatusSubresource(&rolloutv1alpha1.RolloutRequest{})}
	if err := listing.AddIndexes(t.Context(), b, deploymentIndex()); err != nil {
		t.Fatal(err)
	}
	return b.Build()
}

func clock(minute int) time.Time { return time.Date(2031, 12, 17, 13, minute, 0, 0, time.UTC) }

func request(name string, minute int, change ...func(*rolloutv1alpha1.RolloutRequest)) *rolloutv1alpha1.RolloutRequest {
	r := &rolloutv1alpha1.RolloutRequest{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "team-a", Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{"team": "a"},
			CreationTimestamp: metav1.NewTime(clock(minute)), Generation: 1,
		},
		Spec: rolloutv1alpha1.RolloutRequestSpec{
			DeploymentRef: rolloutv1alpha1.DeploymentReference{APIGroup: deploymentv1alpha1.GroupClaims, Kind: deploymentv1alpha1.Kind, Name: "shop"},
			Action:        rolloutv1alpha1.ActionApproveUpdate, Revision: 3,
		},
	}
	for _, fn := range change {
		fn(r)
	}
	return r
}

// shop returns a deployment of a group with a revision and with answers in the form "uid result end".
func shop(group string, revision int64, answers ...string) *unstructured.Unstructured {
	requests := []any{}
	for _, a := range answers {
		uid, result, _ := strings.Cut(a, " ")
		result, end, _ := strings.Cut(result, " ")
		requests = append(requests, map[string]any{"name": "x", "uid": uid, "result": result, "end": end})
	}
	u := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"revision": revision, "requests": requests}}}
	u.SetGroupVersionKind(deploymentKind(group))
	u.SetNamespace("team-a")
	u.SetName("shop")
	u.SetUID("uid-shop")
	return u
}

func before(accepted, completed corev1.ConditionStatus, reason xpv2.ConditionReason) func(*rolloutv1alpha1.RolloutRequest) {
	return func(r *rolloutv1alpha1.RolloutRequest) {
		timestamp := metav1.NewTime(clock(30))
		r.Status.ObservedAt = &timestamp
		r.Status.SetConditions(
			xpv2.Condition{Type: rolloutv1alpha1.TypeAccepted, Status: accepted, Reason: reason, LastTransitionTime: timestamp},
			xpv2.Condition{Type: rolloutv1alpha1.TypeCompleted, Status: completed, Reason: reason, LastTransitionTime: timestamp},
		)
	}
}

func large(r *rolloutv1alpha1.RolloutRequest) {
	r.Annotations = map[string]string{"x": strings.Repeat("x", rolloutv1alpha1.MaxBytes)}
}

// view is the compared part of a request.
type view struct {
	Accepted, Completed string
	End                 string
	NewRevision         int64
	Open                bool
	ObservedAt          string
}

func viewOf(t *testing.T, kube client.Client, name string) view {
	t.Helper()
	r := &rolloutv1alpha1.RolloutRequest{}
	if err := kube.Get(t.Context(), client.ObjectKey{Namespace: "team-a", Name: name}, r); err != nil {
		t.Fatal(err)
	}
	text := func(typ xpv2.ConditionType) string {
		c := r.Status.GetCondition(typ)
		return fmt.Sprintf("%s %s", c.Status, c.Reason)
	}
	v := view{Accepted: text(rolloutv1alpha1.TypeAccepted), Completed: text(rolloutv1alpha1.TypeCompleted), NewRevision: r.Status.NewRevision, End: string(r.Status.End)}
	if r.Status.ObservedAt != nil {
		v.ObservedAt = r.Status.ObservedAt.UTC().Format("15:04")
	}
	v.Open = r.GetLabels()[rolloutv1alpha1.LabelDeployment] != "" && r.GetLabels()[rolloutv1alpha1.LabelDeploymentGroup] != ""
	if r.GetLabels()["team"] != "a" {
		t.Errorf("labels of others: %v", r.GetLabels())
	}
	return v
}

func reconciler(kube client.Client) *Reconciler {
	return &Reconciler{kube: kube, turns: newTurnQueue(), now: func() time.Time { return clock(45) }, log: logging.NewNopLogger()}
}

func TestReconcile(t *testing.T) {
	const claims, namespaced = deploymentv1alpha1.GroupClaims, deploymentv1alpha1.GroupNamespaced
	accepted := before(corev1.ConditionTrue, corev1.ConditionFalse, "Taken")
	labelled := func(r *rolloutv1alpha1.RolloutRequest) {
		r.Labels = rolloutv1alpha1.OpenLabels(claims, "shop")
		r.Labels["team"] = "a"
	}
	cases := map[string]struct {
		reason  string
		request *rolloutv1alpha1.RolloutRequest
		shop    *unstructured.Unstructured
		want    view
	}{
		"New": {
			reason:  "A new request is open and waits for its answer.",
			request: request("a", 1), shop: shop(claims, 3),
			want: view{Accepted: "Unknown Waiting", Completed: "False Waiting", Open: true, ObservedAt: "13:45"},
		},
		"NoShop": {
			reason:  "A request without a deployment waits for it.",
			request: request("a", 1),
			want:    view{Accepted: "False UnknownDeployment", Completed: "False UnknownDeployment", Open: true, ObservedAt: "13:45"},
		},
		"OtherShop": {
			reason:  "A composite of the name of a claim is another deployment.",
			request: request("a", 1), shop: shop(namespaced, 3, "uid-a Taken"),
			want: view{Accepted: "False UnknownDeployment", Completed: "False UnknownDeployment", Open: true, ObservedAt: "13:45"},
		},
		"Appeared": {
			reason:  "A request is accepted after its deployment was created.",
			request: request("a", 1, labelled, before(corev1.ConditionFalse, corev1.ConditionFalse, "UnknownDeployment")), shop: shop(claims, 3),
			want: view{Accepted: "Unknown Waiting", Completed: "False Waiting", Open: true, ObservedAt: "13:30"},
		},
		"Waiting": {
			reason:  "A request shows that the deployment waits.",
			request: request("a", 1), shop: shop(claims, 3, "uid-a Waiting"),
			want: view{Accepted: "Unknown Waiting", Completed: "False Waiting", Open: true, ObservedAt: "13:45"},
		},
		"Others": {
			reason:  "An answer to another request is ignored.",
			request: request("a", 1), shop: shop(claims, 3, "uid-b Stale"),
			want: view{Accepted: "Unknown Waiting", Completed: "False Waiting", Open: true, ObservedAt: "13:45"},
		},
		"Newer": {
			reason:  "An unknown answer does not close a request.",
			request: request("a", 1), shop: shop(claims, 3, "uid-a Pondering"),
			want: view{Accepted: "Unknown Pondering", Completed: "False Pondering", Open: true, ObservedAt: "13:45"},
		},
		"Taken": {
			reason:  "A request that the deployment took is accepted.",
			request: request("a", 1), shop: shop(claims, 4, "uid-a Taken"),
			want: view{Accepted: "True Taken", Completed: "False Taken", NewRevision: 4, Open: true, ObservedAt: "13:45"},
		},
		"Done": {
			reason:  "A request that is done is closed.",
			request: request("a", 1, labelled, accepted), shop: shop(claims, 4, "uid-a Done Verified"),
			want: view{Accepted: "True Taken", Completed: "True Done", End: "Verified", NewRevision: 4, ObservedAt: "13:30"},
		},
		"Stale": {
			reason:  "A request for a revision other than the present revision is refused and closed.",
			request: request("a", 1, labelled), shop: shop(claims, 4, "uid-a Stale"),
			want: view{Accepted: "False Stale", Completed: "False Stale", ObservedAt: "13:45"},
		},
		"NoUpdate": {
			reason:  "A request to approve an update that does not exist is refused and closed.",
			request: request("a", 1, labelled), shop: shop(claims, 3, "uid-a NoUpdate"),
			want: view{Accepted: "False NoUpdate", Completed: "False NoUpdate", ObservedAt: "13:45"},
		},
		"Superseded": {
			reason:  "An accepted request is not refused later.",
			request: request("a", 1, labelled, accepted), shop: shop(claims, 5, "uid-a Stale"),
			want: view{Accepted: "True Taken", Completed: "True Superseded", ObservedAt: "13:30"},
		},
		"Wiped": {
			reason:  "A request stays accepted when the deployment's status was lost.",
			request: request("a", 1, labelled, accepted), shop: shop(claims, 0),
			want: view{Accepted: "True Taken", Completed: "False Taken", Open: true, ObservedAt: "13:30"},
		},
		"Gone": {
			reason:  "A request shows that its deployment was deleted.",
			request: request("a", 1, labelled, accepted),
			want:    view{Accepted: "True Taken", Completed: "False UnknownDeployment", Open: true, ObservedAt: "13:30"},
		},
		"TooLarge": {
			reason:  "A request that is too large is refused and never labelled.",
			request: request("a", 1, labelled, large), shop: shop(claims, 3),
			want: view{Accepted: "False TooLarge", Completed: "False TooLarge", ObservedAt: "13:45"},
		},
		"LargeNoShop": {
			reason:  "A request that is too large is refused even without a deployment.",
			request: request("a", 1, large), want: view{Accepted: "False TooLarge", Completed: "False TooLarge", ObservedAt: "13:45"},
		},
		"LargeLater": {
			reason:  "An accepted request that becomes too large stays accepted.",
			request: request("a", 1, labelled, large, accepted), shop: shop(claims, 4, "uid-a Taken"),
			want: view{Accepted: "True Taken", Completed: "False Taken", NewRevision: 4, Open: true, ObservedAt: "13:30"},
		},
		"ClosedStays": {
			reason:  "A closed request does not change any more.",
			request: request("a", 1, labelled, before(corev1.ConditionFalse, corev1.ConditionFalse, "Stale")), shop: shop(claims, 4, "uid-a Taken"),
			want: view{Accepted: "False Stale", Completed: "False Stale", ObservedAt: "13:30"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			objects := []client.Object{tc.request}
			if tc.shop != nil {
				objects = append(objects, tc.shop)
			}
			kube := build(t, objects...)
			version := ""
			for range 2 {
				if _, err := reconciler(kube).Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(tc.request)}); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, viewOf(t, kube, "a")); diff != "" {
					t.Errorf("\n%s\nReconcile(...): -want, +got:\n%s", tc.reason, diff)
				}
				r := &rolloutv1alpha1.RolloutRequest{}
				if err := kube.Get(t.Context(), client.ObjectKeyFromObject(tc.request), r); err != nil {
					t.Fatal(err)
				}
				if version != "" && version != r.GetResourceVersion() {
					t.Errorf("\n%s\nReconcile(...): it writes the same again", tc.reason)
				}
				version = r.GetResourceVersion()
			}
		})
	}
}

// TestDeploymentKindNotServed: only one Configuration is installed, or none.
func TestDeploymentKindNotServed(t *testing.T) {
	r := request("a", 1)
	kube := interceptor.NewClient(build(t, r), interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
		if u, ok := o.(*unstructured.Unstructured); ok {
			return &kmeta.NoKindMatchError{GroupKind: u.GroupVersionKind().GroupKind()}
		}
		return c.Get(ctx, key, o, opts...)
	}})
	if _, err := reconciler(kube).Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(r)}); err != nil {
		t.Fatal(err)
	}
	want := view{Accepted: "False UnknownDeployment", Completed: "False UnknownDeployment", Open: true, ObservedAt: "13:45"}
	if diff := cmp.Diff(want, viewOf(t, kube, "a")); diff != "" {
		t.Errorf("Reconcile(...): -want, +got:\n%s", diff)
	}
}

func TestUnreadableDeployment(t *testing.T) {
	boom := errors.New("boom")
	r := request("a", 1)
	kube := interceptor.NewClient(build(t, r), interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
		if _, ok := o.(*unstructured.Unstructured); ok {
			return boom
		}
		return c.Get(ctx, key, o, opts...)
	}})
	if _, err := reconciler(kube).Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(r)}); !errors.Is(err, boom) {
		t.Errorf("Reconcile(...): want %v, got %v", boom, err)
	}
	if diff := cmp.Diff(view{Accepted: "Unknown ", Completed: "Unknown "}, viewOf(t, kube, "a")); diff != "" {
		t.Errorf("Reconcile(...): the Unknown status is written: -want, +got:\n%s", diff)
	}
}

// TestOpenRequestsAreLimited checks that a limited number of requests is passed to the function. When one is closed, the next request
// follows.
func TestOpenRequestsAreLimited(t *testing.T) {
	objects := []client.Object{shop(deploymentv1alpha1.GroupClaims, 4, "uid-r00 Stale")}
	for n := range rolloutv1alpha1.MaxOpen + 2 {
		objects = append(objects, request(fmt.Sprintf("r%02d", n), n))
	}
	objects = append(objects, request("a-large", 0, large))
	kube := build(t, objects...)
	w := requestMapper{kube: kube, turns: newTurnQueue(), group: deploymentv1alpha1.GroupClaims, log: logging.NewNopLogger()}
	if woken := w.requestsForDeployment(t.Context(), shop(deploymentv1alpha1.GroupClaims, 3)); len(woken) != rolloutv1alpha1.MaxOpen || woken[0].Name != "r00" {
		t.Errorf("open(...): a deployment wakes the requests that have their turn, got %v", woken)
	}
	if _, err := reconciler(kube).Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "team-a", Name: "r21"}}); err != nil {
		t.Fatal(err)
	}
	if got := open(t, kube); got != "r00-r19" {
		t.Errorf("Reconcile(...): open are %s", got)
	}
	if _, err := reconciler(kube).Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "team-a", Name: "r00"}}); err != nil {
		t.Fatal(err)
	}
	if got := open(t, kube); got != "r01-r20" {
		t.Errorf("Reconcile(...): after a request was closed, open are %s", got)
	}
}

// open returns the first and the last open request, if as many are open as may be.
func open(t *testing.T, kube client.Client) string {
	t.Helper()
	l := &rolloutv1alpha1.RolloutRequestList{}
	if err := kube.List(t.Context(), l, client.MatchingLabels(rolloutv1alpha1.OpenLabels(deploymentv1alpha1.GroupClaims, "shop"))); err != nil {
		t.Fatal(err)
	}
	if len(l.Items) != rolloutv1alpha1.MaxOpen {
		return fmt.Sprint(len(l.Items))
	}
	return l.Items[0].GetName() + "-" + l.Items[len(l.Items)-1].GetName()
}

// TestResultMessages checks that each result has a message.
func TestResultMessages(t *testing.T) {
	results := map[string]rolloutv1alpha1.Result{}
	for _, r := range []rolloutv1alpha1.Result{
		rolloutv1alpha1.ResultWaiting, rolloutv1alpha1.ResultTaken, rolloutv1alpha1.ResultDone, rolloutv1alpha1.ResultStale,
		rolloutv1alpha1.ResultUnknownRevision, rolloutv1alpha1.ResultAlreadyJudged, rolloutv1alpha1.ResultNoTarget,
		rolloutv1alpha1.ResultNothingToRestore, rolloutv1alpha1.ResultUnknownStep,
		rolloutv1alpha1.ResultNoUpdate, rolloutv1alpha1.ResultUpdateFailed, rolloutv1alpha1.ResultTooLarge, rolloutv1alpha1.ResultNotSupported,
	} {
		message := resultMessage(r)
		if otherResult, twice := results[message]; message == "" || twice {
			t.Errorf("messages(%s): want words of its own, got %q, as for %q", r, message, otherResult)
		}
		results[message] = r
	}
}
