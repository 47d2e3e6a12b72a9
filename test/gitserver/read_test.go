package gitserver

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLog(t *testing.T) {
	s := start(t)
	if out, err := push(t, s, 1); err != nil {
		t.Fatalf("push: %v\n%s", err, out)
	}
	log, err := s.Log(t.Context(), "team/fleet", Branch)
	if err != nil {
		t.Fatal(err)
	}
	refs, err := s.Refs(t.Context(), "team/fleet")
	if err != nil {
		t.Fatal(err)
	}
	if len(log) != 2 {
		t.Fatalf("Log(...): %d commits, want 2", len(log))
	}
	want := Commit{
		ID:        refs["refs/heads/main"],
		Tree:      log[0].Tree,
		Parents:   []string{log[1].ID},
		Author:    "a <a@example.org>",
		Committer: "a <a@example.org>",
		Time:      log[0].Time,
		Message:   "Change\n\nIntent: x\nStep: 3\n",
		Trailers:  map[string]string{"Intent": "x", "Step": "3"},
	}
	if diff := cmp.Diff(want, log[0]); diff != "" {
		t.Errorf("Log(...): -want, +got:\n%s", diff)
	}
	if log[0].Time.IsZero() {
		t.Errorf("Log(...): commit has no time")
	}
}
