package rendering

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChange(t *testing.T) {
	cases := map[string]struct {
		reason        string
		before, after string
		want          string
	}{
		"Changed": {
			reason: "A file that changes is shown as a unified diff, without a line that names both files again.",
			before: "a: 1\nb: 2\n", after: "a: 1\nb: 3\n",
			want: "--- a/x.yaml\n+++ b/x.yaml\n@@ -1,2 +1,2 @@\n a: 1\n-b: 2\n+b: 3\n",
		},
		"Created": {
			reason: "A file that is new is compared with the null device.",
			after:  "a: 1\n",
			want:   "--- /dev/null\n+++ b/x.yaml\n@@ -0,0 +1,1 @@\n+a: 1\n",
		},
		"Removed": {
			reason: "A file that would be removed is compared with the null device.",
			before: "a: 1\n",
			want:   "--- a/x.yaml\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a: 1\n",
		},
		"NoLineEnd": {
			reason: "A missing line end at the end of a file is a difference that is shown.",
			before: "a: 1", after: "a: 1\n",
			want: "--- a/x.yaml\n+++ b/x.yaml\n@@ -1,1 +1,1 @@\n-a: 1\n\\ No newline at end of file\n+a: 1\n",
		},
		"Secret": {
			reason: "The values of a Secret are not shown.",
			before: "kind: Secret\nstringData: {a: hunter2}\n",
			want:   "--- a/x.yaml\n+++ b/x.yaml\nA Secret differs. Its values are not shown.\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var previous, next []byte
			if tc.before != "" {
				previous = []byte(tc.before)
			}
			if tc.after != "" {
				next = []byte(tc.after)
			}
			if diff := cmp.Diff(tc.want, unifiedDiff("x.yaml", previous, next)); diff != "" {
				t.Errorf("\n%s\nunifiedDiff(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
