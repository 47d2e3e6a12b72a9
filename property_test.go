package main

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/intentplane/intentplane/function/render"
)

// settled is a request with all answers, and what was asked for as observed. Sites come as a list.
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

// shuffled is the same request: lists of objects have no order, and neither has what is in them.
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
				one := f
				if n%50 == 49 {
					one = newFunction()
				}
				rsp, err := one.RunFunction(t.Context(), shuffled(req, random))
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
		"# A comment.\nservice: \"shop\"\nreplicas: 2\nsites:\n  - edge1\n  - edge2\nparameters:\n    greeting: |-\n      Hi\nresources:\n  memory: 1Gi\n  cpu: \"1\"\n",
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
		// It is of the text, and says which one the status is about.
		delete(rsp.GetDesired().GetComposite().GetResource().GetFields()["status"].GetStructValue().GetFields(), "intentDigest")
		if want == nil {
			want = rsp
		}
		if diff := cmp.Diff(want, rsp, protocmp.Transform()); diff != "" {
			t.Errorf("the intent of %v is another one: -want, +got:\n%s", composite, diff)
		}
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
