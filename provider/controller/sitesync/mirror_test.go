package sitesync

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestMirror lets Flux read the repository by another URL.
func TestMirror(t *testing.T) {
	const mirror = "https://mirror.example.com/fleet.git"
	cases := map[string]struct {
		reason string
		commit string
		says   string
		words  string
	}{
		"SameCommit":  {reason: "A mirror that has the commit runs the same files, and the status names its URL.", says: isLiveNow},
		"OtherCommit": {reason: "A commit that the repository does not have proves nothing, and the message names the URL.", commit: strings.Repeat("a", 40), says: "Syncing | Syncing | ProofUnknown", words: "; the engine reads " + mirror},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			commit := w.deliver("new")
			if tc.commit != "" {
				commit = tc.commit
			}
			w.flux(commit, false)
			_, err := w.cluster.Resource(repositories()).Namespace("flux").Patch(t.Context(), "g", types.MergePatchType, []byte(`{"spec":{"url":"`+mirror+`"}}`), metav1.PatchOptions{})
			w.must(err)
			w.askFor(1)
			w.until(tc.says)
			site := w.get().Status.AtProvider.Sites[0]
			if diff := cmp.Diff(mirror, site.Engine.URL); diff != "" {
				t.Errorf("\n%s\nurl: -want, +got:\n%s", tc.reason, diff)
			}
			if !strings.HasSuffix(site.Message, tc.words) {
				t.Errorf("\n%s\nmessage: want %q at its end, got %q", tc.reason, tc.words, site.Message)
			}
		})
	}
}
