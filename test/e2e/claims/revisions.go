package claims

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/scene"
)

// checkTouched checks which Sites have files of shop in a commit, and that it has no others.
func checkTouched(t *testing.T, s *scene.Scene, commit string, sites ...string) {
	t.Helper()
	out, err := s.Git.Git(t.Context(), s.Namespace, "diff-tree", "-r", "--no-commit-id", "--name-only", commit)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, site := range sites {
		want = append(want, s.Directory(site, "shop")+"/deployment-shop.yaml")
	}
	if diff := cmp.Diff(want, strings.Fields(out)); diff != "" {
		t.Errorf("files in the commit: -want, +got:\n%s", diff)
	}
}

// checkHistory checks that the history of the delivery has these commits, as revisions 1, 2 and so on.
func checkHistory(t *testing.T, s *scene.Scene, commits ...string) {
	t.Helper()
	want, got := map[string]string{}, map[string]string{}
	for i, id := range commits {
		want["revision "+strconv.Itoa(i+1)] = id
	}
	for _, h := range s.Delivery().Status.AtProvider.History {
		got["revision "+strconv.FormatInt(h.Revision, 10)] = h.Commit
		if len(h.Trees) != len(s.Sites) {
			t.Errorf("revision %d has trees of %d Sites, want %d", h.Revision, len(h.Trees), len(s.Sites))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("status.atProvider.history: -want, +got:\n%s", diff)
	}
}
