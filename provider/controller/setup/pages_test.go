package setup

import (
	"context"
	"strconv"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A pagedReader has so many Secrets, and fails after some pages.
type pagedReader struct {
	client.Reader

	secrets, failsAfter int
	limits              []int64
}

func (r *pagedReader) List(_ context.Context, l client.ObjectList, options ...client.ListOption) error {
	o := client.ListOptions{}
	o.ApplyOptions(options)
	r.limits = append(r.limits, o.Limit)
	if r.failsAfter > 0 && len(r.limits) > r.failsAfter {
		return errors.New("the server is gone")
	}
	first, _ := strconv.Atoi(o.Continue)
	end := min(first+int(o.Limit), r.secrets)
	list, ok := l.(*corev1.SecretList)
	if !ok {
		return errors.New("not a list of Secrets")
	}
	list.Items, list.Continue = make([]corev1.Secret, end-first), ""
	if end < r.secrets {
		list.Continue = strconv.Itoa(end)
	}
	return nil
}

func TestEachPage(t *testing.T) {
	cases := map[string]struct {
		reason string
		reader *pagedReader
		want   []int
		err    string
	}{
		"Pages": {reason: "Each page is read, and none has more objects than asked for.", reader: &pagedReader{secrets: 40}, want: []int{16, 16, 8}},
		"None":  {reason: "A list without objects is read once.", reader: &pagedReader{}, want: []int{0}},
		"Fails": {reason: "The error of a later page is returned.", reader: &pagedReader{secrets: 40, failsAfter: 1}, want: []int{16}, err: "the server is gone"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			pages, l, message := []int{}, &corev1.SecretList{}, ""
			if err := EachPage(t.Context(), tc.reader, l, 16, func() { pages = append(pages, len(l.Items)) }, client.InNamespace("team-a")); err != nil {
				message = err.Error()
			}
			if diff := cmp.Diff(tc.want, pages); diff != "" || message != tc.err {
				t.Errorf("\n%s\nEachPage(...): error %q, -want, +got:\n%s", tc.reason, message, diff)
			}
		})
	}
}
