package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

func TestWrite(t *testing.T) {
	type want struct {
		os, arch   string
		user       string
		entrypoint []string
		err        bool
	}

	cases := map[string]struct {
		reason string
		req    request
		want   want
	}{
		"Runs": {
			reason: "The image should run the binary as a user who is not root.",
			req:    request{tag: "example.org/fn:v1", platform: "linux/arm64"},
			want:   want{os: "linux", arch: "arm64", user: "65532:65532", entrypoint: []string{"/fn"}},
		},
		"NoPlatform": {
			reason: "A platform that is not given should be refused, not guessed.",
			req:    request{tag: "example.org/fn:v1"},
			want:   want{err: true},
		},
		"BadTag": {
			reason: "A tag that no tarball can hold should be refused.",
			req:    request{tag: "Example.org/FN:v1", platform: "linux/arm64"},
			want:   want{err: true},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			first, err := imageOf(t, tc.req)
			if diff := cmp.Diff(tc.want.err, err != nil); diff != "" {
				t.Fatalf("\n%s\nwrite(...): -want error, +got error:\n%s\n%v", tc.reason, diff, err)
			}
			if err != nil {
				return
			}
			second, _ := imageOf(t, tc.req)

			c := config(t, first)
			got := want{os: c.OS, arch: c.Architecture, user: c.Config.User, entrypoint: c.Config.Entrypoint}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nwrite(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(digest(t, first), digest(t, second)); diff != "" {
				t.Errorf("\n%s\nwrite(...) twice: -first, +second:\n%s", tc.reason, diff)
			}
		})
	}
}

// imageOf writes the image of a small binary and reads it again.
func imageOf(t *testing.T, r request) (v1.Image, error) {
	t.Helper()
	dir := t.TempDir()
	r.binary, r.output = filepath.Join(dir, "fn"), filepath.Join(dir, "fn.tar")
	if err := os.WriteFile(r.binary, []byte("binary"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.write(); err != nil {
		return nil, err
	}

	return tarball.ImageFromPath(r.output, nil)
}

func config(t *testing.T, img v1.Image) *v1.ConfigFile {
	t.Helper()
	c, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}

	return c
}

func digest(t *testing.T, img v1.Image) string {
	t.Helper()
	h, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}

	return h.String()
}
