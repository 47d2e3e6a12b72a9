package clusters

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/clusters/account"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
)

func TestProbe(t *testing.T) {
	ok := readiness.Answer{Asked: true, Version: "v1.34.2"}
	silent := readiness.Answer{Asked: true, Reason: readiness.ReasonServerUnreachable}
	cases := map[string]struct {
		reason string
		// readyz and api are the status codes of the server on /readyz and /api.
		readyz, api int
		token       string
		want        readiness.Answer
		age         time.Duration
		near        bool
	}{
		"Ready":     {reason: "An API server that reports to be ready is.", readyz: http.StatusOK, want: ok, age: goodFor},
		"NoReadyz":  {reason: "A server without /readyz is ready if /api answers.", readyz: http.StatusNotFound, api: http.StatusOK, want: ok, age: goodFor},
		"Forbidden": {reason: "A server that forbids /readyz is ready if /api answers.", readyz: http.StatusForbidden, api: http.StatusOK, want: ok, age: goodFor},
		"Nobody": {
			reason: "Credentials that may ask nothing are denied.",
			readyz: http.StatusForbidden, api: http.StatusForbidden, want: readiness.Answer{Asked: true, Reason: readiness.ReasonKubeconfigDenied},
			age: badFor,
		},
		"Denied": {
			reason: "A token that the API server does not know is denied.",
			token:  "other", readyz: http.StatusOK, want: readiness.Answer{Asked: true, Reason: readiness.ReasonKubeconfigDenied}, age: badFor,
		},
		"Starting": {
			reason: "An API server that reports not to be ready is not.",
			readyz: http.StatusInternalServerError, want: readiness.Answer{Asked: true, Reason: readiness.ReasonServerNotReady}, age: badFor,
		},
		"Neither": {
			reason: "A server without the paths of Kubernetes is not ready.",
			readyz: http.StatusNotFound, api: http.StatusNotFound, want: readiness.Answer{Asked: true, Reason: readiness.ReasonServerNotReady},
			age: badFor,
		},
		"Redirects": {
			reason: "A redirect is not followed, since it could lead to where only the provider can go.",
			readyz: http.StatusFound, want: silent, age: badFor,
		},
		"Near": {
			reason: "A kubeconfig that leads to the provider's own machine is refused.",
			readyz: http.StatusOK, want: readiness.Answer{Asked: true, Reason: readiness.ReasonKubeconfigRefused}, age: badFor, near: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t)
			var requests atomic.Int32
			s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				status := map[string]int{"/readyz": tc.readyz, "/api": tc.api, "/version": http.StatusOK}[r.URL.Path]
				if r.Header.Get("Authorization") != "Bearer "+canary {
					status = http.StatusUnauthorized
				}
				w.Header().Set("Location", "/version")
				w.WriteHeader(status)
				fmt.Fprint(w, `{"gitVersion":"v1.34.2\n"}`)
			})
			token := tc.token
			if token == "" {
				token = canary
			}
			now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
			p := NewProber(Limits{Loopback: !tc.near, Accounts: account.New(account.Bounds{})}, func() time.Time { return now })
			got, nextAsk := p.Ask(t.Context(), s.kubeconfig(token))
			if diff := cmp.Diff(tc.want, got); diff != "" || nextAsk.Sub(now) != tc.age {
				t.Fatalf("\n%s\nAsk(): again after %s, -want, +got:\n%s", tc.reason, nextAsk.Sub(now), diff)
			}
			baseline := requests.Load()
			now = now.Add(tc.age - time.Second)
			if got, _ := p.Ask(t.Context(), s.kubeconfig(token)); got != tc.want || requests.Load() != baseline {
				t.Errorf("\n%s\nthe server was asked again for a cached answer", tc.reason)
			}
			now = now.Add(time.Second)
			if _, _ = p.Ask(t.Context(), s.kubeconfig(token)); requests.Load() == baseline && !tc.near {
				t.Errorf("\n%s\nit is believed for ever", tc.reason)
			}
		})
	}
}

func TestProbeWithoutServer(t *testing.T) {
	s := newAPIServer(t)
	k := s.kubeconfig(canary)
	s.Close()
	p := NewProber(Limits{Loopback: true, Accounts: account.New(account.Bounds{})}, time.Now)
	for _, kubeconfig := range [][]byte{k, []byte("junk"), []byte(strings.Replace(string(k), "https:", "http:", 1))} {
		if got, _ := p.Ask(t.Context(), kubeconfig); got.Reason != readiness.ReasonServerUnreachable {
			t.Errorf("answer of a bad kubeconfig: %+v", got)
		}
	}
	if n := len(p.known); n != 3 {
		t.Errorf("%d answers are remembered", n)
	}
}
