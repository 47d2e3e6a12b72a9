package scene

import (
	"context"
	"maps"
	"slices"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/test/gitserver"
)

// Apply applies an object. It fails the test when the object is refused.
func (s *Scene) Apply(o *unstructured.Unstructured) {
	s.T.Helper()
	s.Must(s.ApplyObject(s.T.Context(), o.DeepCopy())) // What the server adds to it cannot be applied again.
}

// Refused applies an object, and fails the test unless it is refused. It returns the refusal.
func (s *Scene) Refused(o *unstructured.Unstructured) string {
	s.T.Helper()
	err := s.ApplyObject(s.T.Context(), o.DeepCopy())
	if err == nil {
		s.T.Fatalf("%s %s was not refused", o.GetKind(), o.GetName())
	}
	return err.Error()
}

// Delete deletes an object, without waiting for its end.
func (s *Scene) Delete(o *unstructured.Unstructured) {
	s.T.Helper()
	s.Must(client.IgnoreNotFound(s.Client.Delete(s.T.Context(), o.DeepCopy())))
}

// Await waits until an object, as it is there, fulfils a condition, and returns it. It fails the test with what when it does
// not in time.
func (s *Scene) Await(o *unstructured.Unstructured, what string, is func(*unstructured.Unstructured) bool) *unstructured.Unstructured {
	s.T.Helper()
	ctx, cancel := s.Context()
	defer cancel()
	var last *unstructured.Unstructured
	for ctx.Err() == nil {
		found := s.watchObject(ctx, o, func(e watch.Event, seen *unstructured.Unstructured) bool {
			last = seen
			return e.Type != watch.Deleted && is(seen)
		})
		if found != nil {
			return found
		}
	}
	s.T.Fatalf("%s %s: %s: not in time; last seen: %v", o.GetKind(), o.GetName(), what, statusOfObject(last))
	return nil
}

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

// glance is how long a deletion is watched for before the test reads the object again: one that came before the watch began is never sent.
const glance = 2 * time.Second

func (s *Scene) watchDeletion(ctx context.Context, o *unstructured.Unstructured) {
	ctx, cancel := context.WithTimeout(ctx, glance)
	defer cancel()
	s.watchObject(ctx, o, func(e watch.Event, _ *unstructured.Unstructured) bool { return e.Type == watch.Deleted })
}

func (s *Scene) isObjectMissing(ctx context.Context, o *unstructured.Unstructured) bool {
	seen := o.DeepCopy()
	return apierrors.IsNotFound(s.Client.Get(ctx, client.ObjectKeyFromObject(o), seen))
}

// watchObject returns the first state of an object that fulfils a condition, or nil when the watch ends before.
func (s *Scene) watchObject(ctx context.Context, o *unstructured.Unstructured, is func(watch.Event, *unstructured.Unstructured) bool) *unstructured.Unstructured {
	l := &unstructured.UnstructuredList{}
	l.SetAPIVersion(o.GetAPIVersion())
	l.SetKind(o.GetKind() + "List")
	w, err := s.Client.Watch(ctx, l, client.InNamespace(o.GetNamespace()), client.MatchingFieldsSelector{
		Selector: fields.OneTermEqualSelector("metadata.name", o.GetName()),
	})
	if err != nil {
		return nil
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		if seen, ok := e.Object.(*unstructured.Unstructured); ok && is(e, seen) {
			return seen
		}
	}
	return nil
}

func statusOfObject(o *unstructured.Unstructured) any {
	if o == nil {
		return "nothing"
	}
	return o.Object["status"]
}

// AwaitPhase waits until a deployment has a phase that speaks of what it says now: its digest is none that was seen before.
func (s *Scene) AwaitPhase(o *unstructured.Unstructured, phase string) *unstructured.Unstructured {
	s.T.Helper()
	return s.Await(o, "phase "+phase, func(u *unstructured.Unstructured) bool { return Field(u, "status", "phase") == phase })
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

// Delivery returns the one GitDelivery of the scene. It fails the test when there is not just one.
func (s *Scene) Delivery() *deliveryv1alpha1.GitDelivery {
	s.T.Helper()
	all := s.Deliveries()
	if len(all) != 1 {
		s.T.Fatalf("want one GitDelivery, found %d", len(all))
	}
	return &all[0]
}

// Deliveries returns all GitDeliveries of the scene.
func (s *Scene) Deliveries() []deliveryv1alpha1.GitDelivery {
	s.T.Helper()
	l := &unstructured.UnstructuredList{}
	l.SetAPIVersion(deliveryv1alpha1.GroupVersion.String())
	l.SetKind("GitDeliveryList")
	s.Must(s.Client.List(s.T.Context(), l, client.InNamespace(s.Namespace)))
	out := make([]deliveryv1alpha1.GitDelivery, len(l.Items))
	for i := range l.Items {
		s.Must(runtime.DefaultUnstructuredConverter.FromUnstructured(l.Items[i].Object, &out[i]))
	}
	return out
}

// Commits are those of the repository's branch, newest first, without the one that it was made with.
func (s *Scene) Commits() []gitserver.Commit {
	s.T.Helper()
	log, err := s.Git.Log(s.T.Context(), s.Namespace, "main")
	s.Must(err)
	return log[:len(log)-1]
}

// Files are those of the repository's branch.
func (s *Scene) Files() map[string]string {
	s.T.Helper()
	files, err := s.Git.Files(s.T.Context(), s.Namespace, "main")
	s.Must(err)
	return files
}

// FilesBelow are the files below a directory of the repository, by their path in it.
func (s *Scene) FilesBelow(dir string) map[string]string {
	s.T.Helper()
	out := map[string]string{}
	for name, content := range s.Files() {
		if rest, ok := cutDirectory(name, dir); ok {
			out[rest] = content
		}
	}
	return out
}

// Names of files, sorted.
func Names(files map[string]string) []string { return slices.Sorted(maps.Keys(files)) }

func cutDirectory(name, dir string) (string, bool) {
	if len(name) <= len(dir) || name[:len(dir)] != dir || name[len(dir)] != '/' {
		return "", false
	}
	return name[len(dir)+1:], true
}

// Field is a string in an object, or empty.
func Field(o *unstructured.Unstructured, fields ...string) string {
	v, _, _ := unstructured.NestedString(o.Object, fields...)
	return v
}

// Number is an integer in an object, or 0.
func Number(o *unstructured.Unstructured, fields ...string) int64 {
	v, _, _ := unstructured.NestedInt64(o.Object, fields...)
	return v
}

// Condition is a condition of an object, or one with an unknown status.
func Condition(o *unstructured.Unstructured, typ string) xpv2.Condition {
	c := struct {
		Status xpv2.ConditionedStatus `json:"status"`
	}{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &c); err != nil {
		return xpv2.Condition{Type: xpv2.ConditionType(typ), Status: corev1.ConditionUnknown}
	}
	return c.Status.GetCondition(xpv2.ConditionType(typ))
}
