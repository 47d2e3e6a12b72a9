package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/function-sdk-go/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/deployment"
	"github.com/intentplane/intentplane/function/render"
	"github.com/intentplane/intentplane/test/soak"
)

// A stub gives one answer, and counts the calls.
type stub struct {
	out   deployment.Output
	err   error
	calls int
}

func (s *stub) Run(_ context.Context, in deployment.Input) (*deployment.Output, error) {
	s.calls++
	out := s.out
	out.Status = &deploymentv1alpha1.IntentDeploymentStatus{Transitions: in.Status.Transitions}
	if s.out.Status != nil {
		out.Status = s.out.Status
	}
	return &out, s.err
}

func stubbed(s *stub) *Function {
	return NewFunction(s, logging.NewNopLogger(), testTTL, time.Now).Remember(1 << 20)
}

func TestRequestKey(t *testing.T) {
	newObject := func() *structpb.Struct {
		return &structpb.Struct{Fields: map[string]*structpb.Value{"a": structpb.NewStringValue("b")}}
	}
	resources := map[string]*fnv1.Resources{"a": {Items: []*fnv1.Resource{{Resource: newObject()}}}}
	cases := map[string]struct {
		reason string
		change func(*fnv1.RunFunctionRequest)
		want   int
	}{
		"Same": {reason: "An equal request is answered from the cache.", change: func(*fnv1.RunFunctionRequest) {}, want: 1},
		"Tag":  {reason: "The tag is not part of the key of a request.", change: func(r *fnv1.RunFunctionRequest) { r.Meta.Tag = "other" }, want: 1},
		"Capabilities": {
			reason: "The capabilities are part of the key of a request.",
			change: func(r *fnv1.RunFunctionRequest) { r.Meta.Capabilities = []fnv1.Capability{1} }, want: 2,
		},
		"Composite": {reason: "The observed composite is part of the key.", change: func(r *fnv1.RunFunctionRequest) {
			r.Observed.Composite.Resource.Fields["x"] = structpb.NewBoolValue(true)
		}, want: 2},
		"Resources": {reason: "The observed resources are part of the key.", change: func(r *fnv1.RunFunctionRequest) {
			r.Observed.Resources = map[string]*fnv1.Resource{"a": {Resource: parse(t, "apiVersion: v1\nkind: X")}}
		}, want: 2},
		"Desired": {reason: "The desired state of earlier functions is part of the key.", change: func(r *fnv1.RunFunctionRequest) {
			r.Desired = &fnv1.State{Composite: &fnv1.Resource{Resource: newObject()}}
		}, want: 2},
		"Input":   {reason: "The input of the function is part of the key.", change: func(r *fnv1.RunFunctionRequest) { r.Input = newObject() }, want: 2},
		"Context": {reason: "The context of the pipeline is part of the key.", change: func(r *fnv1.RunFunctionRequest) { r.Context = newObject() }, want: 2},
		"Extra": {reason: "Extra resources are part of the key.", change: func(r *fnv1.RunFunctionRequest) {
			r.ExtraResources = resources //nolint:staticcheck // It is deprecated, and may come.
		}, want: 2},
		"Required": {reason: "Required resources are part of the key.", change: func(r *fnv1.RunFunctionRequest) { r.RequiredResources = resources }, want: 2},
		"Credentials": {
			reason: "Credentials are part of the key of a request.",
			change: func(r *fnv1.RunFunctionRequest) { r.Credentials = map[string]*fnv1.Credentials{"a": {}} }, want: 2,
		},
		"Unknown": {reason: "Fields that this version does not know are part of the key.", change: func(r *fnv1.RunFunctionRequest) {
			r.ProtoReflect().SetUnknown(protoreflect.RawFields{0xa0, 0x06, 0x01})
		}, want: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &stub{}
			f := stubbed(s)
			run(t, f, request(t, claimComposite))
			req := request(t, claimComposite)
			tc.change(req)
			rsp := run(t, f, req)
			if s.calls != tc.want {
				t.Errorf("\n%s\nRunFunction(...): want %d runs, got %d", tc.reason, tc.want, s.calls)
			}
			if rsp.GetMeta().GetTag() != req.GetMeta().GetTag() || rsp.GetMeta().GetTtl().AsDuration() != testTTL {
				t.Errorf("\n%s\nRunFunction(...): got meta %v", tc.reason, rsp.GetMeta())
			}
		})
	}
}

func TestCachedResponses(t *testing.T) {
	moved := &deploymentv1alpha1.IntentDeploymentStatus{Transitions: []deploymentv1alpha1.Transition{{To: deploymentv1alpha1.PhasePending}}}
	cases := map[string]struct {
		reason string
		stub   stub
		want   int
	}{
		"Settled": {reason: "A response to a settled deployment is cached.", want: 1},
		"Dated":   {reason: "A response that depends on the time is not cached.", stub: stub{out: deployment.Output{Dated: true}}, want: 2},
		"Transition": {
			reason: "A response with a transition is not cached, since that has the time of the call.",
			stub:   stub{out: deployment.Output{Status: moved}}, want: 2,
		},
		"Bug": {reason: "A response to a bug is not cached.", stub: stub{err: errors.New("boom")}, want: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := stubbed(&tc.stub)
			first, second := run(t, f, request(t, claimComposite)), run(t, f, request(t, claimComposite))
			if tc.stub.calls != tc.want {
				t.Errorf("\n%s\nRunFunction(...): want %d runs, got %d", tc.reason, tc.want, tc.stub.calls)
			}
			if !bytes.Equal(marshal(t, first), marshal(t, second)) {
				t.Errorf("\n%s\nRunFunction(...): want the same answer, got %v and %v", tc.reason, first, second)
			}
		})
	}
}

// TestLateRenderIsNotCached: the core says so in the condition that is looked for.
func TestLateRenderIsNotCached(t *testing.T) {
	renders := atomic.Int32{}
	f := NewFunction(deployment.New(lateRenderer{&renders}), logging.NewNopLogger(), testTTL, time.Now).Remember(1 << 20)
	req := request(t, claimComposite)
	rsp := resolved(t, f, req, catalogOf(t))
	req.Observed.Composite.Resource.Fields["status"] = rsp.GetDesired().GetComposite().GetResource().GetFields()["status"]
	baseline := renders.Load()
	for range 3 {
		rsp = run(t, f, req)
	}
	if got := renders.Load() - baseline; got < 3 || !strings.Contains(statusOf(rsp, "message"), "late") {
		t.Errorf("RunFunction(...): a rendering that took too long is tried again: got %d renderings of 3 calls: %s", got, statusOf(rsp, "message"))
	}
}

// A lateRenderer takes too long.
type lateRenderer struct{ calls *atomic.Int32 }

func (r lateRenderer) Build(context.Context, render.Input) (tree.Files, error) {
	r.calls.Add(1)
	return nil, errors.Wrap(&render.TimeoutError{}, "late")
}

// TestCacheDoesNotChangeResponses: with memory and without, with much and with little, one after another and at once, the same request has the same
// bytes.
func TestCacheDoesNotChangeResponses(t *testing.T) {
	requests, want := delivered(t, 5)
	rounds := soak.Rounds(t, 20, 100)
	for name, maxBytes := range map[string]int{"None": 0, "Little": 2 * 7000, "Enough": 1 << 20} {
		t.Run(name, func(t *testing.T) {
			f, all := serve(render.NewRenderer()).Remember(maxBytes), sync.WaitGroup{}
			for worker := range 10 {
				all.Go(func() {
					for n := range rounds {
						i := (worker + n) % len(requests)
						rsp, err := f.RunFunction(t.Context(), proto.CloneOf(requests[i]))
						if err != nil || !bytes.Equal(want[i], marshal(t, rsp)) {
							t.Errorf("RunFunction(...): request %d: want the same bytes, got %v, %v", i, rsp, err)
							return
						}
						// A caller may change its own response.
						clear(rsp.GetDesired().GetComposite().GetResource().GetFields())
						clear(rsp.GetDesired().GetResources())
						rsp.Requirements = nil
					}
				})
			}
			all.Wait()
		})
	}
}

// delivered returns requests of n deployments that are delivered, and the responses of a function without a cache to them.
func delivered(t *testing.T, n int) ([]*fnv1.RunFunctionRequest, [][]byte) {
	t.Helper()
	f, requests, want := serve(render.NewRenderer()).Remember(0), []*fnv1.RunFunctionRequest{}, [][]byte{}
	for i := range n {
		req := benchRequest(t, 2, "edge1", fmt.Sprintf("edge%d", i+2))
		settle(t, f, req)
		requests = append(requests, req)
		want = append(want, marshal(t, call(t, f, proto.CloneOf(req))))
	}
	return requests, want
}
