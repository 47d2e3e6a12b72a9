package repository

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/test/gitserver"
)

func TestFetchCommit(t *testing.T) {
	s := serve(t, map[string]string{"README.md": "hello"})
	tip := run(t, s, "rev-parse", gitserver.Branch)
	nowhere := strings.Repeat("a", 40)
	clock := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	r := open(t, pool(Options{Now: func() time.Time { return clock }}), s)
	steps := []struct {
		reason string
		after  time.Duration
		status int
		id     string
		class  failure.Class
		asked  bool
	}{
		{reason: "A commit that is there is fetched.", id: tip, asked: true},
		{reason: "A commit that is nowhere is asked for.", id: nowhere, class: failure.ClassNotFound, asked: true},
		{reason: "A commit that could not be fetched is not asked for again at once.", id: nowhere, class: failure.ClassNotFound},
		{reason: "Other commits are still fetched.", id: tip, asked: true},
		{reason: "A server that fails is asked once.", id: tip, status: http.StatusInternalServerError, class: failure.ClassTransient, asked: true},
		{reason: "A server that failed is not asked again at once, for whatever commit.", id: strings.Repeat("b", 40), class: failure.ClassTransient},
		{reason: "A repository that did not answer is asked again after its backoff.", after: time.Minute, id: tip, asked: true},
		{reason: "A commit that was nowhere is asked for again after a while.", after: time.Hour, id: nowhere, class: failure.ClassNotFound, asked: true},
	}
	for _, step := range steps {
		clock = clock.Add(step.after)
		s.Fail(repo, step.status)
		baseline := s.Requests(repo)
		_, err := r.FetchCommit(t.Context(), step.id)
		if diff := cmp.Diff(step.class, failure.ClassOf(err)); diff != "" {
			t.Errorf("\n%s\nFetchCommit(...): -want, +got:\n%s\n%v", step.reason, diff, err)
		}
		if isRequested := s.Requests(repo) > baseline; isRequested != step.asked {
			t.Errorf("\n%s\nFetchCommit(...): asked the server: %t", step.reason, isRequested)
		}
	}
}
