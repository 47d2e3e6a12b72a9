package clusters

import (
	"fmt"
	"io"
	"net/http"
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
		return c.watchFor(ref("o-1"), watchKey{resource: ref("").Resource, namespace: "flux"}, nil)
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
