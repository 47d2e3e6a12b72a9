package main

import (
	"strings"
	"testing"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/runtime"

	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
)

// TestRunFunctionForApplications serves Applications of both shapes beside the deployments.
func TestRunFunctionForApplications(t *testing.T) {
	cases := map[string]struct{ reason, composite string }{
		"Claim": {reason: "The claim of an Application provides name and namespace.", composite: `
apiVersion: claims.intentplane.dev/v1alpha1
kind: XApplication
metadata: {name: shop-x7k2p, generation: 3, uid: u}
spec:
  claimRef: {apiVersion: claims.intentplane.dev/v1alpha1, kind: Application, namespace: team-a, name: shop}
  compositionRef: {name: applications}
  image: registry.example.org/shop:1
`},
		"Namespaced": {reason: "A namespaced Application is used as its own claim.", composite: `
apiVersion: intentplane.dev/v1alpha1
kind: Application
metadata: {name: shop, namespace: team-a, uid: u}
spec:
  crossplane: {compositionRef: {name: applications}}
  image: registry.example.org/shop:1
`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f, req := newFunction().Remember(1<<20), request(t, tc.composite)
			first := run(t, f, req)
			if len(first.GetDesired().GetResources()) != 0 || len(first.GetRequirements().GetResources()) != 2 {
				t.Fatalf("\n%s\nNothing is asked for before the name was checked: %v", tc.reason, first)
			}
			req.RequiredResources = map[string]*fnv1.Resources{}
			for need := range first.GetRequirements().GetResources() {
				req.RequiredResources[need] = &fnv1.Resources{}
			}
			rsp := run(t, f, req)
			r := rsp.GetDesired().GetResources()["deployment"].GetResource()
			meta := r.GetFields()["metadata"].GetStructValue().GetFields()
			got := []string{kindOf(r), r.GetFields()["apiVersion"].GetStringValue(), meta["namespace"].GetStringValue(), meta["name"].GetStringValue(), statusOf(rsp, "phase")}
			if diff := cmp.Diff([]string{"IntentDeployment", "intentplane.dev/v1alpha1", "team-a", "shop", "Pending"}, got); diff != "" {
				t.Errorf("\n%s\nRunFunction(...): -want, +got:\n%s", tc.reason, diff)
			}
			if len(rsp.GetResults()) > 0 || rsp.GetDesired().GetComposite().GetReady() != fnv1.Ready_READY_FALSE {
				t.Errorf("\n%s\nRunFunction(...): %v", tc.reason, rsp)
			}
			// The same request has the same bytes, from a cache or not.
			req.Observed.Composite.Resource.Fields["status"] = rsp.GetDesired().GetComposite().GetResource().GetFields()["status"]
			second, third, fourth := run(t, f, req), run(t, f, req), run(t, newFunction(), req)
			if !proto.Equal(second, third) || !proto.Equal(second, fourth) {
				t.Errorf("\n%s\nRunFunction(...): the same request has another answer", tc.reason)
			}
		})
	}
	rsp := run(t, newFunction(), request(t, "apiVersion: claims.intentplane.dev/v1alpha1\nkind: XApplication\nmetadata: {name: x}\nspec: {image: a}"))
	if len(rsp.GetResults()) != 1 || rsp.GetResults()[0].GetSeverity() != fnv1.Severity_SEVERITY_FATAL {
		t.Errorf("a composite without a claim: %v", rsp.GetResults())
	}
}

// writeStatus writes status and conditions of a response to the composite of a request, and answers the needs of the response with no objects.
func writeStatus(t *testing.T, req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse) {
	t.Helper()
	status := rsp.GetDesired().GetComposite().GetResource().GetFields()["status"].GetStructValue()
	conditions := []any{map[string]any{"type": "Ready", "status": "False", "reason": "Creating"}}
	for _, c := range rsp.GetConditions() {
		statusText := map[fnv1.Status]string{fnv1.Status_STATUS_CONDITION_TRUE: "True", fnv1.Status_STATUS_CONDITION_FALSE: "False", fnv1.Status_STATUS_CONDITION_UNKNOWN: "Unknown"}[c.GetStatus()]
		conditions = append(conditions, map[string]any{"type": c.GetType(), "status": statusText, "reason": c.GetReason(), "message": c.GetMessage()})
	}
	list, err := structpb.NewList(conditions)
	if err != nil {
		t.Fatal(err)
	}
	status.Fields["conditions"] = structpb.NewListValue(list)
	req.Observed.Composite.Resource.Fields["status"] = structpb.NewStructValue(status)
	req.RequiredResources = map[string]*fnv1.Resources{}
	for need := range rsp.GetRequirements().GetResources() {
		req.RequiredResources[need] = &fnv1.Resources{}
	}
}

// TestRecordOfBuiltImage has a commit whose image was just built: the call that requests the image records it, while the rest of the status and the conditions
// wait for a follow-up call.
func TestRecordOfBuiltImage(t *testing.T) {
	f, req := newFunction(), request(t, `
apiVersion: intentplane.dev/v1alpha1
kind: Application
metadata: {name: shop, namespace: team-a, uid: u}
spec:
  crossplane: {compositionRef: {name: applications}}
  source: {git: {url: "https://git.example.org/team-a/shop.git", revision: main}}
`)
	writeStatus(t, req, run(t, f, req))
	writeStatus(t, req, run(t, f, req))
	previous := run(t, f, req)
	writeStatus(t, req, previous)
	build, image := previous.GetDesired().GetResources()["build"].GetResource(), "registry.example.org/team-a/shop@sha256:"+strings.Repeat("1", 64)
	b := &buildv1alpha1.ImageBuild{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(build.AsMap(), b); err != nil {
		t.Fatal(err)
	}
	sum, err := digest.BuildRequest(&b.Spec.ForProvider)
	if err != nil {
		t.Fatal(err)
	}
	status, err := structpb.NewStruct(map[string]any{"atProvider": map[string]any{
		"wanted": map[string]any{"request": sum, "commit": "c1"}, "latest": map[string]any{"request": sum, "commit": "c1", "build": "shop-build-1", "image": image},
	}})
	if err != nil {
		t.Fatal(err)
	}
	build.Fields["status"] = structpb.NewStructValue(status)
	req.Observed.Resources = map[string]*fnv1.Resource{"build": {Resource: build}}
	rsp := run(t, f, req)
	record := rsp.GetDesired().GetComposite().GetResource().GetFields()["status"].GetStructValue().GetFields()["builtImage"].GetStructValue().AsMap()
	want := map[string]any{"image": image, "request": sum, "commit": "c1", "build": "shop-build-1"}
	if diff := cmp.Diff(want, record); diff != "" || rsp.GetDesired().GetResources()["deployment"] == nil {
		t.Errorf("RunFunction(...): the record of the requested image: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(previous.GetConditions(), rsp.GetConditions(), protocmp.Transform()); diff != "" {
		t.Errorf("RunFunction(...): the conditions that wait: -want, +got:\n%s", diff)
	}
	// A definition of an earlier version drops the record. Status and conditions wait for it no longer than until the deployment has the image.
	deployment := rsp.GetDesired().GetResources()["deployment"].GetResource()
	req.Observed.Resources["deployment"] = &fnv1.Resource{Resource: deployment}
	now := f.now()
	f.now = func() time.Time { return now.Add(time.Minute) }
	if rsp = run(t, f, req); cmp.Equal(previous.GetConditions(), rsp.GetConditions(), protocmp.Transform()) {
		t.Errorf("RunFunction(...): the conditions wait for a record that is not written: %v", rsp.GetConditions())
	}
}

// TestHandOverOfApplication gives a deployment the image, while the status of the Application is about the same spec: it waits, with its conditions, for the
// status of the deployment.
func TestHandOverOfApplication(t *testing.T) {
	f, req := newFunction(), request(t, `
apiVersion: intentplane.dev/v1alpha1
kind: Application
metadata: {name: shop, namespace: team-a, uid: u}
spec:
  crossplane: {compositionRef: {name: applications}}
  image: registry.example.org/shop:1
`)
	first := run(t, f, req)
	writeStatus(t, req, first)
	f.answers = newResponseCache(1 << 20)
	second := run(t, f, req)
	if second.GetDesired().GetResources()["deployment"] == nil {
		t.Fatal("the deployment is not asked for")
	}
	if diff := cmp.Diff(statusOf(first, "message"), statusOf(second, "message")); diff != "" {
		t.Errorf("the message: -first, +second:\n%s", diff)
	}
	if diff := cmp.Diff(first.GetConditions(), second.GetConditions(), protocmp.Transform()); diff != "" {
		t.Errorf("the conditions: -first, +second:\n%s", diff)
	}
	// The deployment is waited for no longer than the limit, also where the same request comes again.
	now := f.now()
	f.now = func() time.Time { return now.Add(time.Minute) }
	third := run(t, f, req)
	if cmp.Equal(second.GetConditions(), third.GetConditions(), protocmp.Transform()) {
		t.Errorf("the conditions a minute later are those of before: %v", third.GetConditions())
	}
}
