package clusters

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/account"
	"github.com/intentplane/intentplane/provider/listing"
)

// page is an answer with so many objects, and reports further objects unless it is the last page.
func page(objects int, last bool) string {
	items := make([]string, objects)
	for i := range items {
		items[i] = small(fmt.Sprintf("o-%d", i))
	}
	head := listHead
	if !last {
		head = strings.Replace(listHead, `"metadata":{`, `"metadata":{"continue":"next",`, 1)
	}
	return head + strings.Join(items, ",") + "]}"
}

func hasEnded(end <-chan struct{}) bool {
	select {
	case <-end:
		return true
	default:
		return false
	}
}

// memoryOfPage returns how much memory the objects of a page take.
func memoryOfPage(t *testing.T, objects int) int64 {
	t.Helper()
	l := &unstructured.UnstructuredList{}
	if err := l.UnmarshalJSON([]byte(page(objects, true))); err != nil {
		t.Fatal(err)
	}
	size := int64(0)
	for i := range l.Items {
		stripUnreadFields(&l.Items[i])
		size += account.MemoryOf(l.Items[i].Object)
	}
	return size
}

// TestListsOfTenantShareMemory has two clusters of a tenant listed at the same time. Each list alone has room, and both together do not: the
// second list is read when the first has ended.
func TestListsOfTenantShareMemory(t *testing.T) {
	end := make(chan struct{})
	slow, fast := newAPIServer(t), newAPIServer(t)
	serve := func(first http.HandlerFunc) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if r.URL.Query().Get("watch") != "" {
				waitForClose(w, r)
				return
			}
			first(w, r)
		})
	}
	slow.Config.Handler = serve(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("continue") == "" && !hasEnded(end) {
			_, _ = io.WriteString(w, page(500, false))
			return
		}
		select {
		case <-end:
			http.Error(w, "", http.StatusForbidden)
		case <-r.Context().Done():
		}
	})
	fast.Config.Handler = serve(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, page(500, true)) })
	p := newPool(t)
	size := memoryOfPage(t, 500)
	p.accounts = account.New(account.Bounds{Store: size * 3 / 2})
	begin := func(reader string, s *apiServer) *watch {
		l := p.Look(owner(reader))
		defer l.Done()
		c, err := l.Remote(s.kubeconfig(canary), Access{Tenant: "team-a"})
		if err != nil {
			t.Fatal(err)
		}
		return c.ensureObjectWatch(ref("o-1"), watchKey{resource: ref("").Resource, namespace: "flux"}, nil)
	}
	first, began := begin("a", slow), time.Now()
	for first.account.Memory().Used() < size { // Until the first page is decoded.
		if time.Since(began) > inTime {
			t.Fatalf("The first list reserves the memory of its page.\nlisting: want %d bytes, got %d", size, first.account.Memory().Used())
		}
		<-time.After(time.Millisecond)
	}
	second := begin("b", fast)
	read := func() string {
		s, err := second.waitUntilSettled(t.Context())
		var failure *Error
		if errors.As(err, &failure) {
			return failure.Reason + ": " + failure.Detail
		}
		o, _ := s.getObject("flux", "o-1")
		return o.GetName()
	}
	const want = v1alpha1.SiteReasonClusterUnreachable + ": other clusters of the same tenant are listed at the same time, and their lists share memory"
	p.expect("The lists of a tenant have one share of memory together.", want, read())
	close(end)
	p.until("A list whose tenant has memory again is read.", "o-1", read)
	if used := first.account.Memory().Used(); used != size {
		t.Errorf("A list that ended gives its memory back, and the objects of the other one take their own.\nmemory: want %d bytes, got %d", size, used)
	}
}

// TestPagesOfHomeAreBounded lists objects of 900 KiB in the provider's own cluster, where tenants may write them.
func TestPagesOfHomeAreBounded(t *testing.T) {
	s, limits := newAPIServer(t), make(chan string, 100)
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") != "" {
			<-r.Context().Done()
			return
		}
		limits <- r.URL.Query().Get("limit")
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		items, next := []string{}, ""
		for n := range min(limit, 10) {
			items = append(items, strings.Replace(small(fmt.Sprint(n)), `"metadata":{`, `"text":"`+strings.Repeat("x", 900<<10)+`","metadata":{`, 1))
		}
		if r.URL.Query().Get("continue") == "" && limit < 10 {
			next = "next"
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, strings.Replace(listHead, `"metadata":{`, `"metadata":{"continue":"`+next+`",`, 1)+strings.Join(items, ",")+"]}")
	})
	cfg := &rest.Config{Host: s.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	cfg.Wrap(listing.BoundResponses)
	p := newPool(t)
	p.dial = Dialer(cfg, Limits{})
	l := p.Look(owner("a"))
	defer l.Done()
	c, err := l.Home()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), ref("0")); err != nil {
		t.Fatal(err)
	}
	got := []string{<-limits, <-limits, <-limits, <-limits, <-limits}
	if diff := cmp.Diff([]string{"500", "100", "20", "4", "4"}, got); diff != "" {
		t.Errorf("\nA page that is too large is requested again with fewer objects.\nlimits: -want, +got:\n%s", diff)
	}
}

const (
	mebibyte = 1 << 20

	listHead  = `{"apiVersion":"kustomize.toolkit.fluxcd.io/v1","kind":"KustomizationList","metadata":{"resourceVersion":"1"},"items":[`
	emptyList = listHead + `]}`
)

// small is an object of some hundred bytes.
func small(name string) string {
	return fmt.Sprintf(`{"apiVersion":"kustomize.toolkit.fluxcd.io/v1","kind":"Kustomization","metadata":{"name":%q,"namespace":"flux","resourceVersion":"1"},"spec":{"path":"one"}}`, name)
}

// repeat a text until the client stops reading.
func repeat(w io.Writer, text string) {
	for {
		if _, err := io.WriteString(w, text); err != nil {
			return
		}
	}
}

// waitForClose sends the header of a watch, and nothing else.
func waitForClose(w http.ResponseWriter, r *http.Request) {
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

// pageForever answers each page with so many objects, and says that there are more.
func pageForever(objects int) http.HandlerFunc {
	page := 0
	return func(w http.ResponseWriter, _ *http.Request) {
		page++
		items := make([]string, objects)
		for i := range items {
			items[i] = small(fmt.Sprintf("o-%d-%d", page, i))
		}
		head := strings.Replace(listHead, `"metadata":{`, fmt.Sprintf(`"metadata":{"continue":"%d",`, page), 1)
		_, _ = io.WriteString(w, head+strings.Join(items, ",")+"]}")
	}
}

func gzipped(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, listHead)
		repeat(z, text)
	}
}

func drip(w http.ResponseWriter, r *http.Request) {
	_, _ = io.WriteString(w, listHead)
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for r.Context().Err() == nil {
		_, _ = io.WriteString(w, " ")
		w.(http.Flusher).Flush()
		<-ticker.C
	}
}

func closeInTheMiddle(w http.ResponseWriter, _ *http.Request) {
	_, _ = io.WriteString(w, listHead+small("a"))
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

func endless(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, listHead)
		repeat(w, text)
	}
}

func endlessEvent(w http.ResponseWriter, _ *http.Request) {
	_, _ = io.WriteString(w, `{"type":"ADDED","object":{"metadata":{"name":"`)
	repeat(w, strings.Repeat("x", mebibyte))
}

func heap() int64 {
	runtime.GC()
	m := runtime.MemStats{}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestHostileCluster reads from API servers that do harm. The error names each fault to the reader, and the memory of the process
// stays as it was.
func TestHostileCluster(t *testing.T) {
	empty := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, emptyList) }
	mib := strings.Repeat("x", mebibyte)
	cases := map[string]struct {
		reason      string
		list, watch http.HandlerFunc
		bounds      account.Bounds
		timeout     time.Duration
		want        string
	}{
		"SendsWithoutEnd": {
			reason: "A list that never ends is read up to the bound of one page.",
			list:   endless(`{"metadata":{"name":"` + mib + `"}},`), want: "the cluster sends more than 8 MiB for a page of a list",
		},
		"GzipBomb": {
			reason: "An answer is counted as it is after decompression.",
			list:   gzipped(mib), want: "the cluster sends more than 8 MiB for a page of a list",
		},
		"ManySmallValues": {
			reason: "An answer whose values take much more memory than its text is refused before it is decoded.",
			list:   endless(`{},`), want: "the cluster sends an answer that takes more than 48 MiB of memory for a page of a list",
		},
		"Drips": {
			reason: "An answer that comes byte by byte is given up in time.",
			list:   drip, timeout: time.Second, want: "the cluster does not end its answer in time",
		},
		"ClosesInTheMiddle": {
			reason: "An answer that ends early is not a list.",
			list:   closeInTheMiddle, want: "the cluster ends the connection in the middle of an answer",
		},
		"MillionObjects": {
			reason: "Objects are held up to the share of the cluster.",
			list:   pageForever(500), bounds: account.Bounds{Store: mebibyte}, want: "the objects that are watched take more than 1 MiB of memory",
		},
		"LongList": {
			reason: "The pages of a list have a bound together, too.",
			list:   pageForever(250), bounds: account.Bounds{List: 2 * mebibyte, Store: 1024 * mebibyte}, want: "the cluster sends more than 2 MiB for a list",
		},
		"EndlessContinueTokens": {
			reason: "A list that has a further page after each empty page is given up.",
			list:   pageForever(0), want: "the cluster's list does not end after 100 pages",
		},
		"LargeEvents": {
			reason: "A watch whose events are objects of 16 MiB is ended.",
			list:   empty, want: "the cluster sends more than 2 MiB for an event of a watch",
			watch: func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, `{"type":"ADDED","object":{"metadata":{"name":"`)
				for range 16 {
					_, _ = io.WriteString(w, mib)
				}
				_, _ = io.WriteString(w, `"}}}`)
			},
		},
		"EndlessEvent": {
			reason: "An event that never ends is not waited for.",
			list:   empty, watch: endlessEvent, want: "the cluster sends more than 2 MiB for an event of a watch",
		},
		"ManyObjectsByEvents": {
			reason: "A watch that adds objects without end is ended when its share is used.",
			list:   empty, bounds: account.Bounds{Store: mebibyte}, want: "the objects that are watched take more than 1 MiB of memory",
			watch: func(w http.ResponseWriter, _ *http.Request) {
				for i := range 5000 {
					_, _ = fmt.Fprintf(w, `{"type":"ADDED","object":%s}`, small(fmt.Sprintf("o-%d", i)))
				}
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t)
			s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				handler := tc.list
				if r.URL.Query().Get("watch") != "" {
					handler = tc.watch
				}
				if handler == nil {
					handler = waitForClose
				}
				handler(w, r)
			})
			p, k := newPool(t), s.kubeconfig(canary)
			p.accounts = account.New(tc.bounds)
			if p.timeout = tc.timeout; p.timeout == 0 {
				p.timeout = inTime // A busy machine takes its time.
			}
			baseline := heap()
			p.until(tc.reason, v1alpha1.SiteReasonClusterUnreachable+": "+tc.want, func() string { return p.explain(k) })
			if growth := heap() - baseline; growth > 32*mebibyte {
				t.Errorf("%s\nthe process holds %d MiB more than before", tc.reason, growth/mebibyte)
			}
			p.Forget(owner("a"))
			p.sizes(0, 0)
		})
	}
}

// explain reads an object, and returns the error that a reader gets.
func (p *pool) explain(kubeconfig []byte) string {
	p.t.Helper()
	l := p.Look(owner("a"))
	defer l.Done()
	c, err := l.Remote(kubeconfig, Access{})
	if err != nil {
		p.t.Fatal(err)
	}
	o, err := c.Get(p.t.Context(), ref("edge1"))
	var failure *Error
	switch {
	case errors.As(err, &failure):
		return failure.Reason + ": " + failure.Detail
	case o == nil:
		return "nothing"
	}
	return o.GetName()
}
