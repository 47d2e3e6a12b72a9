package projection

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSentences(t *testing.T) {
	cases := map[string]struct {
		reason string
		parts  []string
		want   string
	}{
		"Two": {
			reason: "A part without a full stop gets one before the next part begins.",
			parts:  []string{"spec.intent: replicas: must be from 0 to 10000", "Revision 4 stays as it is."},
			want:   "spec.intent: replicas: must be from 0 to 10000. Revision 4 stays as it is.",
		},
		"Ended": {
			reason: "A part that ends with a full stop gets no second one.",
			parts:  []string{"Every Site runs the revision.", " An update waits: renderer 2."},
			want:   "Every Site runs the revision. An update waits: renderer 2.",
		},
		"Empty": {
			reason: "An empty part leaves no space behind.",
			parts:  []string{"", "Every Site runs the revision.", " ", ""},
			want:   "Every Site runs the revision.",
		},
		"Last": {
			reason: "The last part stays as it is, so that a message alone is not changed.",
			parts:  []string{"spec.suspend is set", "Site edge1 does not exist"},
			want:   "spec.suspend is set. Site edge1 does not exist",
		},
		"Lines": {
			reason: "A text after a marked mistake does not stand beside the mark.",
			parts:  []string{"\"fast\" is not understood here\n  Deploy shop fast\n              ^^^^", "Revision 4 stays as it is."},
			want:   "\"fast\" is not understood here\n  Deploy shop fast\n              ^^^^\nRevision 4 stays as it is.",
		},
		"Cut": {
			reason: "A text that was cut gets no full stop behind the mark of that.",
			parts:  []string{"cannot render: kustomize: …", "Revision 4 stays as it is."},
			want:   "cannot render: kustomize: … Revision 4 stays as it is.",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Sentences(tc.parts...)); diff != "" {
				t.Errorf("\n%s\nSentences(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
