package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadAccepted(t *testing.T) {
	cases := map[string]struct {
		reason  string
		content string
		want    map[acceptance]string
		// err is a part of the error.
		err string
	}{
		"None": {
			reason:  "Comments and blank lines accept nothing.",
			content: "# . GO-2021-0001 It is a comment.\n\n",
			want:    map[acceptance]string{},
		},
		"Modules": {
			reason:  "A finding is accepted in a module, with the rest of the line as its reason.",
			content: ". GO-2021-0001 The server is local.\ntools/xpkg GO-2021-0001 It serves nothing.",
			want: map[acceptance]string{
				{module: ".", id: "GO-2021-0001"}: "The server is local.", {module: "tools/xpkg", id: "GO-2021-0001"}: "It serves nothing.",
			},
		},
		"NoReason": {
			reason:  "A line without a reason is an error with its number.",
			content: "# Accepted.\n. GO-2021-0001\n",
			err:     "cannot read line 2 of ",
		},
		"Twice": {
			reason:  "A finding that is accepted twice is an error, since one of the reasons would be lost.",
			content: ". GO-2021-0001 One.\n. GO-2021-0001 Two.\n",
			err:     "GO-2021-0001 of . is accepted twice",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			folder := writeFiles(t, map[string]string{"accepted.txt": tc.content})
			got, err := readAccepted(filepath.Join(folder, "accepted.txt"))
			if (err != nil) != (tc.err != "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Fatalf("\n%s\nreadAccepted(...): %v, want %q", tc.reason, err, tc.err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nreadAccepted(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestAcceptedFile reads the accepted findings of this project.
func TestAcceptedFile(t *testing.T) {
	accepted, err := readAccepted("accepted.txt")
	if err != nil {
		t.Fatal(err)
	}
	for a := range accepted {
		if hasFiles, err := hasPackages(filepath.Join("..", "..", a.module)); err != nil || !hasFiles {
			t.Errorf("accepted.txt: %s has no packages to scan: %v", a.module, err)
		}
	}
}
