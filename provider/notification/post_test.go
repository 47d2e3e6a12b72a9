package notification

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/provider/fetch"
)

const canary = "canary-7f3a9c"

// receiverAt returns a receiver at a server, whose certificate is trusted. The path of its address is as secret as its key.
func receiverAt(t *testing.T, s *httptest.Server) *Receiver {
	t.Helper()
	u, err := url.Parse(s.URL + "/" + canary)
	if err != nil {
		t.Fatal(err)
	}
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return &Receiver{URL: u, Key: canary, CABundle: bundle, ControlPlane: "fleet"}
}

func newPoster(t *testing.T, o fetch.Options) *Poster {
	t.Helper()
	c, err := fetch.New(o, fetch.NewNotificationAccount())
	if err != nil {
		t.Fatal(err)
	}
	return NewPoster(c)
}

// TestPost posts to a server, and to hostile servers. The text of an error is the same for each of them, and holds no
// secret.
func TestPost(t *testing.T) {
	near := atomic.Int64{}
	otherServer := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { near.Add(1) }))
	defer otherServer.Close()
	cases := map[string]struct {
		reason  string
		handler http.HandlerFunc
		guarded bool
		want    string
		outage  bool
	}{
		"Taken": {
			reason:  "An answer that says that the notification was taken is not an error.",
			handler: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) },
		},
		"Refused": {
			reason:  "A receiver that refuses one notification may accept the next notification.",
			handler: func(w http.ResponseWriter, _ *http.Request) { http.Error(w, canary, http.StatusBadRequest) },
			want:    "the server answers with status 400 Bad Request",
		},
		"Failing": {
			reason:  "A receiver that fails takes no notification now.",
			handler: func(w http.ResponseWriter, _ *http.Request) { http.Error(w, canary, http.StatusBadGateway) },
			want:    "the server answers with status 502 Bad Gateway", outage: true,
		},
		"Odd": {
			reason:  "A status may have no name.",
			handler: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(520) },
			want:    "the server answers with status 520", outage: true,
		},
		"Limited": {
			reason:  "A receiver that is asked too often takes no notification now.",
			handler: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) },
			want:    "the server answers with status 429 Too Many Requests", outage: true,
		},
		"Redirect": {reason: "A redirect is not followed, whether it leads to a near address or elsewhere.", handler: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, otherServer.URL, http.StatusTemporaryRedirect)
		}, want: fetch.ProblemRedirect + ": it leads to " + otherServer.URL, outage: true},
		"Endless": {
			reason: "An answer without an end is not read to its end.", want: fetch.ProblemLarge, outage: true,
			handler: func(w http.ResponseWriter, _ *http.Request) {
				for _, err := w.Write(make([]byte, 64<<10)); err == nil; _, err = w.Write(make([]byte, 64<<10)) {
				}
			},
		},
		"Near": {
			reason:  "A near address is not posted to.",
			handler: func(http.ResponseWriter, *http.Request) { near.Add(1) }, guarded: true,
			want: `notifications may not ask the host "127.0.0.1": it is a loopback address, which is the provider's own machine`, outage: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewTLSServer(tc.handler)
			defer s.Close()
			got, outage := "", false
			if err := newPoster(t, fetch.Options{Loopback: !tc.guarded}).Post(t.Context(), receiverAt(t, s), notificationOf(rolledBack)); err != nil {
				got, outage = err.Error(), IsOutage(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || outage != tc.outage {
				t.Errorf("\n%s\nPost(...): outage is %t; -want, +got:\n%s", tc.reason, outage, diff)
			}
			if strings.Contains(got, canary) {
				t.Errorf("\n%s\nPost(...): the error holds a secret: %s", tc.reason, got)
			}
		})
	}
	if n := near.Load(); n > 0 {
		t.Errorf("a near address got %d requests", n)
	}
}

// TestPostedRequest compares the request at a server, in both formats, with and without a key.
func TestPostedRequest(t *testing.T) {
	var header http.Header
	var body []byte
	s := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		header = r.Header
		body, _ = io.ReadAll(r.Body)
	}))
	defer s.Close()
	for _, tc := range []struct {
		reason, contentType string
		format              configv1alpha1.NotificationFormat
		key                 fetch.Secret
	}{
		{reason: "A CloudEvent is signed over its whole body.", contentType: "application/cloudevents+json", format: configv1alpha1.FormatCloudEvents, key: canary},
		{reason: "A message for Slack is JSON.", contentType: "application/json", format: configv1alpha1.FormatSlack, key: canary},
		{reason: "A post without a key has no signature.", contentType: "application/cloudevents+json"},
	} {
		r := receiverAt(t, s)
		r.Format, r.Key = tc.format, tc.key
		if err := newPoster(t, fetch.Options{Loopback: true, UserAgent: "intentplane/test"}).Post(t.Context(), r, notificationOf(rolledBack)); err != nil {
			t.Fatal(err)
		}
		want := ""
		if tc.key != "" {
			mac := hmac.New(sha256.New, []byte(canary))
			_, _ = mac.Write(body)
			want = "sha256=" + hex.EncodeToString(mac.Sum(nil))
		}
		got := []string{header.Get("Content-Type"), header.Get("X-Signature"), header.Get("User-Agent")}
		if diff := cmp.Diff([]string{tc.contentType, want, "intentplane/test"}, got); diff != "" {
			t.Errorf("\n%s\nheaders: -want, +got:\n%s", tc.reason, diff)
		}
	}
}

// TestPostedTwice compares the bodies of two posts of one outcome: they are the same, so that a receiver may ignore the second
// post.
func TestPostedTwice(t *testing.T) {
	bodies := map[string]int{}
	s := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		bodies[string(b)]++
	}))
	defer s.Close()
	for range 2 {
		if err := newPoster(t, fetch.Options{Loopback: true}).Post(t.Context(), receiverAt(t, s), notificationOf(rolledBack)); err != nil {
			t.Fatal(err)
		}
	}
	if len(bodies) != 1 {
		t.Errorf("two posts of one outcome have %d bodies", len(bodies))
	}
}

// TestSlowReceiver ends a post to a server that never answers with its context.
func TestSlowReceiver(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		_, _ = io.ReadAll(r.Body)
		<-r.Context().Done()
	}))
	defer s.Close()
	err := newPoster(t, fetch.Options{Loopback: true}).Post(ctx, receiverAt(t, s), notificationOf(rolledBack))
	if err == nil || !IsOutage(err) {
		t.Errorf("Post(...): want an outage, got %v", err)
	}
}

// TestShareOfANamespace lets a receiver hold back all posts of one namespace: the posts of another namespace go out all the
// same.
func TestShareOfANamespace(t *testing.T) {
	const share = 8
	waiting, release := make(chan struct{}, 100), make(chan struct{})
	s := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if strings.Contains(string(b), "team-a") {
			waiting <- struct{}{}
			<-release
		}
	}))
	defer s.Close()
	p, ends := newPoster(t, fetch.Options{Loopback: true}), make(chan error, 100)
	for range share {
		go func() { ends <- p.Post(t.Context(), receiverAt(t, s), notificationOf(rolledBack)) }()
	}
	for range share {
		<-waiting
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Post(ctx, receiverAt(t, s), notificationOf(rolledBack)); !errors.Is(err, fetch.ErrBusy) {
		t.Errorf("a namespace has more than its share at a host: %v", err)
	}
	otherTenant := notificationOf(rolledBack)
	otherTenant.Deployment.Namespace = "team-b"
	if err := p.Post(t.Context(), receiverAt(t, s), otherTenant); err != nil {
		t.Errorf("another namespace waits: %v", err)
	}
	close(release)
	for range share {
		if err := <-ends; err != nil {
			t.Error(err)
		}
	}
}

func TestReceiverShowsNoKey(t *testing.T) {
	r := Receiver{Key: canary}
	for _, format := range []string{"%v", "%+v", "%#v"} {
		if text := fmt.Sprintf(format, r); strings.Contains(text, canary) {
			t.Errorf("%s shows the key", format)
		}
	}
}
