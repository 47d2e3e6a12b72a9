package rolloutrequest

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// reconcileWith reconciles a request with a Reconciler that has seen others.
func reconcileWith(t *testing.T, r *Reconciler, name string) {
	t.Helper()
	key := client.ObjectKey{Namespace: "team-a", Name: name}
	if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
		t.Fatal(err)
	}
}

// TestCostOfManyRequests has a tenant with any number of requests about one deployment. The requests are listed once, and not for each event.
func TestCostOfManyRequests(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*rolloutv1alpha1.RolloutRequest)
		// listed is the number of listed requests.
		listed int
	}{
		"Waiting": {reason: "Waiting requests are listed at the first event.", change: func(*rolloutv1alpha1.RolloutRequest) {}, listed: 90},
		"Closed":  {reason: "A closed request is not listed.", change: before(corev1.ConditionFalse, corev1.ConditionFalse, "Stale")},
		"Large":   {reason: "A request that is too large is not listed.", change: large},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			objects := []client.Object{shop(deploymentv1alpha1.GroupClaims, 3)}
			for n := range 90 {
				objects = append(objects, request(fmt.Sprintf("r%02d", n), n%60, tc.change))
			}
			listed := 0
			kube := interceptor.NewClient(build(t, objects...), interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
				err := c.List(ctx, l, opts...)
				if requests, ok := l.(*rolloutv1alpha1.RolloutRequestList); ok {
					listed += len(requests.Items)
				}
				return err
			}})
			r := reconciler(kube)
			for n := range 90 {
				reconcileWith(t, r, fmt.Sprintf("r%02d", n))
			}
			if diff := cmp.Diff(tc.listed, listed); diff != "" {
				t.Errorf("%s\nlisted requests: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestTurnsOverTime has one Reconciler see requests come and go: at each time as many are open as may be, and those with the first turns.
func TestTurnsOverTime(t *testing.T) {
	objects := []client.Object{shop(deploymentv1alpha1.GroupClaims, 4, "uid-r03 Stale")}
	for n := range rolloutv1alpha1.MaxOpen + 5 {
		objects = append(objects, request(fmt.Sprintf("r%02d", n), n))
	}
	kube := build(t, objects...)
	r := reconciler(kube)
	expectOpen := func(reason, want string) {
		t.Helper()
		if diff := cmp.Diff(want, open(t, kube)); diff != "" {
			t.Errorf("%s\nopen requests: -want, +got:\n%s", reason, diff)
		}
	}
	reconcileWith(t, r, "r24")
	expectOpen("The first event opens the first requests.", "r00-r19")
	reconcileWith(t, r, "r03")
	expectOpen("A closed request opens the next one.", "r00-r20")
	if err := kube.Delete(t.Context(), request("r00", 0)); err != nil {
		t.Fatal(err)
	}
	reconcileWith(t, r, "r00")
	expectOpen("A deleted request opens the next one.", "r01-r21")
	reconcileWith(t, r, "r00")
	expectOpen("A request that is gone changes nothing.", "r01-r21")
	abort := request("abort", 50, func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.Action = rolloutv1alpha1.ActionAbort })
	if err := kube.Create(t.Context(), abort); err != nil {
		t.Fatal(err)
	}
	reconcileWith(t, r, "abort")
	expectOpen("An Abort takes the turn of the last one.", "abort-r20")
	forged := request("forged", 55, func(r *rolloutv1alpha1.RolloutRequest) {
		r.Labels = rolloutv1alpha1.OpenLabels(deploymentv1alpha1.GroupClaims, "shop")
	})
	if err := kube.Create(t.Context(), forged); err != nil {
		t.Fatal(err)
	}
	reconcileWith(t, r, "forged")
	expectOpen("A request whose author wrote the labels does not have its turn by them.", "abort-r20")
}

// TestTurnOfRecreatedRequest has a request deleted and created again under its name, with another action, before an event about it was handled.
func TestTurnOfRecreatedRequest(t *testing.T) {
	kube := build(t, shop(deploymentv1alpha1.GroupClaims, 4), request("a", 1), request("b", 2))
	r := reconciler(kube)
	reconcileWith(t, r, "a")
	if err := kube.Delete(t.Context(), request("b", 2)); err != nil {
		t.Fatal(err)
	}
	again := request("b", 3, func(r *rolloutv1alpha1.RolloutRequest) {
		r.UID, r.Spec.Action = "uid-again", rolloutv1alpha1.ActionAbort
	})
	if err := kube.Create(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	reconcileWith(t, r, "b")
	w := requestMapper{kube: kube, turns: r.turns, group: deploymentv1alpha1.GroupClaims, log: r.log}
	got := []string{}
	for _, q := range w.requestsForDeployment(t.Context(), shop(deploymentv1alpha1.GroupClaims, 3)) {
		got = append(got, q.Name)
	}
	if diff := cmp.Diff([]string{"b", "a"}, got); diff != "" {
		t.Errorf("The new request has the turn of its own action.\nrequestsForDeployment(...): -want, +got:\n%s", diff)
	}
}

// TestTurnAtOtherDeployment has a request deleted and created again under its name about another deployment, of which the queue has no request.
func TestTurnAtOtherDeployment(t *testing.T) {
	bank := request("b", 3, func(r *rolloutv1alpha1.RolloutRequest) { r.UID, r.Spec.DeploymentRef.Name = "uid-again", "bank" })
	shopList := func() ([]rolloutv1alpha1.RolloutRequest, error) {
		return []rolloutv1alpha1.RolloutRequest{*request("a", 1), *request("b", 2)}, nil
	}
	bankList := func() ([]rolloutv1alpha1.RolloutRequest, error) { return []rolloutv1alpha1.RolloutRequest{*bank}, nil }
	q := newTurnQueue()
	for _, step := range []struct {
		request *rolloutv1alpha1.RolloutRequest
		list    lister
	}{{request("a", 1), shopList}, {bank, bankList}} {
		if _, err := q.observeRequest(step.request, step.list); err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]struct {
		reason     string
		deployment deploymentKey
		want       string
	}{
		"Previous": {reason: "The deployment of the deleted request has no turn for it any more.", deployment: deploymentOf(request("a", 1)), want: "a"},
		"Next":     {reason: "The deployment of the new request has its turn once.", deployment: deploymentOf(bank), want: "b"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			all, err := q.openRequests(tc.deployment, shopList)
			if err != nil {
				t.Fatal(err)
			}
			got := []string{}
			for _, r := range all {
				got = append(got, r.Name)
			}
			if diff := cmp.Diff([]string{tc.want}, got); diff != "" {
				t.Errorf("%s\nopenRequests(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
