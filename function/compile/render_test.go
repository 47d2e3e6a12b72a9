package compile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/compose"
)

func TestRenderReason(t *testing.T) {
	files := tree.Files{"a.yaml": nil}
	cases := map[string]struct {
		reason string
		err    error
		files  tree.Files
		want   string
	}{
		"Failed": {reason: "A failed rendering has its own reason.", err: errors.New("boom"), want: deploymentv1alpha1.ReasonRenderFailed},
		"Invalid": {
			reason: "An object that no API server accepts is a failed rendering.",
			err:    errors.Wrap(&policy.InvalidError{}, "x"), files: files, want: deploymentv1alpha1.ReasonRenderFailed,
		},
		"Denied": {reason: "A well-formed object violates a limit.", err: errors.New("boom"), files: files, want: deploymentv1alpha1.ReasonPolicyDenied},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, renderReason(tc.err, tc.files)); diff != "" {
				t.Errorf("\n%s\nrenderReason(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestPanicOfAPlace would end the process if the panic were that of a goroutine of renderEachPlace.
func TestPanicOfAPlace(t *testing.T) {
	places := []catalog.Place{{Path: "a"}, {Path: "b"}, {Path: "c"}}
	defer func() {
		got := fmt.Sprint(recover())
		for _, want := range []string{"boom b\n", "TestPanicOfAPlace"} {
			if !strings.Contains(got, want) {
				t.Errorf("\nThe caller gets the panic with the stack of the place.\nrecover(): want %q, got:\n%s", want, got)
			}
		}
	}()
	_, _ = renderEachPlace(places, func(p catalog.Place) (compose.Rendered, error) {
		if p.Path == "b" {
			panic("boom " + p.Path)
		}
		return compose.Rendered{}, nil
	})
}

func TestEachPlace(t *testing.T) {
	places := make([]catalog.Place, 50)
	for i := range places {
		places[i].Path = string(rune('a' + i))
	}
	got, err := renderEachPlace(places, func(p catalog.Place) (compose.Rendered, error) { return compose.Rendered{Place: p}, nil })
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if got[i].Place.Path != places[i].Path {
			t.Errorf("Places keep their order: want %q at %d, got %q", places[i].Path, i, got[i].Place.Path)
		}
	}
	_, err = renderEachPlace(places, func(p catalog.Place) (compose.Rendered, error) {
		if p.Path < "d" {
			return compose.Rendered{}, nil
		}
		return compose.Rendered{}, errors.New(p.Path)
	})
	if diff := cmp.Diff("d", err.Error()); diff != "" {
		t.Errorf("The error is that of the first place: -want, +got:\n%s", diff)
	}
}
