package live

import (
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/test/cli"
)

func TestWhy(t *testing.T) {
	clusterScoped := map[string]bool{
		"providers.pkg.crossplane.io": true, "functions.pkg.crossplane.io": true, "compositeresourcedefinitions.apiextensions.crossplane.io": true,
		"xintentdeployments.claims.intentplane.dev": true, "leases.coordination.k8s.io": true,
	}
	cases := map[string]struct {
		reason string
		sample *samples.Sample
		denied map[string]bool
		edit   func([]*unstructured.Unstructured)
		args   []string
		code   int
		says   []string
		not    string
	}{
		"Password": {
			reason: "The cause, the actor and the action are named, with the chain through the composite of a claim.", sample: samples.WrongPassword(),
			says: []string{
				"Cause:      GitDelivery shop-fleet: AuthFailed: git.example.org: 401", "Who acts:   the platform team",
				"Wakes it:   a change of the Secret", "XIntentDeployment shop-x",
			},
			not: "Not read",
		},
		"Edit": {
			reason: "A user with the role edit in one namespace gets the same cause, and sees the unread kinds.", sample: samples.WrongPassword(), denied: clusterScoped,
			says: []string{
				"Cause:      GitDelivery shop-fleet: AuthFailed", "Who acts:   the platform team",
				"Not read:   providers.pkg.crossplane.io: the user may not read them", "Not read:   leases",
			},
		},
		"Good": {
			reason: "A deployment that runs has no cause.",
			sample: samples.Verified(), says: []string{"Nothing is in the way. Every Site runs the revision."}, not: "Cause",
		},
		"Breaker": {
			reason: "The circuit breaker of the composite of a claim is found.", sample: samples.EngineFailed(),
			edit: func(all []*unstructured.Unstructured) {
				all[4].Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Responsive", "status": "False", "reason": "WatchCircuitOpen", "message": "Too many watch events from ConfigMap/x."}}}
			},
			says: []string{
				"Cause:      Crossplane's circuit breaker: WatchCircuitOpen: Too many watch", "Crossplane, which watches it again after five minutes",
				"the platform team, if it lasts",
			},
		},
		"JSON": {
			reason: "A script gets the finding.",
			sample: samples.WrongPassword(), args: []string{"-o", "json"},
			says: []string{`"actor": "PlatformTeam"`, `"isGood": false`, `"object": "GitDelivery shop-fleet"`},
		},
		"Missing": {
			reason: "A name that nothing has is an error.",
			sample: samples.Verified(), args: []string{"-n", "team-z"}, code: terminal.ExitInvalid,
			says: []string{"has no Application, no IntentDeployment, no WorkloadCluster and no Bundle"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := &cli.Server{Objects: cli.Crossplane(t), Denied: tc.denied}
			if tc.edit != nil {
				tc.edit(server.Objects)
			}
			kubeconfig := cli.ServeSamples(t, server, map[string]*samples.Sample{"team-a": cli.AsClaim(tc.sample)})
			for _, o := range server.Objects {
				if o.GetKind() == "IntentDeployment" {
					if err := unstructured.SetNestedStringMap(o.Object, map[string]string{"apiVersion": "claims.intentplane.dev/v1alpha1", "kind": "XIntentDeployment", "name": "shop-x"}, "spec", "resourceRef"); err != nil {
						t.Fatal(err)
					}
				}
			}
			out, problems, code := runIntent("", append([]string{"why", "shop", "--kubeconfig", kubeconfig}, tc.args...)...)
			if code != tc.code || tc.not != "" && strings.Contains(out, tc.not) {
				t.Errorf("\n%s\nwhy: want %d and not %q, got %d:\n%s%s", tc.reason, tc.code, tc.not, code, out, problems)
			}
			for _, want := range tc.says {
				if !strings.Contains(out+problems, want) {
					t.Errorf("\n%s\nwhy: want %q, got:\n%s%s", tc.reason, want, out, problems)
				}
			}
		})
	}
}

// maxWhyRequests is how many requests an answer costs at most.
const maxWhyRequests = 15

// TestWhyRequests counts the requests of an answer, of a claim and of a cluster, which are looked for in both shapes.
func TestWhyRequests(t *testing.T) {
	server := &cli.Server{Objects: cli.Crossplane(t)}
	kubeconfig := cli.ServeSamples(t, server, map[string]*samples.Sample{"team-a": cli.AsClaim(samples.WrongPassword())})
	server.Objects = append(server.Objects, cli.Parse(t, `{apiVersion: claims.intentplane.dev/v1alpha1, kind: WorkloadCluster, metadata: {namespace: team-a, name: prod},
		spec: {resourceRef: {apiVersion: claims.intentplane.dev/v1alpha1, kind: XWorkloadCluster, name: prod-x}}, status: {managedCluster: prod-x}}`))
	for _, name := range []string{"shop", "prod"} {
		n := &atomic.Int64{}
		server.Requests = n
		out, problems, code := runIntent("", "why", name, "--kubeconfig", kubeconfig)
		if code != 0 || !strings.Contains(out, "Who acts") {
			t.Fatalf("why %s: %d\n%s%s", name, code, out, problems)
		}
		t.Logf("why %s: %d requests", name, n.Load())
		if n.Load() > maxWhyRequests || n.Load() == 0 {
			t.Errorf("why %s makes %d requests, want at most %d", name, n.Load(), maxWhyRequests)
		}
	}
}

// TestWhyRequestsOfApplication counts the requests of an answer about a claim that is an Application.
func TestWhyRequestsOfApplication(t *testing.T) {
	s, n := samples.Crashing(), &atomic.Int64{}
	objects, err := s.Objects()
	if err != nil {
		t.Fatal(err)
	}
	objects[0].SetAPIVersion("claims.intentplane.dev/v1alpha1")
	if err := unstructured.SetNestedStringMap(objects[0].Object, map[string]string{"apiVersion": "claims.intentplane.dev/v1alpha1", "kind": "XApplication", "name": "shop-x"}, "spec", "resourceRef"); err != nil {
		t.Fatal(err)
	}
	server := &cli.Server{Objects: append(cli.Crossplane(t), objects...), Requests: n}
	out, problems, code := runIntent("", "why", "shop", "--kubeconfig", server.Start(t))
	if code != 0 || !strings.Contains(out, "Application claims.intentplane.dev") || !strings.Contains(out, "Site edge2: CrashLoopBackOff") {
		t.Fatalf("why shop: %d\n%s%s", code, out, problems)
	}
	t.Logf("why shop: %d requests", n.Load())
	if n.Load() > maxWhyRequests {
		t.Errorf("why makes %d requests about an Application, want at most %d", n.Load(), maxWhyRequests)
	}
}
