package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/render"
)

func TestClaimFor(t *testing.T) {
	const forged = `"claimRef": {"apiVersion": "claims.intentplane.dev/v1alpha1", "kind": "IntentDeployment", "namespace": "team-b", "name": "bank"}`
	cases := map[string]struct {
		reason    string
		composite string
		want      rolloutv1alpha1.ClaimReference
		wantErr   bool
	}{
		"Claim": {
			reason:    "A composite in no namespace speaks for its claim.",
			composite: `{"kind": "XIntentDeployment", "metadata": {"name": "bank-x1"}, "spec": {` + forged + `}}`,
			want:      rolloutv1alpha1.ClaimReference{APIGroup: "claims.intentplane.dev", Kind: "IntentDeployment", Namespace: "team-b", Name: "bank"},
		},
		"Namespaced": {
			reason:    "A composite in a namespace speaks for itself.",
			composite: `{"kind": "IntentDeployment", "metadata": {"namespace": "team-a", "name": "shop"}, "spec": {}}`,
			want:      rolloutv1alpha1.ClaimReference{APIGroup: "intentplane.dev", Kind: "IntentDeployment", Namespace: "team-a", Name: "shop"},
		},
		"GHSA-77cv-mrm6-fr3c-Forged": {
			reason:    "A composite in a namespace cannot speak for a claim of another namespace.",
			composite: `{"kind": "IntentDeployment", "metadata": {"namespace": "team-a", "name": "shop"}, "spec": {` + forged + `}}`,
			want:      rolloutv1alpha1.ClaimReference{APIGroup: "intentplane.dev", Kind: "IntentDeployment", Namespace: "team-a", Name: "shop"},
		},
		"Neither": {
			reason:    "A composite with neither a claim nor a namespace is refused.",
			composite: `{"kind": "XIntentDeployment", "metadata": {"name": "bank-x1"}, "spec": {}}`, wantErr: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := &intentDeployment{}
			if err := json.Unmarshal([]byte(tc.composite), d); err != nil {
				t.Fatal(err)
			}
			got := rolloutv1alpha1.ClaimReference{}
			claim, err := claimOfComposite(d.TypeMeta, d.Metadata, d.Spec.ClaimRef)
			if err == nil {
				got = d.claimReference(claim)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || (err != nil) != tc.wantErr {
				t.Errorf("\n%s\nclaimReference(...): %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

// maxRequest is the largest request that the function takes unless a flag says otherwise, in bytes.
const maxRequest = 16 << 20

// served returns a client of a function behind a gRPC server with the function's own limit.
func served(t *testing.T, f *Function) fnv1.FunctionRunnerServiceClient {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(maxRequest))
	fnv1.RegisterFunctionRunnerServiceServer(server, f)
	go func() { _ = server.Serve(l) }()
	t.Cleanup(server.Stop)
	client, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return fnv1.NewFunctionRunnerServiceClient(client)
}

// selects is true for an object that Crossplane finds with a selector.
func selects(sel *fnv1.ResourceSelector, s *structpb.Struct) bool {
	metadata := s.GetFields()["metadata"].GetStructValue().GetFields()
	if kindOf(s) != sel.GetKind() || sel.GetMatchName() != "" && metadata["name"].GetStringValue() != sel.GetMatchName() {
		return false
	}
	for key, value := range sel.GetMatchLabels().GetLabels() {
		if metadata["labels"].GetStructValue().GetFields()[key].GetStringValue() != value {
			return false
		}
	}
	return true
}

// labelled sets the label that the provider sets on every Site.
func labelled(t *testing.T, s *structpb.Struct) {
	t.Helper()
	site := &catalogv1alpha1.Site{}
	if err := decodeStruct(s, site); err != nil {
		t.Fatal(err)
	}
	site.SetUsableFrom()
	labels := map[string]any{}
	for key, value := range site.GetLabels() {
		labels[key] = value
	}
	v, err := structpb.NewStruct(labels)
	if err != nil {
		t.Fatal(err)
	}
	s.GetFields()["metadata"].GetStructValue().GetFields()["labels"] = structpb.NewStructValue(v)
}

// TestHostileSites has the Sites of a tenant with as many parameters as the schema allows: more than a request can hold.
func TestHostileSites(t *testing.T) {
	objects := catalogOf(t)
	parameters := make([]string, 64)
	for i := range parameters {
		parameters[i] = fmt.Sprintf("p%d: %s", i, strings.Repeat("x", 4096))
	}
	for i := range 66 {
		name := fmt.Sprintf("hostile.c%d", i)
		objects["Site/"+name] = parse(t, fmt.Sprintf("apiVersion: catalog.intentplane.dev/v1alpha1\nkind: Site\nmetadata: {name: %s}\nspec:\n  allowedNamespaces: [hostile]\n"+
			"  cluster: {controlPlane: {}}\n  engine: {type: None, unobservedIsLive: true}\n  repository: {path: clusters/%s}\n  parameters:\n    %s", name, name, strings.Join(parameters, "\n    ")))
	}
	for _, o := range objects {
		if kindOf(o) == "Site" {
			labelled(t, o)
		}
	}
	// The race detector on a busy machine takes longer than the default to compile so many Sites.
	composite := strings.Replace(claimComposite, `"sites": ["edge1", "edge2"]`, `"site": "all"`, 1) + "  compileConfig: {renderTimeout: 60s}\n"
	client, req := served(t, newFunction()), request(t, composite)
	rsp := callServed(t, client, req)
	for range 5 {
		req.RequiredResources = map[string]*fnv1.Resources{}
		for name, sel := range rsp.GetRequirements().GetResources() {
			req.RequiredResources[name] = &fnv1.Resources{}
			for _, o := range objects {
				if selects(sel, o) {
					req.RequiredResources[name].Items = append(req.RequiredResources[name].Items, &fnv1.Resource{Resource: o})
				}
			}
		}
		rsp = callServed(t, client, req)
	}
	delivery := rsp.GetDesired().GetResources()
	if len(delivery) != 1 {
		t.Fatalf("a deployment to all Sites of another namespace is not compiled: %v, %v", rsp.GetConditions(), rsp.GetResults())
	}
	for name, r := range delivery {
		trees := r.GetResource().GetFields()["spec"].GetStructValue().GetFields()["forProvider"].GetStructValue().GetFields()["trees"].GetListValue().GetValues()
		if len(trees) != 2 {
			t.Errorf("%s: %d trees, want those of edge1 and edge2", name, len(trees))
		}
	}
}

func callServed(t *testing.T, client fnv1.FunctionRunnerServiceClient, req *fnv1.RunFunctionRequest) *fnv1.RunFunctionResponse {
	t.Helper()
	rsp, err := client.RunFunction(context.WithoutCancel(t.Context()), req)
	if err != nil {
		t.Fatalf("the function takes no request of this deployment: %v", err)
	}
	return rsp
}

// settled is a request with all answers, and with the desired resources as observed. Sites come as a list.
func settled(t *testing.T) *fnv1.RunFunctionRequest {
	t.Helper()
	req, objects := request(t, withIntent(`{"service": "shop", "sites": ["all"], "replicas": 2, "parameters": {"greeting": "Hi"}}`)), catalogOf(t)
	for range 3 {
		rsp := run(t, newFunction(), req)
		answer(req, rsp, objects)
		req.Observed.Resources = map[string]*fnv1.Resource{}
		for name, r := range rsp.GetDesired().GetResources() {
			req.Observed.Resources[name] = proto.CloneOf(r)
		}
	}
	if len(req.GetObserved().GetResources()) != 1 {
		t.Fatal("nothing is delivered")
	}
	return req
}

func withIntent(intent string) string {
	return string(bytes.Replace([]byte(namespacedComposite), []byte(`'{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 2}'`), []byte("'"+intent+"'"), 1))
}

// shuffled is the same request: lists of objects have no order, and neither have the maps in them.
func shuffled(req *fnv1.RunFunctionRequest, random *rand.Rand) *fnv1.RunFunctionRequest {
	out := proto.CloneOf(req)
	for _, group := range out.GetRequiredResources() {
		all := group.GetItems()
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	return out
}

func encoded(t *testing.T, rsp *fnv1.RunFunctionResponse) []byte {
	t.Helper()
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(rsp)
	if err != nil {
		t.Error(err)
	}
	return b
}

// TestSameRequestSameBytes asks 1,000 times, eight at once. Every 50th is asked of a function that remembers nothing.
func TestSameRequestSameBytes(t *testing.T) {
	req, f := settled(t), serve(render.NewRenderer())
	f.now, f.ttl = newFunction().now, testTTL
	want := encoded(t, run(t, f, req))
	const callers, calls = 8, 125
	var all sync.WaitGroup
	for caller := range callers {
		random := rand.New(rand.NewPCG(uint64(caller), 2))
		all.Go(func() {
			for n := range calls {
				shared := f
				if n%50 == 49 {
					shared = newFunction()
				}
				rsp, err := shared.RunFunction(t.Context(), shuffled(req, random))
				if err != nil || !bytes.Equal(want, encoded(t, rsp)) {
					t.Errorf("RunFunction(...): call %d of caller %d is another one: %v", n, caller, err)
					return
				}
			}
		})
	}
	all.Wait()
}

// TestStyleChangesNothing says one intent in styles and orders of fields.
func TestStyleChangesNothing(t *testing.T) {
	texts := []string{
		`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 2, "parameters": {"greeting": "Hi"}, "resources": {"cpu": "1", "memory": "1Gi"}}`,
		`{"resources": {"memory": "1024Mi", "cpu": "1.0"}, "parameters": {"greeting": "Hi"}, "replicas": 2, "sites": ["edge2", "edge1"], "service": "shop"}`,
		"service: shop\nreplicas: 2\nsites: [edge1, edge2]\nresources: {cpu: 1000m, memory: 1Gi}\nparameters: {'greeting': Hi}\n",
		"# A comment.\nservice: \"shop\"\nreplicas: 2\nsites:\n  - edge1\n  - edge2\nparameters:\n    greeting: |-\n      Hi\nresources:\n  " +
			"memory: 1Gi\n  cpu: \"1\"\n",
	}
	expectation := parse(t, `{sites: [edge2, edge1], service: shop, parameters: {greeting: Hi}, replicas: 2, resources: {memory: 1Gi, cpu: 1000m}}`)
	all := []*structpb.Struct{withSpec(t, "expectation", structpb.NewStructValue(expectation))}
	for _, text := range texts {
		all = append(all, withSpec(t, "intent", structpb.NewStringValue(text)))
	}
	var want *fnv1.RunFunctionResponse
	for _, composite := range slices.Backward(all) {
		req := &fnv1.RunFunctionRequest{Observed: &fnv1.State{Composite: &fnv1.Resource{Resource: composite}}}
		f, objects := newFunction(), catalogOf(t)
		for range 3 {
			answer(req, run(t, f, req), objects)
		}
		rsp := run(t, f, req)
		if len(rsp.GetDesired().GetResources()) != 1 {
			t.Fatalf("nothing is delivered for %v: %v", composite, rsp.GetConditions())
		}
		deleteTextDigests(rsp)
		if want == nil {
			want = rsp
		}
		if diff := cmp.Diff(want, rsp, protocmp.Transform()); diff != "" {
			t.Errorf("the intent of %v is another one: -want, +got:\n%s", composite, diff)
		}
	}
}

// deleteTextDigests deletes the digests of the text of an intent: they say which text the status and the mandate are about.
func deleteTextDigests(rsp *fnv1.RunFunctionResponse) {
	delete(rsp.GetDesired().GetComposite().GetResource().GetFields()["status"].GetStructValue().GetFields(), "intentDigest")
	for _, r := range rsp.GetDesired().GetResources() {
		spec := r.GetResource().GetFields()["spec"].GetStructValue().GetFields()
		mandate := spec["forProvider"].GetStructValue().GetFields()["mandate"]
		delete(mandate.GetStructValue().GetFields(), "spec")
	}
}

func withSpec(t *testing.T, field string, value *structpb.Value) *structpb.Struct {
	t.Helper()
	c := parse(t, namespacedComposite)
	spec := c.GetFields()["spec"].GetStructValue().GetFields()
	delete(spec, "intent")
	spec[field] = value
	return c
}
