package main

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/crossplane/function-sdk-go/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/yaml"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/function/deployment"
	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/function/render"
)

// cacheBytes is the default cache size of the function.
const cacheBytes = 12 << 20

// BenchmarkRunFunction measures calls for two Sites. Each figure is relative to work that every function has to do, in the same run: cold
// against kustomize alone, warm against decoding the request. The sub-benchmarks report them under the names that they are known by:
//
//	render_cold_over_kustomize  render_warm_over_decode  render_changed_over_decode  allocated_over_request  render_1000_objects_s
func BenchmarkRunFunction(b *testing.B) {
	b.Run("cold", func(b *testing.B) { benchmarkCold(b, 20) })
	b.Run("warm", func(b *testing.B) { benchmarkWarm(b, 20) })
	b.Run("changed", func(b *testing.B) { benchmarkChanged(b, 20) })
	b.Run("cold1000", benchmarkColdMany)
}

// benchmarkCold runs each call with an empty cache in a warm process.
func benchmarkCold(b *testing.B, objects int) {
	b.Helper()
	req, layouts, renderer := benchRequest(b, objects, "edge1", "edge2"), layoutsOf(b, objects), render.NewRenderer()
	bare, ours := time.Duration(0), time.Duration(0)
	kustomizeAll(b, layouts)
	call(b, serve(renderer), req)
	for b.Loop() {
		bare += timed(func() { kustomizeAll(b, layouts) })
		f := serve(renderer)
		ours += timed(func() { call(b, f, req) })
	}
	b.ReportMetric(float64(ours)/float64(bare), "render_cold_over_kustomize")
	b.ReportMetric(float64(ours.Milliseconds())/float64(b.N), "ms/call")
}

// warmCalls are counted together, so that a call's share of the allocations is exact.
const warmCalls = 100

// benchmarkWarm runs the same call again, from the bytes that arrive on: that of a deployment which is delivered.
func benchmarkWarm(b *testing.B, objects int) {
	b.Helper()
	f := serve(render.NewRenderer())
	req := benchRequest(b, objects, "edge1", "edge2")
	settle(b, f, req)
	wire, err := proto.Marshal(req)
	if err != nil {
		b.Fatal(err)
	}
	decoding, ours, allocated := time.Duration(0), time.Duration(0), uint64(0)
	for b.Loop() {
		decoding += timed(func() { times(warmCalls, func() { decodeAll(b, received(b, wire)) }) })
		baseline := totalAlloc()
		ours += timed(func() { times(warmCalls, func() { call(b, f, received(b, wire)) }) })
		allocated += totalAlloc() - baseline
	}
	calls := float64(b.N * warmCalls)
	b.ReportMetric(float64(ours)/float64(decoding), "render_warm_over_decode")
	b.ReportMetric(float64(allocated)/calls/float64(len(wire)), "allocated_over_request")
	b.ReportMetric(float64(len(wire)), "request_bytes")
	b.ReportMetric(float64(ours.Microseconds())/calls, "us/call")
}

// benchmarkChanged makes calls that differ from each other in an unused field: no answer is cached, but files are.
func benchmarkChanged(b *testing.B, objects int) {
	b.Helper()
	f := serve(render.NewRenderer())
	req := benchRequest(b, objects, "edge1", "edge2")
	settle(b, f, req)
	decoding, ours, n := time.Duration(0), time.Duration(0), 0
	for b.Loop() {
		n++
		req.GetObserved().GetComposite().GetResource().GetFields()["metadata"].GetStructValue().Fields["resourceVersion"] = structpb.NewStringValue(strconv.Itoa(n))
		wire, err := proto.Marshal(req)
		if err != nil {
			b.Fatal(err)
		}
		decoding += timed(func() { decodeAll(b, received(b, wire)) })
		ours += timed(func() { call(b, f, received(b, wire)) })
	}
	b.ReportMetric(float64(ours)/float64(decoding), "render_changed_over_decode")
}

func times(n int, do func()) {
	for range n {
		do()
	}
}

func totalAlloc() uint64 {
	m := runtime.MemStats{}
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func received(tb testing.TB, wire []byte) *fnv1.RunFunctionRequest {
	tb.Helper()
	req := &fnv1.RunFunctionRequest{}
	if err := proto.Unmarshal(wire, req); err != nil {
		tb.Fatal(err)
	}
	return req
}

// benchmarkColdMany renders 250 objects for each of four Sites.
func benchmarkColdMany(b *testing.B) {
	req, renderer := benchRequest(b, 250, "edge1", "edge2", "edge3", "edge4"), render.NewRenderer()
	ours, baseline := time.Duration(0), processorTime(b)
	for b.Loop() {
		f := serve(renderer)
		ours += timed(func() { call(b, f, req) })
	}
	b.ReportMetric(ours.Seconds()/float64(b.N), "render_1000_objects_s")
	b.ReportMetric((processorTime(b)-baseline).Seconds()/float64(b.N), "render_1000_objects_cpu_s")
}

// processorTime is the processor time of this process so far. It hardly depends on other processes.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	u := syscall.Rusage{}
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func timed(do func()) time.Duration {
	begin := time.Now()
	do()
	return time.Since(begin)
}

func serve(r *render.Renderer) *Function {
	answered, rendered := splitCacheBytes(cacheBytes)
	return NewFunction(deployment.New(render.NewCache(r, rendered)), logging.NewNopLogger(), time.Minute, time.Now).Remember(answered)
}

func call(tb testing.TB, f *Function, req *fnv1.RunFunctionRequest) *fnv1.RunFunctionResponse {
	tb.Helper()
	rsp, err := f.RunFunction(context.Background(), req)
	if err != nil {
		tb.Fatal(err)
	}
	if len(rsp.GetDesired().GetResources()) != 1 {
		tb.Fatalf("nothing is delivered: %v %v", rsp.GetResults(), rsp.GetConditions())
	}
	return rsp
}

// decodeAll decodes a request up to the typed objects that the core works on.
func decodeAll(tb testing.TB, req *fnv1.RunFunctionRequest) {
	tb.Helper()
	in, err := decodeDeployment(req)
	if err != nil {
		tb.Fatal(err)
	}
	for name, raw := range in.Answers {
		into := map[string]any{"s": &catalogv1alpha1.Site{}, "b": &catalogv1alpha1.Blueprint{}, "c": &configv1alpha1.ClusterProviderConfig{}}[name[:1]]
		for _, r := range raw {
			if err := json.Unmarshal(r, into); err != nil {
				tb.Fatal(err)
			}
		}
	}
}

func kustomizeAll(tb testing.TB, layouts []filesys.FileSystem) {
	tb.Helper()
	for _, fs := range layouts {
		m, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(fs, "/")
		if err != nil {
			tb.Fatal(err)
		}
		if _, err := m.AsYaml(); err != nil {
			tb.Fatal(err)
		}
	}
}

// layoutsOf are the same builds as files.
func layoutsOf(tb testing.TB, objects int) []filesys.FileSystem {
	tb.Helper()
	b := map[string]any{}
	if err := yaml.Unmarshal([]byte(blueprintOf(objects)), &b); err != nil {
		tb.Fatal(err)
	}
	in := render.Input{Intent: intent.Intent{Service: "shop", Type: "web", Replicas: 2}, Claim: render.Claim{Namespace: "team-a", Name: "shop"}}
	if err := yaml.Unmarshal([]byte(blueprintOf(objects)), &in.Blueprint); err != nil {
		tb.Fatal(err)
	}
	out := []filesys.FileSystem{}
	for _, site := range []string{"edge1", "edge2"} {
		in.Site.Name = site
		files, err := render.Layout(in)
		if err != nil {
			tb.Fatal(err)
		}
		fs := filesys.MakeFsInMemory()
		for name, text := range files {
			if err := fs.WriteFile("/"+name, text); err != nil {
				tb.Fatal(err)
			}
		}
		out = append(out, fs)
	}
	return out
}

// benchRequest is a call that has all of its answers.
func benchRequest(tb testing.TB, objects int, sites ...string) *fnv1.RunFunctionRequest {
	tb.Helper()
	site := func(name string) *fnv1.Resources {
		return items(tb, `{apiVersion: catalog.intentplane.dev/v1alpha1, kind: Site, metadata: {name: `+name+`}, spec: {cluster: {controlPlane: {}},
			engine: {type: None, unobservedIsLive: true}, repository: {path: clusters/`+name+`, layout: Kustomization}, allowedNamespaces: [team-a],
			targetNamespaces: {allowed: ["{claimNamespace}"], clusterScoped: Deny}}}`)
	}
	req := &fnv1.RunFunctionRequest{
		Observed: &fnv1.State{Composite: &fnv1.Resource{Resource: object(tb, `{apiVersion: intentplane.dev/v1alpha1, kind: IntentDeployment,
			metadata: {namespace: team-a, name: shop}, spec: {intent: '{"service": "shop", "sites": ["`+strings.Join(sites, `", "`)+`"], "replicas": 2}',
			compileConfig: {renderTimeout: 60s}}}`)}},
		RequiredResources: map[string]*fnv1.Resources{
			"site/edge1": site("edge1"),
			"site/edge2": site("edge2"),
			"blueprints/blueprint=web,channel=stable": items(tb, blueprintOf(objects)),
			"config/ClusterProviderConfig//default": items(tb, `{apiVersion: config.intentplane.dev/v1alpha1, kind: ClusterProviderConfig, metadata: {name: default},
				spec: {controlPlane: demo, git: {url: "https://git.example.org/fleet.git", branch: main}}}`),
		},
	}
	for _, name := range sites {
		req.RequiredResources["site/"+name] = site(name)
	}
	return req
}

func items(tb testing.TB, text string) *fnv1.Resources {
	tb.Helper()
	return &fnv1.Resources{Items: []*fnv1.Resource{{Resource: object(tb, text)}}}
}

func object(tb testing.TB, text string) *structpb.Struct {
	tb.Helper()
	b, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	s := &structpb.Struct{}
	if err := protojson.Unmarshal(b, s); err != nil {
		tb.Fatal(err)
	}
	return s
}

// settle plays Crossplane and the provider, until nothing changes any longer.
func settle(tb testing.TB, f *Function, req *fnv1.RunFunctionRequest) {
	tb.Helper()
	for range 3 {
		observe(tb, req, call(tb, f, req))
	}
}

// observe makes the next call of a response: the desired resources were applied, and carried out.
func observe(tb testing.TB, req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse) {
	tb.Helper()
	req.Observed.Composite.Resource.Fields["status"] = rsp.GetDesired().GetComposite().GetResource().GetFields()["status"]
	req.Observed.Resources = map[string]*fnv1.Resource{}
	for name, r := range rsp.GetDesired().GetResources() {
		o := &unstructured.Unstructured{}
		if err := decodeStruct(r.GetResource(), o); err != nil {
			tb.Fatal(err)
		}
		carryOut(tb, o)
		s, err := encodeStruct(o.Object)
		if err != nil {
			tb.Fatal(err)
		}
		req.Observed.Resources[name] = &fnv1.Resource{Resource: s}
	}
}

// carryOut gives a delivery the fields that Crossplane and the provider write.
func carryOut(tb testing.TB, o *unstructured.Unstructured) {
	tb.Helper()
	o.SetManagedFields([]metav1.ManagedFieldsEntry{{
		Manager: "apiextensions.crossplane.io/composed/1", Operation: metav1.ManagedFieldsOperationApply,
		APIVersion: o.GetAPIVersion(), FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: fieldsOf(tb, o)},
	}})
	o.SetName("shop-4f9d1c2b7a6e")
	o.SetGeneration(1)
	o.SetUID("6b1f1f6e-2f43-4a9c-9d3a-0d5f3a1f4c11")
	o.SetResourceVersion("123456")
	order, _, _ := unstructured.NestedMap(o.Object, "spec", "forProvider", "order")
	conditions := []any{}
	for _, typ := range []string{"Ready", "Synced"} {
		conditions = append(conditions, map[string]any{
			"type": typ, "status": "True", "reason": "Delivered", "observedGeneration": int64(1), "lastTransitionTime": "2031-12-17T13:14:15Z",
		})
	}
	o.Object["status"] = map[string]any{
		"conditions": conditions,
		"atProvider": map[string]any{"order": order, "remote": map[string]any{"commit": strings.Repeat("0123456789", 4)}},
	}
}

func fieldsOf(tb testing.TB, o *unstructured.Unstructured) []byte {
	tb.Helper()
	v, err := typed.DeducedParseableType.FromUnstructured(o.Object)
	if err != nil {
		tb.Fatal(err)
	}
	set, err := v.ToFieldSet()
	if err != nil {
		tb.Fatal(err)
	}
	fields, err := set.ToJSON()
	if err != nil {
		tb.Fatal(err)
	}
	return fields
}

// blueprintOf returns a Blueprint with so many Deployments, in files of 50, whose replicas come from the intent.
func blueprintOf(objects int) string {
	const manifest = `    apiVersion: apps/v1
      kind: Deployment
      metadata: {name: app-%d}
      spec:
        replicas: 1
        selector: {matchLabels: {app: app-%[1]d}}
        template:
          metadata: {labels: {app: app-%[1]d}}
          spec:
            containers:
            - name: app
              image: nginx:1.27
              ports: [{name: http, containerPort: 80}]
              resources: {requests: {cpu: 100m, memory: 128Mi}, limits: {memory: 256Mi}}
              readinessProbe: {httpGet: {path: /, port: http}}
`
	files, names := strings.Builder{}, []string{"intent.yaml"}
	for i := range objects {
		if i%50 == 0 {
			name := fmt.Sprintf("deployments-%d.yaml", i/50)
			names = append(names, name)
			fmt.Fprintf(&files, "    %s: |\n", name)
		}
		fmt.Fprintf(&files, "      ---\n  "+manifest, i)
	}
	return `apiVersion: catalog.intentplane.dev/v1alpha1
kind: Blueprint
metadata: {name: web-1.0.0, labels: {blueprint: web, channel: stable}}
spec:
  blueprintName: web
  version: 1.0.0
  serviceTypes: [web]
  files:
    kustomization.yaml: |
      resources: [` + strings.Join(names, ", ") + `]
      replacements:
      - source: {kind: ConfigMap, name: intent, fieldPath: data.replicas}
        targets: [{select: {kind: Deployment}, fieldPaths: [spec.replicas]}]
` + files.String()
}
