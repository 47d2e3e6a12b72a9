package claims

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/scene"
)

func TestRevisions(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1", "edge2")
	claim := s.Claim("shop", intent(s, 2, "edge1", "edge2"))
	first := s.Succeed(claim)
	delivery := s.Raw()

	// The same again is no change for anybody.
	s.Apply(claim)
	if diff := cmp.Diff(first.GetGeneration(), s.Now(claim).GetGeneration()); diff != "" {
		t.Errorf("metadata.generation after the same claim again: -want, +got:\n%s", diff)
	}

	// What decides nothing about delivery is seen, and delivers nothing.
	s.Set(claim, "7m", "spec", "deliveryConfig", "syncWaitTimeout")
	s.Set(claim, "20s", "spec", "compileConfig", "renderTimeout")
	timeouts := s.Succeed(claim)
	if scene.Field(first, "status", "intentDigest") == scene.Field(timeouts, "status", "intentDigest") {
		t.Error("status.intentDigest does not tell other timeouts apart")
	}
	if diff := cmp.Diff(int64(1), scene.Number(timeouts, "status", "revision")); diff != "" {
		t.Errorf("status.revision after other timeouts: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(delivery.GetGeneration(), s.Raw().GetGeneration()); diff != "" {
		t.Errorf("generation of GitDelivery after other timeouts: -want, +got:\n%s", diff)
	}

	// Another intent is one more commit, whatever the number of Sites. All that went before made just one.
	s.Set(claim, intent(s, 3, "edge1", "edge2"), "spec", "intent")
	second := s.Succeed(claim)
	commits := s.AwaitCommits(2)
	if diff := cmp.Diff(int64(2), scene.Number(second, "status", "revision")); diff != "" {
		t.Errorf("status.revision after another intent: -want, +got:\n%s", diff)
	}
	checkTouched(t, s, commits[0].ID, "edge1", "edge2")
	checkHistory(t, s, commits[1].ID, commits[0].ID)
}

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
