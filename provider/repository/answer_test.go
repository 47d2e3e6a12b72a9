package repository

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git/failure"
)

// TestLastAnswer follows the answers of a repository that fails twice and then answers, to looks and to a push.
func TestLastAnswer(t *testing.T) {
	began := time.Now()
	clock := began
	s := serve(t, map[string]string{"README.md": "hello"})
	r := open(t, pool(Options{Now: func() time.Time { return clock }}), s)
	type seen struct {
		At, FailingSince time.Duration
		Class            failure.Class
	}
	look := func() { _, _ = r.Look(t.Context(), web(0), clock) }
	push := func() {
		if err := deliver(r, fiveFiles(0)); err != nil {
			t.Fatal(err)
		}
	}
	read := func() seen {
		baseline := s.Requests(repo)
		a := r.LastAnswer()
		if s.Requests(repo) != baseline {
			t.Error("reading the last answer asked the server")
		}
		out := seen{At: a.At.Sub(began), Class: failure.ClassOf(a.Err)}
		if a.Err != nil {
			out.FailingSince = a.FailingSince.Sub(began)
		}
		return out
	}
	if !r.LastAnswer().At.IsZero() {
		t.Error("a repository that was not asked has an answer")
	}
	steps := []struct {
		reason string
		after  time.Duration
		status int
		act    func()
		want   seen
	}{
		{reason: "A look that brought a snapshot is an answer.", act: look},
		{
			reason: "A look that failed is an answer, which failed since then.",
			after:  time.Hour, status: http.StatusServiceUnavailable, act: look,
			want: seen{At: time.Hour, FailingSince: time.Hour, Class: failure.ClassTransient},
		},
		{
			reason: "A second failure in a row failed since the first failure.",
			after:  time.Hour, status: http.StatusServiceUnavailable, act: look, want: seen{At: 2 * time.Hour, FailingSince: time.Hour, Class: failure.ClassTransient},
		},
		{reason: "A repository that answers again does not fail.", after: time.Hour, act: look, want: seen{At: 3 * time.Hour}},
		{reason: "A push is an answer, too.", after: time.Hour, act: push, want: seen{At: 4 * time.Hour}},
	}
	for _, step := range steps {
		clock = clock.Add(step.after)
		s.Fail(repo, step.status)
		step.act()
		if diff := cmp.Diff(step.want, read()); diff != "" {
			t.Errorf("\n%s\nLastAnswer(): -want, +got:\n%s", step.reason, diff)
		}
	}
}

// TestLastPushFailure shows why a push failed whose cause concerns all pushes, for as long as no push succeeds.
func TestLastPushFailure(t *testing.T) {
	clock := time.Now()
	s := serve(t, map[string]string{"README.md": "hello"})
	r := open(t, pool(Options{Now: func() time.Time { return clock }}), s)
	if err := deliver(r, fiveFiles(0)); err != nil {
		t.Fatal(err)
	}
	s.Fail(repo, http.StatusUnauthorized)
	if err := deliver(r, fiveFiles(1)); failure.ClassOf(err) != failure.ClassAuth {
		t.Fatalf("Deliver(): want %s, got %v", failure.ClassAuth, err)
	}
	if a := r.LastAnswer(); a.Err != nil || failure.ClassOf(a.PushErr) != failure.ClassAuth || !a.PushFailedAt.Equal(clock) {
		t.Errorf("LastAnswer() of a repository that refused a push: %+v", a)
	}
	s.Fail(repo, 0)
	clock = clock.Add(time.Hour)
	if err := deliver(r, fiveFiles(1)); err != nil {
		t.Fatal(err)
	}
	if a := r.LastAnswer(); a.PushErr != nil || !a.PushFailedAt.IsZero() {
		t.Errorf("LastAnswer() of a repository that takes pushes again: %+v", a)
	}
}
