package claims

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/scene"
)

func TestNeighboursStayAsTheyAre(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1", "edge2")
	commitUnmanaged(t, s)
	previous := s.Outside()
	if len(previous) != 8 {
		t.Fatalf("want 8 unmanaged files, found %d: %q", len(previous), previous)
	}
	s.Succeed(s.Claim("shop", intentWithReplicas(s, 2, "edge1", "edge2")))
	first := map[string]string{}
	for _, site := range []string{"edge1", "edge2"} {
		first[site] = s.Tree(s.Directory(site, "shop"))
	}
	ours := []string{s.Directory("edge1", "shop"), s.Directory("edge2", "shop"), s.Directory("edge1", "bank"), s.Directory("edge2", "bank")}
	compare := func(event string) {
		t.Helper()
		if diff := cmp.Diff(previous, s.Outside(ours...)); diff != "" {
			t.Errorf("unmanaged files after %s: -want, +got:\n%s", event, diff)
		}
		for site, want := range first {
			if diff := cmp.Diff(want, s.Tree(s.Directory(site, "shop"))); diff != "" || want == "" {
				t.Errorf("tree %q of the first claim at %s after %s: -want, +got:\n%s", want, site, event, diff)
			}
		}
	}
	compare("the first claim")
	second := s.Claim("bank", intentOfService(s, "bank", 1, "edge1", "edge2"))
	s.Succeed(second)
	compare("the second claim")
	s.Succeed(s.Set(second, intentOfService(s, "bank", 4, "edge2"), "spec", "intent"))
	compare("a change of the second claim")
	s.Delete(second)
	s.Gone(second)
	compare("the end of the second claim")
	if left := s.FilesBelow("clusters/edge2/" + s.Namespace + "/bank"); len(left) != 0 {
		t.Errorf("files of the second claim are left: %q", scene.Names(left))
	}
}
