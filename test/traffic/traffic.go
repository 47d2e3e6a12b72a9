// Package traffic sends requests to a gateway, and records which pod and which track answered each.
package traffic

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/test/kubelet"
)

// patience is how long a request may take before it counts as failed.
const patience = 10 * time.Second

// An Answer is the result of a request.
type Answer struct {
	// Sent is when the request was sent.
	Sent time.Time

	// Track and Pod that answered. Both are empty where no pod did.
	Track, Pod string

	// Failure is why the request failed, or empty.
	Failure string
}

// Answers to some requests.
type Answers []Answer

// Failed returns the answers that are failures.
func (a Answers) Failed() Answers {
	return slices.DeleteFunc(slices.Clone(a), func(answer Answer) bool { return answer.Failure == "" })
}

// Between returns the answers to requests that were sent in a period.
func (a Answers) Between(start, end time.Time) Answers {
	return slices.DeleteFunc(slices.Clone(a), func(answer Answer) bool { return answer.Sent.Before(start) || !answer.Sent.Before(end) })
}

// Share returns how many of a hundred requests a track answered.
func (a Answers) Share(track string) float64 {
	return 100 * float64(a.countByTrack()[track]) / float64(max(1, len(a)))
}

func (a Answers) countByTrack() map[string]int {
	out := map[string]int{}
	for _, answer := range a {
		out[answer.Track]++
	}
	return out
}

// String counts the answers by track, and the failures by their kind and track.
func (a Answers) String() string {
	out, failures := []string{fmt.Sprintf("%d requests", len(a))}, map[string]int{}
	for track, n := range a.countByTrack() {
		out = append(out, fmt.Sprintf("%q: %d", track, n))
	}
	for _, answer := range a.Failed() {
		failures[answer.Failure+" by "+answer.Track]++
	}
	for _, failure := range slices.Sorted(maps.Keys(failures)) {
		out = append(out, fmt.Sprintf("%d failed: %s", failures[failure], failure))
	}
	slices.Sort(out[1:])
	return strings.Join(out, ", ")
}

// A Target is the address of requests.
type Target struct {
	// URL of the gateway.
	URL string

	// Host is the name that the route serves.
	Host string
}

// Send so many requests, a few at once, and return their answers.
func (t Target) Send(ctx context.Context, n, atOnce int) Answers {
	hc, out := newHTTPClient(atOnce), make(Answers, n)
	defer hc.CloseIdleConnections()
	next := make(chan int)
	workers := sync.WaitGroup{}
	for range atOnce {
		workers.Go(func() {
			for i := range next {
				out[i] = t.sendRequest(ctx, hc)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	workers.Wait()
	return out
}

func newHTTPClient(connections int) *http.Client {
	return &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: connections}}
}

func (t Target) sendRequest(ctx context.Context, hc *http.Client) Answer {
	out := Answer{Sent: time.Now()}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.URL, nil)
	if err != nil {
		out.Failure = err.Error()
		return out
	}
	req.Host = t.Host
	resp, err := hc.Do(req)
	if err != nil {
		out.Failure = err.Error()
		return out
	}
	_, err = io.Copy(io.Discard, resp.Body)
	out.Track, out.Pod = resp.Header.Get(kubelet.HeaderTrack), resp.Header.Get(kubelet.HeaderPod)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		out.Failure = err.Error()
	}
	if resp.StatusCode != http.StatusOK {
		out.Failure = resp.Status
	}
	return out
}
