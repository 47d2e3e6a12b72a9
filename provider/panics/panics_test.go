package panics

import (
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
)

func TestRecover(t *testing.T) {
	const panicked = "panicked: this is a bug of the provider, whose log has the stack"
	cases := map[string]struct {
		reason string
		fn     func() error
		want   string
	}{
		"Success": {reason: "A function that succeeds returns no error.", fn: func() error { return nil }},
		"Failure": {reason: "The error of a function is returned as it is.", fn: func() error { return errors.New("boom") }, want: "boom"},
		"Panic": {
			reason: "The error of a panic says where to look, and nothing of its value, which may hold a credential.",
			fn:     func() error { panic("secret") }, want: panicked,
		},
		"Long": {reason: "The error of a panic is bounded whatever its value.", fn: func() error { panic(strings.Repeat("x", 1<<20)) }, want: panicked},
		"Runtime": {
			reason: "A panic of the runtime is recovered.",
			fn: func() error {
				words := strings.Fields("one two")
				return errors.New(words[strings.Count("abcabc", "c")])
			},
			want: panicked,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := Recover("test", tc.fn); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nRecover(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestGo would end the process if the panic were not recovered.
func TestGo(*testing.T) {
	ended := make(chan struct{})
	Go("test", func() {
		defer close(ended)
		panic("boom")
	})
	<-ended
}
