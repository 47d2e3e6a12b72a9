package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/function-sdk-go/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
	"sigs.k8s.io/yaml"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/deployment"
	"github.com/intentplane/intentplane/function/render"
	"github.com/intentplane/intentplane/test/soak"
)

const (
	testTTL = 10 * time.Minute

	claimComposite = `
apiVersion: claims.intentplane.dev/v1alpha1
kind: XIntentDeployment
metadata: {name: shop-x7k2p, generation: 3, uid: u}
spec:
  claimRef: {apiVersion: claims.intentplane.dev/v1alpha1, kind: IntentDeployment, namespace: team-a, name: shop}
  compositionRef: {name: deployments}
  resourceRefs: [{apiVersion: v1, kind: X, name: y}]
  intent: '{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 2}'
`
	namespacedComposite = `
apiVersion: intentplane.dev/v1alpha1
kind: IntentDeployment
metadata: {name: shop, namespace: team-a}
spec:
  crossplane: {compositionRef: {name: deployments}}
  intent: '{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 2}'
`
)

func newFunction() *Function {
	now := func() time.Time { return time.Date(2031, 12, 17, 13, 14, 15, 16, time.UTC) }
	return NewFunction(deployment.New(render.NewRenderer()), logging.NewNopLogger(), testTTL, now)
}

func parse(t *testing.T, text string) *structpb.Struct {
	t.Helper()
	b, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s := &structpb.Struct{}
	if err := protojson.Unmarshal(b, s); err != nil {
		t.Fatal(err)
	}
	return s
}

func request(t *testing.T, composite string) *fnv1.RunFunctionRequest {
	t.Helper()
	return &fnv1.RunFunctionRequest{
		Meta:     &fnv1.RequestMeta{Tag: "tag"},
		Observed: &fnv1.State{Composite: &fnv1.Resource{Resource: parse(t, composite)}},
	}
}

// catalogOf has the objects of the quickstart, whose Sites have no engine, and further objects, which replace objects of the same kind and name.
func catalogOf(t *testing.T, further ...string) map[string]*structpb.Struct {
	t.Helper()
	var docs []string
	for _, file := range []string{"trial/10-sites.yaml", "quickstart/20-blueprint.yaml", "quickstart/30-config.yaml"} {
		b, err := os.ReadFile(filepath.Join("examples", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, strings.Split(string(b), "\n---\n")...)
	}
	out := map[string]*structpb.Struct{}
	for _, doc := range append(docs, further...) {
		s := parse(t, doc)
		if kindOf(s) == "Site" {
			// As the schema would.
			s.Fields["spec"].GetStructValue().Fields["targetNamespaces"] = structpb.NewStructValue(parse(t, `allowed: ["{claimNamespace}"]`))
		}
		out[kindOf(s)+"/"+s.GetFields()["metadata"].GetStructValue().GetFields()["name"].GetStringValue()] = s
	}
	return out
}

func kindOf(s *structpb.Struct) string { return s.GetFields()["kind"].GetStringValue() }

// answer fulfils the requirements of a response: names, or every object of a kind.
func answer(req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse, objects map[string]*structpb.Struct) {
	req.RequiredResources = map[string]*fnv1.Resources{}
	for name, sel := range rsp.GetRequirements().GetResources() {
		group := &fnv1.Resources{}
		for key, s := range objects {
			if kindOf(s) == sel.GetKind() && (sel.GetMatchName() == "" || key == sel.GetKind()+"/"+sel.GetMatchName()) {
				group.Items = append(group.Items, &fnv1.Resource{Resource: s})
			}
		}
		req.RequiredResources[name] = group
	}
}

func run(t *testing.T, f *Function, req *fnv1.RunFunctionRequest) *fnv1.RunFunctionResponse {
	t.Helper()
	rsp, err := f.RunFunction(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return rsp
}

// resolved calls until the catalog was read.
func resolved(t *testing.T, f *Function, req *fnv1.RunFunctionRequest, objects map[string]*structpb.Struct) *fnv1.RunFunctionResponse {
	t.Helper()
	rsp := run(t, f, req)
	for range 5 {
		answer(req, rsp, objects)
		requirements := rsp.GetRequirements()
		if rsp = run(t, f, req); proto.Equal(requirements, rsp.GetRequirements()) {
			break
		}
	}
	return rsp
}

func statusOf(rsp *fnv1.RunFunctionResponse, field string) string {
	return rsp.GetDesired().GetComposite().GetResource().GetFields()["status"].GetStructValue().GetFields()[field].GetStringValue()
}

func TestRunFunction(t *testing.T) {
	for name, composite := range map[string]string{"Claim": claimComposite, "Namespaced": namespacedComposite} {
		t.Run(name, func(t *testing.T) {
			f, req := newFunction(), request(t, composite)
			first := run(t, f, req)
			want := &fnv1.ResponseMeta{Tag: "tag", Ttl: first.GetMeta().GetTtl()}
			if diff := cmp.Diff(want, first.GetMeta(), protocmp.Transform()); diff != "" || first.GetMeta().GetTtl().AsDuration() != testTTL {
				t.Errorf("RunFunction(...): meta: -want, +got:\n%s", diff)
			}
			site := first.GetRequirements().GetResources()["site/edge1"]
			if diff := cmp.Diff(&fnv1.ResourceSelector{
				ApiVersion: "catalog.intentplane.dev/v1alpha1", Kind: "Site", Match: &fnv1.ResourceSelector_MatchName{MatchName: "edge1"},
			}, site, protocmp.Transform()); diff != "" {
				t.Errorf("RunFunction(...): requirement: -want, +got:\n%s", diff)
			}
			rsp := resolved(t, f, req, catalogOf(t))
			if statusOf(rsp, "phase") != "Delivering" || len(rsp.GetDesired().GetResources()) != 1 || len(rsp.GetResults()) != 0 {
				t.Fatalf("RunFunction(...): got phase %q: %s, results %v", statusOf(rsp, "phase"), statusOf(rsp, "message"), rsp.GetResults())
			}
			if rsp.GetDesired().GetComposite().GetReady() != fnv1.Ready_READY_FALSE {
				t.Error("RunFunction(...): want the composite explicitly not ready")
			}
			for _, c := range rsp.GetConditions() {
				if c.GetTarget() != fnv1.Target_TARGET_COMPOSITE_AND_CLAIM || c.GetStatus() == fnv1.Status_STATUS_CONDITION_UNSPECIFIED {
					t.Errorf("RunFunction(...): condition %v", c)
				}
			}
			for name, r := range rsp.GetDesired().GetResources() {
				if r.GetReady() != fnv1.Ready_READY_TRUE {
					t.Errorf("RunFunction(...): Crossplane makes an event in each call, since %s is not ready", name)
				}
				metadata := r.GetResource().GetFields()["metadata"].GetStructValue()
				if diff := cmp.Diff("team-a", metadata.GetFields()["namespace"].GetStringValue()); diff != "" {
					t.Errorf("RunFunction(...): namespace: -want, +got:\n%s", diff)
				}
			}
		})
	}
}

func TestRunFunctionIsDeterministic(t *testing.T) {
	f, req := newFunction(), request(t, claimComposite)
	want := marshal(t, resolved(t, f, req, catalogOf(t)))
	for range soak.Rounds(t, 100, 2000) {
		if !bytes.Equal(want, marshal(t, run(t, f, req))) {
			t.Fatal("RunFunction(...): the same request must give the same bytes")
		}
	}
}

func marshal(t *testing.T, m proto.Message) []byte {
	t.Helper()
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRunFunctionKeepsDesiredResources(t *testing.T) {
	req := request(t, claimComposite)
	foreign := &fnv1.Resource{Resource: parse(t, "apiVersion: v1\nkind: ConfigMap\n"), Ready: fnv1.Ready_READY_TRUE}
	req.Desired = &fnv1.State{Resources: map[string]*fnv1.Resource{"others": foreign}}
	rsp := resolved(t, newFunction(), req, catalogOf(t))
	if diff := cmp.Diff(foreign, rsp.GetDesired().GetResources()["others"], protocmp.Transform()); diff != "" {
		t.Errorf("RunFunction(...): what an earlier function asks for: -want, +got:\n%s", diff)
	}
}

// TestRunFunctionLeavesOthersAlone calls the function where other functions of the pipeline have composed resources before: an earlier function edits one of them,
// and no function desires the other.
func TestRunFunctionLeavesOthersAlone(t *testing.T) {
	req := request(t, claimComposite)
	observed := func(data string) *fnv1.Resource {
		return &fnv1.Resource{Resource: parse(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: others}\ndata: {key: "+data+"}\n")}
	}
	edited := observed("new")
	req.Observed.Resources = map[string]*fnv1.Resource{"others": observed("old"), "removed": observed("old")}
	req.Desired = &fnv1.State{Resources: map[string]*fnv1.Resource{"others": edited}}
	desired := resolved(t, newFunction(), req, catalogOf(t)).GetDesired().GetResources()
	if diff := cmp.Diff(edited, desired["others"], protocmp.Transform()); diff != "" {
		t.Errorf("RunFunction(...): the resource of an earlier function: -want, +got:\n%s", diff)
	}
	if removed, ok := desired["removed"]; ok {
		t.Errorf("RunFunction(...): a resource that no function desires: want none, got %v", removed)
	}
}

func TestRunFunctionReportsBugs(t *testing.T) {
	rsp := run(t, newFunction(), request(t, "apiVersion: claims.intentplane.dev/v1alpha1\nkind: XIntentDeployment\nmetadata: {name: x}\nspec: {intent: x}\n"))
	if len(rsp.GetResults()) != 1 || rsp.GetResults()[0].GetSeverity() != fnv1.Severity_SEVERITY_FATAL {
		t.Errorf("RunFunction(...): a composite without a namespace has nowhere to compose to: want one fatal result, got %v", rsp.GetResults())
	}
}

// big is a Blueprint of n objects, each with some bytes of content that does not compress well.
func big(n, size int) string {
	r := rand.New(rand.NewSource(1))
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
	objects, content := strings.Builder{}, make([]byte, size)
	for i := range n {
		for j := range content {
			content[j] = letters[r.Intn(len(letters))]
		}
		fmt.Fprintf(&objects, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\ndata: {k: %q, replicas: \"0\"}\n", i, content)
	}
	return "apiVersion: catalog.intentplane.dev/v1alpha1\nkind: Blueprint\nmetadata: {name: web-1.0.0, labels: {blueprint: web, channel: stable}}\n" +
		"spec:\n  blueprintName: web\n  version: 1.0.0\n  serviceTypes: [web]\n  files:\n" +
		"    kustomization.yaml: |\n      resources: [intent.yaml, objects.yaml]\n" +
		"      replacements: [{source: {kind: ConfigMap, name: intent, fieldPath: data.replicas},\n" +
		"        targets: [{select: {kind: ConfigMap, name: c0}, fieldPaths: [data.replicas]}]}]\n" +
		"    intent.yaml: |\n      apiVersion: v1\n      kind: ConfigMap\n      metadata: {name: intent, annotations: {config.kubernetes.io/local-config: \"true\"}}\n" +
		"    objects.yaml: |\n      " + strings.ReplaceAll(objects.String(), "\n", "\n      ") + "\n"
}

func TestRunFunctionLarge(t *testing.T) {
	// The race detector on a busy machine takes longer than the default to render so much.
	f, req := newFunction(), request(t, claimComposite+"  compileConfig: {renderTimeout: 60s}\n")
	objects := catalogOf(t, big(250, 40))
	start := time.Now()
	rsp := resolved(t, f, req, objects)
	if statusOf(rsp, "phase") != "Delivering" {
		t.Fatalf("RunFunction(...): got phase %q: %s", statusOf(rsp, "phase"), statusOf(rsp, "message"))
	}
	took := time.Since(start)
	for _, r := range rsp.GetDesired().GetResources() {
		req.Observed.Resources = map[string]*fnv1.Resource{"d": r}
	}
	t.Logf("500 objects at 2 Sites: request %d bytes, with the delivery observed; response %d bytes; rendered in %s",
		proto.Size(req), proto.Size(rsp), took.Round(time.Millisecond))
	if proto.Size(rsp) > 3<<20 {
		t.Error("RunFunction(...): the response is larger than 3 MiB")
	}
}

func TestRunFunctionTooLarge(t *testing.T) {
	further := []string{big(4, 14000)}
	for i := range 20 {
		further = append(further, fmt.Sprintf("kind: Site\nmetadata: {name: s%d}\nspec: {repository: {path: s%d}, allowedNamespaces: [team-a]}\n", i, i))
	}
	// The race detector on a busy machine takes longer than the default to render so much.
	composite := strings.Replace(claimComposite, `["edge1", "edge2"]`, `"all"`, 1) + "  compileConfig: {renderTimeout: 60s}\n"
	rsp := resolved(t, newFunction(), request(t, strings.Replace(composite, `"sites"`, `"site"`, 1)), catalogOf(t, further...))
	if statusOf(rsp, "phase") != "Failed" || len(rsp.GetDesired().GetResources()) != 0 {
		t.Fatalf("RunFunction(...): got phase %q: %s", statusOf(rsp, "phase"), statusOf(rsp, "message"))
	}
	message := statusOf(rsp, "message")
	t.Log(message)
	if !strings.HasSuffix(message, "bytes, more than the 921600 that fit into one object: choose fewer Sites of that repository, or make their files smaller") {
		t.Errorf("RunFunction(...): %q does not say the numbers", message)
	}
}

// TestDesiredVersion looks at the version that a response names, so that Crossplane writes no status over a newer one.
func TestDesiredVersion(t *testing.T) {
	cluster := `
apiVersion: intentplane.dev/v1alpha1
kind: WorkloadCluster
metadata: {name: east, namespace: team-a}
spec: {type: Existing}
`
	const answered = "status: {conditions: [{type: Ready, status: 'False'}]}\n"
	for name, tc := range map[string]struct{ reason, composite, observed, version string }{
		"Claim": {
			reason:    "The composite of a claim that refers to something is written as long as it is at the version that was observed.",
			composite: claimComposite, observed: "41", version: "41",
		},
		"Namespaced": {
			reason:    "A namespaced composite is written as long as it is at the version that was observed.",
			composite: namespacedComposite + answered, observed: "7", version: "7",
		},
		"References": {
			reason:    "A namespaced composite that refers to something is written as long as it is at the version that was observed.",
			composite: strings.Replace(namespacedComposite, "crossplane: {", "crossplane: {resourceRefs: [{kind: X, name: y}], ", 1), observed: "7", version: "7",
		},
		"First": {
			reason:    "A composite is answered for the first time at whatever version: Crossplane changes it itself before.",
			composite: namespacedComposite, observed: "7",
		},
		"Cluster": {
			reason:    "A WorkloadCluster is written as long as it is at the version that was observed.",
			composite: cluster + answered, observed: "8", version: "8",
		},
		"Rendered": {reason: "A composite without a version, as crossplane render has it, is written in any case.", composite: claimComposite},
	} {
		t.Run(name, func(t *testing.T) {
			req := request(t, tc.composite)
			if tc.observed != "" {
				req.GetObserved().GetComposite().GetResource().GetFields()["metadata"].GetStructValue().Fields["resourceVersion"] = structpb.NewStringValue(tc.observed)
			}
			f := newFunction().Remember(1 << 20)
			run(t, f, req)
			desired := run(t, f, req).GetDesired().GetComposite().GetResource().GetFields()
			got := desired["metadata"].GetStructValue().GetFields()["resourceVersion"].GetStringValue()
			if diff := cmp.Diff(tc.version, got); diff != "" {
				t.Errorf("\n%s\nRunFunction(...): metadata.resourceVersion: -want, +got:\n%s", tc.reason, diff)
			}
			if _, named := desired["metadata"]; named != (tc.version != "") {
				t.Errorf("\n%s\nRunFunction(...): desired composite: %v", tc.reason, desired)
			}
		})
	}
}

// waiter is a core whose answer changes after some time.
type waiter time.Duration

// Run says so.
func (w waiter) Run(context.Context, deployment.Input) (*deployment.Output, error) {
	return &deployment.Output{Status: &deploymentv1alpha1.IntentDeploymentStatus{}, Dated: true, Wait: time.Duration(w)}, nil
}

func TestResponseTTL(t *testing.T) {
	cases := map[string]struct {
		reason string
		wait   time.Duration
		want   time.Duration
	}{
		"Never": {reason: "A response that does not change by itself has the whole TTL.", want: testTTL},
		"Soon":  {reason: "A response that changes by itself is valid until then.", wait: time.Second, want: time.Second},
		"Late":  {reason: "A response that changes by itself later than the TTL has the TTL.", wait: testTTL + time.Hour, want: testTTL},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := NewFunction(waiter(tc.wait), logging.NewNopLogger(), testTTL, time.Now)
			rsp := run(t, f, request(t, "metadata: {namespace: team-a, name: shop}\nspec: {}"))
			if diff := cmp.Diff(tc.want, rsp.GetMeta().GetTtl().AsDuration()); diff != "" {
				t.Errorf("\n%s\nRunFunction(...): TTL: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// A panickingCore is a core with a bug.
type panickingCore struct{}

func (panickingCore) Run(context.Context, deployment.Input) (*deployment.Output, error) {
	panic("index out of range")
}

// TestRunFunctionRecovers calls a core that panics.
func TestRunFunctionRecovers(t *testing.T) {
	f := NewFunction(panickingCore{}, logging.NewNopLogger(), testTTL, time.Now)
	rsp, err := f.RunFunction(t.Context(), request(t, claimComposite))
	if err != nil {
		t.Fatal(err)
	}
	got := rsp.GetResults()
	if len(got) != 1 || got[0].GetSeverity() != fnv1.Severity_SEVERITY_FATAL || !strings.Contains(got[0].GetMessage(), "the function panicked") {
		t.Errorf("\nA panic is the fatal result of one call, and not the end of the process that serves all others.\nRunFunction(...): got %v", got)
	}
}
