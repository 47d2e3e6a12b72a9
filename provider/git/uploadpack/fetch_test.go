package uploadpack

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/objects"
	"github.com/intentplane/intentplane/provider/git/transport"
)

func TestTooLargeInMemory(t *testing.T) {
	server, conn := serve(t, map[string]string{"a": strings.Repeat("0", 1<<20)})
	runGit(t, server, "config", "uploadpack.allowFilter", "false")
	fetch := func(maxInflated int64) error {
		s := open(t, conn, maxInflated)
		_, _, err := s.FetchTrees(t.Context(), s.Refs[branch], objects.View{})
		return err
	}
	err := fetch(1 << 19)
	if diff := cmp.Diff(failure.ClassTooLarge, failure.ClassOf(conn.Failure(t.Context(), transport.VerbRead, err))); diff != "" {
		t.Errorf("A small pack may hold a large file.\nFetchTrees(...): -want, +got:\n%s\n%v", diff, err)
	}
	if err := fetch(1 << 21); err != nil {
		t.Errorf("A file below the limit is fetched.\nFetchTrees(...): %v", err)
	}
}
