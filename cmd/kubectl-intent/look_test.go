package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
)

func TestLook(t *testing.T) {
	found := buildv1alpha1.ImageBuildObservation{Wanted: buildv1alpha1.WantedImage{Commit: "4f2a"}}
	missing := buildv1alpha1.ImageBuildObservation{SourceTrouble: buildv1alpha1.SourceTrouble{Reason: "RevisionNotFound", Message: "no branch"}}
	cases := map[string]struct {
		reason string
		at     buildv1alpha1.ImageBuildObservation
		source string
		args   []string
		want   string
		code   int
	}{
		"Found":   {reason: "The commit is printed once the look is done.", at: found, want: "main is at 4f2a\n"},
		"Missing": {reason: "A look that finds no commit says why.", at: missing, want: "RevisionNotFound: no branch", code: 1},
		"JSON":    {reason: "A program reads the commit.", at: found, args: []string{"-o", "json"}, want: `"commit": "4f2a"`},
		"NotJSON": {reason: "A program reads why there is no commit.", at: missing, args: []string{"-o", "yaml"}, want: "reason: RevisionNotFound\n", code: 1},
		"NoWait":  {reason: "Who does not wait gets no commit.", at: found, args: []string{"--no-wait"}, want: "will be looked at"},
		"Image":   {reason: "An Application with an image has no repository.", source: `{"image": "a:1"}`, want: "is built of a source", code: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.source == "" {
				tc.source = gitSource
			}
			serveBuilt(t, tc.at, tc.source)
			out, problems := &strings.Builder{}, &strings.Builder{}
			code := runCommand(append([]string{"look", "api"}, tc.args...), &streams{out: out}, problems)
			if code != tc.code || !strings.Contains(out.String()+problems.String(), tc.want) {
				t.Errorf("\n%s\nlook: exit code %d: %s%s", tc.reason, code, out, problems)
			}
		})
	}
}

// TestAwaitLook waits for the answer to its own request, and not for ever.
func TestAwaitLook(t *testing.T) {
	reads := 0
	read := func(context.Context) (*buildv1alpha1.ImageBuild, error) {
		reads++
		b := &buildv1alpha1.ImageBuild{}
		b.Status.AtProvider.LookNow = "before"
		if reads > 2 {
			b.Status.AtProvider.LookNow = "before now"
		}
		return b, nil
	}
	if b, err := awaitLook(t.Context(), read, "now", time.Millisecond); err != nil || reads != 3 || b == nil {
		t.Errorf("awaitLook(...) after %d reads: %v", reads, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := awaitLook(ctx, read, "later", time.Millisecond)
	if e := (endError{}); !errors.As(err, &e) || e.code != exitTimedOut {
		t.Errorf("A wait that takes too long ends with 4: %v", err)
	}
}
