package main

import (
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
)

// TestPassReconcileRequest passes on the reconcile request of a composite.
func TestPassReconcileRequest(t *testing.T) {
	cases := map[string]struct {
		reason string
		token  string
		want   string
	}{
		"None":    {reason: "Without a request nothing is passed on."},
		"Asked":   {reason: "All composed resources get the reconcile request of the composite.", token: "2031-05-06T14:03:40Z", want: "2031-05-06T14:03:40Z"},
		"TooLong": {reason: "A request that is longer than a time is not copied to many objects.", token: strings.Repeat("x", maxReconcileToken+1)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f, plain := newFunction(), request(t, namespacedComposite)
			plainResponse := resolved(t, f, plain, catalogOf(t))
			req := request(t, namespacedComposite)
			if tc.token != "" {
				metadata := req.GetObserved().GetComposite().GetResource().GetFields()["metadata"].GetStructValue()
				metadata.Fields["annotations"] = structOf(meta.AnnotationKeyReconcileRequestedAt, tc.token)
			}
			rsp := resolved(t, f, req, catalogOf(t))
			if len(rsp.GetDesired().GetResources()) == 0 {
				t.Fatal("RunFunction(...): nothing is composed")
			}
			for name, r := range rsp.GetDesired().GetResources() {
				if got := takeToken(r); got != tc.want {
					t.Errorf("\n%s\nRunFunction(...): %s is asked for %q, want %q", tc.reason, name, got, tc.want)
				}
				if diff := cmp.Diff(plainResponse.GetDesired().GetResources()[name], r, protocmp.Transform()); diff != "" {
					t.Errorf("\n%s\nRunFunction(...): nothing else changes: -want, +got:\n%s", tc.reason, diff)
				}
			}
		})
	}
}

// takeToken returns the reconcile request of a composed resource, and removes it.
func takeToken(r *fnv1.Resource) string {
	metadata := r.GetResource().GetFields()["metadata"].GetStructValue()
	annotations := metadata.GetFields()["annotations"].GetStructValue()
	token := annotations.GetFields()[meta.AnnotationKeyReconcileRequestedAt].GetStringValue()
	delete(annotations.GetFields(), meta.AnnotationKeyReconcileRequestedAt)
	if len(annotations.GetFields()) == 0 {
		delete(metadata.GetFields(), "annotations")
	}
	return token
}

// structOf is an object with one field.
func structOf(key, value string) *structpb.Value {
	return structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{key: structpb.NewStringValue(value)}})
}
