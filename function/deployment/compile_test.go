package deployment

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/compile"
	"github.com/intentplane/intentplane/function/render"
)

// slow takes too long for one Blueprint, and notes until when it might have taken.
type slow struct {
	compile.Renderer

	blueprint string

	mu        sync.Mutex
	deadlines []time.Time
}

// Build notes the deadline.
func (s *slow) Build(ctx context.Context, in render.Input) (tree.Files, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	deadline, _ := ctx.Deadline()
	s.deadlines = append(s.deadlines, deadline)
	if in.Blueprint.GetName() == s.blueprint {
		return nil, errors.Wrap(&render.TimeoutError{}, "late")
	}
	return s.Renderer.Build(ctx, in)
}

func (w *world) slow(blueprint string) *slow {
	s := &slow{Renderer: render.NewRenderer(), blueprint: blueprint}
	w.core = New(s)
	return s
}

// TestRenderTimeout exceeds the timeout of rendering, which is retried by itself.
func TestRenderTimeout(t *testing.T) {
	const reason = "Rendering takes too long."
	w := newWorld(t)
	w.slow("web-1.0.0")
	out := w.call()
	w.wantCondition(reason, out, deploymentv1alpha1.TypeValid, corev1.ConditionFalse, deploymentv1alpha1.ReasonRenderTimeout)
	w.wantCondition(reason, out, deploymentv1alpha1.TypeStalled, corev1.ConditionFalse, deploymentv1alpha1.ReasonProgressing)
	w.wantCondition(reason, out, deploymentv1alpha1.TypeReconciling, corev1.ConditionTrue, deploymentv1alpha1.ReasonRenderTimeout)
	if !out.Dated || out.Wait != time.Minute {
		t.Errorf("Run(...): want it dated, for a minute, got %t for %s", out.Dated, out.Wait)
	}
	last := out.Status.Transitions[len(out.Status.Transitions)-1]
	if out.Status.Phase != deploymentv1alpha1.PhaseFailed || last.From != deploymentv1alpha1.PhaseRendering || last.To != deploymentv1alpha1.PhaseFailed {
		t.Errorf("Run(...): want it Failed, from Rendering, got %s and %+v", out.Status.Phase, last)
	}
	w.slow("")
	w.wantUpdated("It is quicker another time.", w.settle(), updated{Revision: 1, Ready: true, Blueprint: "web-1.0.0", Lines: "1.0.0"})
}

// TestGivenUp renders for no Site after the time is over.
func TestGivenUp(t *testing.T) {
	w := newWorld(t)
	w.call()
	s := w.slow("")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out, err := w.core.Run(ctx, w.in)
	if err != nil {
		t.Fatal(err)
	}
	w.wantCondition("The time is over.", out, deploymentv1alpha1.TypeValid, corev1.ConditionFalse, deploymentv1alpha1.ReasonRenderTimeout)
	const want = "cannot render for all Sites within spec.compileConfig.renderTimeout, which is 10s: raise it, to 60s at most, or choose fewer Sites"
	if !strings.Contains(out.Status.Message, want) {
		t.Errorf("Run(...): the message has no action: want %q, got %q", want, out.Status.Message)
	}
	if len(s.deadlines) != 0 {
		t.Errorf("Run(...): %d Sites were rendered for", len(s.deadlines))
	}
}

// TestApprovalLater: the update that is approved takes too long now, and may be quicker later.
func TestApprovalLater(t *testing.T) {
	w := newWorld(t)
	w.manual()
	w.settle()
	w.release("1.1.0")
	w.settle()
	w.slow("web-1.1.0")
	w.ask("a", 1)
	out := w.call()
	want := []deploymentv1alpha1.RequestStatus{{Name: "a", UID: "uid-of-request", Result: string(rolloutv1alpha1.ResultWaiting), Message: "late: "}}
	if diff := cmp.Diff(want, out.Status.Requests); diff != "" {
		t.Errorf("Run(...): -want, +got:\n%s", diff)
	}
	if !out.Dated || out.Wait != time.Minute {
		t.Errorf("Run(...): want it dated, for a minute, got %t for %s", out.Dated, out.Wait)
	}
	w.slow("")
	w.wantUpdated("It is asked for still.", w.settle(), updated{Revision: 2, Ready: true, Blueprint: "web-1.1.0", Lines: "1.1.0", Results: "a=Done"})
}

// TestOneDeadline is for both plans of a call with an approval.
func TestOneDeadline(t *testing.T) {
	w := newWorld(t)
	w.manual()
	w.settle()
	w.release("1.1.0")
	w.settle()
	w.ask("a", 1)
	w.call()
	s := w.slow("")
	w.run()
	if len(s.deadlines) != 4 || s.deadlines[0].IsZero() {
		t.Fatalf("Run(...): want two plans for two Sites, with a deadline, got %v", s.deadlines)
	}
	if diff := cmp.Diff(s.deadlines[:1], slices.Compact(s.deadlines)); diff != "" {
		t.Errorf("Run(...): want one deadline: -want, +got:\n%s", diff)
	}
}
