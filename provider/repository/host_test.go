package repository

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/shares"
)

// hostOf returns a host of a namespace.
func hostOf(l sharedLimits, name, namespace string) *host {
	return &host{
		slots: l.slots, budget: l.budget.ForNamespace(namespace), place: shares.Place{Host: name, Namespace: namespace},
		patience: 5 * time.Second, quickPatience: quickPatience,
	}
}

// largeFetch returns an operation that brings a large answer, which takes so long.
func largeFetch(h *host, took time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		s := budget.NewShare(h.budget, nil)
		defer s.Release()
		if err := s.Grow(ctx, 9<<20); err != nil {
			return err
		}
		select {
		case <-time.After(took):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// begin runs an operation, and returns a channel with its duration and its error, once it waits.
func begin(ctx context.Context, h *host, fn func(context.Context) error) <-chan outcome {
	out, began := make(chan outcome, 1), time.Now()
	go func() {
		err := h.runOperation(ctx, fn)
		out <- outcome{took: time.Since(began).Round(time.Second), class: failure.ClassOf(err)}
	}()
	synctest.Wait()
	return out
}

type outcome struct {
	took  time.Duration
	class failure.Class
}

func TestWaitForLargeAnswersIsNotTimeOfOperation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newTenantLimits(budget.New())
		got := []outcome{}
		ended := []<-chan outcome{}
		for _, namespace := range []string{"team-a", "team-b", "team-c"} {
			h := hostOf(l, namespace, namespace)
			ended = append(ended, begin(t.Context(), h, largeFetch(h, 50*time.Second)))
		}
		for _, result := range ended {
			got = append(got, <-result)
		}
		want := []outcome{{took: 50 * time.Second}, {took: 100 * time.Second}, {took: 150 * time.Second}}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(outcome{})); diff != "" {
			t.Errorf("Each large answer arrives though it waits for longer than an operation may take.\nrunOperation(...): -want, +got:\n%s", diff)
		}
	})
}

func TestWaitForLargeAnswersTakesNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newTenantLimits(budget.New())
		first := hostOf(l, "other", "team-a")
		_ = begin(t.Context(), first, largeFetch(first, 50*time.Second))
		h := hostOf(l, "host", hostile)
		for range namespaceSlotsAtHost {
			_ = begin(t.Context(), h, largeFetch(h, time.Second))
		}
		small := begin(t.Context(), h, func(context.Context) error { return nil })
		if diff := cmp.Diff(outcome{}, <-small, cmp.AllowUnexported(outcome{})); diff != "" {
			t.Errorf("Operations that wait for large answers of others leave their slots to small operations.\nrunOperation(...): -want, +got:\n%s", diff)
		}
		<-time.After(5 * time.Minute) // The others end.
	})
}

// TestLargeAnswersNeedNoSlot lets an operation wait for the lane, and then others take all slots of the namespace at the host.
func TestLargeAnswersNeedNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newTenantLimits(budget.New())
		free, ok := holdLane(l)
		if !ok {
			t.Fatal("want the lane")
		}
		h := hostOf(l, "host", "team-a")
		large := begin(t.Context(), h, largeFetch(h, time.Second))
		for range namespaceSlotsAtHost {
			_ = begin(t.Context(), h, func(ctx context.Context) error { <-ctx.Done(); return nil })
		}
		free()
		if diff := cmp.Diff(outcome{took: time.Second}, <-large, cmp.AllowUnexported(outcome{})); diff != "" {
			t.Errorf("An operation that has the lane waits for no slot, where it would keep the lane from others.\nrunOperation(...): -want, +got:\n%s", diff)
		}
		<-time.After(2 * operationTimeout) // The others end.
	})
}

func TestWaitForLargeAnswersIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newTenantLimits(budget.New())
		free, ok := holdLane(l)
		if !ok {
			t.Fatal("want the lane")
		}
		h := hostOf(l, "host", "team-a")
		short, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		ends, waits := begin(short, h, largeFetch(h, time.Second)), begin(t.Context(), h, largeFetch(h, time.Second))
		want := []outcome{{took: 10 * time.Second, class: failure.ClassTransient}, {took: 5 * time.Minute, class: failure.ClassTransient}}
		if diff := cmp.Diff(want, []outcome{<-ends, <-waits}, cmp.AllowUnexported(outcome{})); diff != "" {
			t.Errorf("The wait ends with the context, and after five minutes.\nrunOperation(...): -want, +got:\n%s", diff)
		}
		free()
	})
}

// holdLane takes the lane of large answers for an operation that has no end.
func holdLane(l sharedLimits) (func(), bool) {
	s := budget.NewShare(l.budget.ForNamespace("holder"), nil)
	return s.Release, s.Grow(context.Background(), 9<<20) == nil
}
