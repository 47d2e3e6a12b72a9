package workload

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/instruction"
)

// describeListings returns the resource, the namespace and the number of objects of each listing.
func describeListings(all []Listing) []string {
	var out []string
	for _, l := range all {
		gv := strings.TrimPrefix(l.Resource.GroupVersion().String(), "/")
		out = append(out, fmt.Sprintf("%s %s in %s: %d", gv, l.Resource.Resource, l.Namespace, len(l.Names)))
	}
	return out
}

func TestListings(t *testing.T) {
	// manifest is a file with objects, each with an apiVersion, a kind, and a namespace.
	manifest := func(objects ...string) []instruction.Manifest {
		documents := make([]string, len(objects))
		for i, o := range objects {
			fields := strings.Fields(o)
			documents[i] = fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: web-%d, namespace: %q}\n", fields[0], fields[1], i, strings.Join(fields[2:], ""))
		}
		return instruction.Read("a.yaml", []byte(strings.Join(documents, "---\n")))
	}
	many := func(count int) (objects, listed []string) {
		for i := range count {
			objects = append(objects, fmt.Sprintf("example.org/v1 %cItem shop", 'A'+i))
			listed = append(listed, fmt.Sprintf("example.org/v1 %citems in shop: 1", 'a'+i))
		}
		return objects, listed
	}
	objects, listed := many(20)
	cases := map[string]struct {
		reason    string
		delivered []instruction.Manifest
		want      []string
	}{
		"Workloads": {
			reason: "Deployments, StatefulSets, Jobs and pods may fail for good, and each kind is listed once.",
			delivered: manifest("batch/v1 Job shop", "apps/v1 Deployment shop", "v1 Pod shop", "apps/v1 StatefulSet shop",
				"apps/v1 Deployment shop"),
			want: []string{
				"v1 pods in shop: 1", "apps/v1 deployments in shop: 2", "apps/v1 statefulsets in shop: 1", "batch/v1 jobs in shop: 1",
			},
		},
		"BuiltIn": {
			reason: "The statuses of Kubernetes' other kinds declare nothing final: they are not listed, and Secrets are never read.",
			delivered: manifest("v1 Secret shop", "v1 ConfigMap shop", "v1 Service shop", "networking.k8s.io/v1 Ingress shop",
				"apps/v1 DaemonSet shop", "batch/v1 CronJob shop"),
		},
		"Custom": {
			reason: "A controller of any other kind may be stalled.",
			delivered: manifest("external-secrets.io/v1 ExternalSecret shop", "cert-manager.io/v1 Certificate shop",
				"helm.toolkit.fluxcd.io/v2 HelmRelease shop", "kustomize.toolkit.fluxcd.io/v1 Kustomization shop"),
			want: []string{
				"cert-manager.io/v1 certificates in shop: 1", "external-secrets.io/v1 externalsecrets in shop: 1",
				"helm.toolkit.fluxcd.io/v2 helmreleases in shop: 1", "kustomize.toolkit.fluxcd.io/v1 kustomizations in shop: 1",
			},
		},
		"Plurals": {
			reason: "The plural of a kind is the plural of its definition.",
			delivered: manifest("source.toolkit.fluxcd.io/v1 HelmRepository shop", "example.org/v1 Mesh shop", "example.org/v1 ApiGateway shop",
				"example.org/v1 Policy shop"),
			want: []string{
				"example.org/v1 apigateways in shop: 1", "example.org/v1 meshes in shop: 1", "example.org/v1 policies in shop: 1",
				"source.toolkit.fluxcd.io/v1 helmrepositories in shop: 1",
			},
		},
		"Runs": {
			reason:    "The objects of batch systems are listed by the plurals of their definitions.",
			delivered: manifest("sparkoperator.k8s.io/v1beta2 SparkApplication shop", "ray.io/v1 RayJob shop", "batch.volcano.sh/v1alpha1 Job shop"),
			want: []string{
				"batch.volcano.sh/v1alpha1 jobs in shop: 1", "ray.io/v1 rayjobs in shop: 1",
				"sparkoperator.k8s.io/v1beta2 sparkapplications in shop: 1",
			},
		},
		"Order": {
			reason: "Workloads come before routes, and routes before other kinds.",
			delivered: manifest("a.example.org/v1 Cache shop", "gateway.networking.k8s.io/v1 HTTPRoute shop",
				"gateway.networking.k8s.io/v1alpha2 TLSRoute shop", "argoproj.io/v1alpha1 Rollout shop", "apps/v1 Deployment shop"),
			want: []string{
				"apps/v1 deployments in shop: 1", "argoproj.io/v1alpha1 rollouts in shop: 1",
				"gateway.networking.k8s.io/v1 httproutes in shop: 1", "gateway.networking.k8s.io/v1alpha2 tlsroutes in shop: 1",
				"a.example.org/v1 caches in shop: 1",
			},
		},
		"Gateway": {
			reason: "Of the Gateway API, Gateways refuse routes alone.",
			delivered: manifest("gateway.networking.k8s.io/v1 Gateway shop", "gateway.networking.k8s.io/v1beta1 ReferenceGrant shop",
				"gateway.networking.k8s.io/v1 GRPCRoute shop"),
			want: []string{"gateway.networking.k8s.io/v1 grpcroutes in shop: 1"},
		},
		"Namespaces": {
			reason:    "Objects are listed in their own namespaces, and objects without one are not listed.",
			delivered: manifest("apps/v1 Deployment shop", "apps/v1 Deployment bank", "example.org/v1 Cache"),
			want:      []string{"apps/v1 deployments in bank: 1", "apps/v1 deployments in shop: 1"},
		},
		"Bound": {
			reason:    "A directory of many kinds costs sixteen lists, and its workloads come first.",
			delivered: manifest(append(objects, "batch/v1 Job shop")...), want: append([]string{"batch/v1 jobs in shop: 1"}, listed[:15]...),
		},
		"Empty": {reason: "A directory without objects costs nothing."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, describeListings(Listings(tc.delivered))); diff != "" {
				t.Errorf("\n%s\nListings(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
