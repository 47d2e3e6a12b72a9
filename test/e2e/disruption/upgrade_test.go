package disruption

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/render"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

func TestFunctionUpgrade(t *testing.T) {
	quiet := buildFunction(t, "quiet", laterVersion(1))
	noisy := buildFunction(t, "noisy", laterVersion(2), logVerbosely())
	now, next := fmt.Sprint(render.Version+1), fmt.Sprint(render.Version+2)
	serveFunction(t, "")
	defer func() {
		if err := cp.UpgradeFunction(context.WithoutCancel(t.Context()), ""); err != nil {
			t.Error(err)
		}
	}()
	s := scene.New(t, cp, "edge1")
	auto := s.Claim(nameWithLateTurn(s), intentWithReplicas(s, 1, "edge1"))
	manual := s.Set(s.Claim("manual", intentOfService(s, "manual", 1, "edge1")), "Manual", "spec", "blueprint", "updatePolicy")
	s.Succeed(auto)
	s.Succeed(manual)
	wantCommits(s, 2)

	// A version that changes no byte delivers nothing. It is only recorded that it renders the same.
	serveFunction(t, quiet, "--renderer-spread=0")
	awaitFunctionCalls(s, len(functionLog(t)), 3)
	awaitUpdatePending(s, auto, 1, now, "")
	awaitUpdatePending(s, manual, 1, now, "")
	wantCommits(s, 2)

	// A deployment whose update changes files waits for its time, or for a user.
	serveFunction(t, noisy)
	awaitUpdatePending(s, auto, 1, now, next)
	awaitUpdatePending(s, manual, 1, now, next)
	awaitFunctionCalls(s, len(functionLog(t)), 3)
	wantCommits(s, 2)

	request := s.Request("approve", manual, rolloutv1alpha1.ActionApproveUpdate, 1)
	s.Apply(request)
	s.Inside("wait", "--timeout="+patience.Limit.String(), "--for=condition=Completed", "rolloutrequests.rollout.intentplane.dev/approve")
	awaitUpdatePending(s, manual, 2, next, "")
	awaitUpdatePending(s, auto, 1, now, next)
	wantCommits(s, 3)
	if diff := cmp.Diff([2]bool{true, false}, [2]bool{isDeliveredByNext(s, "manual"), isDeliveredByNext(s, auto.GetName())}); diff != "" {
		t.Errorf("delivered by the next version: manual, automatic: -want, +got:\n%s", diff)
	}

	serveFunction(t, noisy, "--renderer-spread=0")
	awaitUpdatePending(s, auto, 2, next, "")
	wantCommits(s, 4)
	if !isDeliveredByNext(s, auto.GetName()) {
		t.Error("the next version did not deliver the automatic claim")
	}
}
