package listing

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/provider/memory"
	"github.com/intentplane/intentplane/provider/shares"
)

// A pagedReader has so many Secrets, and fails after some pages.
type pagedReader struct {
	client.Reader

	secrets, failsAfter, requests int
}

func (r *pagedReader) List(_ context.Context, l client.ObjectList, options ...client.ListOption) error {
	o := client.ListOptions{}
	o.ApplyOptions(options)
	if r.requests++; r.failsAfter > 0 && r.requests > r.failsAfter {
		return errors.New("the server is gone")
	}
	first, _ := strconv.Atoi(o.Continue)
	end := min(first+int(o.Limit), r.secrets)
	list, ok := l.(*corev1.SecretList)
	if !ok {
		return errors.New("not a list of Secrets")
	}
	list.Items, list.Continue = make([]corev1.Secret, end-first), ""
	if end < r.secrets {
		list.Continue = strconv.Itoa(end)
	}
	return nil
}

func TestEachPage(t *testing.T) {
	cases := map[string]struct {
		reason string
		reader *pagedReader
		want   []int
		err    string
	}{
		"Pages": {
			reason: "Each page is read, and the pages of small objects grow to a limit.",
			reader: &pagedReader{secrets: 1400}, want: []int{20, 500, 500, 380},
		},
		"None": {reason: "A list without objects is read once.", reader: &pagedReader{}, want: []int{0}},
		"Fails": {
			reason: "The error of a later page is returned.",
			reader: &pagedReader{secrets: 90, failsAfter: 1}, want: []int{20}, err: "the server is gone",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			pages, l, message := []int{}, &corev1.SecretList{}, ""
			if err := EachPage(t.Context(), tc.reader, l, func() { pages = append(pages, len(l.Items)) }, client.InNamespace("team-a")); err != nil {
				message = err.Error()
			}
			if diff := cmp.Diff(tc.want, pages); diff != "" || message != tc.err {
				t.Errorf("\n%s\nEachPage(...): error %q, -want, +got:\n%s", tc.reason, message, diff)
			}
			if message == "" && len(l.Items) > 0 {
				t.Errorf("\nThe last page is dropped, as each other page is.\nEachPage(...): want an empty list, got %d objects", len(l.Items))
			}
		})
	}
}

// largeSecrets is an API server with Secrets of some sizes in KiB.
type largeSecrets struct {
	kib []int

	mu sync.Mutex
	// limits are the sizes of the requested pages.
	limits []string
}

func (s *largeSecrets) requested() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.limits, " ")
}

func (s *largeSecrets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	first, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	s.mu.Lock()
	s.limits = append(s.limits, strconv.Itoa(limit))
	s.mu.Unlock()
	end, next := min(first+limit, len(s.kib)), ""
	if limit == 0 {
		end = len(s.kib)
	}
	if end < len(s.kib) {
		next = strconv.Itoa(end)
	}
	items := []string{}
	for n, kib := range s.kib[first:end] {
		const secret = `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s-%d"},"type":"%s"}`
		items = append(items, fmt.Sprintf(secret, first+n, strings.Repeat("x", kib<<10)))
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"apiVersion":"v1","kind":"SecretList","metadata":{"continue":%q},"items":[%s]}`, next, strings.Join(items, ","))
}

// start serves the Secrets, and returns a client with a bound, as the provider's.
func (s *largeSecrets) start(t *testing.T) client.Client {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL}
	config.Wrap(BoundResponses)
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Secret"), meta.RESTScopeNamespace)
	kube, err := client.New(config, client.Options{Scheme: runtime.NewScheme(), Mapper: mapper})
	if err != nil {
		t.Fatal(err)
	}
	return kube
}

func newSecretList() *unstructured.UnstructuredList {
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	return l
}

// TestPagesAreBounded lists objects that are too large for the pages that are asked for first.
func TestPagesAreBounded(t *testing.T) {
	cases := map[string]struct {
		reason string
		kib    []int
		want   string
		err    string
	}{
		"Small": {reason: "Small objects fit into the first page.", kib: slices.Repeat([]int{1}, 20), want: "20"},
		"Large": {reason: "Large objects come a few at a time.", kib: slices.Repeat([]int{1000}, 7), want: "20 5 1 3 3"},
		"Last": {
			reason: "Small objects before large objects do not let a large page through.",
			kib:    append(slices.Repeat([]int{1}, 50), slices.Repeat([]int{1000}, 6)...), want: "20 500 125 31 92 23 5 1 3 3",
		},
		"TooLarge": {
			reason: "An object that is larger than a page ends the list.",
			kib:    []int{5000}, want: "20 5 1", err: "the API server sends more than 4 MiB for one object",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &largeSecrets{kib: tc.kib}
			kube, l, found, message := s.start(t), newSecretList(), 0, ""
			if err := EachPage(t.Context(), kube, l, func() { found += len(l.Items) }, client.InNamespace("team-a")); err != nil {
				message = err.Error()
			}
			if diff := cmp.Diff([]any{tc.want, tc.err}, []any{s.requested(), message}); diff != "" {
				t.Errorf("\n%s\nEachPage(...): -want, +got:\n%s", tc.reason, diff)
			}
			if tc.err == "" && found != len(tc.kib) {
				t.Errorf("\nEach object is read once.\nEachPage(...): want %d objects, got %d", len(tc.kib), found)
			}
		})
	}
}

// TestCachedListIsNotSent lists past the cache, as a caller would do by mistake.
func TestCachedListIsNotSent(t *testing.T) {
	s := &largeSecrets{kib: []int{1}}
	err := Cached(t.Context(), s.start(t), newSecretList())
	if err == nil || !strings.Contains(err.Error(), "cannot list past the cache") || s.requested() != "" {
		t.Errorf("\nA list of cached objects sends no request.\nCached(...): %v, after the requests %q", err, s.requested())
	}
}

// A sharedReader is a cache that says how a list was requested.
type sharedReader struct {
	client.Reader

	isShared bool
}

func (r *sharedReader) List(_ context.Context, _ client.ObjectList, options ...client.ListOption) error {
	o := client.ListOptions{}
	o.ApplyOptions(options)
	r.isShared = o.UnsafeDisableDeepCopy != nil && *o.UnsafeDisableDeepCopy
	return nil
}

func TestCachedListIsShared(t *testing.T) {
	r := &sharedReader{}
	if err := Cached(t.Context(), r, newSecretList(), client.InNamespace("team-a")); err != nil || !r.isShared {
		t.Errorf("\nCached objects are not copied.\nCached(...): shared %t, error %v", r.isShared, err)
	}
}

// TestPagesTakeTurns lists more at once than the process has room for.
func TestPagesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		held, release := atomic.Int32{}, make(chan struct{})
		hold := func(context.Context) error { held.Add(1); <-release; return nil }
		for range 10 {
			go func() { _, _ = ReadPage(t.Context(), "hostile", hold) }()
		}
		synctest.Wait()
		if diff := cmp.Diff(int32(maxPagesPerNamespace), held.Load()); diff != "" {
			t.Errorf("\nA namespace holds its share of the pages.\nReadPage(...): -want, +got:\n%s", diff)
		}
		isGood := false
		if _, err := ReadPage(t.Context(), "good", func(context.Context) error { isGood = true; return nil }); err != nil || !isGood {
			t.Errorf("\nAnother namespace does not wait.\nReadPage(...): ran %t, error %v", isGood, err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := ReadPage(ended, "hostile", hold); !errors.Is(err, context.Canceled) {
			t.Errorf("\nA list that waits ends with its context.\nReadPage(...): want %v, got %v", context.Canceled, err)
		}
		close(release)
		synctest.Wait()
	})
}

// TestPayerOfContextPays lists objects of all namespaces for two namespaces.
func TestPayerOfContextPays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		release := make(chan struct{})
		for range 10 {
			go func() {
				_, _ = ReadPage(shares.WithPayer(t.Context(), "hostile"), "", func(context.Context) error { <-release; return nil })
			}()
		}
		synctest.Wait()
		isGood := false
		good, cancel := context.WithTimeout(shares.WithPayer(t.Context(), "good"), time.Second)
		defer cancel()
		if _, err := ReadPage(good, "", func(context.Context) error { isGood = true; return nil }); err != nil || !isGood {
			t.Errorf("\nThe namespace that is reconciled pays for a list of all namespaces.\nReadPage(...): ran %t, error %v", isGood, err)
		}
		close(release)
		synctest.Wait()
	})
}

// TestPageWaitsForNoMemory lists for payers that have no memory left, as the holder of another reservation may.
func TestPageWaitsForNoMemory(t *testing.T) {
	const lots = 1 << 40
	for _, payer := range []string{"poor", ""} {
		t.Run("Payer"+payer, func(t *testing.T) {
			memory.Hold(payer, lots)
			defer memory.Hold(payer, -lots)
			ctx, cancel := context.WithTimeout(shares.WithPayer(t.Context(), payer), time.Second)
			defer cancel()
			baseline, during := memory.Used(), int64(0)
			if _, err := ReadPage(ctx, "", func(context.Context) error { during = memory.Used(); return nil }); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]int64{decodedPageBytes, 0}, []int64{during - baseline, memory.Used() - baseline}); diff != "" {
				t.Errorf("\nA page counts while it is held.\nUsed(): -want, +got:\n%s", diff)
			}
		})
	}
}

// TestAdministratorWaitsForNoNamespace lists for administrators while namespaces hold all of their pages.
func TestAdministratorWaitsForNoNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		release := make(chan struct{})
		for _, payer := range []string{"first", "second"} {
			for range maxPagesPerNamespace {
				go func() {
					_, _ = ReadPage(shares.WithPayer(t.Context(), payer), "", func(context.Context) error { <-release; return nil })
				}()
			}
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(shares.WithPayer(t.Context(), ""), time.Second)
		defer cancel()
		if _, err := ReadPage(ctx, "", func(context.Context) error { return nil }); err != nil {
			t.Errorf("\nAdministrators do not wait for pages of namespaces.\nReadPage(...): %v", err)
		}
		close(release)
		synctest.Wait()
	})
}

// TestPageIsPaced reads single pages for a namespace that has read its burst.
func TestPageIsPaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		ctx, began := shares.WithPayer(t.Context(), "busy"), time.Now()
		readAll := func(ctx context.Context) error { limitFromContext(ctx).left = 0; return nil }
		const pages = burstBytes/maxPageBytes + 4*bytesPerSecond/maxPageBytes
		for range pages + 1 {
			if _, err := ReadPage(ctx, "", readAll); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took < 3*time.Second || took > 5*time.Second {
			t.Errorf("\nThe pages of a client of its own come as fast as other pages, and no faster.\nReadPage(...): want about 4 seconds, got %s", took)
		}
	})
}

func TestBoundedBody(t *testing.T) {
	cases := map[string]struct {
		reason      string
		size, limit int
		want        []any
	}{
		"Smaller": {reason: "A response below the limit is read.", size: 5, limit: 6, want: []any{5, false}},
		"Exact":   {reason: "A response that ends at the limit is complete.", size: 6, limit: 6, want: []any{6, false}},
		"Larger":  {reason: "A response above the limit is cut.", size: 7, limit: 6, want: []any{6, true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			limit := &responseLimit{left: int64(tc.limit)}
			data, err := io.ReadAll(&boundedBody{ReadCloser: io.NopCloser(strings.NewReader(strings.Repeat("x", tc.size))), limit: limit})
			if diff := cmp.Diff(tc.want, []any{len(data), limit.isCut}); diff != "" || err != nil {
				t.Errorf("\n%s\nRead(...): error %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

// TestPace counts the pages of two namespaces and of administrators.
func TestPace(t *testing.T) {
	p := &paces{by: map[string]*rate.Limiter{}}
	first, second := p.countPageBytes("hostile", burstBytes), p.countPageBytes("hostile", bytesPerSecond)
	if first > 0 || second < time.Second/2 || second > time.Second {
		t.Errorf("\nBeyond its burst a namespace waits for its own pages.\ncount(...): %s, then %s", first, second)
	}
	if next := p.countPageBytes("hostile", 0); next < time.Second/2 {
		t.Errorf("\nThe next list of the namespace waits for the pages of its earlier lists.\ncount(...): %s", next)
	}
	if good, administrator := p.countPageBytes("good", maxPageBytes), p.countPageBytes("", 10*burstBytes); good > 0 || administrator > 0 {
		t.Errorf("\nNo other namespace waits, and no administrator.\ncount(...): %s and %s", good, administrator)
	}
}
