package release

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/checkout"
)

// TestRelease makes a signed release, and the same one without a key in another folder.
func TestRelease(t *testing.T) {
	signed, s := checkout.Copy(t, "signed"), startSigstore(t)
	if out, err := signed.MakeRelease(t.Context(), "VERSION="+version, "KEY="+writeSigningKey(t), "TLOG="+s.log); err != nil {
		t.Fatalf("make release: %v\n%s", err, out)
	}
	t.Run("Files", func(t *testing.T) {
		wantReleaseFiles(t, signed)
		wantVerifiedFiles(t, signed)
		program := signed.UnpackPlugin(t, version)
		wantVersion(t, program)
		wantContent(t, signed, program)
	})
	t.Run("Reproducible", func(t *testing.T) { wantReproducible(t, signed) })
	t.Run("Verified", func(t *testing.T) { wantVerified(t, signed, s) })
	t.Run("GoInstall", func(t *testing.T) { wantVersion(t, installPlugin(t, writeModule(t, signed))) })
}

// wantReproducible makes the release again, in a folder with a longer name and without a key, and compares all files but the signed ones.
func wantReproducible(t *testing.T, signed *checkout.Checkout) {
	t.Helper()
	other := checkout.Copy(t, "another-folder-with-a-longer-name")
	if out, err := other.MakeRelease(t.Context(), "VERSION="+version); err != nil {
		t.Fatalf("make release: %v\n%s", err, out)
	}
	want, got := digestFiles(t, signed.Dist()), topLevelFiles(digestFiles(t, other.Dist()))
	for _, name := range signedFiles {
		delete(got, name)
	}
	if len(got) < 12 {
		t.Errorf("The release without a key has few files: %v", slices.Sorted(maps.Keys(got)))
	}
	for name, digest := range got {
		if want[name] != digest {
			t.Errorf("%s differs between two folders", name)
		}
	}
	// The blobs of packages have their digests as names.
	for name := range digestFiles(t, other.Dist("packages")) {
		if strings.Contains(name, "blobs") && want["packages/"+name] == "" {
			t.Errorf("packages/%s differs between two folders", name)
		}
	}
}

// TestRefusedReleases asks for releases that cannot be made.
func TestRefusedReleases(t *testing.T) {
	c := checkout.Copy(t, "checkout")
	cases := map[string]struct {
		reason string
		args   []string
		// change is the path of a file that no commit has, or empty.
		change string
		want   string
	}{
		"NoVersion": {reason: "A release has a version that its maker names.", want: "cannot make a release: name its version"},
		"Form": {
			reason: "A version has three numbers.",
			args:   []string{"VERSION=v1.91"}, want: `cannot make a release of version "v1.91": want a semantic version`,
		},
		"Exists": {
			reason: "A version is released once.",
			args:   []string{"VERSION=" + checkout.OldVersion}, want: ": tag " + checkout.OldVersion + " exists",
		},
		"NotBuilt": {
			reason: "A version without a tag cannot be made again.",
			args:   []string{"VERSION=" + version, "REBUILD=1"}, want: "cannot rebuild v1.91.0: tag v1.91.0 does not exist",
		},
		"Dirty": {
			reason: "A file that no commit has is not released.",
			args:   []string{"VERSION=" + version}, change: "new.go", want: "cannot make release v1.91.0: new.go differs",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.change != "" {
				checkout.CopyFile(t, c.Dir+"/main.go", c.Dir+"/"+tc.change)
				defer func() { _ = os.Remove(c.Dir + "/" + tc.change) }() // The folder is temporary.
			}
			out, err := c.MakeRelease(t.Context(), tc.args...)
			if err == nil || !strings.Contains(out, tc.want) {
				t.Errorf("\n%s\nmake release: want %q, got %v:\n%s", tc.reason, tc.want, err, out)
			}
			if diff := cmp.Diff("", listDist(c)); diff != "" {
				t.Errorf("\n%s\nmake release: a refused release has files: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// listDist names the files of a release, or nothing.
func listDist(c *checkout.Checkout) string {
	entries, _ := os.ReadDir(c.Dist()) // A folder that does not exist has no files.
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}
