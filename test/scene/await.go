package scene

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/test/gitserver"
	"github.com/intentplane/intentplane/test/patience"
)

// pollInterval is the time between two observations of a state that cannot be watched, and between two watches.
const pollInterval = 100 * time.Millisecond

// Until polls a condition that cannot be watched until it is true. It fails the test after the limit.
func (s *Scene) Until(description string, limit time.Duration, condition func() bool) {
	s.T.Helper()
	tick, end := time.NewTicker(pollInterval), time.NewTimer(limit)
	defer tick.Stop()
	defer end.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-end.C:
			s.T.Fatalf("%s: not within %s", description, limit)
		}
	}
}

// Await waits until an object, as it is there, fulfils a condition, and returns it. It fails the test with the second argument when it does
// not in time.
func (s *Scene) Await(o *unstructured.Unstructured, description string, condition func(*unstructured.Unstructured) bool) *unstructured.Unstructured {
	s.T.Helper()
	ctx, cancel := s.Context()
	defer cancel()
	var last *unstructured.Unstructured
	for ctx.Err() == nil {
		found := s.watchObject(ctx, o, func(e watch.Event, observed *unstructured.Unstructured) bool {
			last = observed
			return e.Type != watch.Deleted && condition(observed)
		})
		if found != nil {
			return found
		}
	}
	s.T.Fatalf("%s %s: %s: not in time; last seen: %v", o.GetKind(), o.GetName(), description, statusOfObject(last))
	return nil
}

// deletionWatchTimeout is how long a deletion is watched for before the test reads the object again: a deletion before the watch began is
// never sent.
const deletionWatchTimeout = 2 * time.Second

// Gone waits until an object is not there any more.
func (s *Scene) Gone(o *unstructured.Unstructured) {
	s.T.Helper()
	ctx, cancel := s.Context()
	defer cancel()
	for ctx.Err() == nil {
		if s.isObjectMissing(ctx, o) {
			return
		}
		s.watchDeletion(ctx, o)
	}
	s.T.Fatalf("%s %s is still there", o.GetKind(), o.GetName())
}

func (s *Scene) watchDeletion(ctx context.Context, o *unstructured.Unstructured) {
	ctx, cancel := context.WithTimeout(ctx, deletionWatchTimeout)
	defer cancel()
	s.watchObject(ctx, o, func(e watch.Event, _ *unstructured.Unstructured) bool { return e.Type == watch.Deleted })
}

func (s *Scene) isObjectMissing(ctx context.Context, o *unstructured.Unstructured) bool {
	observed := o.DeepCopy()
	return apierrors.IsNotFound(s.Client.Get(ctx, client.ObjectKeyFromObject(o), observed))
}

// watchObject returns the first state of an object that fulfils a condition, or nil when the watch ends before.
func (s *Scene) watchObject(ctx context.Context, o *unstructured.Unstructured, condition func(watch.Event, *unstructured.Unstructured) bool) *unstructured.Unstructured {
	l := &unstructured.UnstructuredList{}
	l.SetAPIVersion(o.GetAPIVersion())
	l.SetKind(o.GetKind() + "List")
	w, err := s.Client.Watch(ctx, l, client.InNamespace(o.GetNamespace()), client.MatchingFieldsSelector{
		Selector: fields.OneTermEqualSelector("metadata.name", o.GetName()),
	})
	if err != nil {
		pauseWatch(ctx)
		return nil
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		if observed, ok := e.Object.(*unstructured.Unstructured); ok && condition(e, observed) {
			return observed
		}
	}
	pauseWatch(ctx)
	return nil
}

// pauseWatch waits for pollInterval after a watch that did not start, or ended: without a pause, the next watch of each test would keep an API server busy that has
// just started.
func pauseWatch(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(pollInterval):
	}
}

func statusOfObject(o *unstructured.Unstructured) any {
	if o == nil {
		return "nothing"
	}
	return o.Object["status"]
}

// AwaitPhase waits until a deployment has a phase, whichever spec its status is about. Reach waits for a status about this very spec.
func (s *Scene) AwaitPhase(o *unstructured.Unstructured, phase string) *unstructured.Unstructured {
	s.T.Helper()
	return s.Await(o, "phase "+phase, func(u *unstructured.Unstructured) bool { return Field(u, "status", "phase") == phase })
}

// Reach applies a deployment and waits until its status speaks about this very spec and fulfils a condition.
func (s *Scene) Reach(o *unstructured.Unstructured, description string, condition func(*unstructured.Unstructured) bool) *unstructured.Unstructured {
	s.T.Helper()
	s.Apply(o)
	digest := s.Digest(o)
	return s.Await(o, description+" with digest "+digest, func(u *unstructured.Unstructured) bool {
		return Field(u, "status", "intentDigest") == digest && condition(u)
	})
}

// Succeed applies a deployment and waits until this very spec succeeded and is Ready.
func (s *Scene) Succeed(o *unstructured.Unstructured) *unstructured.Unstructured {
	s.T.Helper()
	s.Apply(o)
	digest := s.Digest(o)
	return s.Await(o, "Succeeded with digest "+digest, func(u *unstructured.Unstructured) bool { return hasSucceeded(u, digest) })
}

func hasSucceeded(u *unstructured.Unstructured, digest string) bool {
	return Field(u, "status", "intentDigest") == digest && Field(u, "status", "phase") == "Succeeded" &&
		Condition(u, "Ready").Status == corev1.ConditionTrue
}

// Fail applies a deployment and waits until this very spec failed, for good.
func (s *Scene) Fail(o *unstructured.Unstructured) *unstructured.Unstructured {
	s.T.Helper()
	return s.Reach(o, "Failed and Stalled", func(u *unstructured.Unstructured) bool {
		return Field(u, "status", "phase") == "Failed" && Is(u, "Stalled", corev1.ConditionTrue, "") && Is(u, "Ready", corev1.ConditionFalse, "")
	})
}

// AwaitDelivery waits until the single GitDelivery of the scene fulfils a condition, and returns it. It may be another object in the end than
// at the beginning.
func (s *Scene) AwaitDelivery(description string, condition func(d *deliveryv1alpha1.GitDelivery) bool) *deliveryv1alpha1.GitDelivery {
	s.T.Helper()
	var found *deliveryv1alpha1.GitDelivery
	s.Until("GitDelivery "+description, patience.Limit, func() bool {
		all := s.Deliveries()
		if len(all) == 1 && condition(&all[0]) {
			found = &all[0]
		}
		return found != nil
	})
	return found
}

// AwaitCommits waits until the branch has so many commits beside its first commit, and returns them, newest first.
func (s *Scene) AwaitCommits(n int) []gitserver.Commit {
	s.T.Helper()
	var commits []gitserver.Commit
	s.Until("commits", patience.Limit, func() bool {
		commits = s.Commits()
		return len(commits) >= n
	})
	if len(commits) != n {
		s.T.Fatalf("want %d commits, found %d", n, len(commits))
	}
	return commits
}
