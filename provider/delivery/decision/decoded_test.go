package decision

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
)

// TestDecodeTrees decodes trees of a spec, and reads their files.
func TestDecodeTrees(t *testing.T) {
	const half = 512 << 10
	encode := func(files tree.Files) []byte {
		b, err := tree.Encode(files)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	small, large := encode(tree.Files{"a.yaml": []byte("a: 1\n")}), encode(tree.Files{"a.yaml": bytes.Repeat([]byte("a"), half)})
	named := func(path string, action v1alpha1.TreeAction, files []byte) v1alpha1.Tree {
		return v1alpha1.Tree{Branch: "main", Path: path, Action: action, Files: files}
	}
	var trees []v1alpha1.Tree
	for i := range maxDecodedBytes/half + 2 {
		trees = append(trees, named(fmt.Sprint(i), v1alpha1.ActionDesired, large))
	}
	cases := map[string]struct {
		reason string
		trees  []v1alpha1.Tree
		// want is how many trees are decoded at once.
		want int
		// fails says that the files of the last tree cannot be decoded.
		fails bool
	}{
		"Desired": {
			reason: "The files of each tree are decoded once.",
			trees:  []v1alpha1.Tree{named("a", v1alpha1.ActionDesired, small), named("b", v1alpha1.ActionDesired, small)}, want: 2,
		},
		"Kept": {
			reason: "A directory that is kept has no files to decode.",
			trees:  []v1alpha1.Tree{named("b", v1alpha1.ActionKeep, nil), named("a", v1alpha1.ActionDesired, small)}, want: 1,
		},
		"Invalid": {
			reason: "Why files cannot be decoded is found once, too.",
			trees:  []v1alpha1.Tree{named("a", v1alpha1.ActionDesired, []byte("no archive"))}, want: 1, fails: true,
		},
		"Many": {reason: "Files that would take too much memory are decoded when they are needed.", trees: trees, want: maxDecodedBytes / half},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := Facts{decoded: decodeTrees(tc.trees)}
			if got := len(f.decoded); got != tc.want {
				t.Errorf("\n%s\ndecodeTrees(...): want %d, got %d", tc.reason, tc.want, got)
			}
			files, err := f.filesOf(tc.trees[len(tc.trees)-1])
			if (err != nil) != tc.fails || tc.fails != (len(files["a.yaml"]) == 0) {
				t.Errorf("\n%s\nfilesOf(...): want an error: %t, got %v", tc.reason, tc.fails, err)
			}
		})
	}
}
