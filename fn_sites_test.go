package main

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/structpb"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
)

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
	if err := decodeInto(s, site); err != nil {
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
	client, req := served(t, newFunction()), request(t, strings.Replace(claimComposite, `"sites": ["edge1", "edge2"]`, `"site": "all"`, 1))
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
