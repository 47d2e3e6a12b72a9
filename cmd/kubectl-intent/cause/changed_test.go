package cause_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/advice"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
)

// writer is an entry of the managed fields, of a program that wrote fields some time ago.
func writer(ago time.Duration, subresource, fields string) metav1.ManagedFieldsEntry {
	timestamp := metav1.NewTime(samples.Now().Add(-ago))
	return metav1.ManagedFieldsEntry{Time: &timestamp, Subresource: subresource, FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)}}
}

func TestSinceChange(t *testing.T) {
	const spec, annotations = `{"f:spec":{"f:intent":{}}}`, `{"f:metadata":{"f:annotations":{"f:spec":{}}}}`
	timeless := writer(time.Hour, "", spec)
	timeless.Time = nil
	unobserved := func(f *cause.Facts, all []metav1.ManagedFieldsEntry) {
		f.Deliveries[0].Generation++
		f.Deliveries[0].ManagedFields = all
	}
	notAnswered := func(f *cause.Facts, all []metav1.ManagedFieldsEntry) {
		f.SpecDigest = "another"
		f.Deployment.Metadata.ManagedFields = all
	}
	cases := map[string]struct {
		reason  string
		change  func(f *cause.Facts, all []metav1.ManagedFieldsEntry)
		entries []metav1.ManagedFieldsEntry
		says    string
		// ago is zero where no time is known.
		ago time.Duration
	}{
		"NotComposed": {
			reason: "A spec that the function has not answered waits since the spec changed.", change: notAnswered, says: advice.ReasonNotComposed,
			entries: []metav1.ManagedFieldsEntry{writer(7*time.Minute, "", spec)}, ago: 7 * time.Minute,
		},
		"NotReconciled": {
			reason: "A managed resource that the provider has not observed waits since its spec changed.", change: unobserved, says: advice.ReasonNotReconciled,
			entries: []metav1.ManagedFieldsEntry{writer(7*time.Minute, "", spec)}, ago: 7 * time.Minute,
		},
		"Last": {
			reason: "The last of several changes of the spec counts.", change: notAnswered, says: advice.ReasonNotComposed,
			entries: []metav1.ManagedFieldsEntry{writer(time.Hour, "", spec), writer(7*time.Minute, "", spec), writer(30*time.Minute, "", spec)}, ago: 7 * time.Minute,
		},
		"Metadata": {
			reason: "A request to reconcile, a finalizer and a status change no spec, so they do not count.", change: notAnswered, says: advice.ReasonNotComposed,
			entries: []metav1.ManagedFieldsEntry{
				writer(7*time.Minute, "", spec), writer(time.Minute, "", annotations), writer(time.Second, "status", spec),
			},
			ago: 7 * time.Minute,
		},
		"Deleted": {
			reason: "A deletion changes the generation, too.", says: advice.ReasonNotReconciled,
			change: func(f *cause.Facts, all []metav1.ManagedFieldsEntry) {
				unobserved(f, all)
				deletedAt := metav1.NewTime(samples.Now().Add(-3 * time.Minute))
				f.Deliveries[0].DeletionTimestamp = &deletedAt
			},
			entries: []metav1.ManagedFieldsEntry{writer(7*time.Minute, "", spec)}, ago: 3 * time.Minute,
		},
		"Silent": {
			reason: "Without managed fields that can be read no time is stated.", change: notAnswered, says: advice.ReasonNotComposed,
			entries: []metav1.ManagedFieldsEntry{{}, timeless, writer(time.Minute, "", "not JSON")},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := cause.FindForDeployment(edit(samples.WrongPassword(), func(f *cause.Facts) { tc.change(f, tc.entries) }), samples.Now())
			ago := time.Duration(0)
			if start := f.Cause().Since; start != nil {
				ago = samples.Now().Sub(start.Time)
			}
			if diff := cmp.Diff([]any{tc.says, tc.ago}, []any{f.Reason(), ago}); diff != "" {
				t.Errorf("\n%s\nFindForDeployment(...): -want reason and age, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
