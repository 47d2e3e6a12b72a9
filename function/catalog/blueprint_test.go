package catalog

import (
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

func TestResolvePinned(t *testing.T) {
	const needPinned = "blueprint/web-0.9.0"
	type want struct {
		blueprint, inChannel string
		// reason of the error, and parts of its message.
		code    string
		message []string
		open    bool
	}
	cases := map[string]struct {
		reason  string
		answers Answers
		want    want
	}{
		"Both": {
			reason:  "A pinned Blueprint is kept, and the Blueprint in the channel is returned too.",
			answers: Answers{needPinned: encoded(blueprintOf("web-0.9.0", "web"))}, want: want{blueprint: "web-0.9.0", inChannel: "web-1.0.0"},
		},
		"NoChannel": {
			reason:  "A channel may be empty.",
			answers: Answers{needPinned: encoded(blueprintOf("web-0.9.0", "web")), needBlueprint: encoded()}, want: want{blueprint: "web-0.9.0"},
		},
		"Unanswered": {reason: "The Blueprint is open until both answers are known.", want: want{open: true}},
		"Gone": {
			reason: "A pinned Blueprint that does not exist is missing.", answers: Answers{needPinned: encoded()},
			want: want{inChannel: "web-1.0.0", code: deploymentv1alpha1.ReasonBlueprintMissing, message: []string{"web-0.9.0"}},
		},
		"Ambiguous": {
			reason:  "Two in the channel do not stop a deployment that stays with its own, and none of them waits to be approved.",
			answers: Answers{needPinned: encoded(blueprintOf("web-0.9.0", "web")), needBlueprint: encoded(blueprintOf("web-2", "web"), blueprintOf("web-1", "web"))},
			want:    want{blueprint: "web-0.9.0", inChannel: "web-0.9.0"},
		},
		"GoneAndAmbiguous": {
			reason:  "Two in the channel are an error for a deployment whose own Blueprint is gone.",
			answers: Answers{needPinned: encoded(), needBlueprint: encoded(blueprintOf("web-2", "web"), blueprintOf("web-1", "web"))},
			want:    want{code: deploymentv1alpha1.ReasonBlueprintAmbiguous, message: []string{"web-1 and web-2"}},
		},
		"OtherType": {
			reason: "A pinned Blueprint that does not serve the type of the intent is refused.", answers: Answers{needPinned: encoded(blueprintOf("web-0.9.0", "upf"))},
			want: want{code: "Invalid", message: []string{"web-0.9.0"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, needs, err := Resolve(query(func(q *Query) { q.Pinned = "web-0.9.0" }), answers(tc.answers))
			got := want{open: s == nil && err == nil}
			if s != nil && err == nil {
				got.blueprint, got.inChannel = s.Blueprint.GetName(), s.InChannel
			}
			if e := (&MissingError{}); errors.As(err, &e) {
				got.code, got.inChannel = e.Reason, e.InChannel
			}
			if e := (&InvalidError{}); errors.As(err, &e) {
				got.code = "Invalid"
			}
			for _, part := range tc.want.message {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("\n%s\nResolve(...): want %q in %q", tc.reason, part, err)
				}
			}
			got.message = tc.want.message
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nResolve(...): -want, +got:\n%s", tc.reason, diff)
			}
			for _, need := range []string{needPinned, needBlueprint} {
				if !slices.ContainsFunc(needs, func(n Need) bool { return n.Name == need }) {
					t.Errorf("\n%s\nResolve(...): %s is not asked for: %v", tc.reason, need, needs)
				}
			}
		})
	}
}
