package repository

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/address"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
)

func TestConcealedCauseIsReportedOnce(t *testing.T) {
	status := http.StatusNotFound
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	t.Cleanup(s.Close)
	clock := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	got := []ConcealedFailure{}
	p := pool(Options{Now: func() time.Time { return clock }, Concealed: func(f ConcealedFailure) { got = append(got, f) }})
	r := openRemote(t, p, s.URL+"/x.git", func(r *git.Remote) { r.Namespace, r.Guard = "team-a", &address.Guard{Loopback: true} })
	look := func() error {
		_, err := r.Look(t.Context(), web(0), clock)
		return err
	}
	fetch := func() error {
		_, err := r.FetchCommit(t.Context(), strings.Repeat("a", 40))
		return err
	}
	const missing, refused = "cannot read the repository: it does not exist, or these credentials may not see it",
		"cannot read the repository: the credentials were not accepted"
	steps := []struct {
		reason string
		after  time.Duration
		status int
		ask    func() error
		want   []string
	}{
		{reason: "A cause that the error does not name is reported.", status: http.StatusNotFound, ask: look, want: []string{missing}},
		{reason: "The same cause is not reported for each try.", after: 10 * time.Minute, status: http.StatusNotFound, ask: look},
		{
			reason: "A new cause is reported though the error is the same.",
			after:  10 * time.Minute, status: http.StatusUnauthorized, ask: look, want: []string{refused},
		},
		{reason: "A cause that comes back soon is not reported again.", after: 10 * time.Minute, status: http.StatusNotFound, ask: look},
		{reason: "A cause that lasts is reported each hour.", after: 40 * time.Minute, status: http.StatusNotFound, ask: look, want: []string{missing}},
		{reason: "The cause of a proof that fails is reported too.", after: 2 * time.Hour, status: http.StatusUnauthorized, ask: fetch, want: []string{refused}},
	}
	for _, step := range steps {
		clock, status, got = clock.Add(step.after), step.status, nil
		if err := step.ask(); !failure.IsConcealed(err) {
			t.Fatalf("%s\nwant a concealed error, got %v", step.reason, err)
		}
		want := []ConcealedFailure{}
		for _, cause := range step.want {
			want = append(want, ConcealedFailure{Namespace: "team-a", URL: s.URL + "/x.git", Cause: cause})
		}
		if diff := cmp.Diff(fmt.Sprint(want), fmt.Sprint(got)); diff != "" {
			t.Errorf("%s\nConcealed(...): -want, +got:\n%s", step.reason, diff)
		}
	}
}

func TestReportedCausesAreBounded(t *testing.T) {
	c, now, reported := reportedCauses{}, time.Time{}, 0
	for n := range 10 * maxCauses {
		if c.shouldReport(fmt.Sprint("cause ", n), now) {
			reported++
		}
	}
	if diff := cmp.Diff([]int{maxCauses, maxCauses}, []int{reported, len(c.at)}); diff != "" {
		t.Errorf("A server that chooses new words each time is not reported each time.\nshouldReport(...): -want, +got:\n%s", diff)
	}
}
