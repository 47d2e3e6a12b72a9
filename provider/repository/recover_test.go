package repository

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
)

const panicked = "panicked: this is a bug of the provider, whose log has the stack"

// TestPanicInPlan gathers a delivery whose plan panics with others that wait for the same push.
func TestPanicInPlan(t *testing.T) {
	s := serve(t, map[string]string{"README.md": "hello"})
	r := open(t, pool(Options{}), s)
	broken := fiveFiles(1)
	broken.Plan = func(context.Context, *git.Draft) error { panic("boom") }
	got := map[string]string{}
	for key, err := range gather(t, s, r, fiveFiles(0), broken, fiveFiles(2)) {
		if err != nil {
			got[key.Name] = err.Error()
		}
	}
	if diff := cmp.Diff(map[string]string{"web-1": "cannot plan the delivery: " + panicked}, got); diff != "" {
		t.Errorf("\nThe panic of a plan is the error of its delivery alone.\nDeliver(...): -want, +got:\n%s", diff)
	}
	if err := deliver(r, fiveFiles(3)); err != nil {
		t.Errorf("\nThe queue goes on after a panic.\nDeliver(...): %v", err)
	}
}

// TestPanicAroundOperations panics where a look or a push ends.
func TestPanicAroundOperations(t *testing.T) {
	cases := map[string]struct {
		reason    string
		operation string
		look      string
		push      string
	}{
		"Look": {
			reason: "A panic in a look is the error of the look, also for the push that needs it.", operation: OperationLook,
			look: "cannot read or change the repository: " + panicked, push: "cannot read or change the repository: " + panicked,
		},
		"Push": {reason: "A panic in a push is the error of its deliveries.", operation: OperationPush, push: "cannot deliver to the repository: " + panicked},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			clock, broken := time.Now(), atomic.Bool{}
			s := serve(t, map[string]string{"README.md": "hello"})
			r := open(t, pool(Options{Now: func() time.Time { return clock }, Ended: func(o Operation) {
				if broken.Load() && o.Name == tc.operation {
					panic("boom")
				}
			}}), s)
			outcome := func() [2]string {
				out := [2]string{}
				if _, err := r.Look(t.Context(), web(0), clock); err != nil {
					out[0] = err.Error()
				}
				d := fiveFiles(0)
				d.Version += clock.String()
				if err := deliver(r, d); err != nil {
					out[1] = err.Error()
				}
				return out
			}
			broken.Store(true)
			if diff := cmp.Diff([2]string{tc.look, tc.push}, outcome()); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
			broken.Store(false)
			clock = clock.Add(time.Hour)
			until(func() bool { // An object waits but shortly for a server that failed.
				_, err := r.Look(t.Context(), web(0), clock)
				return err == nil
			})
			if diff := cmp.Diff([2]string{}, outcome()); diff != "" {
				t.Errorf("\nThe repository is used again after a panic.\n-want, +got:\n%s", diff)
			}
		})
	}
}

// TestRecoverPanic says which class the error of a panic has.
func TestRecoverPanic(t *testing.T) {
	cases := map[string]struct {
		reason string
		fn     func() error
		want   failure.Class
	}{
		"None": {
			reason: "Without a panic the error is that of the function.",
			fn:     func() error { return failure.Newf(failure.ClassAuth, "denied") }, want: failure.ClassAuth,
		},
		"Success": {reason: "A success has no class.", fn: func() error { return nil }},
		"Panic":   {reason: "A panic fails one operation, and not the next operation.", fn: func() error { panic("boom") }, want: failure.ClassUnknown},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, failure.ClassOf(recoverPanic("test", tc.fn))); diff != "" {
				t.Errorf("\n%s\nrecoverPanic(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
